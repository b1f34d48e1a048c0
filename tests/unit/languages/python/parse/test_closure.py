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
        assert ("W", "W = [2.0]") in read().statements
    monkeypatch.setitem(globals(), "W", changed := [math.nan, 1.0])
    assert "element [0] is nan" in read().invalid[0][1]
    changed[0] = math.inf
    assert "element [0] is inf" in read().invalid[0][1]
    changed[0] = 3.0
    assert not read().invalid
    assert ("W", "W = [3.0, 1.0]") in read().statements


LAYERS, FACTOR = 3, 2.0


def has_locals(values: Any, FACTOR: float) -> float:  # noqa: N803 - as a variable of the module
    total = 0.0
    for LAYERS in range(3):  # noqa: N806
        total += FACTOR * values[LAYERS]
    return total


def test_variables_with_the_names_of_locals_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that counts its steps by such a name compiles an invoke once."""
    reader = FunctionReader()
    first = reader.resolve(has_locals, "psyclone_storage.gocean")
    snapshot = reader.snapshot_of(has_locals, "psyclone_storage.gocean")
    for value in (300, 2.5, np.zeros((50, 50)), (1, 2)):
        monkeypatch.setitem(globals(), "LAYERS", value)
        monkeypatch.setitem(globals(), "FACTOR", value)
        assert snapshot.is_current()
        assert reader.resolve(has_locals, "psyclone_storage.gocean") is first
    assert not {name for name, _ in first[0].text.statements} & {"LAYERS", "FACTOR"}
