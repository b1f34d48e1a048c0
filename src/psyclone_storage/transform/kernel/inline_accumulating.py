"""Unroll and jam of column kernels that repeatedly add to the same values.

Such a loop loads and stores a sum in each iteration. If several iterations run together in the
innermost loop over levels, the sum stays in a register between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import ClassVar

from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.fp_contraction import is_product
from psyclone_storage.analysis.bodies.nests import CodeFootprint, counter, footprints_of, inner_node
from psyclone_storage.analysis.footprints import Reasons, UserAssertions, check_jam, check_swap
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures.lfric import SPACES
from psyclone_storage.ir.expr import Expr, Index, Name, Section, whole_number
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.rewrite import names_in, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Loop, Over, Schedule
from psyclone_storage.ir.unit import Assign, Blank, Comment, Do, Line
from psyclone_storage.ir.walk import find, kernel_calls, path_to, place_of
from psyclone_storage.passes.loops import jam_loops, swap_loops
from psyclone_storage.transform.kernel.code import (
    COLUMN_ITERATIONS,
    OnCall,
    calls_for,
    check_call,
    codes_of,
    with_each,
)
from psyclone_storage.transform.kernel.inline import InlineCall
from psyclone_storage.transform.kernel.inline_module import InlineKernelModule, on_its_own
from psyclone_storage.transform.kernel.specialise_stencil_size import (
    ColumnCounts,
    full_sizes,
    with_versions,
)
from psyclone_storage.transform.kernel.vertical_reductions import (
    changes_target,
    heads_and_last,
    over_levels,
)
from psyclone_storage.transform.outline import about_names
from psyclone_storage.transform.step import StepPlace

_TOGETHER = 4
"""How many iterations run together where it is not known how many there are."""
_MOST_TOGETHER = 8
_MOST_STATEMENTS = 2
_IN_COLOURS = (Over.CELLS_OF_COLOUR, Over.CELLS_OF_TILE)


@dataclass(frozen=True, slots=True)
class InlineSummingCall(OnCall):
    """Inline a column kernel, and unroll and jam its accumulating loops.

    The step applies to loops whose iterations all add to the same elements, level by level in an
    inner loop. As many iterations as a lowest-order element has dofs, or four, run together and
    load and store a sum once (`kernel-jam`); a separate loop handles the remaining iterations. An
    array section counts as a loop over levels; variables with the start of a column are
    substituted. Results are bit-identical. If a loop over matrix rows is inside the loop over its
    columns, the two are interchanged if the sums go to shared dofs under colouring, which changes
    the order of sums anyway, or with `sums`, which allows another order of all sums. If shape and
    extent determine the number of columns of a full stencil, a sum over them is fully unrolled, in
    one loop over levels with its adjacent loops; other sizes, such as at domain edges, use the
    general code. If the extent is known only at run time, code for 1 and 2 is generated.

    Subroutines for several kinds, selected by argument types, are copied into the PSy layer and
    called instead.

    Rejected if the kernel has no such loop, and for the reasons of `inline-call` or
    `inline-kernel-module`. With `aliases` also rejected if `outline` with `aliases` would not
    outline the enclosing loop: sums would then be stored in each iteration, because another kernel
    might read them.

    before: do s = 2, n; do k ...; a(m + k) = a(m + k) + b(stencil(s) + k)
    after:  do s = 2, n - 3, 4; do k ...; a(m + k) = a(m + k) + b(stencil(s) + k); ...
    """

    name: ClassVar[str] = "inline-summing-call"

    aliases: bool = False
    sums: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every kernel call for a column of cells."""
        return calls_for(schedule, COLUMN_ITERATIONS)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the call cannot be inlined and jammed."""
        if problems := check_call(schedule, self.call):
            return problems
        call, codes = _called(schedule, self.call), codes_of(schedule, self.call)
        order = self._order(schedule)
        if not any(_searched(one, call.dummies, order) for one in codes):
            procedures = listed([one.name for one in codes])
            message = f"No loop of {procedures} adds to the same elements in each iteration."
            hint = ""
            if any(_searched(one, call.dummies, _Order.ANY) for one in codes):
                hint = "Write 'sums=true' to interchange loops, which changes the order of sums."
            return (Diagnostic("T067", message, place_of(call), hint=hint),)
        if len(codes) > 1:
            is_there = all(one.kernel_use.inlined for one in codes)
            return () if is_there else InlineKernelModule(self.call).check(schedule, rules)
        if self.aliases and (reasons := tuple(about_names(_together(schedule, self.call)))):
            message = f"Sums of '{codes[0].name}' would be stored each time: {reasons[0][0]}."
            return (Diagnostic("T059", message, place_of(call)),)
        return InlineCall(self.call).check(schedule, rules)

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the call replaced by the transformed statements."""
        call, order = _called(schedule, self.call), self._order(schedule)

        def summed(code: Routine) -> Routine:
            sizes = full_sizes(call, schedule, code)
            return _jammed(code, call, order, sizes)

        changed = with_each(schedule, self.call, summed)
        codes = codes_of(schedule, self.call)
        if len(codes) == 1:
            return InlineCall(self.call).apply(changed, rules)
        is_there = all(one.kernel_use.inlined for one in codes)
        return changed if is_there else with_each(changed, self.call, on_its_own)

    def _order(self, schedule: Schedule) -> _Order:
        """Return the sums of the call that may be computed in another order."""
        if self.sums:
            return _Order.ANY
        return _Order.SHARED if _in_colours(schedule, self.call) else _Order.KEPT


class _Order(Enum):
    """Sums whose order may change: none, those to dofs that cells share, or all."""

    KEPT = "kept"
    SHARED = "shared"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class _Sum:
    """A loop to unroll and jam: its number (from 1) and the factor.

    With `turned`, it is first interchanged with its inner loop.
    """

    number: int
    factor: int
    turned: bool = False


def _called(schedule: Schedule, uid: str) -> KernelCall:
    call = find(schedule, uid)
    assert isinstance(call, KernelCall)
    return call


def _together(schedule: Schedule, uid: str) -> tuple[KernelCall, ...]:
    """Return the calls in the outermost loop around a call."""
    return next(kernel_calls(one) for one in path_to(schedule, uid) if isinstance(one, Loop))


def _in_colours(schedule: Schedule, uid: str) -> bool:
    """Return whether the loop around a call is coloured."""
    around = path_to(schedule, uid)
    return any(isinstance(item, Loop) and item.over in _IN_COLOURS for item in around)


def _jammed(
    code: Routine, call: KernelCall, order: _Order, sizes: tuple[ColumnCounts, ...]
) -> Routine:
    """Return `code` with its accumulating loops unrolled and jammed, last loops first.

    Transforming a loop does not change the numbers of earlier loops. Versions for stencils of
    `sizes` precede the general code.
    """
    searched = _searched(code, call.dummies, order)
    if searched is None:
        return code
    given = code = searched.code
    for found in reversed(searched.sums):
        number = found.number
        if found.turned:
            code, number = swap_loops(code, number), number + 1
        code = jam_loops(code, number, found.factor)

    def sums(code: Routine) -> Iterator[int]:
        found = _sums(code, _by_key(code, call.dummies), order)
        return (one.number for one in found if not one.turned)

    return with_versions(given, linked(addressed(code)), sizes, sums)


def _may_sum(code: Routine, dummies: Mapping[str, Dummy]) -> bool:
    """Return whether the code may contain an accumulating loop, judging by its form.

    Array sections count as loops.
    """
    for line in walk_lines(code.body):
        match heads_and_last(line) if isinstance(line, Do) else None:
            case (_, Do(body=adding) as inner) if _may_count_levels(inner, dummies):
                pass
            case (_, Assign(target=Section()) as last):
                adding = (last,)
            case _:
                continue
        if any(isinstance(one, Assign) and changes_target(one) for one in adding):
            return True
    return False


def _may_count_levels(loop: Do, dummies: Mapping[str, Dummy]) -> bool:
    """Return whether the upper bound of a loop is, or may be, the number of layers."""
    known = (dummies.get(name) for name in names_in(loop.stop))
    return any(dummy is None or dummy.role is Role.NLAYERS for dummy in known)


@dataclass(frozen=True, slots=True)
class _Searched:
    """Kernel code with sums over levels as loops, and the accumulating loops in order."""

    code: Routine
    sums: tuple[_Sum, ...]


@kept_with_first
def _searched(code: Routine, dummies: tuple[Dummy, ...], order: _Order) -> _Searched | None:
    """Return the accumulating loops of `code`, or None if none exist; cached."""
    described = _by_key(code, dummies)
    if not _may_sum(code, described):
        return None
    changed = over_levels(code)
    sums = tuple(_sums(changed, described, order))
    return _Searched(changed, sums) if sums else None


def _by_key(code: Routine, dummies: tuple[Dummy, ...]) -> dict[str, Dummy]:
    """Return the dummies by key; a constant for a dummy counts as the dummy."""
    found = dict(zip(code.dummy_keys, dummies, strict=False))
    constants = (one for one in code.kernel_use.constants if one[1] in found)
    return found | {constant: found[key] for constant, key in constants}


@dataclass(frozen=True, slots=True)
class _Kernel:
    """Kernel code with its data flow, and its dummies by key."""

    code: Routine
    flow: Flow
    dummies: Mapping[str, Dummy]


def _sums(code: Routine, dummies: Mapping[str, Dummy], order: _Order) -> Iterator[_Sum]:
    """Yield the accumulating loops in order; at most one of each nest."""
    kernel, behind = _Kernel(code, flow_of(code), dummies), 0
    flow = kernel.flow
    for number, loop in enumerate(flow.loops, 1):
        inner = inner_node(loop, flow) if loop.number >= behind else None
        factor = _factor(loop, kernel)
        if inner is None or factor < 2:
            continue
        innermost = inner_node(inner, flow)
        if innermost is None:
            if _adds(loop, inner, dummies) is not None and not check_jam(CodeFootprint(flow, loop)):
                behind = loop.stop
                yield _Sum(number, factor)
        elif _may_turn(kernel, number, innermost, order):
            behind = loop.stop
            yield _Sum(number, factor, turned=True)


def _may_turn(kernel: _Kernel, number: int, innermost: FlowNode, order: _Order) -> bool:
    """Return whether loop `number` may be interchanged with the loop around `innermost`.

    The interchange changes the order of sums.
    """
    loop = kernel.flow.loops[number - 1]
    added = _adds(loop, innermost, kernel.dummies)
    described = None if added is None else kernel.dummies.get(added.key)
    if order is _Order.KEPT or described is None or len(_statements(innermost)) > 1:
        return False
    if order is _Order.SHARED and not described.access.increments:
        return False
    if check_swap(CodeFootprint(kernel.flow, loop, UserAssertions(sums=True))):
        return False
    turned = linked(addressed(swap_loops(kernel.code, number)))
    return not check_jam(footprints_of(turned)[number])


def _adds(outer: FlowNode, inner: FlowNode, dummies: Mapping[str, Dummy]) -> Name | None:
    """Return an array to whose elements all iterations of `outer` add, or None.

    `inner` is the innermost loop, over levels.
    """
    assert isinstance(inner.line, Do)
    stop = names_in(inner.clear(inner.line.stop))
    layers = any(name in dummies and dummies[name].role is Role.NLAYERS for name in stop)
    lines = _statements(inner)
    plain = [line for line in lines if isinstance(line, Assign)]
    if not layers or len(plain) < len(lines) or len(lines) > _MOST_STATEMENTS:
        return None
    for line in plain:
        match line.target:
            case Index(Name() as array) if changes_target(line):
                used = names_in(line.target)
                if counter(inner) in used and counter(outer) not in used:
                    return None if _leaves_product(plain) else array
    return None


def _leaves_product(lines: Iterable[Assign]) -> bool:
    """Return whether a product is assigned to an array to which the next iteration may add.

    With fused multiply-add, the jammed loop would round once less.
    """
    bases = [(line, getattr(line.target, "base", None)) for line in lines]
    changed = {base.key for line, base in bases if isinstance(base, Name) and changes_target(line)}
    return any(
        isinstance(base, Name) and base.key in changed and is_product(line.value)
        for line, base in bases
    )


def _statements(loop: FlowNode) -> list[Line]:
    assert isinstance(loop.line, Do)
    return [line for line in loop.line.body if not isinstance(line, Comment | Blank)]


def _factor(loop: FlowNode, kernel: _Kernel) -> int:
    """Return the number of iterations to run together; all of them if they are few."""
    line = loop.line
    assert isinstance(line, Do)
    last, first = _last(line.stop, kernel), whole_number(line.start)
    if last is None or first is None:
        return _TOGETHER
    count = last - first + 1
    return count if count <= _MOST_TOGETHER else _TOGETHER


def _last(stop: Expr, kernel: _Kernel) -> int | None:
    """Return the last value of a counter if it is known, assuming lowest-order elements."""
    if not isinstance(stop, Name):
        return whole_number(stop)
    dummy, declared = kernel.dummies.get(stop.key), kernel.code.declared(stop.text)
    if dummy is None:
        constant = declared is not None and "parameter" in declared.words
        value = declared.value if declared is not None and constant else None
        return None if value is None else whole_number(value)
    if dummy.role is Role.NDF and dummy.space in SPACES and (dofs := SPACES[dummy.space].dofs):
        return dofs(0, 0)
    return None
