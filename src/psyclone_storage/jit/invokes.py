"""Execution of invokes in a running program: looked up in a cache, or compiled.

A compiled invoke is identified by its call site, its kernels, the pattern of identical arguments,
and the options. Later programs find it by the texts of these (`disk_cache.py`). The compiler is
imported only when an invoke must be compiled.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from psyclone_storage.base.compilers import NoCompilerError, SharedFailureError
from psyclone_storage.base.records import dataclass, field, fields
from psyclone_storage.base.uncaught import blamed_value, level_of_user
from psyclone_storage.jit.call_cache import cache_call, forget_calls
from psyclone_storage.jit.disk_cache import MODULES, find_entry
from psyclone_storage.jit.session import JitSession
from psyclone_storage.jit.types import (
    ArgumentKind,
    CompiledInvoke,
    JitOptions,
    LiveCall,
    LiveKernel,
    argument_kind,
)
from psyclone_storage.languages.python.parse.closure import (
    ClosureSnapshot,
    InvokeSite,
    MergedSites,
    Resolved,
    call_location_of,
    place_of_call,
)

if TYPE_CHECKING:
    from psyclone_storage.pipeline.compile import Build

NUMBER, OBJECT = ArgumentKind.NUMBER, ArgumentKind.OBJECT
_NUMPY = "numpy"
_APIS_WITH_NUMPY = ("gocean",)
"""The APIs whose invokes NumPy can execute."""
_APART = "numbers apart"
_ARGS = attrgetter("args")
_FIRST = 16
"""The number of invokes whose records the next garbage collection leaves out."""


def run_invoke(
    session: JitSession,
    calls: tuple[LiveCall, ...],
    label: str,
    frame: InvokeSite,
    options: JitOptions,
) -> None:
    """Execute an invoke, which is compiled on its first call.

    Raises:
        CompileError: all errors in the kernels and the calls, with a note that shows their
            locations.
    """
    try:
        compiled = _look_up(session, calls, label, frame, options)
    except TypeError as error:
        error.add_note(_origin(error, calls, label, frame))
        raise
    values = [*chain.from_iterable(map(_ARGS, calls))]
    snapshot = _snapshot_of(session, calls, options.api)
    cache_call(session, frame, (calls, label, options), compiled, snapshot)
    try:
        compiled.routine(*_data_of(compiled, values))
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        recover(session, error, (calls, label, frame, options))


def recover(
    session: JitSession,
    error: Exception,
    about: tuple[tuple[LiveCall, ...], str, InvokeSite, JitOptions],
) -> None:
    """Execute an invoke again after an error that another routine does not raise.

    NumPy executes it if there is no C compiler. It is compiled again if variables of its modules
    have values of other types.

    Raises:
        Exception: any other error, with a note about its possible cause.
    """
    calls, label, frame, options = about
    if isinstance(error, NoCompilerError) and options.api in _APIS_WITH_NUMPY:
        values = [*chain.from_iterable(map(_ARGS, calls))]
        is_reported = isinstance(error, SharedFailureError)
        other = session.once(_with_numpy, session, options, _Reason(str(error), is_reported))
        key = _key(session, calls, values, (label, frame, options))
        compiled = session.compiled[key] = compiled_invoke(session, calls, label, frame, other)
        forget_calls(session, frame)
        try:
            compiled.routine(*_data_of(compiled, values))
        except Exception as failure:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            recover(session, failure, (calls, label, frame, other))
        return
    if isinstance(error, TypeError) and _differ_now(session, about):
        forget_calls(session, frame)
        run_invoke(session, calls, label, frame, options)
        return
    error.add_note(_origin(error, calls, label, frame))
    raise error


def _origin(error: Exception, calls: Sequence[LiveCall], label: str, frame: InvokeSite) -> str:
    """Return the kernels, the argument if it is known, and the place of an invoke for a note.

    The places of merged invokes are in other notes.
    """
    value = blamed_value(error)
    found = [
        f"{_argument_name(call, at)} of the kernel '{call.kernel.name}'"
        for call in calls
        for at, one in enumerate(call.args)
        if value is not None and any(item is value for item in _items(one))
    ]
    kernels = ", ".join(f"'{call.kernel.name}'" for call in calls)
    about = " or ".join(found) or f"the call of {kernels}"
    if isinstance(frame, MergedSites):
        return f"The error concerns {about}."
    named = f"the invoke '{label}'" if label else "the invoke"
    return f"The error concerns {about}, in {named} at {place_of_call(frame)}."


def _items(value: object) -> Sequence[object]:
    """Return an argument with its items, if it is a sequence."""
    return (value, *value) if isinstance(value, list | tuple) else (value,)


def _argument_name(call: LiveCall, at: int) -> str:
    """Return the name of an argument of a call, or its position if the name is unknown."""
    names = getattr(call.kernel, "passed", ())
    return f"the argument '{names[at]}'" if len(names) == len(call.args) else f"argument {at + 1}"


def _differ_now(
    session: JitSession, about: tuple[tuple[LiveCall, ...], str, InvokeSite, JitOptions]
) -> bool:
    """Return whether kernels differ if they are read again, as variables may have other types.

    Routines check these types before they change any field. Another call site may have led to a
    new reading before, so that the cached routine of this site is an old one.
    """
    calls, label, frame, options = about
    values = [value for call in calls for value in call.args]
    if any(has_lost_values(item) for value in values for item in _items(value)):
        return False
    failed = [
        entry.compiled
        for entry in session.calls.get(id(frame.f_code), {}).get(frame.f_lasti, ())
        if entry.call.match(options, label, calls) is not None
    ]
    api = options.api
    functions = [
        resolved[0].function for call in calls if (resolved := _resolve(session, call.kernel, api))
    ]
    if any(list(map(partial(session.functions.reads_anew, module=MODULES[api]), functions))):
        return True
    key = _key(session, calls, values, (label, frame, options))
    now = [session.compiled.get(one) for one in (key, (key, _APART))]
    return bool(failed) and not any(one is other for one in failed for other in now)


def has_lost_values(value: Any) -> bool:
    """Return whether an argument is a field that has lost its values."""
    buffer = getattr(getattr(value, "storage", None), "buffer", None)
    return getattr(buffer, "poisoned", None) is not None


def _data_of(compiled: CompiledInvoke, values: list[Any]) -> tuple[Any, ...]:
    """Return the arguments of a routine among those of all calls."""
    return tuple([values[at] for at in compiled.order])


def _look_up(
    session: JitSession,
    calls: Sequence[LiveCall],
    label: str,
    frame: InvokeSite,
    options: JitOptions,
) -> CompiledInvoke:
    """Return the compiled invoke for these arguments; compile it if necessary."""
    values = [value for call in calls for value in call.args]
    key = _key(session, calls, values, (label, frame, options))
    compiled = session.compiled.get(key)
    if compiled is not None and not compiled.fits(values):
        key = (key, _APART)
        compiled = session.compiled.get(key)
    if compiled is None:
        compiled = compiled_invoke(session, calls, label, frame, options)
        session.compiled.setdefault(key, compiled)
    return compiled


@dataclass(frozen=True)
class _Reason:
    """The reason why C cannot be compiled, and whether another rank reports it."""

    text: str
    is_reported: bool = field(compare=False)


def _with_numpy(session: JitSession, options: JitOptions, why: _Reason) -> JitOptions:
    """Return the options with NumPy as target, and issue a warning."""
    if options.target:
        return options
    if not why.is_reported:
        text = f"Invokes are computed by NumPy, as C cannot be compiled: {why.text}"
        warnings.warn(text, stacklevel=level_of_user())
    return session.options(**{one.name: getattr(options, one.name) for one in fields(options)}
                           | {"target": _NUMPY})  # fmt: skip


def compiled_invoke(
    session: JitSession,
    calls: Sequence[LiveCall],
    label: str,
    frame: InvokeSite,
    options: JitOptions,
) -> CompiledInvoke:
    """Return the compiled invoke of a call site; compile it if necessary.

    Raises:
        CompileError: all errors in the kernels and the calls.
    """
    known = session.compiled
    values = [value for call in calls for value in call.args]
    key = _key(session, calls, values, (label, frame, options))
    if key not in known:
        known[key] = _find_or_compile(session, calls, label, frame, options, apart=False)
    if known[key].fits(values):
        return known[key]
    key = key, _APART
    if key not in known:
        known[key] = _find_or_compile(session, calls, label, frame, options, apart=True)
    return known[key]


@contextmanager
def _without_collector(session: JitSession) -> Iterator[None]:
    """Disable the garbage collector: the compiler leaves few cycles, and its records are many.

    For the first invokes of a session they move to the oldest generation, because the next
    collection would traverse all of them. This delays the collection of objects of the program.
    """
    is_first = len(session.compiled) < _FIRST
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Objects that the program has frozen stay so.
        if is_first and is_enabled and not _has_frozen_objects():
            gc.freeze()
            gc.unfreeze()
        if is_enabled:
            gc.enable()


def _has_frozen_objects() -> bool:
    """Return whether the program has frozen objects."""
    try:
        return bool(_frozen_objects())
    except LookupError:
        return False


@cache
def _frozen_objects() -> int:
    """Return how many objects the program has frozen, and raise LookupError without any.

    The collector traverses frozen objects to count them, so this is done until there are some.
    """
    count = gc.get_freeze_count()
    if not count:
        raise LookupError
    return count


def _find_or_compile(  # noqa: PLR0913 - the parts of a call
    session: JitSession,
    calls: Sequence[LiveCall],
    label: str,
    frame: InvokeSite,
    options: JitOptions,
    *,
    apart: bool,
) -> CompiledInvoke:
    """Return the invoke from the disk cache, or compile it and store it there."""
    site = call_location_of(frame)
    with _without_collector(session):
        entry = find_entry(session, (calls, label, site, options), apart=apart)
        found = entry.load(site.code) if entry is not None else None
        if found is not None:
            return found
        from psyclone_storage.jit.compile import compile_invoke  # noqa: PLC0415

        try:
            made = compile_invoke(session, (calls, label, site, options), apart=apart)
        except Exception:
            # Variables of modules may have other types when the invoke is called again.
            for call in calls:
                if (function := getattr(call.kernel, "function", None)) is not None:
                    session.functions.forget(function, MODULES[options.api])
            raise
        if options.explain and made.build is not None:
            _explain(made.build, calls, frame)
        # Each program prints the warnings, so it must compile the invoke.
        if entry is not None and not (made.build is not None and made.build.warnings):
            entry.store(made)
    return made


def _explain(build: Build, calls: Sequence[LiveCall], frame: InvokeSite) -> None:
    """Print the reasons for what an invoke does, on the first rank of its fields."""
    from psyclone_storage.pipeline.explanation import explanation  # noqa: PLC0415

    owners = [
        getattr(one, "grid", None) or getattr(one, "mesh", None)
        for call in calls
        for one in call.args
    ]
    if any(getattr(getattr(one, "ranks", None), "rank", 0) for one in owners):
        return
    place = (
        frame.about if isinstance(frame, MergedSites) else f"The invoke at {place_of_call(frame)}:"
    )
    sys.stderr.write(f"{place}\n{explanation(build)}\n")


def builds_of(session: JitSession) -> tuple[Build, ...]:
    """Return the results of all compilations in a session, in the order of first use."""
    return tuple(one.build for one in session.compiled.values() if one.build is not None)


def _key(
    session: JitSession,
    calls: Sequence[LiveCall],
    values: list[Any],
    about: tuple[str, InvokeSite, JitOptions],
) -> Hashable:
    """Return the key of an invoke: its call site, its kernels, and the kinds of its arguments.

    The kind of an object consists of its first position, its type, and the type of its values. The
    same holds for the items of a sequence. Code is identified by its `id()`, because its hash is
    expensive. The compiled invoke keeps the code alive.
    """
    label, frame, options = about
    first: dict[int, Hashable] = {}
    kinds = tuple([
        (first.setdefault(id(value), at), value.__class__, getattr(value, "dtype", None))
        if (form := argument_kind(value.__class__)) is OBJECT
        else value.__class__ if form is NUMBER
        else _kind_of_sequence(first, at, value)
        for at, value in enumerate(values)
    ])  # fmt: skip
    kernels = tuple([
        one for call in calls
        for one in (call.kernel, len(call.args), _text_id(session, call.kernel, options.api))
    ])  # fmt: skip
    return id(frame.f_code), frame.f_lasti, kernels, kinds, label, options


def _kind_of_sequence(first: dict[int, Hashable], at: int, items: Sequence[Any]) -> Hashable:
    """Return the first positions of a sequence and of each of its items, with the types."""
    parts = [
        (first.setdefault(id(one), (at, number)), one.__class__, getattr(one, "dtype", None))
        for number, one in enumerate(items)
    ]
    return first.setdefault(id(items), at), *parts


def _resolve(session: JitSession, kernel: LiveKernel, api: str) -> Resolved | None:
    """Return a kernel with the functions that it calls, or None if its text is not available."""
    function = getattr(kernel, "function", None)
    if function is None:
        return None
    return session.functions.try_to_resolve(function, MODULES[api])


def _text_id(session: JitSession, kernel: LiveKernel, api: str) -> int:
    """Return the `id()` of a kernel's cached text with all called functions; 0 if none."""
    resolved = _resolve(session, kernel, api)
    return 0 if resolved is None else id(resolved)


def _snapshot_of(session: JitSession, calls: Sequence[LiveCall], api: str) -> ClosureSnapshot:
    """Return the lookups made while the kernels of calls were read."""
    snapshot = ClosureSnapshot()
    for call in calls:
        if (function := getattr(call.kernel, "function", None)) is not None:
            snapshot.extend(session.functions.snapshot_of(function, MODULES[api]))
    return snapshot
