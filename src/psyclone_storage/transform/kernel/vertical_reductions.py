"""Conversion of sums over sections to loops over levels.

Kernels of models often write a column as a section, with its start in a variable:

    do df = 1, ndf
      first = map(df)
      y(first:first + top) = y(first:first + top) + ...

This module replaces the section by a loop over levels, and the variable by its value.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.shapes import (
    Triplet,
    dimensions_of,
    type_of_values,
)
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import simplified
from psyclone_storage.ir.intrinsics import ELEMENTAL
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.loops import addressed, loops_of, with_lines_for
from psyclone_storage.ir.operators import Operator, OperatorKind
from psyclone_storage.ir.rewrite import everywhere, names_in, rewritten, substituted
from psyclone_storage.ir.routine import Routine, Specified
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Blank, Comment, Declare, Do, Line
from psyclone_storage.passes.element_loops import ElementLoops
from psyclone_storage.passes.scalarise import check_assignment
from psyclone_storage.passes.scratch import Scratch, names_of

_OF_INDEX = (ex.Name, ex.Element, ex.Literal, ex.Binary, ex.Parenthesised)
"""What an index is made of that has the same value wherever its names have."""


def changes_target(line: Assign) -> bool:
    """Return whether the new value of the target depends on its old value."""
    target = ex.canonical(line.target)
    return any(ex.canonical(part) == target for part in ex.walk(line.value))


def over_levels(code: Routine) -> Routine:
    """Return `code` with sums over sections as loops, and loops perfectly nested where possible.

    A section that cannot be converted remains, as does a variable before a loop that is needed
    elsewhere or changes inside the loop. No value changes.
    """
    scratch = Scratch(code)
    body = rewritten(code.body, lambda line: _levels(line, scratch), into_masked=False)
    changed = linked(addressed(replace(scratch.code, body=body)))
    for number in range(len(loops_of(changed)), 0, -1):
        changed = _with_loop_alone(changed, number)
    return changed


# ---------------------------------------------------------------------------- sections


def _levels(line: Line, scratch: Scratch) -> tuple[Line, ...]:
    """Return a sum over a section as a loop over levels, counted from 0.

    A subexpression that is evaluated once for the section, such as another sum, prevents it.
    """
    code = scratch.code
    if not isinstance(line, Assign) or not changes_target(line) or not _is_by_level(line.value):
        return (line,)
    match dimensions_of(line.target, code):
        case (Triplet(start, stop, None),) if not check_assignment(line, code):
            top = simplified(ex.Binary(Operator.MINUS, stop, start))
            driver = (Triplet(ex.whole(0), top),)
            loops = ElementLoops(driver, (scratch.counter("level"),))
            sides = map(loops.position(code).element, (line.target, line.value))
            return loops.around((Assign(*sides),))
    return (line,)


def _is_by_level(value: ex.Expr) -> bool:
    return all(
        ex.intrinsic_called(part) in ELEMENTAL
        for part in ex.walk(value)
        if isinstance(part, ex.Index) and not isinstance(part, ex.Element | ex.Section)
    )


# ---------------------------------------------------------------------------- variables


def heads_and_last(loop: Do) -> tuple[tuple[Assign, ...], Line] | None:
    """Return the scalar assignments at the start of a loop body, and its last statement.

    The function returns None if the body has another form.
    """
    lines = [line for line in loop.body if not isinstance(line, Comment | Blank)]
    heads = tuple(line for line in lines[:-1] if isinstance(line, Assign))
    if not lines or len(heads) < len(lines) - 1:
        return None
    return (heads, lines[-1]) if all(isinstance(one.target, ex.Name) for one in heads) else None


def _with_loop_alone(code: Routine, number: int) -> Routine:
    """Return `code` with the assignments before the inner loop of loop `number` eliminated.

    The result is `code` itself if they do not only define subscripts.
    """
    loop = loops_of(code)[number - 1]
    match heads_and_last(loop):
        case ((_, *_) as heads, Do() as inner):
            values = _indices(heads, number, code)
        case _:
            return code
    if not values:
        return code
    (alone,) = everywhere((inner,), lambda expr: substituted(expr, values))
    changed = with_lines_for(code, {loop.uid: (replace(loop, body=(alone,)),)})
    return linked(_without_declarations(changed, frozenset(values)))


def _indices(heads: Iterable[Assign], number: int, code: Routine) -> dict[str, ex.Expr]:
    """Return the values of the variables assigned at the start of loop `number`, by key.

    The result is empty if one of them is not constant in the rest of the iteration, or is used
    later.
    """
    flow = flow_of(code)
    node = flow.loops[number - 1]
    values: dict[str, ex.Expr] = {}
    for line in heads:
        value = substituted(line.value, values)
        if not isinstance(line.target, ex.Name) or not _holds_index(line.target, value, node, flow):
            return {}
        values[line.target.key] = value
    return values


def _holds_index(name: ex.Name, value: ex.Expr, loop: FlowNode, flow: Flow) -> bool:
    """Return whether a variable equals `value` in the rest of an iteration, and only there."""
    key, code = name.key, flow.code
    kind = type_of_values(name, code)
    if kind is None or kind.intrinsic is not Intrinsic.INTEGER or not _is_of(kind, value, code):
        return False
    if flow.is_read_later(loop, (key,)):
        return False
    times = sum(item.writes and item.path.root == key for item in flow.items_in(loop))
    written = flow.body(loop).written
    return times == 1 and not any(
        flow.names.may_share((one,), other) for one in names_in(value) for other in written
    )


def _is_of(kind: ScalarType, value: ex.Expr, code: Routine) -> bool:
    """Return whether a value consists of variables, elements and literals of `kind`.

    An operand of another kind might be less precise than the accumulator.
    """
    match value:
        case ex.Binary(op, left, right) if op.kind is OperatorKind.ARITHMETIC:
            sides = [side for side in (left, right) if ex.whole_number(side) is None]
            return bool(sides) and all(_is_of(kind, side, code) for side in sides)
        case ex.Parenthesised(operand):
            return _is_of(kind, operand, code)
        case ex.Element(items=items):
            plain = all(isinstance(part, _OF_INDEX) for item in items for part in ex.walk(item))
            return plain and type_of_values(value, code) == kind
    return isinstance(value, ex.Name) and type_of_values(value, code) == kind


def _without_declarations(code: Routine, keys: frozenset[str]) -> Routine:
    """Return `code` without the declarations of variables in `keys` that are no longer used."""
    kept = tuple(item for item in code.declarations if _key_of(item) not in keys)
    unused = keys - set(map(key_of, names_of(code.with_specification(declarations=kept))))
    kept = tuple(item for item in code.declarations if _key_of(item) not in unused)
    return code.with_specification(declarations=kept)


def _key_of(item: Specified) -> str:
    return item.key if isinstance(item, Declare) else ""
