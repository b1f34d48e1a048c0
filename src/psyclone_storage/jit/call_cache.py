"""What invokes of a program were given when they last ran: most are given the same again.

Owns which calls are kept at a place, and for how long. What is compared is in `twin.py`, and in C
in `_compiled.c`. Of each place a few are kept, as fields of two or three steps may take turns.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from psyclone_storage.base.cores import is_compiled
from psyclone_storage.frontend.python.surroundings import Looks
from psyclone_storage.jit._pure import EDITION
from psyclone_storage.jit.types import (
    Compiled,
    PassedAs,
    TracedCall,
    TracingRequest,
    passed_as,
)

COMPILED = is_compiled(f"{__name__.rpartition('.')[0]}._compiled", EDITION)
"""Whether calls are compared by what is compiled."""

if TYPE_CHECKING or not COMPILED:
    from psyclone_storage.jit._pure import LastCall, again
else:
    from psyclone_storage.jit._compiled import LastCall, again

_MOST = 4
"""So many calls are kept of a place."""


class KnownCall(NamedTuple):
    """A call that was made: what says whether another is for the same, and what it became.

    It is forgotten when one of its objects goes, which is `watched`: what is at its place then may
    have values of another type.
    """

    last: LastCall
    compiled: Compiled
    watched: list[weakref.ref[Any]]


def finder() -> Callable[..., tuple[KnownCall, tuple[Any, ...]] | None]:
    """Return what finds, by frame, request, label and calls, a call for the same, and its data."""
    return partial(again, _last_calls())


def forget_last_calls(frame: FrameType) -> None:
    """Forget the calls that were made where a frame is."""
    _last_calls().pop((id(frame.f_code), frame.f_lasti), None)


def keep_last(
    frame: FrameType,
    about: tuple[tuple[TracedCall, ...], str, TracingRequest],
    compiled: Compiled,
    looks: Looks,
) -> None:
    """Keep what an invoke was given, and what was looked at to read its kernels.

    The code of the place is kept alive by what was compiled, so that its identity stays its own.
    """
    calls, label, asked = about
    values = [*chain.from_iterable(call.args for call in calls)]
    ways = tuple([_what_counts(value) for value in values])
    if any(how is _NOTHING for how in ways):
        return
    looked = tuple(looks.ways), tuple(looks.at), tuple(looks.found)
    made = LastCall(asked, label, calls, ways, compiled.order, compiled.written, compiled.equal,
                    compiled.holds, looked)  # fmt: skip
    place = id(frame.f_code), frame.f_lasti
    known = KnownCall(made, compiled, [])
    objects = chain.from_iterable(how if isinstance(how, tuple) else (how,) for how in ways)
    known.watched.extend(_watched(place, known, objects))
    _last_calls()[place] = (known, *_last_calls().get(place, ())[: _MOST - 1])


_NOTHING = object()
"""What stands for values that are not compared."""


def _what_counts(value: Any) -> Any:
    """Return what has to be the same of a value beside its type: see `LastCall`."""
    how = passed_as(value.__class__)
    if how is PassedAs.NUMBER:
        return None
    if how is PassedAs.OBJECT:
        return _NOTHING if isinstance(value, tuple) else value
    if value.__class__ not in (list, tuple) or any(
        passed_as(one.__class__) is not PassedAs.OBJECT for one in value
    ):
        return _NOTHING
    return tuple(value)


def _watched(
    place: tuple[int, int], known: KnownCall, objects: Iterable[Any]
) -> list[weakref.ref[Any]]:
    """Return what forgets a call of a place when one of some objects goes."""
    last = known.last

    def forget(_gone: Any) -> None:
        # Whoever notes another call meanwhile may put this one back into the table.
        last.forget()
        left = tuple(one for one in _last_calls().get(place, ()) if one.last is not last)
        _last_calls()[place] = left

    return [weakref.ref(one, forget) for one in objects if type(one).__weakrefoffset__]


@cache
def _last_calls() -> dict[tuple[int, int], tuple[KnownCall, ...]]:
    """Return the last calls of each invoke, by its place."""
    return {}
