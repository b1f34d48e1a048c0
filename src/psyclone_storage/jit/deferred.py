"""Deferred invokes of grids: consecutive invokes are merged until a value is needed.

A field or a result that a pending invoke uses refers to the queue, and completes it when the
program accesses its value. The queue is also completed before it gets a call site that it already
contains, so that each time step of a loop has the same merged plan, which is compiled once. The
queue knows the sequences of earlier time steps as a tree: an invoke that continues one of them is
added without other checks, and the node of the tree has the merged plan.

On several ranks, the ranks agree on the number of invokes that they merge, because only some of
them may need a value. Each rank completes the queue before any other collective call, so that a
rank that needs a value waits only until the other ranks reach such a call.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter, is_, itemgetter
from types import FrameType
from typing import Any

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.results import QUEUES
from psyclone_storage.base.stopping import HeldSignals
from psyclone_storage.base.uncaught import user_location
from psyclone_storage.jit._pure import CallTable
from psyclone_storage.jit.call_cache import CacheEntry, cache_in, find_call
from psyclone_storage.jit.deferrable import (
    MOST,
    DeferrableInvoke,
    NotDeferrableError,
    Numbers,
    PendingInvoke,
    are_mergeable,
    check_numbers,
    computes_result,
    count_mergeable,
    grid_of,
    invoke_of,
    is_short,
    listed_places,
    live_calls,
    place_text,
    read_variables,
    results_read,
    variables_in,
)
from psyclone_storage.jit.disk_cache import MODULES
from psyclone_storage.jit.invokes import has_lost_values, recover, run_invoke
from psyclone_storage.jit.native import Pending, deferral, restarts_calls
from psyclone_storage.jit.session import JitSession
from psyclone_storage.jit.types import (
    CompiledInvoke,
    JitOptions,
    LiveCall,
    LiveKernel,
    are_identical,
)
from psyclone_storage.languages.python.parse.closure import (
    ClosureSnapshot,
    InvokeSite,
    MergedSites,
    place_of_call,
)

_MOST_NODES = 2048
"""The number of invokes in all sequences that are remembered."""
_LONGEST = 40
"""The length of the name of a merged invoke."""


_version_of = attrgetter("version")


@dataclass(slots=True, eq=False)
class _Batch:
    """Invokes that are merged, without the values of their arguments.

    - `fields`: returns the fields whose versions show whether an invoke has run: all, or after a
      first execution only the first one that it changed. All data are acquired together.
    - `waiting`: positions of the data that refer to the queue.
    - `results`: positions of results whose values before the batch kernels read.
    - `numbers`: the numbers that kernels read, with the position of the invoke that is named if
      they have changed. `varies`: whether kernels read variables of modules.

    After a first execution, the batch contains the routine of the merged invoke:

    - `are_current`: whether the lookups of its kernels find the same objects.
    - `data`: returns the arguments of the routine. `fits`: whether numbers are those that are
      compiled in, and equal where they were; None if there are no such numbers.
    """

    sites: MergedSites
    label: str
    fields: Callable[[Sequence[Any]], tuple[Any, ...]]
    waiting: tuple[int, ...]
    results: tuple[int, ...]
    numbers: tuple[tuple[int, Numbers], ...]
    varies: bool
    are_current: Callable[[], bool] = bool
    routine: Callable[..., None] | None = None
    data: Callable[[Sequence[Any]], tuple[Any, ...]] = tuple
    fits: Callable[[Sequence[Any]], bool] | None = None


class _Node(dict[DeferrableInvoke, "_Node"]):
    """A sequence of invokes that can be merged: the invokes that may follow, and its batch."""

    __slots__ = ("batch",)

    def __init__(self) -> None:
        """Start without following invokes."""
        super().__init__()
        self.batch: _Batch | None = None


class DeferredInvokes:
    """The queue of pending invokes of a program; all threads share it.

    An invoke with the arguments of an earlier one is found as a compiled invoke is, by the cache of
    its call site. Its routine adds it to the queue.

    - `find`: returns the cached routine of an invoke that is not deferred.
    """

    def __init__(self, session: JitSession, find: Callable[..., Any]) -> None:
        self._session, self._find_compiled = session, find
        self.known: CallTable = {}
        """The deferred calls of each call site, for `find_call`."""
        self.find: Callable[..., Any] = partial(find_call, self.known)
        self._root, self._nodes = _Node(), 0
        self.pending = Pending(self._root)
        """The pending invokes."""
        self._sites: dict[tuple[int, int], int] = {}
        self._lock = threading.RLock()
        # The invokes that were started last, the fields that show whether they ran, and the
        # versions of these before.
        self._started: tuple[list[PendingInvoke], tuple[Any, ...], list[int]] | None = None
        self._numbers: dict[LiveKernel, Numbers] = {}
        # The values of the variables of modules that pending invokes read.
        self._recorded: dict[tuple[int, str], Any] = {}
        self._at_exit = partial(self.complete, "the program ends")
        self._handlers = -1
        QUEUES.append(self)
        os.register_at_fork(before=partial(self.complete, "the process forks"))

    def run(
        self, calls: tuple[LiveCall, ...], label: str, frame: FrameType, options: JitOptions
    ) -> None:
        """Add an invoke to the queue; execute it if it cannot be deferred."""
        with self._lock:
            grid = grid_of(calls)
            numbers = None if grid is None else self._numbers_of(calls)
            if numbers is None:
                self._run_at_once(calls, label, frame, options)
                return
            site = self._sites.setdefault((id(frame.f_code), frame.f_lasti), len(self._sites))
            invoke = invoke_of(calls, label, (frame, site), options, numbers)
            values = (*chain.from_iterable([one.args for one in calls]),)
            try:
                self._add(invoke, values)
            except NotDeferrableError:
                self._run_at_once(calls, label, frame, options)
                return
            snapshot = ClosureSnapshot()
            for one in numbers:
                snapshot.extend(one.snapshot)
            read = partial(self._read, invoke.varying) if invoke.varying else None
            positions = invoke.waiting, invoke.integers
            add = deferral(self.pending, invoke, positions, self, self._begin, read, self._add)
            known = CompiledInvoke(add, tuple(range(len(values))), None, frame.f_code)
            cache_in(self.known, invoke.place, (calls, label, options), known, snapshot)

    def recover(
        self, error: Exception, about: tuple[tuple[LiveCall, ...], str, FrameType, JitOptions]
    ) -> None:
        """Run an invoke at once that cannot be deferred with these numbers.

        Raises:
            Exception: any other error, of earlier invokes that ran before this one was added.
        """
        if not isinstance(error, NotDeferrableError):
            raise error
        calls, label, frame, options = about
        with self._lock:
            self._run_at_once(calls, label, frame, options)

    def _run_at_once(
        self, calls: tuple[LiveCall, ...], label: str, frame: FrameType, options: JitOptions
    ) -> None:
        """Execute an invoke after the pending ones."""
        self.complete(_why("the invoke at {} cannot be deferred", frame, options))
        found = self._find_compiled(frame, options, label, calls)
        self._execute(found, (calls, label, frame, options))

    def _read(self, varying: tuple[Numbers, ...]) -> tuple[list[Any], ...]:
        """Return the values of variables now; pending invokes that read others run first.

        Raises:
            DeferredInvokeError: one of these invokes cannot run, because a value has changed.
            NotDeferrableError: a value is an integer of more than 32 bits.
        """
        found = read_variables(varying)
        for one, values in zip(varying, found, strict=True):
            for (owner, name), value in zip(one.variables, values, strict=True):
                known = self._recorded.setdefault((id(owner), name), value)
                if known is not value and not are_identical(known, value):
                    self.complete(f"'{name}' has changed")
                    self._recorded = {(id(owner), name): value}
        return found

    def _add(self, invoke: DeferrableInvoke, values: tuple[Any, ...]) -> None:
        """Add an invoke to the queue; pending ones that it must not be merged with run first.

        Raises:
            NotDeferrableError: a number may be an error, so that the invoke must run at once.
        """
        if invoke.integers and not all(is_short(values[at]) for at in invoke.integers):
            raise NotDeferrableError
        added = False
        while not added:
            node, epoch = self.pending.state()
            following = None if node is None else self._following(node, invoke, values)
            # An invoke that runs may lead to another one, which is added to the closed queue.
            is_within = node is None and self.pending.is_running()
            if following is None and not is_within:
                self._make_open(node, self._why_apart(invoke))
                continue
            if not self.pending:
                self._begin()
            record = invoke, values, self._read(invoke.varying) if invoke.varying else ()
            # Data first: an interrupt must not leave a pending invoke that no value waits for.
            for at in invoke.waiting:
                values[at].waiting = self
            added = self.pending.append(node, epoch, following, record)

    def _following(
        self, node: _Node, invoke: DeferrableInvoke, values: tuple[Any, ...]
    ) -> _Node | None:
        """Return the node after an invoke; None if it must not be merged with those before it."""
        found = node.get(invoke)
        if found is None and are_mergeable([*self.pending.records, (invoke, values, ())]):
            found = self._new_node(node, invoke)
        return found

    def _new_node(self, node: _Node, invoke: DeferrableInvoke) -> _Node:
        """Return a new node after another one; start a new tree if there are too many."""
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            self._root, self._nodes = _Node(), 0
            self.pending.open(self._root)
        return node.setdefault(invoke, _Node())

    def _make_open(self, node: _Node | None, why: str) -> None:
        """Run the pending invokes if their node is still `node`; wait for a thread that does so."""
        with self._lock:
            if self.pending.state()[0] is node:
                self.complete(why)
                self.pending.open(self._root)

    def _begin(self) -> None:
        """Let the queue run at the end of the program, before functions registered earlier do."""
        self._recorded.clear()
        # A removed function leaves its slot in `atexit`, so that it is not registered each time.
        count = atexit._ncallbacks()  # noqa: SLF001  # pylint: disable=protected-access
        if count != self._handlers:
            atexit.unregister(self._at_exit)
            atexit.register(self._at_exit)
            self._handlers = atexit._ncallbacks()  # noqa: SLF001  # pylint: disable=protected-access

    def _why_apart(self, invoke: DeferrableInvoke) -> str:
        """Return why an invoke is not merged with those that are pending."""
        text = "the invoke at {} is on another grid"
        pending = [one for one, _, _ in self.pending.records]
        if invoke.number in [one.number for one in pending]:
            text = "the invoke at {} was pending already"
        elif len(pending) >= MOST:
            return f"at most {MOST} invokes are merged"
        return _why(text, MergedSites((invoke.site,)), invoke.options)

    def complete(self, why: str = "") -> None:
        """Execute all pending invokes. Collective on several ranks.

        A signal is handled before or after the merged invoke, which never runs in part or twice.

        `why` is the reason, by default that the program needs a value.

        Raises:
            DeferredInvokeError: a number that a kernel uses has changed since the invoke.
        """
        if not self.pending or self.pending.is_running():
            return
        with self._lock, self.pending as known:
            node: _Node | None = known
            if self._started is not None:
                self._drop_executed(*self._started)
                node = None
            while self.pending:
                self._run_next(node, why)
                node = None

    def discard(self) -> None:
        """Remove all pending invokes. To be called on all ranks."""
        if not self.pending.is_running():
            with self._lock, self.pending:
                self._drop(len(self.pending))

    # -- running ---------------------------------------------------------------------------------

    def _run_next(self, node: _Node | None, why: str) -> None:
        """Run the first pending invokes as one; `node` is that of all pending ones if not None."""
        records = self.pending.records
        invoke, values, _ = records[0]
        count = len(records) if node is not None else count_mergeable(records)
        agreed: int = values[invoke.on_grid].grid.ranks.agreed(count)
        pending = records[:agreed]
        if node is None or agreed < len(records):
            node = self._node_of(pending)
        batch = node.batch
        if batch is None or not batch.are_current():
            batch = self._new_batch(node, pending, why)
        if batch.varies or batch.routine is None:
            check_numbers(batch.numbers, pending)
        with HeldSignals(restarts_calls):  # but not while other ranks are waited for
            self._run_merged_or_each(node, batch, pending, self.pending.values(agreed))

    def _node_of(self, pending: Iterable[PendingInvoke]) -> _Node:
        """Return the node of pending invokes that can be merged."""
        node = self._root
        for invoke, _, _ in pending:
            found = node.get(invoke)
            node = self._new_node(node, invoke) if found is None else found
        return node

    def _run_merged_or_each(
        self, node: _Node, batch: _Batch, pending: list[PendingInvoke], values: list[Any]
    ) -> None:
        """Run the first pending invokes as one; after an error without effect, run each of them."""
        if batch.results and not all(values[at].is_set for at in batch.results):
            self._run_each(len(pending))
            return
        fields, count = batch.fields(values), len(pending)
        versions = [*map(_version_of, fields)]
        self._started = pending, fields, versions
        try:
            self._run_merged(node, batch, pending, values)
        except Exception as error:  # pylint: disable=broad-exception-caught
            changed = [one for one, was in zip(fields, versions, strict=True) if one.version != was]
            # Variables of other types are found after fields are held: versions may differ.
            if isinstance(error, CompileError) and not any(map(has_lost_values, changed)):
                changed = []
            if changed or count == 1:
                if count > 1:
                    _lose(pending, values, changed, error)
                self._leave(pending, error)
                raise
            # Nothing has run: the invoke that fails is found, and those before it run.
            self._run_each(count)
            return
        if batch.routine is None:
            now = map(_version_of, fields)
            changed = [
                one for one, was, new in zip(fields, versions, now, strict=True) if was != new
            ]
            self._remember(node, pending, values, changed[:1])
        if not self.pending.finish(values, batch.waiting, count):
            self._drop(count)
        self._started = None

    def _run_each(self, count: int) -> None:
        """Run the first pending invokes one by one, because one of them has an error."""
        for _ in range(count):
            self._run_first()

    def _drop_executed(
        self, started: list[PendingInvoke], fields: tuple[Any, ...], versions: list[int]
    ) -> None:
        """Drop the invokes that ran before an interrupt; other pending ones run later."""
        pending = self.pending.records
        same = len(started) <= len(pending) and all(map(is_, started, pending))
        if same and [*map(_version_of, fields)] != versions:
            self._drop(len(started))
        self._started = None

    def _remember(
        self, node: _Node, pending: list[PendingInvoke], values: list[Any], changed: list[Any]
    ) -> None:
        """Remember the cached call of merged invokes, and the first field that they change."""
        batch = node.batch
        if batch is None or not changed:
            return
        found = self._cached(live_calls(pending, values), batch, pending[0][0].options)
        if found is not None:
            compiled, at = found[0].compiled, [id(one) for one in values].index(id(changed[0]))
            batch.fields, batch.data = _getter((at,)), _getter(compiled.order)
            batch.fits = compiled.fits if compiled.constants or compiled.equal else None
            batch.are_current = found[0].call.is_current
            batch.routine = compiled.routine

    def _run_first(self) -> None:
        """Run the first pending invoke, without those that it could be merged with."""
        pending = self.pending.records[:1]
        node = self._node_of(pending)
        try:
            batch = node.batch or self._new_batch(node, pending, "an invoke after it has an error")
            values = [*pending[0][1]]
            fields = batch.fields(values)
            self._started = pending, fields, [*map(_version_of, fields)]
            self._run_merged(node, batch, pending, values)
        except Exception as error:
            self._leave(pending, error)
            raise
        self._drop(1)

    def _leave(self, pending: Sequence[PendingInvoke], error: Exception) -> None:
        """Remove invokes that have failed with `error`; later ones remain pending."""
        self._drop(len(pending))
        word = "invoke" if len(pending) == 1 else "invokes"
        error.add_note(f"It occurred in the deferred {word} {listed_places(pending)}.")
        if later := self.pending.records:
            error.add_note(f"Later invokes are still pending: {listed_places(later)}.")

    def _new_batch(self, node: _Node, pending: Sequence[PendingInvoke], why: str) -> _Batch:
        """Return the description of pending invokes, which are merged; remember it."""
        if len(pending) < len(self.pending):
            why = "another rank had no more pending invokes"
        why = why or f"the program needs a value at {user_location()}"
        about = _explained(pending, why) if pending[0][0].options.explain else ""
        made = node.batch = _batch_of(pending, about)
        return made

    def _run_merged(
        self, node: _Node, batch: _Batch, pending: Sequence[PendingInvoke], values: Sequence[Any]
    ) -> None:
        """Run invokes as one; their arguments were compared when they were added."""
        if batch.routine is None or not (batch.fits is None or batch.fits(values)):
            calls, options = live_calls(pending, values), pending[0][0].options
            found = self._cached(calls, batch, options)
            self._execute(found, (calls, batch.label, batch.sites, options))
            return
        try:
            batch.routine(*batch.data(values))
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            node.batch = None  # another routine may run the invoke
            options = pending[0][0].options
            about = live_calls(pending, values), batch.label, batch.sites, options
            recover(self._session, error, about)

    def _drop(self, count: int) -> None:
        """Remove the first invokes; data that later ones do not use are no longer waited for."""
        pending = self.pending.records
        done = pending[:count]
        del pending[:count]
        still = {id(value) for _, values, _ in pending for value in values}
        for invoke, values, _ in done:
            for value in [values[at] for at in invoke.waiting]:
                if id(value) not in still:
                    value.waiting = None
        self._started = None

    def _cached(
        self, calls: tuple[LiveCall, ...], batch: _Batch, options: JitOptions
    ) -> tuple[CacheEntry, tuple[Any, ...]] | None:
        """Return the cached call of merged invokes, which have no frame, with its data."""
        sites = batch.sites
        for entry in self._session.calls.get(id(sites.f_code), {}).get(sites.f_lasti, ()):
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

    def _numbers_of(self, calls: Sequence[LiveCall]) -> tuple[Numbers, ...] | None:
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
                    one for each in resolved for one in variables_in(each.function, each.text.text)
                ]
                known = self._numbers[call.kernel] = Numbers(
                    call.kernel, snapshot, tuple(variables)
                )
            found.append(known)
        return tuple(found)


def _getter(order: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that returns the values at these positions."""
    if len(order) == 1:
        return lambda values: (values[order[0]],)
    return itemgetter(*order)


def _batch_of(pending: Sequence[PendingInvoke], about: str) -> _Batch:
    invokes = [invoke for invoke, _, _ in pending]
    values = [*chain.from_iterable([values for _, values, _ in pending])]
    distinct = {id(value): at for at, value in enumerate(values) if hasattr(value, "waiting")}
    numbers: dict[int, tuple[int, Numbers]] = {}
    for at, invoke in enumerate(invokes):
        for each in invoke.numbers:
            numbers.setdefault(id(each), (at, each))
    sites = MergedSites(tuple([invoke.site for invoke in invokes]), about)
    return _Batch(
        sites,
        "_".join([invoke.label for invoke in invokes if invoke.label])[:_LONGEST],
        _getter([at for at in distinct.values() if hasattr(values[at], "grid")]),
        tuple(distinct.values()),
        results_read(pending),
        tuple(numbers.values()),
        any(invoke.varying for invoke in invokes),
    )


def _lose(
    pending: Iterable[PendingInvoke],
    values: Sequence[Any],
    changed: Iterable[Any],
    error: Exception,
) -> None:
    """Mark the data of merged invokes that failed after a start as without values.

    `changed` are the fields that the invokes write, which are acquired together.
    """
    for one in changed:
        replicas = one.storage.buffer.replicas
        if replicas.poisoned is None:
            replicas.poison(error)
    for call in live_calls(pending, values):
        if computes_result(call):
            call.args[0].lose(error)


def _why(text: str, frame: InvokeSite, options: JitOptions) -> str:
    """Return a reason with the place of a frame, which is computed only if it is printed."""
    return text.format(place_of_call(frame)) if options.explain else text


def _explained(pending: Sequence[PendingInvoke], why: str) -> str:
    """Return the places of merged invokes, and the reason why no further ones were merged."""
    lines = [
        f"  {place_text(one)}  {f'{one.label}: ' if one.label else ''}"
        f"{', '.join([kernel.name for _, kernel, _, _ in one.calls])}"
        for one, _, _ in pending
    ]
    head = f"{len(pending)} deferred invokes were merged; the next ones were not, because {why}:"
    if len(pending) == 1:
        head = f"One deferred invoke was not merged with others, because {why}:"
    return "\n".join([head, *lines])
