"""Python calls of frequent operations on fields, which need no work for lost values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType

import numpy as np
import pytest

from psyclone_storage.gocean import (
    GO_ALL_PTS,
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    GO_WRITE,
    complete_invokes,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def scale(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * new[0, 0]


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def set_all(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = 1.0


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    complete_invokes()
    configure()


def _repeat(invoke_once: Callable[[], None]) -> None:
    for _ in range(4):
        invoke_once()
    complete_invokes()


def _calls(work: Callable[[], None]) -> int:
    """Return the number of Python functions that a call of `work` calls after some others."""
    count = 0

    def counted(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    for _ in range(3):
        work()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def _made() -> Field:
    return Field(Grid((4, 3), periodic=(True, True)), values=1.0)


def test_setting_values_calls_few_functions() -> None:
    made, values = _made(), np.ones((4, 3))
    assert _calls(lambda: made.fill(2.0)) <= 14
    assert _calls(lambda: made.__setitem__(..., values)) <= 38


@pytest.mark.parametrize(
    ("target", "defer", "scaled", "set_"),
    [("numpy", False, 230, 260), ("numpy", True, 400, 420), ("c", True, 190, 182)],
)
def test_four_invokes_call_few_functions(target: str, defer: bool, scaled: int, set_: int) -> None:
    configure(target=target, defer=defer)
    made = _made()
    assert _calls(lambda: _repeat(lambda: invoke(scale(made, 1.0)))) <= scaled
    assert _calls(lambda: _repeat(lambda: invoke(set_all(made)))) <= set_
