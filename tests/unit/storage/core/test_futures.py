"""Tests that each callback of a future is called once, despite failures and interrupts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from psyclone_storage.storage.core.acquire import PendingAccesses
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.errors import AccessReleasedError
from psyclone_storage.storage.core.futures import Future, all_of
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.waiting import Waiters
from psyclone_storage.storage.memory.stream import Stream
from storage_threads import PATIENCE, wait_until


def in_thread(work: Callable[[], Any]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def ended(thread: threading.Thread) -> None:
    thread.join(PATIENCE)
    assert not thread.is_alive()


def stopping(called: list[str], name: str) -> tuple[Callable[[Any], None], Any, Any]:
    """Return a blocking callback, the event that it sets at its start, and one to continue it."""
    is_there, goes_on = threading.Event(), threading.Event()

    def callback(_: Any) -> None:
        called.append(name)
        is_there.set()
        assert goes_on.wait(PATIENCE)

    return callback, is_there, goes_on


@pytest.mark.parametrize("error", [None, OSError("the work failed")])
def test_what_fails_is_called_once_and_keeps_nobody_from_being_told(error: Any) -> None:
    future: Future[int] = Future()
    called: list[str] = []

    def fails(name: str) -> Callable[[Any], None]:
        def callback(_: Any) -> None:
            called.append(name)
            raise ValueError(name)

        return callback

    future.then(fails("first"))
    future.then(lambda _: called.append("second"))
    future.then(fails("third"))
    future.then(lambda _: called.append("fourth"))
    with pytest.raises(ValueError, match="first"):
        future.set_result(1) if error is None else future.set_exception(error)
    assert called == ["first", "second", "third", "fourth"]
    assert future.exception() is error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_interrupted_is_called_once_more(kind: type[BaseException]) -> None:
    future: Future[int] = Future()
    called: list[str] = []

    def interrupted(_: Any) -> None:
        called.append("interrupted")
        if called.count("interrupted") == 1:
            raise kind

    future.then(lambda _: called.append("before"))
    future.then(interrupted)
    future.then(lambda _: called.append("behind"))
    with pytest.raises(kind):
        future.set_result(1)
    assert called == ["before", "interrupted", "interrupted", "behind"]


def test_what_is_interrupted_always_keeps_nobody_from_being_told() -> None:
    future: Future[int] = Future()
    called: list[str] = []

    def leave(_: Any) -> None:
        called.append("leaves")
        raise SystemExit

    future.then(leave)
    future.then(lambda _: called.append("behind"))
    with pytest.raises(SystemExit):
        future.set_result(1)
    assert called == ["leaves", "leaves", "behind"]


def test_the_second_who_ends_a_promise_changes_nothing() -> None:
    future: Future[int] = Future()
    called: list[str] = []
    callback, is_there, goes_on = stopping(called, "first")
    future.then(callback)
    future.then(lambda done: called.append(f"second: {done.result()}"))
    first = in_thread(lambda: future.set_result(1))
    assert is_there.wait(PATIENCE)
    future.set_result(2)
    future.set_exception(OSError("too late"))
    assert called == ["first"]
    goes_on.set()
    ended(first)
    assert called == ["first", "second: 1"]
    assert future.result() == 1
    born = Future.completed(1)
    born.set_result(2)
    assert born.result() == 1


@pytest.mark.parametrize("slow", [0, 1])
def test_parts_that_end_together_end_the_whole_once(slow: int) -> None:
    parts: list[Future[None]] = [Future(), Future()]
    called: list[str] = []
    held, is_there, goes_on = stopping(called, "of a part")
    parts[slow].then(held)
    whole = all_of(parts)
    work, is_at_work, ends = stopping(called, "of the whole")
    whole.then(work)
    whole.then(lambda _: called.append("behind"))
    # One part has completed, but not yet called back, when the other part completes.
    one = in_thread(lambda: parts[slow].set_result(None))
    assert is_there.wait(PATIENCE)
    other = in_thread(lambda: parts[1 - slow].set_result(None))
    assert is_at_work.wait(PATIENCE)
    goes_on.set()
    ended(one)
    assert called == ["of a part", "of the whole"]
    ends.set()
    ended(other)
    assert called == ["of a part", "of the whole", "behind"]


def test_an_interrupt_of_who_ends_a_part_ends_the_whole() -> None:
    parts: list[Future[None]] = [Future(), Future()]
    called: list[str] = []

    def interrupted(_: Any) -> None:
        called.append("interrupted")
        if len(called) == 1:
            raise KeyboardInterrupt

    whole = all_of(parts)
    whole.then(interrupted)
    whole.then(lambda _: called.append("behind"))
    parts[0].set_result(None)
    with pytest.raises(KeyboardInterrupt):
        parts[1].set_result(None)
    assert called == ["interrupted", "interrupted", "behind"]


def test_who_waits_goes_on_after_a_callback_failed() -> None:
    future: Future[int] = Future()
    got: list[int] = []
    waiting = in_thread(lambda: got.append(future.result(PATIENCE)))
    wait_until(lambda: future._waiters is not None and future._waiters._locks)
    future.then(lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        future.set_result(1)
    ended(waiting)
    assert got == [1]


def test_a_function_that_fails_breaks_the_promise_of_its_value() -> None:
    future: Future[int] = Future()
    mapped = future.map(lambda value: value // 0)
    future.set_result(1)
    with pytest.raises(ZeroDivisionError):
        mapped.result(0)


def test_a_worker_goes_on_after_a_callback_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, told = Stream("a stream"), []
    monkeypatch.setattr(threading, "excepthook", lambda args: told.append(args.exc_type))
    goes_on = threading.Event()
    first = stream.submit(goes_on.wait, PATIENCE)
    first.then(lambda _: 1 / 0)
    goes_on.set()
    assert stream.submit(lambda: 2).result(PATIENCE) == 2
    assert told == [ZeroDivisionError]


def test_an_interrupt_of_who_wakes_loses_nobody_who_waits() -> None:
    class Interrupted:
        """A lock whose first release raises `KeyboardInterrupt`."""

        calls = 0

        def release(self) -> None:
            self.calls += 1
            if self.calls == 1:
                raise KeyboardInterrupt

    waiters, lock = Waiters(), Interrupted()
    waiters._locks.append(lock)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        waiters.wake()
    waiters.wake()
    assert lock.calls == 2
    assert not waiters._locks


def test_who_waits_in_vain_leaves_nothing() -> None:
    waiters = Waiters()
    for _ in range(3):
        assert not waiters.wait(lambda: False, 0.0)
    assert not waiters._locks


def test_an_access_that_cannot_be_closed_keeps_no_other_open() -> None:
    buffers = [CoherentBuffer(4, "f8", BufferOptions(init=0.0)) for _ in range(2)]
    tokens = [buffer.token("host", AccessMode.READ, Policy.WAIT) for buffer in buffers]
    opening = PendingAccesses(tokens)
    opening.begin()
    opening.ready.result(PATIENCE)
    asked: list[Any] = []

    def failure_of(token: Any) -> None:
        asked.append(token)
        if token is tokens[0]:
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        opening.close(failure_of, AccessReleasedError("unopened"))
    assert asked == tokens
    assert not tokens[1].active
    tokens[0].release()
