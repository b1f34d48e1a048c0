"""OpenACC steps: device regions and loops distributed on a device.

Data clauses and transfers follow from the schedule: `transform.transfers` places updates, and the
back end lists entered data. This module checks which statements may run on a device.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.races import check_races
from psyclone_storage.analysis.schedules.reduction import check_reductions_in_region
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import Span
from psyclone_storage.ir.directive import Directive, RegionOptions
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Over, Schedule, Statement
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.walk import path_to, place_near, place_of, statements
from psyclone_storage.transform.blocks import OnBlock, block_between, check_block
from psyclone_storage.transform.device import check_device_support, check_waits
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.step import (
    SharesIterations,
    StepPlace,
    calls_inside,
    check_no_directive,
)

_DATA = (Directive.ACC_DATA,)
_LOOPS = (Directive.ACC_LOOP,)
_REGIONS = (Directive.ACC_PARALLEL, Directive.ACC_KERNELS)


@dataclass(frozen=True, slots=True)
class AccLoop(SharesIterations):
    """Distribute the iterations of a loop, and of nested loops, over a device.

    `collapse` is the number of nested loops combined into one; 0 combines all that can run in
    parallel: if points of a row depend on each other, only the rows. The clause `independent` is
    added because the compiler has proved independence. A `sequential` loop runs in order. `gang`
    and `vector` choose the level of parallelism. The region is created by `acc-parallel` or
    `acc-kernels`, before or after this step; if it is missing at the end of the recipe, that is an
    error.

    Rejected if iterations race, unless the loop is sequential: cells that add to shared dofs
    (GH_INC, GH_READINC) must be coloured first, and colours run sequentially. A kernel, or a
    procedure that it calls, must not change saved state such as a module variable, unless `force`
    asserts that this is harmless.

    before: loop1 over rows { columns@loop1 { k } }
    after:  acc-loop(loop1) { loop1 over rows { columns@loop1 { k } } }
    """

    name: ClassVar[str] = "acc-loop"

    collapse: int = 1
    independent: bool = True
    sequential: bool = False
    gang: bool = False
    vector: bool = False
    force: bool = False

    def calls_to_share(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the calls in the loop, unless it is sequential."""
        return () if self.sequential else calls_inside(schedule, self.loop)

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the loop cannot be distributed."""
        around = check_no_directive(schedule, self.loop, around=(*_DATA, *_REGIONS))
        reasons = (*around, *check_device_support((loop,)))
        if self.sequential and (self.gang or self.vector):
            message = "A loop that runs in order has neither gangs nor vectors."
            reasons += (Diagnostic("T084", message, place_of(loop)),)
        nest = _nest(loop)
        if not 0 <= self.collapse <= len(nest):
            message = f"'{loop.uid}' is a nest of {len(nest)}, not of {self.collapse}."
            reasons += (Diagnostic("T084", message, place_of(loop)),)
        if self.sequential:
            return reasons
        shared = nest[: self.collapse or 1]
        return reasons + tuple(
            reason for item in shared for reason in check_races(schedule, rules, item)
        )

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the loop under `acc loop`."""
        shared = not self.sequential
        options = RegionOptions(
            collapse=self.collapse or self._shared_together(schedule, rules, loop),
            sequential=self.sequential,
            gangs=self.gang and shared,
            vectors=self.vector and shared,
            independent=self.independent and shared,
        )
        return DirectiveRegion(f"acc-loop({loop.uid})", Directive.ACC_LOOP, (loop,), options)

    def _shared_together(self, schedule: Schedule, rules: Rules, loop: Loop) -> int:
        """Return the number of loops in the nest, from the outermost, that can be combined."""
        nest = _nest(loop)
        if self.sequential:
            return len(nest)
        return len(list(takewhile(lambda one: not check_races(schedule, rules, one), nest)))


@dataclass(frozen=True, slots=True)
class AccParallel(OnBlock):
    """Run the statements from `first` to `last`, inclusive, on a device.

    Each loop in the region must be under `acc-loop`, applied before or after this step. The data
    must be on the device, entered by `acc-enter-data` or an `acc-data` region; otherwise the
    program stops. Without `default_present` the compiler copies missing data.

    Rejected for the reasons of `openmp-parallel`, and if one loop depends on another: the gangs of
    a device are not synchronised inside a region. For the same reason the region is placed inside a
    loop over colours, not around it.

    before: loop1 over colours { acc-loop(cells) { cells } }
    after:  loop1 over colours { acc-parallel(acc-loop(cells)) { acc-loop(cells) { cells } } }
    """

    name: ClassVar[str] = "acc-parallel"

    default_present: bool = True

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every `acc loop` outside a region."""
        for item in statements(schedule):
            if isinstance(item, DirectiveRegion) and item.directive is Directive.ACC_LOOP:
                around = path_to(schedule, item.uid)[:-1]
                if not any(isinstance(one, DirectiveRegion) and one.directive in _REGIONS
                           for one in around):  # fmt: skip
                    yield {"first": item.uid, "last": item.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the region cannot be created."""
        reasons = check_block(schedule, self.first, self.last, around=_DATA, inside=_LOOPS)
        block = block_between(schedule, self.first, self.last)
        loops = [loop for item in block for loop in _outermost(item)]
        return (
            *reasons,
            *check_reductions_in_region(schedule, block),
            *check_device_support(block),
            *(reason for loop in loops for reason in check_races(schedule, rules, loop)),
            *check_waits(schedule, block),
        )

    def region(self, block: tuple[Statement, ...]) -> DirectiveRegion:
        """Return the statements under `acc parallel`."""
        uid = f"acc-parallel({self.first})"
        options = RegionOptions(present=self.default_present)
        return DirectiveRegion(uid, Directive.ACC_PARALLEL, block, options, Side.DEVICE)


@dataclass(frozen=True, slots=True)
class AccKernels(OnBlock):
    """Let the compiler generate device kernels for the statements from `first` to `last`.

    Loops in the region run one after the other, so they may depend on each other. With
    `default_present` the data must be on the device, as for `acc-parallel`; otherwise the compiler
    copies missing data. With a `queue` of 0 or more the region is asynchronous; the host waits
    before any statement that is not in the same queue.

    Rejected if exchanges are needed between the loops, under other directives, and if one loop uses
    a scalar that another reduces. A queue is rejected inside a loop, for example over colours: the
    host would continue with the next colour, whose number the region may not have read yet.

    before: loop1, loop2
    after:  acc-kernels(loop1) { loop1, loop2 }
    """

    name: ClassVar[str] = "acc-kernels"

    default_present: bool = False
    queue: int = -1

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every top-level loop, distributed or not."""
        for item in without_halos(schedule).body:
            shared = isinstance(item, DirectiveRegion) and item.directive in _LOOPS
            if isinstance(item, Loop) or shared:
                yield {"first": item.uid, "last": item.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the region cannot be created."""
        reasons = check_block(schedule, self.first, self.last, around=_DATA, inside=_LOOPS)
        block = block_between(schedule, self.first, self.last)
        around = path_to(schedule, self.first)[:-1]
        if self.queue >= 0 and any(isinstance(item, DirectiveRegion) for item in around):
            reasons += (_end_waits(f"'{self.first}'", place_near(schedule, self.first)),)
        if self.queue >= 0 and any(isinstance(item, Loop) for item in around):
            reasons += (_is_counted_meanwhile(self.first, place_near(schedule, self.first)),)
        return (
            *reasons,
            *check_reductions_in_region(schedule, block),
            *check_device_support(block),
        )

    def region(self, block: tuple[Statement, ...]) -> DirectiveRegion:
        """Return the statements under `acc kernels`."""
        uid = f"acc-kernels({self.first})"
        options = RegionOptions(present=self.default_present, queue=self.queue)
        return DirectiveRegion(uid, Directive.ACC_KERNELS, block, options, Side.DEVICE)


@dataclass(frozen=True, slots=True)
class AccData(OnBlock):
    """Keep data on a device while the statements from `first` to `last` run.

    Data used by the regions inside are copied to the device before, and modified data are copied
    back after, unless they were already on the device. All statements must run on the device, and
    the host must wait for them: regions in a queue are rejected.

    before: acc-kernels(loop1) { loop1 }, acc-kernels(loop2) { loop2 }
    after:  acc-data(acc-kernels(loop1)) { acc-kernels(loop1) ..., acc-kernels(loop2) ... }
    """

    name: ClassVar[str] = "acc-data"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every sequence of adjacent device regions, the longest ones first."""
        body = without_halos(schedule).body
        for start, first in enumerate(body):
            run = list(takewhile(_is_region, body[start:]))
            for last in reversed(run):
                yield {"first": first.uid, "last": last.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the region cannot be created."""
        inside = (*_REGIONS, *_LOOPS)
        reasons = check_block(schedule, self.first, self.last, inside=inside)
        block = block_between(schedule, self.first, self.last)
        return (*reasons, *(reason for item in block for reason in _not_queued(item)))

    def region(self, block: tuple[Statement, ...]) -> DirectiveRegion:
        """Return the statements under `acc data`."""
        uid = f"acc-data({self.first})"
        return DirectiveRegion(uid, Directive.ACC_DATA, block, place=Side.DEVICE)


def _not_queued(item: Statement) -> Iterator[Diagnostic]:
    inside = (item, *statements(item)) if isinstance(item, Loop | DirectiveRegion) else ()
    for one in inside:
        if isinstance(one, DirectiveRegion) and one.options.queue >= 0:
            yield _end_waits(f"'{one.uid}'", place_of(one))


def _is_counted_meanwhile(what: str, place: Span | None) -> Diagnostic:
    return Diagnostic(
        "T084",
        f"'{what}' cannot be put into a queue: the host counts the loop around it meanwhile,"
        " and the region may read the next number.",
        place,
        hint="Leave out the queue, or put the loop around it into the region.",
    )


def _end_waits(what: str, place: Span | None) -> Diagnostic:
    return Diagnostic(
        "T084",
        f"{what} cannot be put into a queue: the data region around it copies at its end.",
        place,
        hint="Use 'acc-enter-data' instead of 'acc-data'.",
    )


def _is_region(item: Statement) -> bool:
    return isinstance(item, DirectiveRegion) and item.directive in _REGIONS


def _nest(loop: Loop) -> list[Loop]:
    """Return the loops of a perfect nest, outermost first.

    Loops whose bounds depend on an outer loop, such as those of tiles, are left out, because they
    cannot be collapsed.
    """
    nest = [loop]
    while len(nest[-1].body) == 1 and isinstance(inner := nest[-1].body[0], Loop):
        if inner.over not in (Over.ROWS, Over.COLUMNS):
            break
        nest.append(inner)
    return nest


def _outermost(item: Statement) -> tuple[Loop, ...]:
    """Return the outermost loops of `item`."""
    if isinstance(item, Loop):
        return (item,)
    if isinstance(item, DirectiveRegion):
        return tuple(loop for inner in item.body for loop in _outermost(inner))
    return ()
