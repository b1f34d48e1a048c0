"""Tests of the in-order queue of an emulated device."""

from __future__ import annotations

import threading

from psyclone_storage.storage.memory.stream import Stream
from storage_threads import PATIENCE, Worker


def test_post_does_not_wait_for_a_busy_worker() -> None:
    stream, busy, gate = Stream("test"), threading.Event(), threading.Event()
    seen: list[str] = []

    def first() -> None:
        busy.set()
        gate.wait(PATIENCE)
        seen.append("first")

    stream.submit(first)
    assert busy.wait(PATIENCE)
    Worker()(stream.submit, seen.append, "second")
    assert seen == []
    gate.set()
    stream.synchronize()
    assert seen == ["first", "second"]
