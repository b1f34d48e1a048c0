"""Deferred invokes of grids: consecutive invokes are merged until a value is needed.

A field or a result that a pending invoke uses refers to the queue, and completes it when the
program accesses its value. The queue is also completed before it gets a call site that it already
contains, so that each time step of a loop has the same merged plan, which is compiled once. On
several ranks, the ranks agree on the number of invokes that they merge, because only some of them
may need a value. Each rank completes the queue before any other collective call, so that a rank
that needs a value waits only until the other ranks reach such a call.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from numbers import Number
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from psyclone_storage.base.results import QUEUES
from psyclone_storage.base.uncaught import UserError, user_location
from psyclone_storage.jit.call_cache import CacheEntry
from psyclone_storage.jit.disk_cache import MODULES
from psyclone_storage.jit.invokes import recover, run_invoke
from psyclone_storage.jit.session import JitSession
from psyclone_storage.jit.types import ArgumentKind, JitOptions, LiveCall, LiveKernel, argument_kind
from psyclone_storage.languages.python.parse.closure import (
    ClosureSnapshot,
    InvokeSite,
    MergedSites,
    global_names_in,
    place_of_call,
)

_MOST = 32
"""The number of invokes that are merged at most."""
_LONGEST = 40
"""The length of the name of a merged invoke."""


class DeferredInvokeError(UserError, RuntimeError):
    """A number that a pending invoke uses has changed."""


class _Numbers(NamedTuple):
    """Numbers that a kernel reads: the lookups of its text, and variables of modules."""

    snapshot: ClosureSnapshot
    variables: tuple[tuple[Mapping[str, Any], str], ...]

    def values(self) -> list[Any]:
        """Return the values of the variables now."""
        return [owner.get(name) for owner, name in self.variables]


class _Pending(NamedTuple):
    """An invoke that has not run: its calls, its name, its call site, and numbers of kernels."""

    calls: tuple[LiveCall, ...]
    label: str
    site: tuple[CodeType, int]
    options: JitOptions
    numbers: tuple[tuple[LiveKernel, _Numbers, list[Any]], ...]


class DeferredInvokes:
    """The queue of pending invokes of a program; all threads share it.

    - `find`: returns the cached routine of an invoke that is not deferred.
    """

    def __init__(self, session: JitSession, find: Callable[..., Any]) -> None:
        self._session, self._find = session, find
        self._pending: list[_Pending] = []
        self._places: set[tuple[int, int]] = set()
        self._lock = threading.RLock()
        self._grid: Any = None
        self._running = False
        self._sites: dict[tuple[tuple[int, int], ...], MergedSites] = {}
        self._numbers: dict[LiveKernel, _Numbers] = {}
        self._current: set[LiveKernel] = set()
        self._at_exit = partial(self.complete, "the program ends")
        QUEUES.append(self)
        os.register_at_fork(before=partial(self.complete, "the process forks"))

    def find_nothing(self, *_: object) -> None:
        """Return None, because no deferred invoke runs when it is called."""

    def run(
        self, calls: tuple[LiveCall, ...], label: str, frame: FrameType, options: JitOptions
    ) -> None:
        """Add an invoke to the queue; execute it if it cannot be deferred."""
        with self._lock:
            grid = _grid_of(calls)
            numbers = None if grid is None else self._numbers_of(calls)
            if grid is None or numbers is None:
                self.complete(_why("the invoke at {} cannot be deferred", frame, options))
                self._run_now(calls, label, frame, options)
                return
            place = id(frame.f_code), frame.f_lasti
            if place in self._places:
                self.complete(_why("the invoke at {} was pending already", frame, options))
            elif len(self._pending) >= _MOST:
                self.complete(f"at most {_MOST} invokes are merged")
            elif self._pending and grid is not self._grid:
                self.complete(_why("the invoke at {} is on another grid", frame, options))
            if not self._pending:
                # The functions that other modules run at the end of the program run later.
                atexit.unregister(self._at_exit)
                atexit.register(self._at_exit)
            self._grid = grid
            self._places.add(place)
            site = frame.f_code, frame.f_lasti
            self._pending.append(_Pending(calls, label, site, options, numbers))
            self._current.update([kernel for kernel, _, _ in numbers])
            for value in chain.from_iterable([call.args for call in calls]):
                if hasattr(value, "waiting"):
                    value.waiting = self

    def complete(self, why: str = "") -> None:
        """Execute all pending invokes. Collective on several ranks.

        `why` is the reason, by default that the program needs a value.

        Raises:
            DeferredInvokeError: a number that a kernel uses has changed since the invoke.
        """
        with self._lock:
            if self._running:
                return
            self._running = True
            try:
                while self._pending:
                    self._run_batch(self._agreed(), why)
            finally:
                self._running = False

    # -- running ---------------------------------------------------------------------------------

    def _agreed(self) -> int:
        """Return the number of invokes to merge now, which is equal on all ranks."""
        count: int = self._grid.ranks.agreed(len(self._pending))
        return count

    def _run_batch(self, count: int, why: str) -> None:
        batch = self._pending[:count]
        if count < len(self._pending):
            why = "another rank had no more pending invokes"
        elif not why and batch[0].options.explain:
            why = f"the program needs a value at {user_location()}"
        self._check_numbers(batch)
        fields = _fields_in(batch)
        versions = [field.version for field in fields]
        try:
            self._run_merged(batch, why)
        except Exception as error:  # pylint: disable=broad-exception-caught
            if [field.version for field in fields] != versions or count == 1:
                self._drop(len(self._pending))
                error.add_note(f"It occurred in the deferred invokes {_listed(batch)}.")
                raise
            # Nothing has run: the invoke that fails is found, and those before it run.
            for one in batch:
                self._run_one(one)
        except BaseException:
            if [field.version for field in fields] != versions:
                self._drop(len(self._pending))
            raise
        else:
            self._drop(count)

    def _run_one(self, one: _Pending) -> None:
        try:
            self._run_merged([one], "an invoke after it has an error")
        except Exception as error:
            self._drop(len(self._pending))
            error.add_note(f"It occurred in the deferred invoke {_listed([one])}.")
            raise
        self._drop(1)

    def _run_merged(self, batch: Sequence[_Pending], why: str) -> None:
        calls = tuple(chain.from_iterable([one.calls for one in batch]))
        key = tuple([(id(one.site[0]), one.site[1]) for one in batch])
        sites = self._sites.get(key)
        if sites is None:
            about = _explained(batch, why) if batch[0].options.explain else ""
            sites = self._sites[key] = MergedSites(tuple([one.site for one in batch]), about)
        label = "_".join([one.label for one in batch if one.label])[:_LONGEST]
        options = batch[0].options
        found = self._cached(calls, label, sites, options)
        self._execute(found, (calls, label, sites, options))

    def _drop(self, count: int) -> None:
        """Remove the first invokes; data that later ones do not use are no longer waited for."""
        done, self._pending = self._pending[:count], self._pending[count:]
        self._places = {(id(one.site[0]), one.site[1]) for one in self._pending}
        self._current = set()
        still = {id(value) for one in self._pending for call in one.calls for value in call.args}
        for one in done:
            for value in chain.from_iterable([call.args for call in one.calls]):
                if hasattr(value, "waiting") and id(value) not in still:
                    value.waiting = None

    def _run_now(
        self, calls: tuple[LiveCall, ...], label: str, frame: FrameType, options: JitOptions
    ) -> None:
        found = self._find(frame, options, label, calls)
        self._execute(found, (calls, label, frame, options))

    def _cached(
        self, calls: tuple[LiveCall, ...], label: str, sites: MergedSites, options: JitOptions
    ) -> tuple[CacheEntry, tuple[Any, ...]] | None:
        """Return the cached call of merged invokes, which have no frame, with its data."""
        for entry in self._session.calls.get((id(sites.f_code), sites.f_lasti), ()):
            data = entry.call.match(options, label, calls)
            if data is not None:
                return entry, data
        return None

    def _execute(
        self,
        found: tuple[CacheEntry, tuple[Any, ...]] | None,
        about: tuple[tuple[LiveCall, ...], str, InvokeSite, JitOptions],
    ) -> None:
        """Execute an invoke, which is cached or not."""
        if found is None:
            run_invoke(self._session, *about)
            return
        entry, data = found
        try:
            entry.compiled.routine(*data)
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            recover(self._session, error, about)

    # -- numbers of kernels ----------------------------------------------------------------------

    def _numbers_of(
        self, calls: Sequence[LiveCall]
    ) -> tuple[tuple[LiveKernel, _Numbers, list[Any]], ...] | None:
        """Return the numbers that kernels read, with their values; None if they are unknown."""
        found = []
        for call in calls:
            function = getattr(call.kernel, "function", None)
            if function is None:
                if hasattr(call.kernel, "file"):
                    return None
                continue
            known = self._numbers.get(call.kernel)
            # A pending invoke of the same kernel finds changes when it runs.
            if known is None or not (call.kernel in self._current or known.snapshot.is_current()):
                resolved = self._session.functions.try_to_resolve(function, MODULES["gocean"])
                if resolved is None:
                    return None
                snapshot = self._session.functions.snapshot_of(function, MODULES["gocean"])
                variables = [
                    one for each in resolved for one in _variables(each.function, each.text.text)
                ]
                known = self._numbers[call.kernel] = _Numbers(snapshot, tuple(variables))
            found.append((call.kernel, known, known.values()))
        return tuple(found)

    def _check_numbers(self, batch: Sequence[_Pending]) -> None:
        current: set[int] = set()
        for one in batch:
            for kernel, numbers, values in one.numbers:
                if id(numbers) in current and not values:
                    continue
                current.add(id(numbers))
                now = numbers.values()
                changed = [
                    name
                    for (_, name), first, last in zip(numbers.variables, values, now, strict=True)
                    if first is not last
                ]
                if changed or not numbers.snapshot.is_current():
                    what = f"'{changed[0]}'" if changed else "A value"
                    raise DeferredInvokeError(
                        f"{what}, which the kernel '{kernel.name}' uses, has changed since the "
                        f"deferred invoke {_listed([one])}: pass it as a scalar argument, or call "
                        f"complete_invokes() before the change."
                    )


def _variables(function: Any, text: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the numbers of modules that a function reads: their owners and names.

    `text` is the text of the function, in which a name may also be that of a local variable.
    """
    values: Mapping[str, Any] = getattr(function, "__globals__", {})
    known = global_names_in(function.__code__)
    for match in re.finditer(r"\b([^\W\d]\w*)((?:\.[^\W\d]\w*)*)", text):
        owner, name = values, match[1]
        if name not in known:
            continue
        for part in match[2].split(".")[1:]:
            module = owner.get(name)
            if not isinstance(module, ModuleType):
                break
            owner, name = vars(module), part
        if isinstance(owner.get(name), Number):
            yield owner, name


def _grid_of(calls: Sequence[LiveCall]) -> Any:
    """Return the grid of the fields of calls; None if the invoke cannot be deferred."""
    grid = None
    for call in calls:
        for value in call.args:
            own = getattr(value, "grid", None)
            if own is not None and hasattr(value, "waiting"):
                if grid is not None and own is not grid:
                    return None
                grid = own
            elif (
                not hasattr(value, "waiting")
                and argument_kind(value.__class__) is not ArgumentKind.NUMBER
            ):
                return None
    return grid


def _fields_in(batch: Sequence[_Pending]) -> list[Any]:
    values = chain.from_iterable([call.args for one in batch for call in one.calls])
    return [*{id(value): value for value in values if hasattr(value, "grid")}.values()]


def _listed(batch: Sequence[_Pending]) -> str:
    """Return the places of invokes for a message."""
    return ", ".join(f"at {_place(one)}" for one in batch)


def _why(text: str, frame: FrameType, options: JitOptions) -> str:
    """Return a reason with the place of a frame, which is computed only if it is printed."""
    return text.format(place_of_call(frame)) if options.explain else text


def _explained(batch: Sequence[_Pending], why: str) -> str:
    """Return the places of merged invokes, and the reason why no further ones were merged."""
    lines = [
        f"  {_place(one)}  {f'{one.label}: ' if one.label else ''}"
        f"{', '.join([call.kernel.name for call in one.calls])}"
        for one in batch
    ]
    head = f"{len(batch)} deferred invokes were merged; the next ones were not, because {why}:"
    if len(batch) == 1:
        head = f"One deferred invoke was not merged with others, because {why}:"
    return "\n".join([head, *lines])


def _place(one: _Pending) -> str:
    return place_of_call(MergedSites((one.site,)))
