"""Inline cache of invoke calls: most calls at a site have the same arguments as before.

A few calls are cached for each site, because the fields of two or three time steps may alternate.
The comparison is implemented in C (`_compiled.c`), with a Python fallback (`_pure.py`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from psyclone_storage.jit._pure import CallTable
from psyclone_storage.jit.native import COMPILED, CachedCall, find_call
from psyclone_storage.jit.session import JitSession
from psyclone_storage.jit.types import (
    ArgumentKind,
    CompiledInvoke,
    JitOptions,
    LiveCall,
    argument_kind,
)
from psyclone_storage.languages.python.parse.closure import ClosureSnapshot, InvokeSite

__all__ = ("COMPILED", "CacheEntry", "CachedCall", "cache_call", "cache_in", "find_call",
           "forget_calls", "make_call_finder")  # fmt: skip

_MOST = 4
"""The number of calls that are cached for each call site."""


class CacheEntry(NamedTuple):
    """Cached call: its arguments for comparison, and the compiled invoke.

    The entry is dropped when one of the `watched` arguments is garbage-collected, because another
    object may then get the same `id()`.
    """

    call: CachedCall
    compiled: CompiledInvoke
    watched: list[weakref.ref[Any]]


def make_call_finder(
    session: JitSession,
) -> Callable[..., tuple[CacheEntry, tuple[Any, ...]] | None]:
    """Return a function from frame, options, label and calls to the cache entry and its data."""
    return partial(find_call, session.calls)


def forget_calls(session: JitSession, frame: InvokeSite) -> None:
    """Drop the cached calls of the site that a frame is executing."""
    session.calls.get(id(frame.f_code), {}).pop(frame.f_lasti, None)


def cache_call(
    session: JitSession,
    frame: InvokeSite,
    about: tuple[tuple[LiveCall, ...], str, JitOptions],
    compiled: CompiledInvoke,
    snapshot: ClosureSnapshot,
) -> None:
    """Cache a call, with the lookups that reading its kernels made.

    The compiled invoke keeps the code of the site alive, so that its `id()` remains unique.
    """
    cache_in(session.calls, (id(frame.f_code), frame.f_lasti), about, compiled, snapshot)


def cache_in(
    table: CallTable,
    site: tuple[int, Hashable],
    about: tuple[tuple[LiveCall, ...], str, JitOptions],
    compiled: CompiledInvoke,
    snapshot: ClosureSnapshot,
) -> None:
    """Cache a call at a site in a table, unless a value cannot be compared."""
    calls, label, options = about
    values = [*chain.from_iterable(call.args for call in calls)]
    identities = tuple([_identity_of(value) for value in values])
    if any(one is _NOT_CACHED for one in identities):
        return
    lookups = tuple(snapshot.getters), tuple(snapshot.owners), tuple(snapshot.values)
    made = CachedCall(options, label, calls, identities, compiled.order, compiled.constants,
                      compiled.equal, compiled.fits, lookups)  # fmt: skip
    entry = CacheEntry(made, compiled, [])
    objects = chain.from_iterable(one if isinstance(one, tuple) else (one,) for one in identities)
    entry.watched.extend(_watch(table, site, made, objects))
    _replace(table, site, lambda entries: (entry, *entries[: _MOST - 1]))


def _replace(
    table: CallTable,
    site: tuple[int, Hashable],
    change: Callable[[tuple[Any, ...]], tuple[Any, ...]],
) -> None:
    """Replace the entries of a site in a table."""
    code, instruction = site
    entries = table.setdefault(code, {})
    entries[instruction] = change(entries.get(instruction, ()))


_NOT_CACHED = object()
"""The mark of a value that is not compared."""


def _identity_of(value: Any) -> Any:
    """Return the object to which a value must be identical, as in `CachedCall`."""
    form = argument_kind(value.__class__)
    if form is ArgumentKind.NUMBER:
        return None
    if form is ArgumentKind.OBJECT:
        return _NOT_CACHED if isinstance(value, tuple) else value
    if value.__class__ not in (list, tuple) or any(
        argument_kind(one.__class__) is not ArgumentKind.OBJECT for one in value
    ):
        return _NOT_CACHED
    return tuple(value)


def _watch(
    table: CallTable,
    site: tuple[int, Hashable],
    call: CachedCall,
    objects: Iterable[Any],
) -> list[weakref.ref[Any]]:
    """Return weak references that drop a call from a table when one of its objects is collected."""

    def forget(_gone: Any) -> None:
        # A thread that caches another call at this moment may put this one back into the table.
        call.forget()
        _replace(table, site, lambda known: tuple(one for one in known if one.call is not call))

    return [weakref.ref(one, forget) for one in objects if type(one).__weakrefoffset__]
