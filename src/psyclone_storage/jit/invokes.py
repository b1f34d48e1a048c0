"""Invokes of a program that runs: what was compiled for them, here or by an earlier program.

What was compiled is kept by the place of the call, the kernels, which arguments are one, and what
was asked for; for later programs by the texts of all that (`jit/disk_cache.py`). The compiler
is imported when something has to be compiled.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from types import FrameType
from typing import TYPE_CHECKING, Any

from psyclone_storage.base.compilers import (
    VARIABLE,
    NoCompilerError,
    find_c_compiler,
    why_not_found,
)
from psyclone_storage.base.records import fields
from psyclone_storage.frontend.python.surroundings import (
    Looks,
    changed_numbers,
    linked_now,
    looks_for,
    place_of,
)
from psyclone_storage.jit.call_cache import forget_last_calls, keep_last
from psyclone_storage.jit.disk_cache import MODULES, kept_invoke
from psyclone_storage.jit.types import (
    Compiled,
    PassedAs,
    TracedCall,
    TracedKernel,
    TracingRequest,
    asked_for,
    passed_as,
)

if TYPE_CHECKING:
    from psyclone_storage.pipeline.compile import Build

NUMBER, OBJECT = PassedAs.NUMBER, PassedAs.OBJECT
_NUMPY = "numpy"
_WITHOUT_COMPILER = ("gocean",)
"""The APIs whose invokes NumPy can compute."""
_APART = "numbers apart"
_ARGS = attrgetter("args")


def run_invoke(
    calls: tuple[TracedCall, ...], label: str, frame: FrameType, asked: TracingRequest
) -> None:
    """Run an invoke, which is compiled at its first call.

    Raises:
        CompileError: everything that is wrong with the kernels or the calls, with a note that
            shows where.
    """
    compiled = _looked_up(calls, label, frame, asked)
    values = [*chain.from_iterable(map(_ARGS, calls))]
    keep_last(frame, (calls, label, asked), compiled, _looks(calls, asked.api))
    try:
        compiled.routine(*_taken(compiled, values))
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        recover(error, (calls, label, frame, asked))


def recover(
    error: Exception, about: tuple[tuple[TracedCall, ...], str, FrameType, TracingRequest]
) -> None:
    """Do what follows from an error of a routine: by NumPy if it is C, and none is compiled.

    Raises:
        Exception: that error, with what it may come from, where nothing can be done.
    """
    calls, label, frame, asked = about
    if isinstance(error, NoCompilerError) and asked.api in _WITHOUT_COMPILER:
        values = [*chain.from_iterable(map(_ARGS, calls))]
        other = _with_numpy(asked, str(error))
        key = _key(calls, values, (label, frame, asked))
        compiled = _known()[key] = compiled_invoke(calls, label, frame, other)
        forget_last_calls(frame)
        compiled.routine(*_taken(compiled, values))
        return
    if isinstance(error, (TypeError, OverflowError)):
        for call in calls:
            _note_other_numbers(error, call.kernel, asked.api)
    raise error


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


def _chosen(
    calls: Sequence[TracedCall], label: str, frame: FrameType, asked: TracingRequest
) -> Compiled:
    """Return what an invoke becomes: by NumPy where nothing else can be computed."""
    if find_c_compiler() is None and asked.api in _WITHOUT_COMPILER:
        asked = _with_numpy(asked, f"there is no compiler ({why_not_found(VARIABLE)})")
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
    from psyclone_storage.jit.compile import compile_invoke  # noqa: PLC0415

    made = compile_invoke(calls, label, where, asked, apart=apart)
    if kept is not None:
        kept.keep(made)
    return made


def compiled_so_far() -> tuple[Build, ...]:
    """Return what was compiled of the invokes of the program, in the order of their first use."""
    return tuple(one.build for one in _known().values() if one.build is not None)


@cache
def _known() -> dict[Hashable, Compiled]:
    """Return what was compiled so far."""
    return {}


def _key(
    calls: Sequence[TracedCall], values: list[Any], about: tuple[str, FrameType, TracingRequest]
) -> Hashable:
    """Return what an invoke is known by: its place, its kernels, and what each is given.

    Of what is no number it counts which are one object, what is in sequences included, and of what
    types it and its values are: what is refused of one type is not taken where another was. Code is
    known by its identity, as its hash costs more than all the rest: what was compiled keeps it
    alive.
    """
    label, frame, asked = about
    first: dict[int, Hashable] = {}
    kinds = tuple([
        (first.setdefault(id(value), at), value.__class__, getattr(value, "dtype", None))
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
        (first.setdefault(id(one), (at, number)), one.__class__, getattr(one, "dtype", None))
        for number, one in enumerate(several)
    ]
    return first.setdefault(id(several), at), *parts
