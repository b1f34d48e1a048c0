"""Tests of the first use of a storage by many threads at once: one buffer, no lost update."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage import hmemo
from psyclone_storage.storage.accessors import HostAccessor
from psyclone_storage.storage.core.errors import AccessConflictError
from storage_threads import RUNS, THREADS, race


def by_accessor(field: Any) -> None:
    with HostAccessor(field).held() as window:
        window[...] += 1.0


def by_array(field: Any) -> None:
    with hmemo.HostWriteAccess(field, on_conflict="wait") as access:
        window = access.get()
        window += 1.0


def by_access(field: Any) -> None:
    with field.access(mode="rw") as window:
        window[...] += 1.0


def by_call(field: Any) -> None:
    with gt.bound({"field": field}, writes=["field"]) as arrays:
        arrays["field"][...] += 1.0


def by_view(field: Any) -> None:
    with gt.bound({"low": field[:2], "high": field[2:]}, writes=["low", "high"]) as arrays:
        arrays["low"][...] += 1.0
        arrays["high"][...] += 1.0


WAYS: list[Callable[[Any], None]] = [by_accessor, by_array, by_access, by_call, by_view]


@pytest.mark.spec("GDP-131", "HM-62")
@pytest.mark.parametrize("ways", [[way] for way in WAYS] + [WAYS])
def test_no_update_of_a_new_storage_is_lost(ways: list[Callable[[Any], None]]) -> None:
    for _ in range(RUNS):
        field = gt.zeros((4,))
        assert race([partial(ways[i % len(ways)], field) for i in range(THREADS)]) == []
        assert field.data_ro.tolist() == [float(THREADS)] * 4


@pytest.mark.spec("GDP-130")
@pytest.mark.parametrize("device", [None, "gpu"])
def test_there_is_one_of_everything(device: str | None) -> None:
    for _ in range(RUNS):
        field = gt.as_storage(np.zeros(4), device=device)
        found: list[Any] = []

        def look() -> None:
            view = field[1:]  # noqa: B023
            found.append((view.buffer, field.buffer, field.backing().sync_state))  # noqa: B023

        assert race([look] * THREADS) == []
        buffers = {id(buffer) for one in found for buffer in one[:2]}
        assert len(buffers) == 1
        assert len({id(state) for *_, state in found}) == 1


@pytest.mark.parametrize("entered", [False, True], ids=["new", "known"])
def test_of_threads_at_one_block_one_enters(entered: bool) -> None:
    """One thread enters the block, the other threads get an error, and no access remains open."""
    for _ in range(RUNS):
        fields = {name: gt.zeros((4,)) for name in "ab"}
        block = gt.bound(fields)
        if entered:
            with block:
                pass

        def enter(block: Any = block) -> None:
            for _ in range(20):
                try:
                    with block as arrays:
                        assert arrays["a"][0] == 0.0
                except AccessConflictError:
                    pass

        assert race([enter] * THREADS) == []
        for field in fields.values():
            assert not field.buffer.table.holders
