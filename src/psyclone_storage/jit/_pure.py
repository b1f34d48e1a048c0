"""What an invoke was given when it last ran: the twin in Python of `_compiled.c`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psyclone_storage.jit.types import TracedCall, TracingRequest

EDITION = 2
"""The edition of what is compiled that fits to this file."""


class LastCall:
    """What an invoke was given, and the positions, in `order`, of what its routine takes of it.

    `ways` say for each value what has to be the same beside its type: None for a number, a tuple of
    what is in a list or a tuple, or else the object. Of these it keeps the identities alone: it is
    to be dropped when one of them goes. Numbers that are `written` into the code, by position, are
    those, and what is at two `equal` positions is one number: `holds` says so where they are other
    objects. `looks` are ways to look, at what, and what was found.
    """

    __slots__ = ("_asked", "_constants", "_equal", "_holds", "_ids", "_kernels", "_kinds", "_label",
                 "_lengths", "_looks", "_order")  # fmt: skip

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        asked: TracingRequest,
        label: str,
        calls: tuple[TracedCall, ...],
        ways: tuple[Any, ...],
        order: tuple[int, ...],
        written: tuple[tuple[int, Any], ...],
        equal: tuple[tuple[int, int], ...],
        holds: Callable[[Sequence[Any]], bool],
        looks: tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]],
    ) -> None:
        """Take all of it; the types of values are those of what the calls are given.

        Raises:
            ValueError: there are not as many `ways` as values.
        """
        values = [*chain.from_iterable(one.args for one in calls)]
        self._asked: TracingRequest | None = asked
        self._label, self._order = label, order
        self._kernels = [(type(one), one.kernel, len(one.args)) for one in calls]
        self._kinds = [*map(type, values)]
        self._ids = [(at, _identity(one, how)) for at, (one, how)
                     in enumerate(zip(values, ways, strict=True)) if how is not None]  # fmt: skip
        self._constants, self._equal = written, equal
        self._holds, self._looks = holds, looks

    def taken(
        self, asked: TracingRequest, label: str, calls: tuple[TracedCall, ...]
    ) -> tuple[Any, ...] | None:
        """Return what the routine takes of calls that are for the same as these were; else None."""
        if (
            self._asked is not asked
            or self._label != label
            or self._kernels != [(type(one), one.kernel, len(one.args)) for one in calls]
        ):
            return None
        values = [*chain.from_iterable(one.args for one in calls)]
        if self._kinds != [*map(type, values)]:
            return None
        for place, one in self._ids:
            value = values[place]
            if one != ([*map(id, value)] if isinstance(one, list) else id(value)):
                return None
        if (self._constants or self._equal) and not self._holds(values):
            return None
        ways, at, found = self._looks
        for way, seen, before in zip(ways, at, found, strict=True):
            if way(seen) is not before:
                return None
        return tuple([values[at] for at in self._order])

    def forget(self) -> None:
        """Say of no call from now on that it is for the same."""
        self._asked = None


def again(
    table: dict[tuple[int, int], tuple[Any, ...]],
    frame: FrameType,
    asked: TracingRequest,
    label: str,
    calls: tuple[TracedCall, ...],
) -> tuple[Any, tuple[Any, ...]] | None:
    """Return the kept call of a place that is for the same, and what its routine takes.

    `table` has by code and instruction what is kept: tuples, whose first item is a `LastCall`.
    """
    for known in table.get((id(frame.f_code), frame.f_lasti), ()):
        taken = known[0].taken(asked, label, calls)
        if taken is not None:
            return known, taken
    return None


def _identity(value: Any, how: Any) -> Any:
    """Return what is compared: an identity, or a list of those in a sequence."""
    if isinstance(how, tuple):
        return [*map(id, value)]
    return id(value)
