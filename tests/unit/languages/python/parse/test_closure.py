"""Tables of functions in a running program: faults, and changes after a reading."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from psyclone_storage.languages.python.parse.closure import FunctionReader, FunctionText

W: Any = (1.0,)


def reads_table() -> Any:
    return W[0]


def test_a_table_becomes_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault is not cached when the table is replaced or modified."""
    reader = FunctionReader()

    def read() -> FunctionText:
        return reader.resolve(reads_table, "psyclone_storage.gocean")[0].text

    invalid: list[Any] = [{0: 1.0}, [math.nan], np.array([1], np.int8), np.array([1], np.uint64)]
    for table in invalid:
        monkeypatch.setitem(globals(), "W", table)
        assert [name for name, _ in read().invalid] == ["W"]
        monkeypatch.setitem(globals(), "W", [2.0])
        assert not read().invalid
        assert ("W", "W = (2.0,)") in read().statements
    monkeypatch.setitem(globals(), "W", changed := [math.nan, 1.0])
    assert "element [0] is nan" in read().invalid[0][1]
    changed[0] = math.inf
    assert "element [0] is inf" in read().invalid[0][1]
    changed[0] = 3.0
    assert not read().invalid
    assert ("W", "W = (3.0, 1.0)") in read().statements
