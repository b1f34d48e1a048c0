"""Comparison of invoke calls: the Python fallback of `_compiled.c`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psyclone_storage.jit.types import JitOptions, LiveCall

EDITION = 3
"""The edition of the C extension that matches this file."""


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
        for getter, owner, before in zip(*self._lookups, strict=True):
            if getter(owner) is not before:
                return None
        return tuple([values[at] for at in self._order])

    def forget(self) -> None:
        """Invalidate this entry, so that it matches no call."""
        self._options = None


def find_call(
    table: dict[tuple[int, Hashable], tuple[Any, ...]],
    frame: FrameType,
    options: JitOptions,
    label: str,
    calls: tuple[LiveCall, ...],
) -> tuple[Any, tuple[Any, ...]] | None:
    """Return the matching cache entry for a call site, and the arguments of its routine.

    `table` maps code and instruction to tuples whose first item is a `CachedCall`.
    """
    for entry in table.get((id(frame.f_code), frame.f_lasti), ()):
        data = entry[0].match(options, label, calls)
        if data is not None:
            return entry, data
    return None


def _id_of(value: Any, must_be: Any) -> Any:
    """Return the `id()` to compare, or a list of the `id()` values of a sequence's items."""
    if isinstance(must_be, tuple):
        return [*map(id, value)]
    return id(value)
