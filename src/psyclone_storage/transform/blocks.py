"""Adjacent statements under one directive, for all steps that create regions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.walk import outer_loops_of, path_to, place_in_body, place_near, replaced
from psyclone_storage.transform.halos import may_be_written, without_halos
from psyclone_storage.transform.step import CheckedStep, check_no_directive, check_present


def block_between(schedule: sch.Schedule, first: str, last: str) -> tuple[sch.Statement, ...]:
    """Return the statements from `first` to `last`, inclusive, if they are in one body.

    Derived statements are left out.
    """
    bare = without_halos(schedule)
    path = path_to(bare, first)
    around = path[-2] if len(path) > 1 else bare
    if not path or not isinstance(around, sch.Schedule | sch.Compound):
        return ()
    return around.body[place_in_body(around, first) : place_in_body(around, last) + 1]


def runs_between_exchanges(
    schedule: sch.Schedule, belongs: Callable[[sch.Statement], bool]
) -> Iterator[tuple[sch.Statement, ...]]:
    """Yield, for each statement that `belongs`, the longest sequence of such statements.

    A sequence ends with the first statement that is preceded by an exchange of data that an earlier
    statement of the sequence may write, because an exchange cannot be inside a region.
    """
    body = without_halos(schedule).body
    aliases = aliases_in(schedule)
    for start, first in enumerate(body):
        if not belongs(first):
            continue
        written: set[str] = set()
        stop = start
        for item in map(body.__getitem__, range(start, len(body))):
            if not belongs(item):
                break
            stop += 1
            if written and not written.isdisjoint(_exchanged_before(schedule, item.uid)):
                break
            if isinstance(item, sch.Loop | sch.DirectiveRegion):
                loops = outer_loops_of(item)
                written.update(*(may_be_written(loop, aliases) for loop in loops))
        yield body[start:stop]


def _exchanged_before(schedule: sch.Schedule, uid: str) -> Iterator[str]:
    """Yield the data that are exchanged between a statement and the loop or region before it."""
    for at in range(place_in_body(schedule, uid) - 1, -1, -1):
        item = schedule.body[at]
        if isinstance(item, sch.HaloExchange):
            yield item.datum
        elif isinstance(item, sch.Compound):
            return


def check_block(
    schedule: sch.Schedule,
    first: str,
    last: str,
    *,
    around: Collection[Directive] = (),
    inside: Collection[Directive] = (),
) -> Reasons:
    """Return diagnostics if the statements from `first` to `last` cannot be under one directive.

    They must be adjacent (T003, T023) loops or directive regions (T027). They must not be inside
    directives other than those in `around`, or contain others than those in `inside` (T007).
    """
    if problems := check_present(schedule, first, last):
        return problems
    block = block_between(schedule, first, last)
    if not block:
        message = f"'{first}' and '{last}' do not stand one after the other."
        return (Diagnostic("T023", message, place_near(schedule, first)),)
    reasons: list[Diagnostic] = []
    for item in block:
        reasons += check_no_directive(schedule, item.uid, around=around, inside=inside)
        if not isinstance(item, sch.Loop | sch.DirectiveRegion):
            message = f"'{item.uid}' is no loop, and threads would all do it."
            reasons.append(Diagnostic("T027", message, place_near(schedule, item.uid)))
    return tuple(reasons)


@dataclass(frozen=True, slots=True)
class OnBlock(CheckedStep):
    """Base of steps that enclose the statements from `first` to `last` in a directive region."""

    first: str
    last: str

    def transform(self, schedule: sch.Schedule, rules: Rules) -> sch.Schedule:
        """Return the schedule with the statements in a region."""
        block = block_between(schedule, self.first, self.last)
        return wrap_in_region(schedule, self.last, self.region(block))

    def region(self, block: tuple[sch.Statement, ...]) -> sch.DirectiveRegion:
        """Return the region with `block` as its body."""
        raise NotImplementedError


def wrap_in_region(schedule: sch.Schedule, last: str, made: sch.DirectiveRegion) -> sch.Schedule:
    """Return `schedule` with `made` instead of the statements that it contains.

    `last` is the last of these statements. Derived statements are removed.
    """
    bare = without_halos(schedule)
    first = made.body[0].uid
    path = path_to(bare, first)
    outer = path[-2] if len(path) > 1 else None
    around = outer if isinstance(outer, sch.Compound) else bare
    start, stop = place_in_body(around, first), place_in_body(around, last) + 1
    body = (*around.body[:start], made, *around.body[stop:])
    if isinstance(around, sch.Schedule):
        bare.versions.derive(bare.body, body, start, len(bare.body) - stop)
        return replace(bare, body=body)
    return replaced(bare, around.uid, replace(around, body=body))
