"""Termination signals as exceptions that are raised only where cleanup is guaranteed.

SIGINT, SIGTERM and SIGHUP raise `StoppedError` in the main thread. A `deferred` block raises the
exception at its end. An `ending` block can be interrupted, but its cleanup action cannot.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any, ClassVar

from psyclone_storage.base.records import dataclass

_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)
_OF_PROGRAMS = tuple(
    int(getattr(signal, name))
    for name in (
        *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGXCPU"),
        *("SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGWINCH", "SIGCONT", "SIGTSTP", "SIGIO", "SIGPIPE"),
    )
    if hasattr(signal, name)
)
# The functions in `signal` convert numbers to enumerations, which takes ten times as long.
_NATIVE: Any = import_module("_signal")
_handler_of: Callable[[int], Any] = _NATIVE.getsignal
_set_handler: Callable[[int, Any], Any] = _NATIVE.signal


class StoppedError(KeyboardInterrupt):
    """The process received the termination signal `number`."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@dataclass(slots=True)
class _State:
    """State of signal handling.

    - `is_deferred`: whether signals are deferred.

    - `pending`: the number of the pending signal, or 0.

    - `ends`: whether this process ignores further signals after the first one.
    """

    is_deferred: bool = False
    pending: int = 0
    ends: bool = False

    def receive(self, number: int, _: FrameType | None = None) -> None:
        """Handle a signal."""
        self.pending = number
        self.deliver()

    def deliver(self) -> None:
        """Raise the exception for a pending signal unless signals are deferred."""
        if self.pending and not self.is_deferred:
            number, self.pending = self.pending, 0
            if self.ends:
                signal.signal(number, signal.SIG_IGN)
            raise StoppedError(number)


_STATE = _State()


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise `StoppedError` for signals inside the block, except those that the caller handles.

    A signal that is ignored, as SIGHUP under `nohup`, remains ignored.
    """
    before = {}
    if _is_main_thread():
        before = {one: signal.getsignal(one) for one in _SIGNALS}
    ours = [one for one, handler in before.items() if handler in _DEFAULTS]
    try:
        for one in ours:
            signal.signal(one, _STATE.receive)
        yield
    finally:
        for one in ours:
            signal.signal(one, before[one])


class HeldSignals:
    """A block that handlers of signals, which may raise an exception, cannot interrupt.

    In the main thread, a handler that the program has set runs at the end of the block, once for
    each signal. Signals without such a handler keep their effect.
    """

    __slots__ = ("_before", "_received", "_restarts")

    _innermost: ClassVar[HeldSignals | None] = None

    def __init__(self, restarts: Callable[[int], bool] = lambda _: False) -> None:
        """Start without replaced handlers.

        `restarts` returns whether `signal.siginterrupt(number, False)` was called for a signal.
        Each change of the handler cancels this call, so the block repeats it.
        """
        self._restarts = restarts
        self._received: dict[int, None] = {}
        self._before: list[tuple[int, Any, bool]] = []

    def __enter__(self) -> None:
        """Replace the handlers."""
        if _is_main_thread() and HeldSignals._innermost is None:
            self.hold()

    def __exit__(self, *_: object) -> None:
        """Restore the handlers, and call those of the signals that have arrived."""
        if HeldSignals._innermost is self:
            HeldSignals._innermost = None
        self.restore()

    @classmethod
    @contextmanager
    def released(cls) -> Iterator[None]:
        """Let handlers interrupt this part of a block, such as the run of a compiler."""
        held = cls._innermost if _is_main_thread() else None
        if held is None:
            yield
            return
        held.restore()
        try:
            yield
        finally:
            held.hold()

    def hold(self) -> None:
        """Replace the handlers; one that is not yet replaced may raise an exception."""
        try:
            for number in _OF_PROGRAMS:
                handler = _handler_of(number)
                if callable(handler):
                    restarts = self._restarts(number)
                    self._before.append((number, handler, restarts))
                    _replace_handler(number, self._receive, restarts)
            HeldSignals._innermost = self
        except BaseException:
            HeldSignals._innermost = None
            self.restore()
            raise

    def _receive(self, number: int, _: FrameType | None) -> None:
        self._received[number] = None

    def restore(self) -> None:
        """Restore one handler after the other; each one may raise an exception.

        A handler that the block has replaced itself stays.
        """
        if not self._before:
            return
        number, handler, restarts = self._before.pop()
        try:
            if getattr(_handler_of(number), "__self__", None) is self:
                _replace_handler(number, handler, restarts)
            if number in self._received:
                del self._received[number]
                handler(number, sys._getframe())  # noqa: SLF001  # pylint: disable=protected-access
        finally:
            self.restore()


def _replace_handler(number: int, handler: Any, restarts: bool) -> None:
    """Set the handler of a signal, and whether system calls continue after it."""
    _set_handler(number, handler)
    if restarts:
        signal.siginterrupt(number, False)


def stop_by_parent() -> None:
    """Handle only the first SIGTERM in this child process, which must end after it.

    The parent handles keyboard signals.
    """
    _STATE.ends = True
    for one in _SIGNALS:
        signal.signal(one, _STATE.receive if one == signal.SIGTERM else signal.SIG_IGN)
    if _STATE.pending != signal.SIGTERM:
        _STATE.pending = 0
    _STATE.is_deferred = False
    _STATE.deliver()


@contextmanager
def deferred() -> Iterator[None]:
    """Defer signals to the end of the block; other threads than the main one receive none."""
    if not _is_main_thread():
        yield
        return
    before, _STATE.is_deferred = _STATE.is_deferred, True
    try:
        yield
    finally:
        _STATE.is_deferred = before
        _STATE.deliver()


@contextmanager
def ending(action: Callable[[], object]) -> Iterator[None]:
    """Run `action` at the end of the block, even after an exception.

    Signals are raised inside the block, even within a `deferred` block.
    """
    with deferred():
        try:
            with interruptible():
                yield
        finally:
            action()


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise signals inside the block, which is within a `deferred` block."""
    if not _is_main_thread():
        yield
        return
    before, _STATE.is_deferred = _STATE.is_deferred, False
    try:
        _STATE.deliver()
        yield
    finally:
        _STATE.is_deferred = before


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
