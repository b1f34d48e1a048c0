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
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain
from numbers import Number
from operator import is_
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.results import QUEUES
from psyclone_storage.base.uncaught import UserError, user_location
from psyclone_storage.jit.call_cache import CacheEntry, cache_in, find_call
from psyclone_storage.jit.disk_cache import MODULES
from psyclone_storage.jit.invokes import recover, run_invoke
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
    global_names_in,
    place_of_call,
)

_MOST = 32
"""The number of invokes that are merged at most."""
_MOST_BATCHES = 256
"""The number of sequences of invokes that are remembered."""
_LONGEST = 40
"""The length of the name of a merged invoke."""


class DeferredInvokeError(UserError, RuntimeError):
    """A number that a pending invoke uses has changed."""


class _Numbers(NamedTuple):
    """Numbers that a kernel reads: the lookups of its text, and variables of modules."""

    kernel: LiveKernel
    snapshot: ClosureSnapshot
    variables: tuple[tuple[Mapping[str, Any], str], ...]

    def values(self) -> list[Any]:
        """Return the values of the variables now."""
        return [owner.get(name) for owner, name in self.variables]


@dataclass(frozen=True, slots=True, eq=False)
class _Invoke:
    """An invoke that can be deferred, without the values of its arguments.

    - `calls`: for each call its type, its kernel, and the positions of its first argument and of
      that after its last one.
    - `numbers`: those of its kernels. `varying`: the ones that read variables of modules.
    - `waiting`: the positions of the arguments that refer to the queue while the invoke is pending.
    - `on_grid`: the position of the first field.
    - `number`: that of the call site `place`, which is compared faster.
    """

    calls: tuple[tuple[type, LiveKernel, int, int], ...]
    label: str
    site: tuple[CodeType, int]
    place: tuple[int, int]
    options: JitOptions
    numbers: tuple[_Numbers, ...]
    varying: tuple[_Numbers, ...]
    waiting: tuple[int, ...]
    on_grid: int
    number: int


_made: Callable[..., Any] = tuple.__new__
"""Makes a named tuple without Python code."""


_Record: TypeAlias = tuple[_Invoke, tuple[Any, ...], tuple[list[Any], ...]]
"""A pending invoke: it, its arguments, and the variables that its kernels read."""


class _Batch(NamedTuple):
    """Invokes that are merged, without the values of their arguments.

    - `waiting`: positions of the data that refer to the queue.
    - `fields`: positions of the fields whose versions show whether an invoke has run: all, or after
      a first execution only the first one that it changed. All data are acquired together.
    - `numbers`: the numbers that kernels read, with the position of the invoke that is named if
      they have changed.
    - `key`: the key of cached calls. `entry`: the call with these arguments.
    """

    sites: MergedSites
    key: tuple[int, Hashable]
    label: str
    fields: tuple[int, ...]
    waiting: tuple[int, ...]
    numbers: tuple[tuple[int, _Numbers], ...]
    entry: CacheEntry | None = None


class DeferredInvokes:
    """The queue of pending invokes of a program; all threads share it.

    An invoke with the arguments of an earlier one is found as a compiled invoke is, by the cache of
    its call site. Its routine adds it to the queue.

    - `find`: returns the cached routine of an invoke that is not deferred.
    """

    def __init__(self, session: JitSession, find: Callable[..., Any]) -> None:
        self._session, self._find_compiled = session, find
        self._known: dict[tuple[int, Hashable], tuple[Any, ...]] = {}
        self.find: Callable[..., Any] = partial(find_call, self._known)
        self._pending: list[_Record] = []
        self._sites: dict[tuple[int, int], int] = {}
        self._pending_sites: set[int] = set()
        self._lock = threading.RLock()
        self._grid: Any = None
        self._running = 0
        # The invokes that were started last, the fields that show whether they ran, and the
        # versions of these before.
        self._started: tuple[list[_Record], list[Any], list[int]] | None = None
        self._batches: dict[tuple[_Invoke, ...], _Batch] = {}
        self._numbers: dict[LiveKernel, _Numbers] = {}
        self._at_exit = partial(self.complete, "the program ends")
        QUEUES.append(self)
        os.register_at_fork(before=partial(self.complete, "the process forks"))

    def run(
        self, calls: tuple[LiveCall, ...], label: str, frame: FrameType, options: JitOptions
    ) -> None:
        """Add an invoke to the queue; execute it if it cannot be deferred."""
        with self._lock:
            grid = _grid_of(calls)
            numbers = None if grid is None else self._numbers_of(calls)
            if numbers is None:
                self.complete(_why("the invoke at {} cannot be deferred", frame, options))
                found = self._find_compiled(frame, options, label, calls)
                self._execute(found, (calls, label, frame, options))
                return
            place = id(frame.f_code), frame.f_lasti
            site = self._sites.setdefault(place, len(self._sites))
            invoke = _invoke_of(calls, label, (frame, site), options, numbers)
            add, values = self._adder(invoke), [*chain.from_iterable([one.args for one in calls])]
            add(*values)
            snapshot = ClosureSnapshot()
            for one in numbers:
                snapshot.extend(one.snapshot)
            known = CompiledInvoke(add, tuple(range(len(values))), None, frame.f_code)
            cache_in(self._known, invoke.place, (calls, label, options), known, snapshot)

    @staticmethod
    def raise_error(error: Exception, _: object) -> None:
        """Raise an error of earlier invokes, which ran before an invoke was added.

        Raises:
            Exception: the error.
        """
        raise error

    def _adder(self, invoke: _Invoke) -> Callable[..., None]:
        """Return the function that adds an invoke with its arguments to the queue.

        If the invoke must not be merged with those that are pending, these run first.
        """
        site, on_grid, waiting = invoke.number, invoke.on_grid, invoke.waiting
        varying, lock, most = invoke.varying, self._lock, _MOST - 1
        pending, sites = self._pending, self._pending_sites

        def add(*values: Any) -> None:
            with lock:
                grid = values[on_grid].grid
                if pending and (site in sites or len(pending) > most or grid is not self._grid):
                    self.complete(self._why_apart(invoke))
                if not pending:
                    # The functions that other modules run at the end of the program run later.
                    atexit.unregister(self._at_exit)
                    atexit.register(self._at_exit)
                    self._grid = grid
                numbers = tuple([one.values() for one in varying]) if varying else ()
                sites.add(site)
                # Data first: an interrupt must not leave a pending invoke that no value waits for.
                for at in waiting:
                    values[at].waiting = self
                pending.append((invoke, values, numbers))

        return add

    def _why_apart(self, invoke: _Invoke) -> str:
        """Return why an invoke is not merged with those that are pending."""
        text = "the invoke at {} is on another grid"
        if invoke.number in self._pending_sites:
            text = "the invoke at {} was pending already"
        elif len(self._pending) >= _MOST:
            return f"at most {_MOST} invokes are merged"
        return _why(text, MergedSites((invoke.site,)), invoke.options)

    def complete(self, why: str = "") -> None:
        """Execute all pending invokes. Collective on several ranks.

        `why` is the reason, by default that the program needs a value.

        Raises:
            DeferredInvokeError: a number that a kernel uses has changed since the invoke.
        """
        if not self._pending or self._running == threading.get_ident():
            return
        with self._lock:
            try:
                self._running = threading.get_ident()
                self._drop_executed()
                while self._pending:
                    self._run_next(self._agreed(), why)
            finally:
                self._running = 0

    # -- running ---------------------------------------------------------------------------------

    def _agreed(self) -> int:
        """Return the number of invokes to merge now, which is equal on all ranks."""
        count: int = self._grid.ranks.agreed(len(self._pending))
        return count

    def _run_next(self, count: int, why: str) -> None:
        """Run the first pending invokes as one."""
        pending = self._pending[:count]
        invokes, arguments, numbers = zip(*pending, strict=True)
        values = [*chain.from_iterable(arguments)]
        batch = self._batches.get(invokes) or self._new_batch(count, why)
        _check_numbers(batch, invokes, numbers)
        fields = [values[at] for at in batch.fields]
        versions = [field.version for field in fields]
        self._started = pending, fields, versions
        try:
            self._run_merged(batch, invokes, values)
        except Exception as error:  # pylint: disable=broad-exception-caught
            if [field.version for field in fields] != versions or count == 1:
                self._drop(len(self._pending))
                error.add_note(f"It occurred in the deferred invokes {_listed(invokes)}.")
                raise
            # Nothing has run: the invoke that fails is found, and those before it run.
            for _ in range(count):
                self._run_first()
        else:
            if batch.entry is None:
                now = [field.version for field in fields]
                changed = zip(batch.fields, versions, now, strict=True)
                first = tuple([at for at, one, new in changed if one != new][:1])
                self._remember(batch, invokes, values, first)
            if count < len(self._pending):
                self._drop(count)
                return
            self._pending.clear()
            self._pending_sites.clear()
            for at in batch.waiting:
                values[at].waiting = None
            self._started = None

    def _drop_executed(self) -> None:
        """Drop the invokes that ran before an interrupt; other pending ones run later."""
        if self._started is None:
            return
        pending, fields, versions = self._started
        same = len(pending) <= len(self._pending) and all(map(is_, pending, self._pending))
        if same and [field.version for field in fields] != versions:
            self._drop(len(pending))
        self._started = None

    def _remember(
        self,
        batch: _Batch,
        invokes: tuple[_Invoke, ...],
        values: Sequence[Any],
        changed: tuple[int, ...],
    ) -> None:
        """Remember the cached call of merged invokes, and the first field that they change."""
        found = self._cached(_calls_of(invokes, values), batch, invokes[0].options)
        if found is not None and changed:
            self._batches[invokes] = batch._replace(entry=found[0], fields=changed)

    def _run_first(self) -> None:
        """Run the first pending invoke, because one of those that were merged has an error."""
        invoke, values, _ = self._pending[0]
        try:
            batch = self._batches.get((invoke,)) or self._new_batch(
                1, "an invoke after it has an error"
            )
            fields = [values[at] for at in batch.fields]
            self._started = self._pending[:1], fields, [field.version for field in fields]
            self._run_merged(batch, (invoke,), values)
        except Exception as error:
            self._drop(len(self._pending))
            error.add_note(f"It occurred in the deferred invoke {_listed([invoke])}.")
            raise
        self._drop(1)

    def _new_batch(self, count: int, why: str) -> _Batch:
        """Return the description of the first pending invokes, which are merged; remember it."""
        if len(self._batches) >= _MOST_BATCHES:
            self._batches.clear()
        pending = self._pending[:count]
        invokes = tuple([invoke for invoke, _, _ in pending])
        if count < len(self._pending):
            why = "another rank had no more pending invokes"
        why = why or f"the program needs a value at {user_location()}"
        about = _explained(invokes, why) if invokes[0].options.explain else ""
        made = self._batches[invokes] = _batch_of(pending, about)
        return made

    def _run_merged(
        self, batch: _Batch, invokes: tuple[_Invoke, ...], values: Sequence[Any]
    ) -> None:
        """Run invokes as one; their arguments were compared when they were added."""
        entry, options = batch.entry, invokes[0].options
        if (
            entry is None
            or entry not in self._session.calls.get(batch.key, ())
            or not entry.compiled.fits(values)
        ):
            calls = _calls_of(invokes, values)
            found = self._cached(calls, batch, options)
            self._execute(found, (calls, batch.label, batch.sites, options))
            return
        try:
            entry.compiled.routine(*[values[at] for at in entry.compiled.order])
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            about = _calls_of(invokes, values), batch.label, batch.sites, options
            recover(self._session, error, about)

    def _drop(self, count: int) -> None:
        """Remove the first invokes; data that later ones do not use are no longer waited for."""
        done = self._pending[:count]
        del self._pending[:count]
        self._pending_sites.clear()
        self._pending_sites.update([invoke.number for invoke, _, _ in self._pending])
        still = {id(value) for _, values, _ in self._pending for value in values}
        for invoke, values, _ in done:
            for value in [values[at] for at in invoke.waiting]:
                if id(value) not in still:
                    value.waiting = None
        self._started = None

    def _cached(
        self, calls: tuple[LiveCall, ...], batch: _Batch, options: JitOptions
    ) -> tuple[CacheEntry, tuple[Any, ...]] | None:
        """Return the cached call of merged invokes, which have no frame, with its data."""
        for entry in self._session.calls.get(batch.key, ()):
            data = entry.call.match(options, batch.label, calls)
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

    def _numbers_of(self, calls: Sequence[LiveCall]) -> tuple[_Numbers, ...] | None:
        """Return the numbers that kernels read; None if they are unknown."""
        found = []
        for call in calls:
            function = getattr(call.kernel, "function", None)
            if function is None:
                if hasattr(call.kernel, "file"):
                    return None
                continue
            known = self._numbers.get(call.kernel)
            if known is None or not known.snapshot.is_current():
                resolved = self._session.functions.try_to_resolve(function, MODULES["gocean"])
                if resolved is None:
                    return None
                snapshot = self._session.functions.snapshot_of(function, MODULES["gocean"])
                variables = [
                    one for each in resolved for one in _variables(each.function, each.text.text)
                ]
                known = self._numbers[call.kernel] = _Numbers(
                    call.kernel, snapshot, tuple(variables)
                )
            found.append(known)
        return tuple(found)


def _calls_of(invokes: Iterable[_Invoke], values: Sequence[Any]) -> tuple[LiveCall, ...]:
    """Return the calls of invokes with their arguments, which follow each other."""
    calls, start = [], 0
    for invoke in invokes:
        for kind, kernel, first, last in invoke.calls:
            calls.append(_made(kind, (kernel, (*values[start + first : start + last],))))
        start += invoke.calls[-1][-1]
    return tuple(calls)


def _invoke_of(
    calls: Sequence[LiveCall],
    label: str,
    where: tuple[FrameType, int],
    options: JitOptions,
    numbers: tuple[_Numbers, ...],
) -> _Invoke:
    """Return an invoke; `where` is its call site and the number of the site."""
    frame, number = where
    values = [*chain.from_iterable([call.args for call in calls])]
    ends = [*accumulate([len(call.args) for call in calls], initial=0)]
    return _Invoke(
        tuple([
            (type(call), call.kernel, start, stop)
            for call, start, stop in zip(calls, ends, ends[1:], strict=False)
        ]),
        label,
        (frame.f_code, frame.f_lasti),
        (id(frame.f_code), frame.f_lasti),
        options,
        numbers,
        tuple([one for one in numbers if one.variables]),
        tuple([at for at, value in enumerate(values) if hasattr(value, "waiting")]),
        next(at for at, value in enumerate(values) if hasattr(value, "grid")),
        number,
    )  # fmt: skip


def _batch_of(pending: Sequence[_Record], about: str) -> _Batch:
    invokes = [invoke for invoke, _, _ in pending]
    values = [*chain.from_iterable([values for _, values, _ in pending])]
    distinct = {id(value): at for at, value in enumerate(values) if hasattr(value, "waiting")}
    numbers: dict[int, tuple[int, _Numbers]] = {}
    for at, invoke in enumerate(invokes):
        for each in invoke.numbers:
            numbers.setdefault(id(each), (at, each))
    sites = MergedSites(tuple([invoke.site for invoke in invokes]), about)
    return _Batch(
        sites,
        (id(sites.f_code), sites.f_lasti),
        "_".join([invoke.label for invoke in invokes if invoke.label])[:_LONGEST],
        tuple([at for at in distinct.values() if hasattr(values[at], "grid")]),
        tuple(distinct.values()),
        tuple(numbers.values()),
    )


def _check_numbers(
    batch: _Batch, invokes: tuple[_Invoke, ...], variables: tuple[tuple[list[Any], ...], ...]
) -> None:
    """Check that no number that a kernel reads has changed since its invoke."""
    for invoke, before in zip(invokes, variables, strict=True) if any(variables) else ():
        for numbers, values in zip(invoke.varying, before, strict=True):
            now = numbers.values()
            for (_, name), first, last in zip(numbers.variables, values, now, strict=True):
                if first is not last:
                    raise _changed(f"'{name}'", numbers, invoke)
    for at, numbers in batch.numbers:
        if not numbers.snapshot.is_current():
            raise _changed("A value", numbers, invokes[at])


def _changed(what: str, numbers: _Numbers, invoke: _Invoke) -> DeferredInvokeError:
    return DeferredInvokeError(
        f"{what}, which the kernel '{numbers.kernel.name}' uses, has changed since the deferred "
        f"invoke {_listed([invoke])}: pass it as a scalar argument, or call complete_invokes() "
        f"before the change."
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


def _listed(invokes: Iterable[_Invoke]) -> str:
    """Return the places of invokes for a message."""
    return ", ".join(f"at {_place(one)}" for one in invokes)


def _why(text: str, frame: InvokeSite, options: JitOptions) -> str:
    """Return a reason with the place of a frame, which is computed only if it is printed."""
    return text.format(place_of_call(frame)) if options.explain else text


def _explained(invokes: Sequence[_Invoke], why: str) -> str:
    """Return the places of merged invokes, and the reason why no further ones were merged."""
    lines = [
        f"  {_place(one)}  {f'{one.label}: ' if one.label else ''}"
        f"{', '.join([kernel.name for _, kernel, _, _ in one.calls])}"
        for one in invokes
    ]
    head = f"{len(invokes)} deferred invokes were merged; the next ones were not, because {why}:"
    if len(invokes) == 1:
        head = f"One deferred invoke was not merged with others, because {why}:"
    return "\n".join([head, *lines])


def _place(one: _Invoke) -> str:
    return place_of_call(MergedSites((one.site,)))
