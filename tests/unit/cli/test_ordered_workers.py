"""Numbers are assigned in the order of the files, whichever worker is faster."""

from __future__ import annotations

import multiprocessing
import time

from psyclone_storage.cli.ordered_workers import Turns


def wait_and_tell(turns: Turns, place: int, told: object) -> None:
    """Be the slower the earlier it is."""
    time.sleep((4 - place) * 0.05)
    turns.of(place)()
    told.put(place)  # type: ignore[attr-defined]
    turns.finish(place)


def test_the_order_is_kept_between_processes() -> None:
    context = multiprocessing.get_context("fork")
    told, turns = context.SimpleQueue(), Turns(4)  # what is put is there when `put` returns
    processes = [
        context.Process(target=wait_and_tell, args=(turns, place, told)) for place in range(4)
    ]
    for process in processes:
        process.start()
    assert [told.get() for _ in processes] == [0, 1, 2, 3]
    for process in processes:
        process.join()


def test_the_first_does_not_block() -> None:
    Turns(1).of(0)()
