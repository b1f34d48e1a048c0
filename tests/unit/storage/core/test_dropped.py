"""Tests of calls that are left to a background thread, and of the state of threads after a fork."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from psyclone_storage.storage.core import lifetime
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.forking import FORKS
from psyclone_storage.storage.core.lifetime import DroppedAccesses


def test_who_wants_the_ends_of_accesses_makes_the_calls_himself() -> None:
    dropped = DroppedAccesses()
    dropped._thread = threading.current_thread()  # no background thread starts
    calls: list[threading.Thread] = []
    for _ in range(2):
        dropped.note(lambda: calls.append(threading.current_thread()))
    dropped.end_all()
    assert calls == [threading.current_thread()] * 2


def test_the_locks_of_all_tables_are_taken_before_a_fork() -> None:
    buffers = [CoherentBuffer(3) for _ in range(3)]
    locks = FORKS._all_locks()
    assert all(any(lock is buffer.table.lock for lock in locks) for buffer in buffers)


@pytest.mark.parametrize(
    ("owner", "in_flight", "ends"),
    [
        ("this thread", False, False),
        ("this thread", True, False),
        ("another thread", False, True),
        ("another thread", True, False),
        ("nobody", False, True),
        ("nobody", True, True),
    ],
)
def test_of_claims_in_line_those_of_threads_that_are_gone_end(
    owner: str, in_flight: bool, ends: bool
) -> None:
    """A prefetch remains even if the thread that requested it has ended."""
    me = threading.get_ident()
    number = {"this thread": me, "another thread": me + 1, "nobody": None}[owner]
    gone: list[Any] = []
    turn = SimpleNamespace(
        claim=SimpleNamespace(owner=number, in_flight=in_flight),
        group=SimpleNamespace(give_up=lambda: gone.append(turn)),
    )
    lifetime._end_accesses(SimpleNamespace(table=SimpleNamespace(queue=[turn], holders=[])))
    assert gone == [turn] * ends
