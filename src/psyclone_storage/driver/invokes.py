"""Invokes of a program that runs: what was compiled for them, here or by an earlier program.

What was compiled is kept by the place of the call, the kernels, which arguments are one, and what
was asked for; for later programs by the texts of all that (`driver/kept_invokes.py`). The compiler
is imported when something has to be compiled.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter, itemgetter
from types import FrameType
from typing import TYPE_CHECKING, Any

from psyclone_storage.base.compilers import NoCompilerError, find_c_compiler
from psyclone_storage.base.records import dataclass, fields
from psyclone_storage.driver.kept_invokes import MODULES, kept_invoke
from psyclone_storage.driver.tracing import (
    Compiled,
    PassedAs,
    TracedCall,
    TracedKernel,
    TracingRequest,
    asked_for,
    passed_as,
)
from psyclone_storage.frontend.python.surroundings import (
    Looks,
    changed_numbers,
    linked_now,
    looks_for,
    place_of,
)

if TYPE_CHECKING:
    from psyclone_storage.driver.compile import Build

NUMBER, OBJECT = PassedAs.NUMBER, PassedAs.OBJECT
_NUMPY = "numpy"
_WITHOUT_COMPILER = ("gocean",)
"""The APIs whose invokes NumPy can compute."""
_APART = "numbers apart"
_ARGS, _KERNEL = attrgetter("args"), attrgetter("kernel")
_FEWEST = 2
"""So many objects `itemgetter` needs to return all that it gets together."""


@dataclass(frozen=True, slots=True, eq=False)
class _LastCall:
    """What an invoke was given when it last ran, none of it a sequence, and what it became.

    `objects` gets those of the values that are no numbers, of which `ids` are the identities, and
    `taken` those that the routine takes. It is forgotten when one of them goes, which is `watched`:
    what is at its place then may have values of another type. `bound` is what was looked at to read
    the kernels.
    """

    asked: TracingRequest
    label: str
    kernels: list[Any]
    lengths: list[int]
    kinds: list[type]
    objects: Callable[[list[Any]], Any]
    ids: list[int]
    compiled: Compiled
    taken: Callable[[list[Any]], tuple[Any, ...]]
    watched: list[weakref.ref[Any]]
    bound: Looks

    def was(
        self, asked: TracingRequest, label: str, calls: Sequence[TracedCall], values: list[Any]
    ) -> bool:
        """Return whether calls with `values` are for the same objects, and with numbers alike."""
        return (
            self.asked is asked
            and self.kinds == [*map(type, values)]
            and self.ids == [*map(id, self.objects(values))]
            and self.kernels == [*map(_KERNEL, calls)]
            and self.lengths == [*map(len, map(_ARGS, calls))]
            and self.label == label
            and self.compiled.holds(values)
            and self.bound.hold()
        )


def run_invoke(
    calls: Sequence[TracedCall], label: str, frame: FrameType, asked: TracingRequest
) -> None:
    """Run an invoke, which is compiled at its first call.

    Raises:
        CompileError: everything that is wrong with the kernels or the calls, with a note that
            shows where.
    """
    values = [*chain.from_iterable(map(_ARGS, calls))]
    place = id(frame.f_code), frame.f_lasti
    last = _last_calls().get(place)
    if last is not None and last.was(asked, label, calls, values):
        compiled, taken = last.compiled, last.taken(values)
    else:
        compiled = _looked_up(calls, label, frame, asked)
        taken = _taken(compiled, values)
        _keep_last(place, (calls, label, asked), values, compiled)
    try:
        compiled.routine(*taken)
    except NoCompilerError as error:
        if asked.api not in _WITHOUT_COMPILER:
            raise
        other = _with_numpy(asked, str(error))
        key = _key(calls, values, (label, frame, asked))
        compiled = _known()[key] = compiled_invoke(calls, label, frame, other)
        _last_calls().pop(place, None)
        compiled.routine(*_taken(compiled, values))
    except (TypeError, OverflowError) as error:
        for call in calls:
            _note_other_numbers(error, call.kernel, asked.api)
        raise


def _note_other_numbers(error: Exception, kernel: TracedKernel, api: str) -> None:
    """Name the variables of modules that have values of other types than those compiled for."""
    function = getattr(kernel, "function", None)
    linked = None if function is None else linked_now(function, MODULES[api])
    for name, was, now in changed_numbers(linked or ()):
        error.add_note(
            f"'{name}', which the kernel '{kernel.name}' uses, was {was} when it was compiled and "
            f"is {now!r} now: give it a value of that type, or define the kernel again."
        )


def _taken(compiled: Compiled, values: list[Any]) -> tuple[Any, ...]:
    """Return the data among all arguments, as a routine takes them."""
    return tuple([values[at] for at in compiled.order])


def _looked_up(
    calls: Sequence[TracedCall], label: str, frame: FrameType, asked: TracingRequest
) -> Compiled:
    """Return what an invoke became with such arguments, or becomes now."""
    values = [value for call in calls for value in call.args]
    key = _key(calls, values, (label, frame, asked))
    compiled = _known().get(key)
    if compiled is not None and not compiled.holds(values):
        key = (key, _APART)
        compiled = _known().get(key)
    if compiled is None:
        compiled = _chosen(calls, label, frame, asked)
        _known().setdefault(key, compiled)
    return compiled


def _keep_last(
    place: tuple[int, int],
    about: tuple[Sequence[TracedCall], str, TracingRequest],
    values: list[Any],
    compiled: Compiled,
) -> None:
    """Keep what an invoke was given: what it will be given next is mostly the same.

    The code of the place is kept alive by what was compiled, so that its identity stays its own.
    """
    calls, label, asked = about
    kinds = [*map(type, values)]
    ways = [passed_as(value.__class__) for value in values]
    objects = [at for at, way in enumerate(ways) if way is OBJECT]
    if min(len(objects), len(compiled.order)) < _FEWEST or any(
        way not in (NUMBER, OBJECT) for way in ways
    ):
        return
    getter = itemgetter(*objects)
    _last_calls()[place] = _LastCall(
        asked,
        label,
        [*map(_KERNEL, calls)],
        [*map(len, map(_ARGS, calls))],
        kinds,
        getter,
        [*map(id, getter(values))],
        compiled,
        itemgetter(*compiled.order),
        _watched(place, getter(values)),
        _looks(calls, asked.api),
    )


def _watched(place: tuple[int, int], values: Iterable[Any]) -> list[weakref.ref[Any]]:
    """Return what forgets the last call of a place when one of some objects goes."""

    def forget(_gone: Any) -> None:
        _last_calls().pop(place, None)

    return [weakref.ref(one, forget) for one in values if type(one).__weakrefoffset__]


def _chosen(
    calls: Sequence[TracedCall], label: str, frame: FrameType, asked: TracingRequest
) -> Compiled:
    """Return what an invoke becomes: by NumPy where nothing else can be computed."""
    if find_c_compiler() is None and asked.api in _WITHOUT_COMPILER:
        asked = _with_numpy(asked, "there is no compiler")
    return compiled_invoke(calls, label, frame, asked)


@cache
def _with_numpy(asked: TracingRequest, why: str) -> TracingRequest:
    """Return what is asked for by NumPy, and say so once."""
    if asked.target:
        return asked
    warnings.warn(f"Invokes are computed by NumPy, as C cannot be compiled: {why}", stacklevel=4)
    return asked_for(**{one.name: getattr(asked, one.name) for one in fields(asked)}
                     | {"target": _NUMPY})  # fmt: skip


def compiled_invoke(
    calls: Sequence[TracedCall], label: str, frame: FrameType, asked: TracingRequest
) -> Compiled:
    """Return what an invoke becomes.

    Raises:
        CompileError: everything that is wrong with the kernels or the calls.
    """
    known = _known()
    values = [value for call in calls for value in call.args]
    key = _key(calls, values, (label, frame, asked))
    if key not in known:
        known[key] = _found(calls, label, frame, asked, apart=False)
    if known[key].holds(values):
        return known[key]
    key = key, _APART
    if key not in known:
        known[key] = _found(calls, label, frame, asked, apart=True)
    return known[key]


def _found(
    calls: Sequence[TracedCall],
    label: str,
    frame: FrameType,
    asked: TracingRequest,
    *,
    apart: bool,
) -> Compiled:
    """Return what an invoke became in an earlier program, or becomes now, for later ones."""
    where = place_of(frame)
    kept = kept_invoke((calls, label, where, asked), apart=apart)
    found = kept.find(where.code) if kept is not None else None
    if found is not None:
        return found
    from psyclone_storage.driver.traced import compile_invoke  # noqa: PLC0415

    made = compile_invoke(calls, label, where, asked, apart=apart)
    if kept is not None:
        kept.keep(made)
    return made


def compiled_so_far() -> tuple[Build, ...]:
    """Return what was compiled of the invokes of the program, in the order of their first use."""
    return tuple(one.build for one in _known().values() if one.build is not None)


@cache
def _last_calls() -> dict[tuple[int, int], _LastCall]:
    """Return the last call of each invoke, by its place."""
    return {}


@cache
def _known() -> dict[Hashable, Compiled]:
    """Return what was compiled so far."""
    return {}


def _key(
    calls: Sequence[TracedCall], values: list[Any], about: tuple[str, FrameType, TracingRequest]
) -> Hashable:
    """Return what an invoke is known by: its place, its kernels, and what each is given.

    Of what is no number it counts which are one object, what is in sequences included, and of what
    type its values are. Code is
    known by its identity, as its hash costs more than all the rest: what was compiled keeps it
    alive.
    """
    label, frame, asked = about
    first: dict[int, Hashable] = {}
    kinds = tuple([
        (first.setdefault(id(value), at), getattr(value, "dtype", None))
        if (how := passed_as(value.__class__)) is OBJECT
        else value.__class__ if how is NUMBER
        else _known_parts(first, at, value)
        for at, value in enumerate(values)
    ])  # fmt: skip
    kernels = tuple([
        one for call in calls
        for one in (call.kernel, len(call.args), _text_of(call.kernel, asked.api))
    ])  # fmt: skip
    return id(frame.f_code), frame.f_lasti, kernels, kinds, label, asked


def _text_of(kernel: TracedKernel, api: str) -> int:
    """Return the identity, which is kept, of a kernel's text with all that it calls; 0 of none."""
    function = getattr(kernel, "function", None)
    linked = None if function is None else linked_now(function, MODULES[api])
    return 0 if linked is None else id(linked)


def _looks(calls: Sequence[TracedCall], api: str) -> Looks:
    """Return what is looked at to read the kernels of calls, which can be read."""
    looks = Looks()
    for call in calls:
        if (function := getattr(call.kernel, "function", None)) is not None:
            looks.add(looks_for(function, MODULES[api]))
    return looks


def _known_parts(first: dict[int, Hashable], at: int, several: Sequence[Any]) -> Hashable:
    """Return where a sequence, passed at a position, and each object in it are met first."""
    parts = [
        (first.setdefault(id(one), (at, number)), getattr(one, "dtype", None))
        for number, one in enumerate(several)
    ]
    return first.setdefault(id(several), at), *parts
