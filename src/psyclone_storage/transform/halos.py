"""Derivation of halo exchanges, flag updates and global reductions from the loops of a schedule.

Every step removes these derived statements and derives them again. Statements that a script has
pinned stay in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, takewhile
from operator import is_

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.memo import (
    Splice,
    SplicedRange,
    combined,
    joined_changes,
    kept_by_version,
    kept_lately,
    kept_with_first,
    remember,
    with_changes,
)
from psyclone_storage.base.records import dataclass, replace
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
    positions_of,
    replaced,
    sequential_statements,
    with_inside,
)


@kept_lately
def without_halos(schedule: sch.Schedule) -> sch.Schedule:
    """Return `schedule` without derived statements, including transfers; pinned ones stay."""
    bare = _bare_body(schedule)
    return replace(schedule, body=bare.body) if bare.differing else schedule


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


@dataclass(frozen=True, slots=True)
class _Bare:
    """The remainder of each statement of a schedule version, joined in `body`.

    `differing` is the number of statements of which something else remains.
    """

    by_item: tuple[tuple[sch.Statement, ...], ...] = ()
    body: tuple[sch.Statement, ...] = ()
    differing: int = 0


def _updated_bare(known: _Bare, schedule: sch.Schedule, splice: Splice[sch.Statement]) -> _Bare:
    """Return what remains of the statements of a schedule, updated for a change of its body."""
    changes = splice.mapped(_bare)
    joined = joined_changes(known.by_item, changes)
    differing = known.differing - sum(map(_differs, splice.removed))
    differing += sum(map(_differs, splice.added))
    # A bare schedule is returned unchanged, so that later versions derive from its body.
    body = with_changes(known.body, joined) if differing else schedule.body
    schedule.versions.note(known.body, body, joined)
    return _Bare(with_changes(known.by_item, changes), body, differing)


_bare_body = kept_by_version(_Bare())(_updated_bare)


def _differs(item: sch.Statement) -> bool:
    made = _bare(item)
    return len(made) != 1 or made[0] is not item


@kept_with_first
def _unfilled(loop: sch.Loop) -> sch.Loop:
    return replace(loop, filled=NOTHING)


@kept_with_first
def _bare_region(region: sch.DirectiveRegion | sch.ProfileRegion) -> sch.Statement:
    if not any(map(_differs, region.body)):
        return region
    return replace(region, body=tuple(chain.from_iterable(map(_bare, region.body))))


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
    return replace(bare, body=_derived(bare, rules, bare.data, bare.imported, *flags).body)


@dataclass(frozen=True, slots=True)
class _Derived:
    """The plan of a schedule version, and the resulting `body`.

    `by_item` are the statements of `body` for each statement of the version, then those at its end.
    """

    plan: PlanByPlace = PlanByPlace()
    by_item: tuple[tuple[sch.Statement, ...], ...] = ((),)
    body: tuple[sch.Statement, ...] = ()


@kept_by_version(_Derived())
def _derived(
    known: _Derived,
    bare: sch.Schedule,
    splice: Splice[sch.Statement],
    rules: Rules,
    *_: object,
) -> _Derived:
    """Return the plan and the resulting statements; statements with unchanged plans are reused."""
    plan = updated_plan(known.plan, bare, splice, rules)
    aliases = aliases_in(bare)
    emptied = splice.mapped(_emptied)
    middle = with_changes(known.by_item, emptied)
    stale = _stale(bare, splice.added, plan.changed)
    earlier = {
        loop.uid: loop
        for chunk in (*splice.replaced(known.by_item), *(middle[at] for at in stale))
        for item in chunk
        for loop in outer_loops_of(item)
        if loop.filled.terms
    }
    arranged = ((at, _arranged((bare.body[at],), plan, aliases)) for at in stale)
    filled = [
        SplicedRange(at, at + 1, (tuple(_computing(tuple(items), plan.computed, earlier)),))
        for at, items in arranged
    ]
    end = tuple(one.statement for one in plan.before(END))
    filled.append(SplicedRange(len(bare.body), len(middle), (end,)))
    changes = combined(emptied, tuple(filled))
    joined = joined_changes(known.by_item, changes)
    body = with_changes(known.body, joined)
    bare.versions.note(known.body, body, joined)
    return _Derived(plan, with_changes(known.by_item, changes), body)


def _emptied(_: sch.Statement) -> tuple[sch.Statement, ...]:
    return ()


def _stale(
    schedule: sch.Schedule, added: tuple[sch.Statement, ...], changed: Iterable[str]
) -> list[int]:
    """Return the positions of top-level statements that are new or contain changed ones."""
    items = (*added, *(item_with(schedule, uid) for uid in changed))
    return positions_of(schedule, filter(None, items))


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
    return all(one.stop - one.start == len(one.after) for one in splice.changes) and all(
        old is new or _touch_alike(old, new, rules, touched)
        for old, new in zip(splice.removed, splice.added, strict=True)
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
