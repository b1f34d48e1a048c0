"""Dependences between grid points, and the legality of loop transformations.

A kernel is called for a grid point. It reads and writes at this point, and reads at the offsets of
its stencils. For two accesses to a field, the distance between the points that access the same
value is therefore known: an access of point `p` at offset `a` and of point `q` at offset `b`
coincide if `q - p = a - b`. All rules follow from this distance:

- A loop may run in parallel if it carries no dependence, that is, no distance is nonzero along its
  axis while the enclosing counters are fixed.
- Two loops may be fused if the second never needs a value that the first computes later, that is,
  no distance from the first to the second is negative.
- Rows and columns may be interchanged or tiled unless a distance is positive along one axis and
  negative along the other.

A kernel that modifies a scalar must run in the original order for all points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic, InternalError
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.aliases import Aliases, aliases_in
from psyclone_storage.ir.expr import Expr, Index, Member, canonical, spell
from psyclone_storage.ir.kernel import ArgKind, GridStencil, KernelArg
from psyclone_storage.ir.schedule import Axis, KernelCall, Loop, Schedule, data_by_name
from psyclone_storage.ir.walk import kernel_calls, path_to

_HERE = (0, 0)


@dataclass(frozen=True, slots=True)
class PointDependence:
    """Two accesses to the same value; `first` writes it if `flow`, otherwise `second`.

    `second` is called for a point that is `i` points east and `j` points north of that of `first`.
    """

    first: KernelCall
    second: KernelCall
    datum: str
    i: int
    j: int
    flow: bool

    @property
    def writer(self) -> KernelCall:
        """The call that writes the value."""
        return self.first if self.flow else self.second

    @property
    def other(self) -> KernelCall:
        """The other call."""
        return self.second if self.flow else self.first

    @property
    def key(self) -> tuple[str, str, str]:
        """The dependence without its distance."""
        return self.writer.uid, self.other.uid, self.datum

    def along(self, axis: Axis) -> int:
        """Return the distance along an axis."""
        return self.i if axis is Axis.EAST else self.j


def point_dependences(
    schedule: Schedule, firsts: Sequence[KernelCall], seconds: Sequence[KernelCall]
) -> Iterator[PointDependence]:
    """Yield the dependences between calls of `firsts` and `seconds`, at least one being a write."""
    aliases = aliases_in(schedule)
    for first in firsts:
        for second in seconds:
            for name, mine, theirs in _shared_fields(first, second, aliases):
                for i, j in _touched(theirs) if mine.access.writes else ():
                    yield PointDependence(first, second, name, -i, -j, flow=True)
                for i, j in _touched(mine) if theirs.access.writes else ():
                    yield PointDependence(first, second, name, i, j, flow=False)


def _shared_fields(
    first: KernelCall, second: KernelCall, aliases: Aliases
) -> Iterator[tuple[str, KernelArg, KernelArg]]:
    """Yield the fields that both calls access, including possible aliases."""
    for mine, actual in zip(first.kernel.args, first.args, strict=True):
        for theirs, other in zip(second.kernel.args, second.args, strict=True):
            if other.datum is None or mine.kind is not ArgKind.FIELD:
                continue
            if aliases.overlap(actual, other):
                yield other.datum, mine, theirs


def _touched(arg: KernelArg) -> tuple[tuple[int, int], ...]:
    """Return the accessed points as offsets from the kernel's own point."""
    neighbours = arg.stencil.offsets if isinstance(arg.stencil, GridStencil) else ()
    return tuple(dict.fromkeys((_HERE, *neighbours)))


# ---------------------------------------------------------------------------- answers


def check_points_parallel(schedule: Schedule, loop: Loop) -> Reasons:
    """Return diagnostics if the iterations of a grid loop must not run concurrently (S010)."""
    calls, axis = kernel_calls(loop), _axis(loop)
    found = _while_others_stand(schedule, loop, point_dependences(schedule, calls, calls))
    races = {meeting.key: _race(loop, meeting) for meeting in found if meeting.along(axis)}
    ordered = f"Iterations of '{loop.uid}' race"
    return (*races.values(), *_changed_scalars(calls, "S010", ordered))


def check_points_fuse(schedule: Schedule, one: Loop, two: Loop, *, in_order: bool) -> Reasons:
    """Return diagnostics if the grid loop `two` must not be fused into `one` (S009).

    Unless `in_order`, the fused loop must not carry a dependence. With distributed memory, `two`
    must not read neighbours of values that `one` writes, because a halo exchange is between them.
    """
    axis = _axis(one)
    firsts, seconds = kernel_calls(one), kernel_calls(two)
    problems: dict[tuple[str, str, str], Diagnostic] = {}
    for meeting in point_dependences(schedule, firsts, seconds):
        if schedule.distributed and meeting.flow and (meeting.i, meeting.j) != _HERE:
            problems[meeting.key] = _no_fusion(meeting, "its halo is exchanged between the loops")
    for meeting in _while_others_stand(schedule, one, point_dependences(schedule, firsts, seconds)):
        distance = meeting.along(axis)
        if distance < 0:
            why = "a stencil looks at points that the other call has yet to reach, or has passed"
            problems[meeting.key] = _no_fusion(meeting, why)
        elif distance and not in_order:
            why = "a stencil looks at points of other iterations, which could not run in parallel"
            hint = "Say 'in_order' if they need not."
            problems.setdefault(meeting.key, _no_fusion(meeting, why, hint))
    calls, ordered = (*firsts, *seconds), f"'{one.uid}' and '{two.uid}' cannot share a loop"
    common = _used(schedule, firsts) & _used(schedule, seconds)
    return (
        *problems.values(),
        *_changed_scalars(calls, "S009", ordered, common),
        *check_elements(schedule, calls, "S009", ordered),
    )


def _used(schedule: Schedule, calls: Sequence[KernelCall]) -> frozenset[str]:
    """Return the data that `calls` access, including possible aliases."""
    names = [item.datum for call in calls for item in call.args if item.datum is not None]
    return aliases_in(schedule).closure(names)


def chain_shifts(schedule: Schedule, loops: Sequence[Sequence[KernelCall]]) -> tuple[int, ...]:
    """Return how many rows each loop must run after the first one if they run strip by strip.

    `loops` are the calls of each loop, in order. If a call depends on one `j` rows south of it, or
    north if `j` is negative, its loop may run up to `j` rows ahead.
    """
    shifts: list[int] = []
    for later in loops:
        least = 0
        for earlier, shift in zip(loops, shifts, strict=False):
            for meeting in point_dependences(schedule, earlier, later):
                least = max(least, shift - meeting.j)
        shifts.append(least)
    return tuple(shifts)


def check_points_order(schedule: Schedule, loop: Loop) -> Reasons:
    """Return diagnostics if rows and columns inside `loop` must not be interchanged (S014)."""
    where = "to the north-west or south-east"
    return _check_order(schedule, loop, lambda meeting: meeting.i * meeting.j < 0, where)


def check_points_split(schedule: Schedule, loop: Loop) -> Reasons:
    """Return diagnostics if the points inside `loop` cannot be computed in any order (S014)."""
    return _check_order(schedule, loop, lambda one: (one.i, one.j) != _HERE, "at neighbours")


def _check_order(
    schedule: Schedule, loop: Loop, prevents: Callable[[PointDependence], bool], where: str
) -> Reasons:
    calls = kernel_calls(loop)
    ordered = f"The points of '{loop.uid}' must stay in order"
    found = {
        meeting.key: Diagnostic(
            "S014",
            f"{ordered}: '{meeting.other.kernel.name}' looks {where} in '{meeting.datum}', which"
            f" '{meeting.writer.kernel.name}' writes.",
            meeting.other.span,
        )
        for meeting in point_dependences(schedule, calls, calls)
        if prevents(meeting)
    }
    return (*found.values(), *_changed_scalars(calls, "S014", ordered))


def _while_others_stand(
    schedule: Schedule, loop: Loop, found: Iterator[PointDependence]
) -> Iterator[PointDependence]:
    """Yield the dependences at distance 0 along the axes of the loops around `loop`.

    Loops over tiles are ignored, because the loops inside a tile vary.
    """
    fixed = {
        _axis(item)
        for item in path_to(schedule, loop.uid)[:-1]
        if isinstance(item, Loop) and not item.over.counts_tiles
    }
    for meeting in found:
        if not any(meeting.along(axis) for axis in fixed):
            yield meeting


def _axis(loop: Loop) -> Axis:
    axis = loop.over.axis
    if axis is None:
        raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which grids do not have.")
    return axis


def _race(loop: Loop, meeting: PointDependence) -> Diagnostic:
    return Diagnostic(
        "S010",
        f"Iterations of '{loop.uid}' race: '{meeting.other.kernel.name}' looks at neighbours in"
        f" '{meeting.datum}', which '{meeting.writer.kernel.name}' writes.",
        meeting.other.span,
    )


def _no_fusion(meeting: PointDependence, why: str, hint: str = "") -> Diagnostic:
    return Diagnostic(
        "S009",
        f"'{meeting.first.kernel.name}' and '{meeting.second.kernel.name}' cannot share a loop: for"
        f" '{meeting.datum}', {why}.",
        meeting.second.span,
        hint=hint,
    )


def check_elements(
    schedule: Schedule, calls: Sequence[KernelCall], code: str, ordered: str
) -> Iterator[Diagnostic]:
    """Yield diagnostics for scalar arguments that are elements of fields that calls write.

    The distance between the points of such accesses is unknown.
    """
    data = data_by_name(schedule)
    used = [
        (call, described, data[actual.datum].actual, actual.span)
        for call in calls
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if actual.datum is not None
    ]
    writers = {
        canonical(_without_indices(passed)): call
        for call, described, passed, _ in used
        if described.kind is ArgKind.FIELD and described.access.writes
    }
    for call, described, passed, span in used:
        around = map(canonical, _enclosing(passed) if described.kind.is_scalar else ())
        if writer := next(filter(None, map(writers.get, around)), None):
            message = f"{ordered}: '{call.kernel.name}' reads '{spell(passed)}' in a field that"
            text = f"{message} '{writer.kernel.name}' writes."
            hint = "Pass a variable that has its value, if you mean that before the invoke."
            yield Diagnostic(code, text, span or call.span, hint=hint)


def _enclosing(part: Expr) -> Iterator[Expr]:
    """Yield the objects that contain `part`, without indices; none if it is a value."""
    while isinstance(part, Index | Member):
        part = part.base
        yield _without_indices(part)


def _without_indices(part: Expr) -> Expr:
    match part:
        case Index(base):
            return _without_indices(base)
        case Member(base, name):
            return Member(_without_indices(base), name)
    return part


def _changed_scalars(
    calls: Sequence[KernelCall], code: str, ordered: str, among: frozenset[str] | None = None
) -> Iterator[Diagnostic]:
    """Yield diagnostics for scalars that calls modify, restricted to `among` if given."""
    for call in calls:
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            changed = described.kind is ArgKind.SCALAR and described.access.writes
            if changed and (among is None or actual.datum in among):
                message = f"{ordered}: '{call.kernel.name}' changes '{spell(actual.value)}' with"
                yield Diagnostic(code, f"{message} each point.", actual.span or call.span)
