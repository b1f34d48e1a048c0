"""Tests of interrupts (Ctrl-C) between any two steps: no lock and no access remains held.

The tracer of `interrupts` raises `KeyboardInterrupt` where CPython handles signals: after calls, at
the start of functions and at the end of loop iterations, one run for each place.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import psyclone_storage.storage as gt
from interrupts import traced
from psyclone_storage.storage.accessors import DeviceAccessor, HostAccessor
from psyclone_storage.storage.accessors.tasks import GpuTask
from psyclone_storage.storage.core import replicas
from psyclone_storage.storage.core.acquire import PendingAccesses
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import ChunkLayout
from psyclone_storage.storage.core.errors import AccessReleasedError
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.gdp.binding import Binding
from psyclone_storage.storage.memory.registry import memory_of
from storage_threads import PATIENCE

READ, RDWR, WRONLY = AccessMode.READ, AccessMode.READ_WRITE, AccessMode.WRITE_ONLY
ROUNDS = 30

pytestmark = [
    pytest.mark.usefixtures("_emulated"),
    pytest.mark.skipif(sys.version_info[:2] not in ((3, 11), (3, 12)), reason="other opcodes"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

Scenario = Callable[[], tuple[list[CoherentBuffer], Callable[[], Any]]]


def all_can_go_on(buffers: list[CoherentBuffer]) -> bool:
    """Return whether another thread can use the buffers in all access modes."""
    done = []

    def use() -> None:
        for buffer in buffers:
            for space in ("gpu", "host"):
                for mode in (WRONLY, READ, RDWR):
                    with buffer.acquire(space, mode, Policy.WAIT):
                        pass
            buffer.wait()
        done.append(True)

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    thread.join(60)
    return bool(done)


def filled(**words: Any) -> CoherentBuffer:
    buffer = CoherentBuffer(16, "f8", BufferOptions(init=3.0, **words))
    buffer.make_valid("host")
    return buffer


def used(buffer: CoherentBuffer, space: str, mode: AccessMode) -> Callable[[], None]:
    def work() -> None:
        with buffer.acquire(space, mode) as token:
            token.array  # noqa: B018

    return work


def a_read_that_copies() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled()
    return [buffer], used(buffer, "gpu", READ)


def a_write_that_copies() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled()
    return [buffer], used(buffer, "gpu", RDWR)


def a_write_that_ends_a_replica() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled()
    buffer.make_valid("gpu")
    return [buffer], used(buffer, "host", RDWR)


def a_prefetch() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled()
    return [buffer], lambda: buffer.prefetch("gpu").result()


def a_wish() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled(hints=Hints(read_mostly=True))
    buffer.make_valid("gpu")
    return [buffer], used(buffer, "host", RDWR)


def a_block(device: str | None = "gpu") -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    a, b = gt.zeros((4,), device="gpu"), gt.zeros((4,), device="gpu")
    block = gt.bound({"a": a, "b": b}, device=device, writes=("b",))

    def work() -> None:
        with block as arrays:
            arrays["b"][...] = 1.0

    return [a.buffer, b.buffer], work


def a_block_again() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffers, work = a_block(None)
    work()
    return buffers, work


def a_block_of_one_side() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    a = gt.zeros((4,), device="gpu")

    def work() -> None:
        with a.access("gpu", mode="rw"):
            pass

    return [a.buffer], work


def an_assignment() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    a = gt.zeros((4,), device="gpu")
    return [a.buffer], lambda: a.__setitem__(..., 3.0)


def an_accessor(mode: AccessMode = RDWR) -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled()

    def work() -> None:
        with DeviceAccessor(buffer, "gpu", mode=mode) as accessor:
            accessor.array  # noqa: B018

    return [buffer], work


def an_accessor_that_gives_values_up() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    return an_accessor(WRONLY)


def an_accessor_that_is_dropped() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    """Open and close an accessor; after an interrupt, no reference to the accessor remains."""
    buffer = filled()

    def work() -> None:
        accessor = DeviceAccessor(buffer, "gpu")
        accessor.open().result()
        accessor.close().result()

    return [buffer], work


def an_accessor_that_is_kept() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    """Open and close an accessor; after an interrupt, its owner closes it, as the manual says."""
    buffer = filled(hints=Hints(read_mostly=True))
    buffer.make_valid("gpu")
    accessor = DeviceAccessor(buffer, "host")

    def work() -> None:
        try:
            accessor.open().result()
            accessor.close().result()
        except KeyboardInterrupt:
            KEPT.append(accessor)
            with contextlib.suppress(AccessReleasedError):
                accessor.close()
            raise

    return [buffer], work


def an_accessor_that_waits_in_line() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    """Request a second access while the first one is open, then close both."""
    buffer = filled()

    def work() -> None:
        with DeviceAccessor(buffer, "gpu") as first:
            second = DeviceAccessor(buffer, "host", const=True)
            opened = second.open()
            first.close()
            opened.result()
            second.close().result()

    return [buffer], work


def an_accessor_of_a_task() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled()

    def work() -> None:
        accessor = DeviceAccessor(buffer, "gpu")
        accessor.open().result()
        done: Future[None] = Future()
        accessor.close_after(done)
        done.set_result(None)

    return [buffer], work


def a_task() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    a, b = filled(), filled()

    def work() -> None:
        task = GpuTask("task")
        task.register(a, None, "RDONLY")
        task.register(b, None, "RDWR")
        task.run(lambda *_: None)

    return [a, b], work


def a_use_on_the_host() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled()
    buffer.touch("gpu")
    accessor = HostAccessor(buffer)

    def work() -> None:
        accessor[3] = accessor[2]

    return [buffer], work


def a_change_of_size() -> tuple[list[CoherentBuffer], Callable[[], Any]]:
    buffer = filled()

    def work() -> None:
        try:
            buffer.resize(2 * buffer.size)
        except BaseException:
            # The handler of the interrupt may use the buffer.
            assert buffer.table.lock.acquire(blocking=False)
            buffer.table.lock.release()
            raise

    return [buffer], work


KEPT: list[DeviceAccessor] = []

SCENARIOS: list[Scenario] = [
    an_accessor,
    an_accessor_that_gives_values_up,
    an_accessor_that_is_dropped,
    an_accessor_that_is_kept,
    an_accessor_that_waits_in_line,
    an_accessor_of_a_task,
    a_task,
    a_use_on_the_host,
    a_change_of_size,
    a_read_that_copies,
    a_write_that_copies,
    a_write_that_ends_a_replica,
    a_prefetch,
    a_wish,
    a_block,
    a_block_again,
    a_block_of_one_side,
    an_assignment,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_an_interrupt_leaves_nothing_behind(scenario: Scenario) -> None:
    _, work = scenario()
    number = traced(work, sys.maxsize)[1]
    for at in range(1, number + 1, max(1, number // ROUNDS)):
        buffers, work = scenario()
        traced(work, at)
        # If `__exit__` did not start, the block remains entered until it is destroyed.
        del work
        assert all_can_go_on(buffers), at
        for buffer in buffers:
            assert not buffer.table.holders, at
            assert not buffer.table.queue, at
            assert buffer.table.writers == 0, at


def test_an_access_that_nobody_has_any_more_ends() -> None:
    buffer = filled()
    buffer.acquire("host", READ)
    assert len(buffer.table.holders) == 1
    assert all_can_go_on([buffer])
    kept = buffer.acquire("host", READ)
    with buffer.acquire("gpu", READ):
        assert buffer.table.holders[0] is kept
    kept.release()


def test_a_second_interrupt_while_waiting_for_transfers_leaves_no_access_pending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = CoherentBuffer(4, "f8", BufferOptions())
    with buffer.acquire("host", WRONLY) as token:
        token.array[...] = 1.0
    submit = replicas.Replicas._submit

    def submit_and_interrupt(*args: Any) -> None:
        submit(*args)
        raise KeyboardInterrupt

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(replicas.Replicas, "_submit", submit_and_interrupt)
        patched.setattr(replicas, "wait_for_streams", interrupt)
        with pytest.raises(KeyboardInterrupt):
            buffer.prefetch("gpu").result()
    with buffer.acquire("gpu", READ) as token:
        assert token.array.get().tolist() == [1.0] * 4


def _busy_device() -> threading.Event:
    """Block the device until the returned event is set, so that transfers remain pending."""
    event = threading.Event()
    memory_of(memory_space("gpu")).stream.submit(lambda: event.wait(PATIENCE))
    return event


def test_an_access_that_is_taken_back_during_its_transfer_makes_nothing_invalid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = filled(chunks=ChunkLayout((0, 3, 16)))
    event = _busy_device()
    pending = buffer.ask("gpu", WRONLY, AccessRequest(region=(1, 16)))
    bring = PendingAccesses._bring

    def interrupted_bring(self: PendingAccesses) -> None:
        bring(self)
        if not self.ready.done():
            monkeypatch.undo()
            raise KeyboardInterrupt

    monkeypatch.setattr(PendingAccesses, "_bring", interrupted_bring)
    with pytest.raises(KeyboardInterrupt):
        pending.begun()
    event.set()
    assert isinstance(pending.ready.exception(PATIENCE), AccessReleasedError)
    with buffer.acquire("host", READ) as token:
        assert token.array.tolist() == [3.0] * 16


@pytest.mark.parametrize("mode", [READ, RDWR])
def test_a_write_waits_for_an_accessor_that_was_closed_before_it_was_open(mode: AccessMode) -> None:
    buffer = filled()
    event = _busy_device()
    accessor = DeviceAccessor(buffer, "gpu", mode=mode)
    accessor.open()
    accessor.close()
    threading.Timer(0.05, event.set).start()
    with buffer.acquire("host", WRONLY, Policy.WAIT) as token:
        token.array[...] = 7.0
    with buffer.acquire("host", READ) as token:
        assert token.array.tolist() == [7.0] * 16


def test_an_access_granted_in_line_ends_when_nobody_has_it_any_more() -> None:
    buffer = filled()
    held = buffer.acquire("host", READ)
    buffer.acquire("host", RDWR)  # not referenced, as after an interrupt
    held.release()
    gc.collect()
    with buffer.acquire("gpu", WRONLY) as token:
        assert token.active


def test_a_failed_block_poisons_what_it_wrote_even_if_its_end_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    array = gt.ones((4,), device="gpu")

    def interrupted_leave(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Binding, "_leave", interrupted_leave)

    def block() -> None:
        with gt.bound({"a": array}, writes=("a",)) as arrays:
            arrays["a"][:2] = 9.0
            raise ValueError("half written")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert str(array.buffer.poisoned) == "half written"
