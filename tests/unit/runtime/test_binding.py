"""Runs of routines: what is kept of a call for the next one."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

from psyclone_storage.runtime.binding import BoundRoutine, BoundRun, BoundStorages
from psyclone_storage.storage import zeros


class Block:
    """What binds arrays: the same dictionary as long as nothing else is said."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = dict(enumerate(arrays))
        self.entered = 0

    def __enter__(self) -> dict[int, Any]:
        self.entered += 1
        return self.arrays

    def __exit__(self, *_: object) -> None:
        self.entered -= 1


class Layer(NamedTuple):
    """A layer for the host, of one function."""

    functions: tuple[Any, ...]
    device: None = None
    written: tuple[int, ...] = (0,)
    places: tuple[None, ...] = (None,)


class Known(BoundStorages):
    """What refuses arrays with gaps."""

    def check_layout(self, array: Any) -> None:
        if not array.flags.f_contiguous:
            raise ValueError("An array has gaps.")


class Routine(BoundRoutine):
    """A routine that knows the same of all data."""

    def __init__(self, known: Any) -> None:
        super().__init__()
        self._all = known

    def _prepared(self, data: tuple[Any, ...], given: Any) -> Any:
        return self._all


class Datum:
    """What is passed."""

    under_way = None


def known_with(*arrays: Any) -> tuple[Any, Block, list[Any]]:
    """Return what is known of arrays, what binds them, and where functions find which tables."""
    passed: list[Any] = []
    kinds = ctypes.c_void_p * (len(arrays) + 1), ctypes.c_double * 1, ctypes.c_int64 * 1

    def function(*tables: int) -> None:
        found = (kind.from_address(at) for kind, at in zip(kinds, tables, strict=True))
        passed.append([tables, *map(list, found)])

    known = Known((), Layer((function,)))
    known.addresses = kinds[0]()
    known.addresses[len(arrays)] = 77
    known.numbers = kinds[1](0.5), kinds[2](3)
    block = Block(*arrays)
    known.free.append(BoundRun(block, known.functions))
    return known, block, passed


def run(known: Any, *data: Any) -> None:
    with Routine(known)(*data) as one:
        one(0)


def where(*arrays: Any) -> list[int]:
    return [one.__array_interface__["data"][0] for one in arrays]


def test_arrays_that_are_elsewhere_are_found_there() -> None:
    first, second, third = np.zeros(3), np.zeros(3), np.zeros(3)
    known, block, passed = known_with(first, second)
    run(known, Datum())
    run(known, Datum())
    assert passed[0] == passed[1]
    (one,) = known.free
    one.exchanges[1, 2] = []
    run(known, Datum())
    assert one.exchanges == {(1, 2): []}
    block.arrays = {0: first, 1: third}
    run(known, Datum())
    assert not one.exchanges, "an exchange would use the array that was there before"
    block.arrays = {0: first, 1: second}
    run(known, Datum())
    assert [one[1:] for one in passed] == [
        [[*where(first, one), 77], [0.5], [3]] for one in (second, second, second, third, second)
    ]
    assert known.addresses[0] is None


def test_what_fails_is_looked_at_again_and_binds_nothing() -> None:
    whole, gaps = np.zeros(4), np.zeros(8)[::2]
    known, block, passed = known_with(whole)
    run(known, Datum())
    block.arrays = {0: gaps}
    for _ in range(2):
        spare = known.free[-1]
        with pytest.raises(ValueError, match="gaps"):
            run(known, Datum())
        known.free.append(spare)
    assert (block.entered, len(passed)) == (0, 1)
    block.arrays = {0: whole}
    run(known, Datum())
    assert passed[1][1] == [*where(whole), 77]


def test_a_run_in_use_is_nobody_elses_and_keeps_no_data() -> None:
    storage = zeros((2,))
    known = Known((storage,), Layer((lambda *_: None,), written=()))
    known.addresses, known.numbers = (ctypes.c_void_p * 1)(), ()
    datum = Datum()
    seen = weakref.ref(datum)
    routine = Routine(known)
    with routine(datum) as outer, routine(datum) as inner:
        assert inner is not outer
        first, second = (type(known.addresses).from_address(*one.tables) for one in (inner, outer))
        assert list(first) == list(second)
        assert inner.tables != outer.tables
    assert known.free == [inner, outer]
    del datum
    assert seen() is None
    gone = weakref.ref(known)
    gc.disable()
    del known, inner, outer, routine
    assert gone() is None
    gc.enable()
