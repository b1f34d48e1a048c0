"""Legality of moving statements; comparison of loops for fusion.

An empty result means that the change is legal. Derived statements, such as unpinned halo exchanges,
must be removed before a query and derived again after the change.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from psyclone_storage.analysis.footprints import Reasons, UserAssertions
from psyclone_storage.analysis.schedules.dependence import Dependence, Uses, takes_random_numbers
from psyclone_storage.analysis.schedules.spaces import group_on_space, numbered_apart
from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import Aliases, aliases_in
from psyclone_storage.ir.kernel import Access, KernelArg
from psyclone_storage.ir.region import describe_depth
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.walk import kernel_calls, path_to, place_in_body, place_near, place_of


def check_move(schedule: sch.Schedule, uid: str, target: str, *, after: bool = False) -> Reasons:
    """Return diagnostics if the statement `uid` must not move to just before (or `after`) `target`.

    Both must be top-level statements. No dependence may exist between the statement and those that
    it passes.
    """
    places = [place_in_body(schedule, one) for one in (uid, target)]
    if problems := _missing(schedule, places, uid, target):
        return problems
    start, stop = places[0], places[1] + after
    moved = schedule.body[start]
    passed = schedule.body[stop:start] if stop <= start else schedule.body[start + 1 : stop]
    uses = Uses(schedule)
    return tuple(
        _out_of_order(uid, item, edge, place_near(schedule, uid))
        for item in passed
        for edge in uses.dependences(*((item, moved) if stop <= start else (moved, item)))
    )


def check_neighbours(schedule: sch.Schedule, first: str, second: str) -> Reasons:
    """Return diagnostics if `second` is not a loop directly after `first` (S003, S005, S006)."""
    around = path_to(schedule, first)[-2:-1]
    tree = around[0] if around and isinstance(around[0], sch.Compound) else schedule
    places = [place_in_body(tree, uid) for uid in (first, second)]
    if problems := _missing(schedule, places, first, second):
        return problems
    if not all(isinstance(tree.body[place], sch.Loop) for place in places):
        message = f"'{first}' and '{second}' are not both loops."
        return (Diagnostic("S006", message, place_near(schedule, second)),)
    if places[1] - places[0] != 1:
        message = f"'{second}' does not follow '{first}' directly."
        return (Diagnostic("S005", message, place_near(schedule, second)),)
    return ()


def check_alike(
    schedule: sch.Schedule, rules: Rules, one: sch.Loop, two: sch.Loop, assertions: UserAssertions
) -> Reasons:
    """Return diagnostics if two loops have different iteration spaces (S007, S008)."""
    if one.over.axis is None:
        same_space = assertions.same_space or _share_known_space(schedule, one, two)
        return tuple(_unlike(schedule, one, two, same_space=same_space))
    unlike = tuple(_unlike(schedule, one, two, same_space=False))
    return tuple(_after_a_test(rules, one, two, unlike)) if assertions.tested else unlike


def _share_known_space(schedule: sch.Schedule, one: sch.Loop, two: sch.Loop) -> bool:
    """Return whether both loops take their bounds from fields on the same space."""
    (_, mine), (_, theirs) = _bounds(one), _bounds(two)
    return theirs.datum in group_on_space(schedule, mine.datum)


def _missing(schedule: sch.Schedule, places: list[int], *uids: str) -> Reasons:
    return tuple(
        Diagnostic(
            "S003",
            f"'{uid}' does not stand directly in '{schedule.name}'.",
            place_near(schedule, uid),
        )
        for uid, place in zip(uids, places, strict=True)
        if place < 0
    )


def _out_of_order(
    uid: str, passed: sch.Statement, edge: Dependence, place: Span | None
) -> Diagnostic:
    other = place_of(passed)
    return Diagnostic(
        "S004",
        f"'{uid}' cannot pass '{passed.uid}': for '{edge.datum}' this is a {edge.kind.value}.",
        place,
        hint=f"Keep '{edge.earlier}' before '{edge.later}'.",
        related=(Related(other, f"'{passed.uid}'"),) if other else (),
    )


# ---------------------------------------------------------------------------- fusing


def _unlike(
    schedule: sch.Schedule, one: sch.Loop, two: sch.Loop, *, same_space: bool
) -> Iterator[Diagnostic]:
    names, place = f"'{one.uid}' and '{two.uid}'", place_of(two)
    if one.over is not two.over:
        yield Diagnostic("S007", f"{names} run over {one.over.value} and {two.over.value}.", place)
    elif one.over.in_sequence:
        yield Diagnostic(
            "S007", f"{names} run over the colours of a colouring each of their own.", place
        )
    elif one.extent != two.extent:
        extents = f"{_extent_text(one.extent)} and {_extent_text(two.extent)}"
        yield Diagnostic("S007", f"{names} do not run equally far: {extents}.", place)
    elif one.peel or two.peel:
        cut = " and ".join(f"'{loop.uid}'" for loop in (one, two) if loop.peel)
        message, hint = f"{cut} is a part of a loop that was cut.", "Apply 'split-interior' later."
        yield Diagnostic("S007", message, place, hint=hint)
    elif one.tile != two.tile:
        sizes = f"{one.tile} and {two.tile}"
        points = "rows" if one.over.axis is sch.Axis.NORTH else "columns"
        yield Diagnostic("S007", f"{names} run over tiles of {sizes} {points}.", place)
    elif one.strips or two.strips:
        message, hint = f"{names} run in strips of a chain.", "Apply 'strip-mine-chain' last."
        yield Diagnostic("S007", message, place, hint=hint)
    elif one.outlined or two.outlined:
        own = " and ".join(f"'{loop.uid}'" for loop in (one, two) if loop.outlined)
        message, hint = f"{own} stands in a procedure of its own.", "Apply 'outline' last."
        yield Diagnostic("S007", message, place, hint=hint)
    elif not _bounds_agree(schedule, one, two, same_space=same_space):
        yield Diagnostic(
            "S008",
            f"{names} take their bounds from arguments whose spaces or meshes may differ.",
            place,
            hint="If they always are on the same space, use 'fuse{same_space=true}'."
            if one.over.axis is None
            else "Use 'fuse{tested=true}' to test the bounds when the program runs.",
        )


def bounds_agree(schedule: sch.Schedule, one: sch.Loop, two: sch.Loop) -> bool:
    """Return whether two loops over grid points provably have equal bounds."""
    return _bounds_agree(schedule, one, two, same_space=False)


def dofs_agree(schedule: sch.Schedule, one: sch.Loop, two: sch.Loop) -> bool:
    """Return whether two loops over dofs provably have equal bounds."""
    return _bounds_agree(schedule, one, two, same_space=_share_known_space(schedule, one, two))


def _after_a_test(
    rules: Rules, one: sch.Loop, two: sch.Loop, unlike: Reasons
) -> Iterator[Diagnostic]:
    """Yield the diagnostics that a run-time test of the bounds would not resolve."""
    for problem in unlike:
        if problem.code != "S008":
            yield problem
        elif not _may_agree(rules, one, two):
            hint = "No test helps: these bounds are known, and differ on every grid."
            yield replace(problem, hint=hint)


def _may_agree(rules: Rules, one: sch.Loop, two: sch.Loop) -> bool:
    """Return whether the bounds of two grid loops can be equal at run time.

    Bounds known at compile time, such as those set by a step, are compared directly.
    """
    if one.bounds is not None and two.bounds is not None:
        return False
    known = [rules.known_bounds(loop) for loop in (one, two)]
    mine, theirs = (item.bounds if item and item.own else None for item in known)
    return mine is None or theirs is None or mine == theirs


def _extent_text(extent: sch.Extent) -> str:
    depth = f" to level {describe_depth(extent.depth)}" if extent.reach.in_halo else ""
    return f"{extent.reach.value}{depth}"


def _bounds_agree(
    schedule: sch.Schedule, one: sch.Loop, two: sch.Loop, *, same_space: bool
) -> bool:
    """Return whether the bounds of two loops are provably equal.

    Grid loops need the same set of points and field type. Cell loops need the same mesh, which is
    given unless a kernel uses two. Dof loops need the same function space; for a wildcard space,
    both bounds must come from the same datum.
    """
    (first, mine), (second, theirs) = _bounds(one), _bounds(two)
    points = [kernel_calls(loop)[0].kernel.points for loop in (one, two)]
    if points[0] is not None and points[1] is not None:
        same_set = (points[0].name, points[0].bounds) == (points[1].name, points[1].bounds)
        if one.bounds is not None or two.bounds is not None:
            return one.bounds == two.bounds
        return same_set and first.space == second.space
    if mine.datum is not None and mine.datum == theirs.datum:
        return True
    if one.over is not sch.Over.DOFS:
        return first.mesh is None and second.mesh is None
    named = first.space == second.space and not first.space.startswith("any_")
    return same_space or (named and not numbered_apart(schedule, mine.datum, theirs.datum))


def _bounds(loop: sch.Loop) -> tuple[KernelArg, sch.Actual]:
    call = kernel_calls(loop)[0]
    return call.kernel.args[loop.bounds_from], call.args[loop.bounds_from]


def check_interference(
    schedule: sch.Schedule, rules: Rules, one: sch.Loop, two: sch.Loop
) -> Reasons:
    """Return diagnostics if one iteration cannot run the bodies of both loops (S009).

    After fusion the second body no longer follows all iterations of the first, and iterations of
    the first may see results of the second.
    """
    return tuple(_interfering(schedule, rules, one, two))


def _interfering(
    schedule: sch.Schedule, rules: Rules, one: sch.Loop, two: sch.Loop
) -> Iterator[Diagnostic]:
    aliases = aliases_in(schedule)
    dofs = one.over is sch.Over.DOFS
    for before in _calls_before(one, two, aliases):
        for after in kernel_calls(two):
            if takes_random_numbers(before) and takes_random_numbers(after):
                yield Diagnostic(
                    "S009",
                    f"'{before.kernel.name}' and '{after.kernel.name}' cannot share a loop: the"
                    " first takes all its random numbers before the second.",
                    after.span,
                )
            for earlier, later in _common(before, after, aliases):
                shared = not dofs and (
                    rules.shares_dofs(before.kernel.args[earlier])
                    or rules.shares_dofs(after.kernel.args[later])
                )
                why = _clash(before.kernel.args[earlier], after.kernel.args[later], shared)
                if why:
                    name = aliases.described(before.args[earlier], after.args[later])
                    yield Diagnostic(
                        "S009",
                        f"'{before.kernel.name}' and '{after.kernel.name}' cannot share a loop:"
                        f" for {name}, {why}.",
                        after.span,
                        hint=aliases.hint(before.args[earlier], after.args[later]),
                    )


def _calls_before(one: sch.Loop, two: sch.Loop, aliases: Aliases) -> Iterator[sch.KernelCall]:
    """Yield the calls in `one` that have data in common with `two`, in order.

    If `two` takes random numbers, yield all calls. A loop into which many others were fused has
    many calls, but few of them access the data of the next loop.
    """
    calls, later = kernel_calls(one), kernel_calls(two)
    if any(map(takes_random_numbers, later)):
        yield from calls
        return
    names = aliases.closure(arg.datum for call in later for arg in call.args if arg.datum)
    by_datum = _calls_by_datum(one)
    for at in sorted(set(chain.from_iterable(by_datum.get(name, ()) for name in names))):
        yield calls[at]


@kept_with_first
def _calls_by_datum(loop: sch.Loop) -> dict[str, list[int]]:
    """Return the positions of the calls in `loop` that have each datum as an argument."""
    found: dict[str, list[int]] = {}
    for at, call in enumerate(kernel_calls(loop)):
        for arg in call.args:
            if arg.datum is not None:
                found.setdefault(arg.datum, []).append(at)
    return found


def _common(
    before: sch.KernelCall, after: sch.KernelCall, aliases: Aliases
) -> Iterator[tuple[int, int]]:
    """Yield the positions of arguments of both calls that may access common data."""
    for earlier, mine in enumerate(before.args):
        for later, theirs in enumerate(after.args):
            if aliases.overlap(mine, theirs):
                yield earlier, later


def _clash(first: KernelArg, second: KernelArg, shared: bool) -> str:
    """Return the conflict of two accesses within one iteration, or an empty text.

    With `shared`, several iterations may access the same dof. Even then both accesses may be writes
    (the last iteration runs the second write last), the second may read what the first wrote (every
    iteration writes all values that it accesses), and both may be increments.
    """
    if not first.access.writes and not second.access.writes:
        return ""
    if Access.REDUCTION in (first.access, second.access):
        return "a sum over all iterations is not known inside one"
    if first.stencil or second.stencil:
        return "a stencil looks at cells of other iterations"
    pair = (first.access, second.access)
    allowed = {
        (Access.WRITE, Access.READ),
        (Access.WRITE, Access.WRITE),
        (Access.INC, Access.INC),
    }
    if not shared or pair in allowed:
        return ""
    return f"a {second.access.value} in one cell meets a {first.access.value} in its neighbour"
