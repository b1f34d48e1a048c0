"""Derivation of halo exchanges, flag updates and global reductions from the loops of a schedule.

Every step removes these derived statements and derives them again. Statements that a script has
pinned stay in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, takewhile
from operator import is_

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.memo import kept_by_version, kept_lately, kept_with_first, remember
from psyclone_storage.base.records import replace
from psyclone_storage.base.splices import Joined, Splice
from psyclone_storage.coherence.halo_effects import HaloEffects
from psyclone_storage.coherence.halo_versions import PlanByPlace, Planned, updated_plan
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import Aliases, aliases_in
from psyclone_storage.ir.devices import has_device
from psyclone_storage.ir.insertion import END
from psyclone_storage.ir.kernel import Access, KernelArg
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.transfer import Update, Wait
from psyclone_storage.ir.walk import (
    calls_in,
    item_with,
    kernel_calls,
    outer_loops,
    outer_loops_of,
    position_in,
    replaced,
    sequential_statements,
    with_inside,
)


@kept_lately
def without_halos(schedule: sch.Schedule) -> sch.Schedule:
    """Return `schedule` without derived statements, including transfers; pinned ones stay."""
    body = _same_or(schedule.body, _bare_items(schedule).whole(schedule.versions.derive))
    return schedule if body is schedule.body else replace(schedule, body=body)


def _same_or(
    body: tuple[sch.Statement, ...], made: tuple[sch.Statement, ...]
) -> tuple[sch.Statement, ...]:
    """Return the statements `made`, or the same tuple `body` if they are the same."""
    same = made is body or (len(made) == len(body) and all(map(is_, made, body)))
    return body if same else made


def _bare(item: sch.Statement) -> tuple[sch.Statement, ...]:
    """Return a statement without derived parts; the same object if none exist."""
    if _is_derived(item):
        return ()
    if isinstance(item, sch.DirectiveRegion | sch.ProfileRegion):
        return (_bare_region(item),)
    if isinstance(item, sch.HaloExchange) and (item.fetched or item.sent):
        return (replace(item, fetched=False, sent=False, in_strips=False),)
    if isinstance(item, sch.Loop) and item.filled.terms:
        return (_unfilled(item),)
    return (item,)


def _updated_bare(
    known: Joined[sch.Statement], _: sch.Schedule, splice: Splice[sch.Statement]
) -> Joined[sch.Statement]:
    """Return the statements without derived parts, updated for a change of the body."""
    known.update(splice, _bare)
    return known


_bare_items = kept_by_version(Joined[sch.Statement])(_updated_bare)


@kept_with_first
def _unfilled(loop: sch.Loop) -> sch.Loop:
    return replace(loop, filled=NOTHING)


@kept_with_first
def _bare_region(region: sch.DirectiveRegion | sch.ProfileRegion) -> sch.Statement:
    body = _same_or(region.body, tuple(chain.from_iterable(map(_bare, region.body))))
    return region if body is region.body else replace(region, body=body)


def with_halos(schedule: sch.Schedule, rules: Rules) -> sch.Schedule:
    """Return `schedule` with the exchanges, flag updates and reductions that its loops need.

    The function is idempotent. Names are `halo(u)@loop2` for the exchange of `u` before `loop2`
    (`halo(u)@end` after the last loop), `halo(u[2])@loop2` for the second component of a vector,
    `fill(u)@loop2` for the initialisation of dofs to which `loop2` adds, and `mark(u)@loop2` and
    `reduce(s)@loop2` for statements after `loop2`.

    before: loop2 [write u owned], loop3 [read u, stencil 1, add to s]
    after:  loop2, mark(u)@loop2, halo(u)@loop3, loop3, reduce(s)@loop3
    """
    bare = without_halos(schedule)
    if not bare.distributed:
        return bare
    flags = (bare.distributed, bare.annexed_clean, bare.fills)
    made = _derived(bare, rules, bare.data, bare.imported, *flags)
    return replace(bare, body=made.body.whole(bare.versions.derive))


class _Derived:
    """The plan of a schedule version, and the resulting statements.

    `body` has those for each statement and, last, those at the end.
    """

    __slots__ = ("body", "plan")

    def __init__(self) -> None:
        self.plan = PlanByPlace()
        self.body: Joined[sch.Statement] = Joined()
        self.body.parts.append(())

    def copy(self) -> _Derived:
        """Return a copy that can change by itself."""
        made = _Derived()
        made.plan, made.body = self.plan, self.body.copy()
        return made


@kept_by_version(_Derived)
def _derived(
    known: _Derived,
    bare: sch.Schedule,
    splice: Splice[sch.Statement],
    rules: Rules,
    *_: object,
) -> _Derived:
    """Return the plan and the resulting statements; statements with unchanged plans are reused."""
    plan = known.plan = updated_plan(known.plan, bare, splice, rules)
    aliases = aliases_in(bare)
    removed = known.body.update(splice, lambda _: ())
    stale = sorted(_stale(bare, splice.added, plan.changed))
    earlier = {
        loop.uid: loop
        for part in (*removed, *(known.body.parts[at] for at in stale))
        for item in part
        for loop in outer_loops_of(item)
        if loop.filled.terms
    }
    for at in stale:
        arranged = tuple(_arranged((bare.body[at],), plan, aliases))
        made = tuple(_computing(arranged, plan.computed, earlier))
        known.body.put(at, at + 1, (made,))
    end = tuple(one.statement for one in plan.before(END))
    known.body.put(len(bare.body), len(bare.body) + 1, (end,))
    return known


def _stale(
    schedule: sch.Schedule, added: tuple[sch.Statement, ...], changed: Iterable[str]
) -> set[int]:
    """Return the positions of top-level statements that are new or contain changed ones."""
    items = (*added, *(item_with(schedule, uid) for uid in changed))
    return {position_in(schedule, item) for item in items if item is not None}


def keeps_plan(planned: sch.Schedule, changed: sch.Schedule, rules: Rules) -> bool:
    """Return whether the derived statements of `planned` are also correct for `changed`.

    They are if each changed statement contains a single loop before and after, with equal accesses,
    because a plan depends on nothing else. Steps that preserve accesses, such as adding a
    directive, thus need no new plan.
    """
    same_data = planned.data is changed.data and planned.imported is changed.imported
    if not same_data or len(planned.body) != len(changed.body) or has_device(planned):
        return False
    touched = HaloEffects(planned, rules)
    splice = planned.versions.splice(planned.body, changed.body)
    return all(
        len(change.after) == change.stop - change.start
        and all(
            _touch_alike(old, new, rules, touched)
            for old, new in zip(planned.body[change.start : change.stop], change.after, strict=True)
        )
        for change in splice.changes
    )


def _touch_alike(
    before: sch.Statement, after: sch.Statement, rules: Rules, touched: HaloEffects
) -> bool:
    """Return whether both statements contain one loop with equal calls and halo effects."""
    old, new = _only_loop(before), _only_loop(after)
    if old is None or new is None or old.uid != new.uid or old.filled != new.filled:
        return False
    same_touches = all(
        touched.of(old, depth) == touched.of(new, depth) for depth in (old.filled, NOTHING)
    )
    return (
        same_touches
        and rules.may_fill(old) == rules.may_fill(new)
        and _arguments(old) == _arguments(new)
    )


def _only_loop(item: sch.Statement) -> sch.Loop | None:
    """Return the only loop in `item` (or `item` itself), if it runs on the host; otherwise None."""
    loop: sch.Loop | None
    if isinstance(item, sch.Loop):
        loop = item
    elif isinstance(item, sch.DirectiveRegion) and len(inside := sequential_statements(item)) == 1:
        loop = inside[0] if isinstance(inside[0], sch.Loop) else None
    else:
        return None
    regions = (one for one in with_inside(item) if isinstance(one, sch.DirectiveRegion))
    return None if any(one.runs_on_device for one in regions) else loop


def _arguments(loop: sch.Loop) -> list[object]:
    return [
        (call.uid, call.kernel.args, call.kernel.formula, call.args) for call in kernel_calls(loop)
    ]


def _computing(
    body: tuple[sch.Statement, ...], levels: Mapping[str, Depth], earlier: Mapping[str, sch.Loop]
) -> Iterator[sch.Statement]:
    """Yield `body` with loops that fill the halo `levels`.

    A loop equal to the one in `earlier` is replaced by that object, to keep its cached results.
    """
    if not levels:
        yield from body
        return
    for item in body:
        if isinstance(item, sch.DirectiveRegion | sch.ProfileRegion):
            inside = tuple(_computing(item.body, levels, earlier))
            yield item if all(map(is_, inside, item.body)) else _with_derived(item, inside)
        elif isinstance(item, sch.Loop) and item.uid in levels:
            old = earlier.get(item.uid, item)
            same = old.filled == levels[item.uid] and _unfilled(old) is item
            yield old if same else replace(item, filled=levels[item.uid])
        else:
            yield item


def _arranged(
    body: tuple[sch.Statement, ...], plan: PlanByPlace, aliases: Aliases
) -> Iterator[sch.Statement]:
    """Yield `body` with the planned statements before and after each statement."""
    for item in body:
        if isinstance(item, sch.ProfileRegion):
            inside = tuple(_arranged(item.body, plan, aliases))
            lead = 0 if item.with_exchanges else _leading(inside)
            yield from inside[:lead]
            yield _with_derived(item, inside[lead:])
            continue
        hoisted, placed = _with_exchanges(item, plan, aliases)
        yield from (*hoisted, placed)
        for inner in _opened(item):
            yield from plan.after(inner.uid)
            if isinstance(inner, sch.Loop):
                yield from _reductions(inner)


def _with_derived(
    region: sch.DirectiveRegion | sch.ProfileRegion, body: tuple[sch.Statement, ...]
) -> sch.Statement:
    """Return a region with a body that differs only in derived statements.

    Removing them yields the same cached object, so the next plan recognises it as unchanged.
    """
    made = replace(region, body=body)
    remember(_bare_region, made, _bare_region(region))
    return made


def _leading(body: tuple[sch.Statement, ...]) -> int:
    """Return the number of derived exchanges at the start of `body`."""
    derived = takewhile(lambda item: isinstance(item, sch.HaloExchange) and not item.pinned, body)
    return len(tuple(derived))


def _opened(item: sch.Statement) -> Iterator[sch.Statement]:
    if isinstance(item, sch.DirectiveRegion):
        yield from sequential_statements(item)
    else:
        yield item


def _with_exchanges(
    item: sch.Statement, plan: PlanByPlace, aliases: Aliases
) -> tuple[list[Planned], sch.Statement]:
    """Return the statements to insert before `item`, and `item` with insertions inside.

    An exchange for a loop inside a region moves out of the region, unless an earlier loop of the
    region may write the field. A halo fill moves out unless an earlier loop reads the values, or an
    exchange stays inside. `transform.legality` rejects insertions that stay inside.
    """
    if not isinstance(item, sch.DirectiveRegion):
        return [one.statement for one in plan.before(item.uid)], item
    outside: list[Planned] = []
    written: set[str] = set()
    passed: set[str] = set()
    placed = item
    for loop in outer_loops(item):
        inside: list[Planned] = []
        for _, one, after in plan.before(loop.uid):
            exchanged = isinstance(one, sch.HaloExchange) and one.datum in written
            stays = exchanged or after in passed or any(one.datum == it.datum for it in inside)
            (inside if stays else outside).append(one)
        if inside:
            placed = replaced(placed, loop.uid, *inside, loop)
        passed.add(loop.uid)
        written |= may_be_written(loop, aliases)
    return outside, placed


def may_be_written(loop: sch.Loop, aliases: Aliases) -> frozenset[str]:
    """Return the data that `loop` writes, including possible aliases."""
    return aliases.closure(
        actual.datum
        for _, call in calls_in(loop)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.access.writes and actual.datum is not None
    )


def _is_derived(item: sch.Statement) -> bool:
    if isinstance(item, sch.HaloExchange | Update):
        return not item.pinned
    return isinstance(item, sch.MarkHalo | sch.FillHalo | sch.GlobalReduction | Wait)


def _reductions(loop: sch.Loop) -> Iterator[sch.GlobalReduction]:
    """Yield the reductions over all ranks that complete the reductions of `loop`."""
    for _, call in calls_in(loop):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if described.access is Access.REDUCTION:
                yield _reduction(loop, call, described, actual.datum)


def _reduction(
    loop: sch.Loop, call: sch.KernelCall, described: KernelArg, datum: str | None
) -> sch.GlobalReduction:
    formula = call.kernel.formula
    if formula is None or formula.reduction is None or datum is None:
        raise InternalError(
            f"'{call.kernel.name}' in '{loop.uid}' reduces to a {described.kind.value},"
            " but how is not known."
        )
    return sch.GlobalReduction(f"reduce({datum})@{loop.uid}", datum, formula.reduction)
