"""Scalarisation: array assignments as loops over elements.

Fortran evaluates the complete right-hand side before assigning. Loops are equivalent only if they
read no element after writing it. If the right-hand side reads other elements of the target, the
pass reports an error or uses a temporary array.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from psyclone_storage.analysis.bodies.accesses import (
    MemoryAccess,
    accesses_of,
    evaluated_by_inquiry,
    names_in_code,
    reads_of,
    unknown_calls,
    unknown_lines,
    unknown_procedures,
)
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.shapes import (
    Dimensions,
    dimensions_of,
    rank_of,
)
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import ELEMENTAL, INQUIRING
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import Subscripts, path_of
from psyclone_storage.ir.rewrite import blocks_of, first_words, rewritten, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Assign, Blank, Branch, Comment, If, Line, Where
from psyclone_storage.passes.element_loops import ElementLoops
from psyclone_storage.passes.scratch import Scratch

# ---------------------------------------------------------------------------- reasons against loops


def array_assignments(code: Routine) -> Iterator[Assign]:
    """Yield the assignments to arrays and sections, except those in `where` constructs."""
    for line in walk_lines(code.body, into_masked=False):
        if isinstance(line, Assign) and rank_of(line.target, code) != 0:
            yield line


def check_assignments(code: Routine) -> tuple[Diagnostic, ...]:
    """Return diagnostics for array assignments that cannot be scalarised (T060, T061)."""
    return tuple(
        reason for line in array_assignments(code) for reason in check_assignment(line, code)
    )


def check_assignment(line: Assign, code: Routine) -> tuple[Diagnostic, ...]:
    """Return diagnostics if an array assignment cannot be scalarised (T060, T061)."""
    if problems := tuple(_unknown_shapes(line, code)):
        return problems
    return tuple(_late_reads(line, code))


def _unknown_shapes(line: Assign, code: Routine) -> Iterator[Diagnostic]:
    """Yield diagnostics if the shape of a side is unknown or may change (T060)."""
    text = f"{ex.spell(line.target)} = {ex.spell(line.value)}"
    if any(unknown_lines((line,))):
        yield Diagnostic("T052", f"'{text}' is not understood.", line.place)
    if names := sorted(unknown_procedures((line,), names_in_code(code))):
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
    elif ranks[1] and is_whole_allocatable(line.target, code):
        yield Diagnostic("T060", f"'{text}' may change the extents of its target.", line.place)


def masked_constructs(code: Routine) -> Iterator[Where]:
    """Yield the `where` constructs that are not part of another one."""
    for line in walk_lines(code.body, into_masked=False):
        if isinstance(line, Where):
            yield line


def check_masked(line: Where, code: Routine) -> tuple[Diagnostic, ...]:
    """Return diagnostics if a `where` cannot be converted to loops (T060, T061).

    A `where` evaluates each mask and each value completely, before it assigns. In loops, masks and
    values must not contain other elements of a variable than those that are assigned together.
    """
    lines = [one for one in chain.from_iterable(blocks_of(line)) if not _is_text(one)]
    assigns = [one for one in lines if isinstance(one, Assign)]
    if len(assigns) < len(lines) or not assigns:
        text = "contains another construct" if lines else "assigns to no array"
        return (Diagnostic("T060", f"'{first_words(line)}' {text}.", line.extent),)
    masks = [branch.condition for branch in line.branches]
    problems = [one for assign in assigns for one in _unknown_shapes(assign, code)]
    rank = rank_of(assigns[0].target, code)
    if (
        any(unknown_lines((line,), inside=False))
        or any(unknown_calls((line,), names_in_code(code), inside=False))
        or any(rank_of(one, code) != rank for one in (*masks, *(it.target for it in assigns)))
    ):
        message = f"The masks of '{first_words(line)}' are not understood."
        problems.append(Diagnostic("T060", message, line.extent))
    if problems:
        return tuple(dict.fromkeys(problems))
    exprs = (*masks, *(one.value for one in assigns))
    together = [replace(one, value=value) for one in assigns for value in exprs]
    return tuple(
        dict.fromkeys(
            Diagnostic(
                "T061",
                f"'{first_words(line)}' reads or writes '{_base_key(one.target)}' at other places"
                f" than '{ex.spell(one.target)}', and evaluates all of a mask or value before it"
                " assigns.",
                one.place,
                hint="Assign the mask or the value to a temporary array first.",
            )
            for one in together
            if any(_late_reads(one, code)) or not _is_only_target(one, assigns, code)
        )
    )


def _is_text(line: Line) -> bool:
    return isinstance(line, Comment | Blank)


def _is_only_target(line: Assign, others: Iterable[Assign], code: Routine) -> bool:
    """Return whether no other assignment writes other elements of the target's variable."""
    names, path = names_in_code(code), path_of(line.target)
    for one in others:
        other = path_of(one.target)
        if path is None or other is None:
            return False
        if path.variable == other.variable:
            if not _same_elements(one.target, line.target, code):
                return False
        elif names.may_share(path.variable, other.variable):
            return False
        if any(part.root == path.root for part in _subscript_reads(one.target, names)):
            return False
    return True


def _subscript_reads(target: ex.Expr, names: RoutineNames) -> Iterator[MemoryAccess]:
    for item in target.items if isinstance(target, ex.Index) else ():
        yield from reads_of(item, names)


def _has_index_vector(target: ex.Expr, code: Routine) -> bool:
    items = target.items if isinstance(target, ex.Index) else ()
    return any(not isinstance(item, ex.Range) and rank_of(item, code) for item in items)


def is_whole_allocatable(target: ex.Expr, code: Routine) -> bool:
    """Return whether an assignment to `target` may reallocate it."""
    path = path_of(target)
    if path is None or (path.steps and isinstance(path.steps[-1], Subscripts)):
        return False
    declared = names_in_code(code).declaration(path.variable)
    return declared is not None and "allocatable" in declared.words


def _late_reads(line: Assign, code: Routine) -> Iterator[Diagnostic]:
    """Yield diagnostics if a loop would read elements that it has already written (T061)."""
    name = _base_key(line.target)
    inside = line.target.items if isinstance(line.target, ex.Index) else ()
    if reads_other_elements(line, code) or any(
        True for item in inside for _ in _readings(item, name, code)
    ):
        yield Diagnostic(
            "T061",
            f"'{ex.spell(line.target)} = {ex.spell(line.value)}' reads '{name}' at other places"
            " than it writes, and all of it before it writes.",
            line.place,
            hint="Assign to a temporary array first.",
        )
    for other in shared_with_target(line, code):
        message = f"'{name}' and '{other}' may be the same data in '{ex.spell(line.target)} = ...'."
        yield Diagnostic("T061", message, line.place)


def shared_with_target(line: Assign, code: Routine) -> tuple[str, ...]:
    """Return the other variables that an assignment reads and that may share its target's data."""
    path = path_of(line.target)
    if path is None:
        return ()
    names, target = names_in_code(code), path.variable
    read = {one.path.variable for one in accesses_of(line, names) if not one.writes} - {target}
    return tuple(sorted("%".join(one) for one in read if names.may_share(target, one)))


def _base_key(target: ex.Expr) -> str:
    base = target.base if isinstance(target, ex.Index) else target
    return key_of(ex.spell(base))


def reads_other_elements(line: Assign, code: Routine) -> bool:
    """Return whether the right-hand side may read elements other than the one being assigned."""
    return not all(
        by_element and _same_elements(part, line.target, code)
        for part, by_element in _readings(line.value, _base_key(line.target), code)
    )


def _readings(
    value: ex.Expr, name: str, code: Routine, by_element: bool = True
) -> Iterator[tuple[ex.Expr, bool]]:
    """Yield the references to `name` in `value`, and whether each is elementwise."""
    parts: tuple[ex.Expr, ...] = ex.children(value)
    if isinstance(value, ex.Index) and isinstance(value.base, ex.Name):
        parts = value.items
        if value.base.key == name:
            yield value, by_element
        elif not isinstance(value, ex.Element | ex.Section):
            function = ex.intrinsic_called(value)
            if function in INQUIRING:
                parts = tuple(evaluated_by_inquiry(function, parts, names_in_code(code)))
            by_element = by_element and function in ELEMENTAL
    elif isinstance(value, ex.Name) and value.key == name:
        yield value, by_element
    for part in parts:
        yield from _readings(part, name, code, by_element)


def _same_elements(one: ex.Expr, other: ex.Expr, code: Routine) -> bool:
    """Return whether two references cover the same elements in the same order.

    Other scalar subscripts do not matter: the elements that an iteration of a loop reads are then
    those that it writes, or no iteration writes them.
    """
    if ex.same(one, other):
        return True
    mine, others = (_full(item, code) for item in (one, other))
    return (
        mine is not None
        and others is not None
        and len(mine) == len(others)
        and all(
            ex.same(*pair)
            or not any(isinstance(item, ex.Range) or rank_of(item, code) != 0 for item in pair)
            for pair in zip(mine, others, strict=True)
        )
    )


def _full(reference: ex.Expr, code: Routine) -> tuple[ex.Expr, ...] | None:
    """Return the subscripts of a reference with explicit bounds."""
    dimensions = dimensions_of(reference, code)
    if dimensions is None:
        return None
    ranges = iter(ex.Range(item.start, item.stop, item.step) for item in dimensions)
    if isinstance(reference, ex.Name):
        return tuple(ranges)
    items = reference.items if isinstance(reference, ex.Index) else ()
    return tuple(next(ranges) if isinstance(item, ex.Range) else item for item in items)


# ---------------------------------------------------------------------------- assignments


def scalarise_assignments(code: Routine) -> Routine:
    """Return `code` with array assignments scalarised; `check_assignments` must succeed.

    A `where` becomes loops around an `if` unless `check_masked` has a reason against it.
    """
    scratch = Scratch(code)

    def change(line: Line) -> tuple[Line, ...]:
        if isinstance(line, Where) and not check_masked(line, code):
            return _masked_loops(line, scratch)
        if not isinstance(line, Assign):
            return (line,)
        dimensions = dimensions_of(line.target, scratch.code)
        return _assignment_loops(line, dimensions, scratch) if dimensions else (line,)

    body = rewritten(code.body, change, into_masked=False)
    return replace(scratch.code, body=body)


def _assignment_loops(line: Assign, dimensions: Dimensions, scratch: Scratch) -> tuple[Line, ...]:
    """Return an assignment as loops over the elements of its target."""
    loops = ElementLoops.over(dimensions, scratch)
    position = loops.position(scratch.code)
    return loops.around((Assign(position.element(line.target), position.element(line.value)),))


def _masked_loops(line: Where, scratch: Scratch) -> tuple[Line, ...]:
    """Return a `where` as loops around an `if`."""
    assigns = (one for block in blocks_of(line) for one in block if isinstance(one, Assign))
    dimensions = dimensions_of(next(assigns).target, scratch.code)
    assert dimensions
    loops = ElementLoops.over(dimensions, scratch)
    position = loops.position(scratch.code)

    def element(one: Line) -> Line:
        if not isinstance(one, Assign):
            return one
        return Assign(position.element(one.target), position.element(one.value))

    branches = tuple(
        Branch(position.element(branch.condition), tuple(map(element, branch.body)))
        for branch in line.branches
    )
    return loops.around((If(branches, tuple(map(element, line.otherwise))),))
