"""Arguments of one call: a part of the pure-Python fallback of the compiled core.

A block that is entered again reuses the storages it found; this module has its fast path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from psyclone_storage.storage.core.twin import Sliceable, begin, end_queued
from psyclone_storage.storage.core.words import WORDS

Callback = TypeVar("Callback", bound=Callable[..., Any])


class BindingBlock:
    """The arguments of one call for the time of a block: the fast paths of entry and exit.

    The subclass has the slow paths, `_enter` and `_leave`.
    """

    __slots__ = (
        "_arguments", "_device", "_writes", "_tokens", "_guests", "_block", "_entry", "_memory",
        "_queue",
    )  # fmt: skip

    _later: ClassVar[bool] = False

    def __init__(self, arguments: Any, device: str | None, writes: Any) -> None:
        """Get ready; nothing is acquired before the block begins."""
        self._arguments = arguments
        self._device = device
        self._writes = writes
        self._tokens: Any = ()
        self._guests: Any = ()
        self._block: Any = None
        self._entry: dict[None, Any] = {}
        self._memory: Any = None
        self._queue: Any = None

    def __enter__(self) -> Any:
        """Acquire all arguments and return their arrays, by name.

        If threads enter concurrently, one succeeds: the first that sets `_entry`, an atomic step.
        """
        tokens: list[Any] = []
        try:
            if self._entry.setdefault(None, tokens) is not tokens:
                self._refuse()
            return self._short(tokens) or self._enter()
        except BaseException:
            if self._entry.get(None) is tokens:
                for token in tokens:
                    token.buffer.table.retract(token)
                self._tokens = ()
                self._entry.clear()
            raise

    def _short(self, tokens: list[Any]) -> Any:
        """Enter through the fast path; return None if it is not possible.

        Different spaces may be two devices; the slow path handles them.
        """
        if self._later:
            self._queue = None if self._memory is None else self._memory.queue
            if self._queue is None:
                return None
        arrays = WORDS.arguments(self._arguments)
        side = None if self._device is None else "later" if self._later else "kernel"
        for name, thing in self._arguments.items():
            mode = WORDS.read_write if name in self._writes else WORDS.read
            array, token = _seen(thing, mode, side)
            if array is None:
                tokens.clear()
                return None
            dict.__setitem__(arrays, name, array)
            tokens.append(token)
        differ = any(token.space is not tokens[0].space for token in tokens)
        if differ or not tokens or not begin(tokens, self._begun):
            tokens.clear()
            return None
        self._tokens = tokens
        return arrays

    def _begun(self, token: Any) -> bool:
        table: Any = token.buffer.table
        if self._later:
            return bool(table.try_begin_queued(token, self._memory, self._queue))
        return bool(table.try_begin(token))

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Touch the written storages and release everything; a failed block touches nothing."""
        try:
            if error is None and self._block is None and not self._guests:
                notes = None if self._queue is None else self._notes()
                for token in self._tokens:
                    if notes is None or not end_queued(token, notes):
                        token.buffer.release(token)
                self._tokens = ()
            else:
                self._leave(kind, error, trace)
        except BaseException:
            self._give_all_back()
            raise
        finally:
            self._entry.clear()

    def _enter(self) -> Any:
        raise NotImplementedError

    def _notes(self) -> tuple[tuple[Any, ...], ...] | None:
        """Return the notes on data that were read, and on data that were written, once for all.

        They are empty if the host knows all work to be complete. None means that this thread's work
        now goes to another queue.
        """
        if not self._is_in_queue():
            return None
        event = self._memory.record()
        if event is None:
            return ()
        return (
            (WORDS.use(self._queue, event, wrote=False, follows=True),),
            (WORDS.use(self._queue, event, wrote=True, follows=True),),
        )

    def start(self, work: Callable[[], Any], uses: tuple[Any, ...]) -> None:
        """Submit work to the device; if it fails, the data that it writes are spoiled."""
        if not self._is_in_queue():
            self._follow(uses)
        self._memory.start(work, uses)

    def _is_in_queue(self) -> bool:
        """Return whether this thread's work goes to the queue that the block found."""
        if self._memory is None:
            raise TypeError("This block asks no device for work.")
        return self._queue is not None and bool(self._memory.queue == self._queue)

    def _follow(self, uses: tuple[Any, ...]) -> None:
        raise NotImplementedError

    def _refuse(self) -> None:
        raise NotImplementedError

    def _give_all_back(self) -> None:
        raise NotImplementedError

    def _leave(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        raise NotImplementedError


def short(careful: Callback) -> Callback:
    """Return the fast path to make a block; `careful` is the slow one."""
    return careful


def _seen(thing: Any, mode: Any, side: str | None) -> tuple[Any, Any]:
    """Return the array that a block gets for a storage, and the access that it needs.

    `side` selects one of the arrays on the device, None the host. Both results are None if the
    storage has not been used in this form before.
    """
    if not isinstance(thing, Sliceable):
        return None, None
    # pylint: disable=protected-access  # the core in C uses the same fields
    backing, windows = thing._backing, thing._windows  # noqa: SLF001
    buffer = None if backing is None else backing.buffer
    if windows is None or buffer is None:
        return None, None
    space = backing.host if side is None else backing.device
    replica = buffer._resident.get(space)  # noqa: SLF001
    if space is None or replica is None or not buffer.single:
        return None, None
    if side is not None:
        array = getattr(windows, side)
    else:
        array = windows.host if mode is WORDS.read_write else windows.reading
    whole = buffer._whole  # noqa: SLF001
    return array, WORDS.token(buffer, replica, (space, whole), mode, WORDS.auto)
