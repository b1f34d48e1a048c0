"""Fast path of invokes: the Python fallback of `_compiled.c`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psyclone_storage.jit.types import JitOptions, LiveCall

EDITION = 7
"""The edition of the C extension that matches this file."""


CallTable = dict[int, dict[Hashable, tuple[Any, ...]]]
"""Cache entries by the identity of the code, and the instruction or those of merged invokes."""


class CachedCall:
    """Arguments of an invoke call, stored for comparison with later calls.

    - `identities`: for each value the object that it must be identical to, in addition to its type.
      It equals None for a number and a tuple of the items for a list or tuple. Only `id()` values
      are stored. The owner drops the call when one of the objects is collected.

    - `order`: the positions of the arguments that the routine takes.

    - `constants`: numbers in the compiled code, by position.

    - `equal`: pairs of positions with the same number. `fits` compares them and the constants.

    - `lookups`: getters, their owners, and the values that they returned.
    """

    __slots__ = ("_constants", "_equal", "_fits", "_ids", "_kernels", "_label", "_lengths",
                 "_lookups", "_options", "_order", "_types")  # fmt: skip

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        options: JitOptions,
        label: str,
        calls: tuple[LiveCall, ...],
        identities: tuple[Any, ...],
        order: tuple[int, ...],
        constants: tuple[tuple[int, Any], ...],
        equal: tuple[tuple[int, int], ...],
        fits: Callable[[Sequence[Any]], bool],
        lookups: tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]],
    ) -> None:
        """Store the types and identities of the values in `calls`.

        Raises:
            ValueError: the numbers of `identities` and values differ.
        """
        values = [*chain.from_iterable(one.args for one in calls)]
        self._options: JitOptions | None = options
        self._label, self._order = label, order
        self._kernels = [(type(one), one.kernel, len(one.args)) for one in calls]
        self._types = [*map(type, values)]
        self._ids = [(at, _id_of(one, must_be)) for at, (one, must_be)
                     in enumerate(zip(values, identities, strict=True))
                     if must_be is not None]  # fmt: skip
        self._constants, self._equal = constants, equal
        self._fits, self._lookups = fits, lookups

    def match(
        self, options: JitOptions, label: str, calls: tuple[LiveCall, ...]
    ) -> tuple[Any, ...] | None:
        """Return the arguments of the routine if `calls` match the stored ones, else None."""
        if (
            self._options is not options
            or self._label != label
            or self._kernels != [(type(one), one.kernel, len(one.args)) for one in calls]
        ):
            return None
        values = [*chain.from_iterable(one.args for one in calls)]
        if self._types != [*map(type, values)]:
            return None
        for place, one in self._ids:
            value = values[place]
            if one != ([*map(id, value)] if isinstance(one, list) else id(value)):
                return None
        if (self._constants or self._equal) and not self._fits(values):
            return None
        return tuple([values[at] for at in self._order]) if self.is_current() else None

    def is_current(self) -> bool:
        """Return whether each lookup finds the same object as before."""
        return all(
            getter(owner) is before for getter, owner, before in zip(*self._lookups, strict=True)
        )

    def forget(self) -> None:
        """Invalidate this entry, so that it matches no call."""
        self._options = None


def find_call(
    table: CallTable,
    frame: FrameType,
    options: JitOptions,
    label: str,
    calls: tuple[LiveCall, ...],
) -> tuple[Any, tuple[Any, ...]] | None:
    """Return the matching cache entry for a call site, and the arguments of its routine.

    The first item of an entry is a `CachedCall`.
    """
    for entry in table.get(id(frame.f_code), {}).get(frame.f_lasti, ()):
        data = entry[0].match(options, label, calls)
        if data is not None:
            return entry, data
    return None


def _id_of(value: Any, must_be: Any) -> Any:
    """Return the `id()` to compare, or a list of the `id()` values of a sequence's items."""
    if isinstance(must_be, tuple):
        return [*map(id, value)]
    return id(value)


def quick_invoke(
    run: Callable[..., None], _fail: Callable[..., None], _program: object, _api: str
) -> Callable[..., None]:
    """Return the callable that runs cached calls, and passes other calls to `run`.

    In C, it reads the table and the options of the runner of the API in `program.runners`, and
    passes an error of a routine to `fail`. Here, it is `run`.
    """
    return run


def restarts_calls(_number: int) -> bool:
    """Return whether system calls continue after the handler of a signal; here always false."""
    return False


class Pending:
    """The queue of deferred invokes, and its state.

    A record consists of an invoke, its arguments, and the variables that its kernels read. The
    state is a node, which represents the sequence of the pending invokes, and an epoch. A thread
    reads the state, prepares a record, and appends it if the state is the same. There is no node
    while the queue is closed: in a `with` block, one thread runs the invokes. It holds a lock of
    the owner. After an error that leaves other records, the queue stays closed until it is empty.
    """

    __slots__ = ("_before", "_epoch", "_frame", "_lock", "_node", "_root", "records")

    def __init__(self, root: dict[Any, Any]) -> None:
        """Start without records, in the state `root`."""
        self.records: list[tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = []
        self._node: dict[Any, Any] | None = root
        self._root, self._epoch = root, 0
        self._before: tuple[dict[Any, Any] | None, int] = None, 0
        self._frame: FrameType | None = None
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self.records)

    def state(self) -> tuple[Any, int]:
        """Return the node and the epoch."""
        return self._node, self._epoch

    def append(
        self, node: Any, epoch: int, following: Any, record: tuple[Any, tuple[Any, ...], Any]
    ) -> bool:
        """Append a record, which leads to the node `following`, if the state is that given."""
        with self._lock:
            if self._node is not node or self._epoch != epoch:
                return False
            # After an interrupt here, the queue is closed.
            self._node = None
            if node is None:  # a running invoke adds it: the records are not those of the start
                self._before = None, -1
            self.records.append(record)
            self._node = following
            return True

    def open(self, root: dict[Any, Any]) -> None:
        """Continue in the state `root` if the queue is closed and there are no records."""
        self._root = root
        if self._node is None and not self.is_running() and not self.records:
            self._node = root

    def __enter__(self) -> Any:
        """Close the queue, and return the node: from now on, no other thread appends."""
        with self._lock:
            node, self._node = self._node, None
            self._before = node, len(self.records)
            self._epoch += 1
            self._frame = sys._getframe(1)  # noqa: SLF001  # pylint: disable=protected-access
            return node

    def __exit__(self, *_: object) -> None:
        """Open the queue if there are no records, or if they are those of the beginning."""
        self._frame = None
        node, count = self._before
        self._before = None, 0
        self._node = node if len(self.records) == count else None
        self.open(self._root)

    def is_running(self) -> bool:
        """Return whether this thread is in the `with` block.

        The frame of the block is compared, because an interrupt may prevent `__exit__`.
        """
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  # pylint: disable=protected-access
        while frame is not None and frame is not self._frame:
            frame = frame.f_back
        return frame is not None

    def values(self, count: int) -> list[Any]:
        """Return the arguments of the first records in a list."""
        return [*chain.from_iterable([one[1] for one in self.records[:count]])]

    def finish(self, values: Sequence[Any], positions: Sequence[int], count: int) -> bool:
        """Remove all records if their number is `count`; then no data at `positions` wait."""
        if len(self.records) != count:
            return False
        self.records.clear()
        for at in positions:
            values[at].waiting = None
        return True


def deferral(
    _pending: Pending,
    invoke: Any,
    _positions: tuple[tuple[int, ...], tuple[int, ...]],
    _queue: Any,
    _begin: Callable[[], None],
    _read: Callable[[], tuple[Any, ...]] | None,
    add: Callable[..., None],
) -> Callable[..., None]:
    """Return the function that adds an invoke with its arguments to the queue.

    In C, it does so itself if the node of the queue contains the invoke: it calls `begin` if there
    are no records, reads variables of modules by `read`, and sets `waiting` of some values to
    `queue`. Otherwise, or if an integer has more than 32 bits, and here, it calls
    `add(invoke, arguments)`. `positions` are those of these values and of the integers.
    """

    def deferred(*values: Any) -> None:
        add(invoke, values)

    return deferred
