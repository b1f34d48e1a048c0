"""Processes that work on many things: order, what they keep, and what becomes of dead ones."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.cli.workers import Workers


def slow_first(number: int) -> tuple[int, int]:
    time.sleep(0.2 if number == 0 else 0.01)
    return number, os.getpid()


def counting() -> Callable[[int], int]:
    seen: list[int] = []

    def count(number: int) -> int:
        seen.append(number)
        return len(seen)

    return count


def dies(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def first_fails(workers: Workers[int, tuple[int, int]]) -> None:
    with workers:
        for number, _ in workers.each(range(50)):
            assert 1 // number


def test_results_come_in_order_and_whoever_is_free_works() -> None:
    with Workers(slow_first, 2) as workers:
        found = list(workers.each(range(10)))
    assert [number for number, _ in found] == list(range(10))
    processes = {process for _, process in found}
    assert len(processes) == 2
    assert os.getpid() not in processes
    assert len({process for number, process in found if number in (1, 2, 3, 4)}) == 1


def test_a_process_keeps_what_it_has() -> None:
    with Workers(counting(), 1) as workers:
        assert list(workers.each([5, 6, 7])) == [1, 2, 3]


def test_a_dead_process_is_a_defect_and_not_a_wait_for_ever() -> None:
    with pytest.raises(InternalError, match="'2' has died"), Workers(dies, 2) as workers:
        list(workers.each(range(8)))


def test_who_stops_in_the_middle_leaves_no_process() -> None:
    workers = Workers(slow_first, 3)
    with pytest.raises(ZeroDivisionError):
        first_fails(workers)
    assert [one for one, _ in workers._processes if one.is_alive()] == []
