"""Array assignments as loops over elements.

Fortran evaluates all of the right side before it assigns. A loop may only take its place where no
element is read after it was written: where the right side has the target at other subscripts,
where two pointers may share data, or where a function might look, the assignment is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.bodies.accesses import unknown_lines, unknown_procedures
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.shapes import (
    Dimensions,
    declaration_of,
    dimensions_of,
    element,
    rank_of,
)
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    Element,
    Expr,
    Index,
    Name,
    Range,
    Section,
    children,
    intrinsic_called,
    same,
    spell,
)
from psyclone_storage.ir.intrinsics import ELEMENTAL, INQUIRING
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import names_in, rewritten, walk_lines, with_parts
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Assign, Line
from psyclone_storage.passes.scratch import Scratch, loops_over, nothing_to_do
from psyclone_storage.transform.kernel.code import (
    calls_for,
    check_body,
    check_each,
    with_each,
)
from psyclone_storage.transform.step import Place, Reasons

KEEP_BOUNDS = frozenset({"lbound", "ubound", "allocated", "associated", "present"})
"""Functions whose value is another one for a section of an array than for the array."""

# ---------------------------------------------------------------------------- to loops


def array_assignments(code: KernelCode) -> Iterator[Assign]:
    """Yield the assignments to whole arrays and to sections of arrays, but for those of `where`."""
    for line in walk_lines(code.body, into_masked=False):
        if isinstance(line, Assign) and rank_of(line.target, code) != 0:
            yield line


def check_assignments(code: KernelCode) -> Reasons:
    """Return why array assignments of a kernel cannot be written as loops (T060, T061)."""
    return tuple(reason for line in array_assignments(code) for reason in may_be_loops(line, code))


def may_be_loops(line: Assign, code: KernelCode) -> Reasons:
    """Return why one array assignment cannot be written as loops (T060, T061)."""
    if problems := tuple(_not_told(line, code)):
        return problems
    return tuple(_reads_late(line, code))


def _check_loops(code: KernelCode) -> Reasons:
    if not any(array_assignments(code)):
        return (nothing_to_do(code, "assigns to no array as a whole"),)
    return check_assignments(code)


def with_loops(code: KernelCode) -> KernelCode:
    """Return `code` with its array assignments as loops; `check_assignments` has no reasons."""
    scratch = Scratch(code)
    body = rewritten(code.body, lambda line: _as_loops(line, scratch), into_masked=False)
    return replace(scratch.code, body=body)


def _as_loops(line: Line, scratch: Scratch) -> tuple[Line, ...]:
    code = scratch.code
    if not isinstance(line, Assign):
        return (line,)
    dimensions = dimensions_of(line.target, code)
    if not dimensions:
        return (line,)
    return element_loops(line, dimensions, scratch)


def element_loops(line: Assign, dimensions: Dimensions, scratch: Scratch) -> tuple[Line, ...]:
    """Return an assignment as loops over the elements of its target, which has `dimensions`."""
    code = scratch.code
    counters = tuple(scratch.counter() for _ in dimensions)
    target = element(line.target, counters, dimensions, code)
    value = element(line.value, counters, dimensions, code)
    return loops_over(dimensions, counters, (Assign(target, value),))


def _not_told(line: Assign, code: KernelCode) -> Iterator[Diagnostic]:
    """Yield that the shape of one side is not known, or that it may change (T060)."""
    text = f"{spell(line.target)} = {spell(line.value)}"
    if any(unknown_lines((line,))):
        yield Diagnostic("T052", f"'{text}' is not understood.", line.place)
    if names := sorted(unknown_procedures((line,), RoutineNames(code))):
        yield Diagnostic(
            "T060",
            f"It is not known what {listed(names)} in '{text}' is, a function or an array.",
            line.place,
        )
        return
    ranks = [rank_of(side, code) for side in (line.target, line.value)]
    if None in ranks or _has_index_vector(line.target, code):
        yield Diagnostic("T060", f"The shapes in '{text}' cannot be told.", line.place)
    elif ranks[1] and ranks[0] != ranks[1]:
        yield Diagnostic("T060", f"The two sides of '{text}' have different shapes.", line.place)
    elif ranks[1] and _is_whole_allocatable(line.target, code):
        yield Diagnostic("T060", f"'{text}' may change the extents of its target.", line.place)


def _has_index_vector(target: Expr, code: KernelCode) -> bool:
    items = target.items if isinstance(target, Index) else ()
    return any(not isinstance(item, Range) and rank_of(item, code) for item in items)


def _is_whole_allocatable(target: Expr, code: KernelCode) -> bool:
    return isinstance(target, Name) and "allocatable" in _words(target.text, code)


def _words(name: str, code: KernelCode) -> frozenset[str]:
    declared = declaration_of(code, name)
    return frozenset() if declared is None else declared.words


def _reads_late(line: Assign, code: KernelCode) -> Iterator[Diagnostic]:
    """Yield that elements would be read when they have changed already (T061)."""
    name = _base_name(line.target)
    inside = line.target.items if isinstance(line.target, Index) else ()
    moved = not all(
        by_element and _same_elements(part, line.target, code)
        for part, by_element in _readings(line.value, name, code)
    )
    if moved or any(True for item in inside for _ in _readings(item, name, code)):
        yield Diagnostic(
            "T061",
            f"'{spell(line.target)} = {spell(line.value)}' reads '{name}' at other places than it"
            " writes, and all of it before it writes.",
            line.place,
            hint="Assign to a temporary array first.",
        )
    for other in sorted(names_in(line.value) - {name}):
        if _may_share(name, other, code):
            message = (
                f"'{name}' and '{other}' may be the same data in '{spell(line.target)} = ...'."
            )
            yield Diagnostic("T061", message, line.place)


def _may_share(first: str, second: str, code: KernelCode) -> bool:
    words = [_words(name, code) & {"pointer", "target"} for name in (first, second)]
    return all(words) and "pointer" in words[0] | words[1]


def _base_name(target: Expr) -> str:
    base = target.base if isinstance(target, Index) else target
    return key_of(spell(base))


def _readings(
    value: Expr, name: str, code: KernelCode, by_element: bool = True
) -> Iterator[tuple[Expr, bool]]:
    """Yield the references to `name` in `value`, and whether each stands for single elements."""
    parts: tuple[Expr, ...] = children(value)
    if isinstance(value, Index) and isinstance(value.base, Name):
        parts = value.items
        if value.base.key == name:
            yield value, by_element
        elif not isinstance(value, Element | Section):
            function = intrinsic_called(value)
            if function in INQUIRING:
                return
            by_element = by_element and function in ELEMENTAL
    elif isinstance(value, Name) and value.key == name:
        yield value, by_element
    for part in parts:
        yield from _readings(part, name, code, by_element)


def _same_elements(one: Expr, other: Expr, code: KernelCode) -> bool:
    """Return whether two references to an array run over the same elements in the same order."""
    if same(one, other):
        return True
    mine, others = (_full(item, code) for item in (one, other))
    return (
        mine is not None
        and others is not None
        and len(mine) == len(others)
        and all(map(same, mine, others))
    )


def _full(reference: Expr, code: KernelCode) -> tuple[Expr, ...] | None:
    """Return the subscripts of a reference with all bounds written out."""
    dimensions = dimensions_of(reference, code)
    if dimensions is None:
        return None
    ranges = iter(Range(item.start, item.stop, item.step) for item in dimensions)
    if isinstance(reference, Name):
        return tuple(ranges)
    items = reference.items if isinstance(reference, Index) else ()
    return tuple(next(ranges) if isinstance(item, Range) else item for item in items)


# ---------------------------------------------------------------------------- to ranges


def with_ranges(code: KernelCode) -> KernelCode:
    """Return `code` with whole arrays in assignments written with a range per dimension."""
    return replace(code, body=rewritten(code.body, lambda line: (_ranged_line(line, code),)))


def _check_ranges(code: KernelCode) -> Reasons:
    if with_ranges(code).body == code.body:
        return (nothing_to_do(code, "assigns no array by its name alone"),)
    return ()


def _ranged_line(line: Line, code: KernelCode) -> Line:
    if not isinstance(line, Assign):
        return line
    target = line.target
    if not _is_whole_allocatable(target, code):
        target = _ranged(target, code)
    return Assign(target, _ranged(line.value, code))


def _ranged(expr: Expr, code: KernelCode) -> Expr:
    if isinstance(expr, Name):
        declared = declaration_of(code, expr.text)
        if declared is None or not declared.shape or not isinstance(declared.type, ScalarType):
            return expr
        return Section(expr, (Range(),) * len(declared.shape))
    if isinstance(expr, Index) and isinstance(expr.base, Name):
        function = intrinsic_called(expr)
        if function in KEEP_BOUNDS or (
            function is None and not isinstance(expr, Element | Section)
        ):
            # What is passed to a procedure may be more than its elements.
            return expr
        return expr.__class__(expr.base, tuple(_ranged(item, code) for item in expr.items))
    return with_parts(expr, lambda part: _ranged(part, code))


# ---------------------------------------------------------------------------- the steps


@dataclass(frozen=True, slots=True)
class ArraysToLoops:
    """Write the array assignments of a kernel as loops over elements.

    Fortran evaluates all of the right side before it assigns, which a loop does not. So an
    assignment is refused that reads its target at other places than it writes, or whose target may
    be the same data under another name; and one whose shape cannot be told from the kernel's own
    declarations, or may change by the assignment.

    before: y(2:n) = 2 * x(1:n-1)
    after:  do idx = 2, n; y(idx) = 2 * x(idx - 1); end do
    """

    name: ClassVar[str] = "arrays-to-loops"

    call: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return calls_for(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against the loops."""
        return check_body(schedule, self.call) or check_each(schedule, self.call, _check_loops)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, with_loops)


@dataclass(frozen=True, slots=True)
class ArraysToRanges:
    """Write whole arrays in the assignments of a kernel with a range for each dimension.

    The name of an array to be allocated stays where it is assigned to: that may give it new
    extents, which an assignment to its elements does not.

    before: y = 2 * x
    after:  y(:) = 2 * x(:)
    """

    name: ClassVar[str] = "arrays-to-ranges"

    call: str

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every call of a kernel."""
        return calls_for(schedule)

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the call."""
        return (self.call,)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against the ranges."""
        return check_body(schedule, self.call) or check_each(schedule, self.call, _check_ranges)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with the changed kernel."""
        raise_if_any(self.check(schedule, rules))
        return with_each(schedule, self.call, with_ranges)
