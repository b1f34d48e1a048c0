"""Steps for array assignments in kernels: conversion to loops or to explicit ranges."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from operator import is_
from typing import ClassVar

from psyclone_storage.analysis.bodies.shapes import (
    find_declaration,
)
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.expr import (
    Element,
    Expr,
    Index,
    Member,
    Name,
    Range,
    Section,
    intrinsic_called,
    spell,
)
from psyclone_storage.ir.rewrite import rewritten, walk_lines, with_parts
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Assign, Line
from psyclone_storage.passes.array_rank import (
    arrays_as_scalars,
    check_rank,
    with_rank,
    with_scalars,
)
from psyclone_storage.passes.persistent_arrays import check_persistent, with_persistent_arrays
from psyclone_storage.passes.scalarise import (
    array_assignments,
    check_assignments,
    check_masked,
    is_whole_allocatable,
    masked_constructs,
    scalarise_assignments,
)
from psyclone_storage.passes.scratch import nothing_to_do
from psyclone_storage.transform.kernel.code import (
    ChangesCode,
)

KEEP_BOUNDS = frozenset({"lbound", "ubound", "allocated", "associated", "present"})
"""Functions whose value is another one for a section of an array than for the array."""

# ---------------------------------------------------------------------------- to ranges


@kept_lately
def with_ranges(code: Routine) -> Routine:
    """Return `code` with whole arrays in assignments replaced by sections with ranges."""
    body = rewritten(code.body, lambda line: (_ranged_line(line, code),))
    return code if all(map(is_, body, code.body)) else replace(code, body=body)


def _check_ranges(code: Routine) -> Reasons:
    if with_ranges(code) is not code:
        return ()
    reasons = tuple(
        Diagnostic(
            "T060",
            f"'{spell(line.target)} = {spell(line.value)}' may allocate its target with the bounds"
            f" of '{spell(line.value)}', which a section of it does not have.",
            line.place,
        )
        for line in walk_lines(code.body)
        if isinstance(line, Assign) and _may_take_bounds(line, code)
    )
    return reasons or (nothing_to_do(code, "assigns no array by its name alone"),)


def _may_take_bounds(line: Assign, code: Routine) -> bool:
    """Return whether an assignment of a whole array may give its target the bounds of the array.

    A target without a declaration, as a component or an imported variable, may be allocatable.
    """
    if not isinstance(line.value, Name) or _ranged(line.value, code) is line.value:
        return False
    if isinstance(line.target, Name) and find_declaration(code, line.target.text) is not None:
        return is_whole_allocatable(line.target, code)
    return isinstance(line.target, Name | Member)


def _ranged_line(line: Line, code: Routine) -> Line:
    if not isinstance(line, Assign) or _may_take_bounds(line, code):
        return line
    target = line.target
    if not is_whole_allocatable(target, code):
        target = _ranged(target, code)
    value = _ranged(line.value, code)
    is_same = target is line.target and value is line.value
    return line if is_same else replace(line, target=target, value=value)


def _ranged(expr: Expr, code: Routine) -> Expr:
    if isinstance(expr, Name):
        declared = find_declaration(code, expr.text)
        if declared is None or not declared.shape or not isinstance(declared.type, ScalarType):
            return expr
        if not code.symbol(expr.text).is_data:
            return expr  # a block may declare the name again
        return Section(expr, (Range(),) * len(declared.shape))
    if isinstance(expr, Index) and isinstance(expr.base, Name):
        function = intrinsic_called(expr)
        if function in KEEP_BOUNDS or (
            function is None and not isinstance(expr, Element | Section)
        ):
            # What is passed to a procedure may be more than its elements.
            return expr
        items = tuple(_ranged(item, code) for item in expr.items)
        is_same = all(map(is_, items, expr.items))
        return expr if is_same else expr.__class__(expr.base, items)
    return with_parts(expr, lambda part: _ranged(part, code))


# ---------------------------------------------------------------------------- the steps


def _check_loops(code: Routine) -> Reasons:
    masked = tuple(masked_constructs(code))
    if masked and not any(array_assignments(code)):
        reasons = [check_masked(one, code) for one in masked]
        return tuple(chain.from_iterable(reasons)) if all(reasons) else ()
    if not any(array_assignments(code)):
        return (nothing_to_do(code, "assigns to no array as a whole"),)
    return check_assignments(code)


@dataclass(frozen=True, slots=True)
class ArraysToLoops(ChangesCode):
    """Convert array assignments in a kernel to loops over elements.

    Fortran evaluates the entire right-hand side before it assigns; a loop does not. The step is
    rejected if an assignment reads elements of its target other than the one being written, if its
    target may be aliased, or if its shape is not determined by declarations in the kernel or may
    change. A `where` becomes loops around an `if`; without a proof, it does not change.

    before: y(2:n) = 2 * x(1:n-1)
    after:  do idx = 2, n; y(idx) = 2 * x(idx - 1); end do
    """

    name: ClassVar[str] = "arrays-to-loops"

    def check_code(self, code: Routine) -> Iterable[Diagnostic]:
        """Return diagnostics if array assignments cannot be converted to loops."""
        return _check_loops(code)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with array assignments as loops."""
        return scalarise_assignments(code)


@dataclass(frozen=True, slots=True)
class ArraysToRanges(ChangesCode):
    """Write whole arrays in the assignments of a kernel with a range for each dimension.

    An allocatable array on the left-hand side is not changed, because assigning to the whole array
    may reallocate it. An array that is assigned to it as a whole is not changed either, because the
    allocation takes its bounds.

    before: y = 2 * x
    after:  y(:) = 2 * x(:)
    """

    name: ClassVar[str] = "arrays-to-ranges"

    def check_code(self, code: Routine) -> Iterable[Diagnostic]:
        """Return diagnostics if no ranges can be added."""
        return _check_ranges(code)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with explicit ranges."""
        return with_ranges(code)


# ---------------------------------------------------------------------------- ranks


@dataclass(frozen=True, slots=True)
class IncreaseRank(ChangesCode):
    """Give local `arrays` a further dimension for the iterations of loop number `loop`.

    The step is rejected if an iteration may read elements that an earlier one has written.

    before: do j = 1, m; t(:) = a(:, j); b(:, j) = t(:) * t(1); end do
    after:  do j = 1, m; t_j(:, j) = a(:, j); b(:, j) = t_j(:, j) * t_j(1, j); end do
    """

    loop: int
    arrays: tuple[str, ...]
    name: ClassVar[str] = "increase-rank"

    def check_code(self, code: Routine) -> Iterable[Diagnostic]:
        """Return diagnostics if an array cannot have a further dimension."""
        return tuple(check_rank(code, self.loop, self.arrays))

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the new arrays."""
        return with_rank(code, self.loop, self.arrays)


@dataclass(frozen=True, slots=True)
class ArraysToScalars(ChangesCode):
    """Replace local arrays by scalars if an iteration of loop number `loop` uses one element.

    before: do i = 1, n; t(i) = a(i) + 1; b(i) = t(i) * t(i); end do
    after:  do i = 1, n; t_scalar = a(i) + 1; b(i) = t_scalar * t_scalar; end do
    """

    loop: int
    name: ClassVar[str] = "arrays-to-scalars"

    def check_code(self, code: Routine) -> Iterable[Diagnostic]:
        """Return a diagnostic if no array can become a scalar."""
        if arrays_as_scalars(code, self.loop):
            return ()
        return (nothing_to_do(code, "has no array in this loop that can be a scalar"),)

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the scalars."""
        return with_scalars(code, self.loop)


@dataclass(frozen=True, slots=True)
class KeepArrays(ChangesCode):
    """Let automatic arrays of numbers stay allocated between calls.

    A routine with such arrays is not thread-safe, so the step is rejected for pure and recursive
    ones.

    before: real :: t(n)
    after:  real, allocatable, save :: t(:); if (.not. allocated(t)) allocate (t(1:n))
    """

    name: ClassVar[str] = "keep-arrays"

    def check_code(self, code: Routine) -> Iterable[Diagnostic]:
        """Return diagnostics if no array can stay allocated."""
        return tuple(check_persistent(code))

    def transform_code(self, code: Routine) -> Routine:
        """Return `code` with the arrays."""
        return with_persistent_arrays(code)
