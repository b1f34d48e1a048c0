"""Typing of expressions in Python kernels.

This module defines the semantics of operators. `/` is real division, `//` and `%` round down, and
numbers and conditions cannot be mixed. An expression that typed code cannot represent is an error
at its location.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import replace
from psyclone_storage.ir.affine import with_offset
from psyclone_storage.ir.expr import Element, Expr, Name, integer_value
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Branch, If, Line
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse import promotion as precision
from psyclone_storage.languages.python.parse import rounding_integers as rounded
from psyclone_storage.languages.python.parse import sequences
from psyclone_storage.languages.python.parse.array_functions import as_operations, product_of
from psyclone_storage.languages.python.parse.compile_time import (
    UNKNOWN_VALUE,
    constant_array,
    folded_condition,
    members,
    shape_of,
    value_of,
    written,
)
from psyclone_storage.languages.python.parse.constructs import is_unsupported, unsupported
from psyclone_storage.languages.python.parse.extremes import excess, index_with_check
from psyclone_storage.languages.python.parse.functions import (
    ALL,
    Signature,
    TypedFunction,
    count_of_arguments,
    to_write_for,
)
from psyclone_storage.languages.python.parse.imports import dotted, imported_from
from psyclone_storage.languages.python.parse.operations import (
    BITS,
    LARGEST,
    applied,
    bit_operation,
    bounded,
    by_numpy,
    conditional_expression,
    convert_to_common_type,
    of_tuple,
    operation,
    too_large,
)
from psyclone_storage.languages.python.parse.rounding_integers import as_real
from psyclone_storage.languages.python.parse.scope import (
    UNKNOWN,
    Exactness,
    KernelScope,
    TypedExpression,
)
from psyclone_storage.languages.python.parse.tree import left_operations
from psyclone_storage.languages.python.parse.weak_types import (
    DOUBLE,
    SINGLE,
)

_REAL, _WHOLE, _TRUTH = Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL
_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "/=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_DIGITS = tuple("0123456789.")
_LONGEST = 50
"""The number of operations in a chain before a local variable stores its value."""
_OF_CONDITIONS = {"==": ".eqv.", "/=": ".neqv."}


def read(scope: KernelScope, node: ast.expr) -> TypedExpression:
    """Return the typed expression for `node`; errors are recorded in `scope`."""
    reader = _READERS.get(type(node))
    if reader is None:
        hint = "Write numbers, conditions and the usual functions."
        return scope.refuse("P051", unsupported(node), node, hint)
    return reader(scope, node)


def read_number(scope: KernelScope, node: ast.expr) -> TypedExpression:
    """Return a typed numeric expression; a condition is an error."""
    return _number(scope, node, read(scope, node))


def _number(scope: KernelScope, node: ast.expr, found: TypedExpression) -> TypedExpression:
    if found.type is _TRUTH:
        return scope.refuse("P054", f"'{scope.text(node)}' is a condition, not a number.", node)
    return found


def read_condition(scope: KernelScope, node: ast.expr) -> TypedExpression:
    """Return a typed condition; a number is an error."""
    found = read(scope, node)
    if found.type in (_REAL, _WHOLE):
        what = f"'{scope.text(node)}' is a number, not a condition."
        return scope.refuse("P054", what, node, f"Write '{scope.text(node)} != 0'.")
    return found


# ---------------------------------------------------------------------------- operands


def _constant(scope: KernelScope, node: ast.Constant) -> TypedExpression:
    value = node.value
    if isinstance(value, bool):
        return TypedExpression(nodes.truth(value), _TRUTH)
    if isinstance(value, int):
        if value > LARGEST:
            return too_large(scope, node)
        return TypedExpression(nodes.signed_integer(value), _WHOLE)
    if isinstance(value, float):
        if value == float("inf") and scope.text(node)[:1] in _DIGITS:
            what = f"'{scope.text(node)}' is more than a real number can be."
            return scope.refuse("P054", what, node)
        return _real(scope, value)
    return scope.refuse("P054", unsupported(node), node)


def _real(scope: KernelScope, value: float) -> TypedExpression:
    """Return a real number; one that is not finite is computed."""
    if math.isfinite(value):
        return TypedExpression(nodes.real(value, scope.real), _REAL)
    infinite = nodes.infinity(scope.real)
    if value == math.inf:
        return TypedExpression(infinite, _REAL)
    if value == -math.inf:
        return TypedExpression(nodes.unary_operation(infinite), _REAL)
    return TypedExpression(
        nodes.parenthesized(nodes.binary_operation("-", infinite, infinite)), _REAL
    )


def _name(scope: KernelScope, node: ast.Name) -> TypedExpression:
    name = node.id
    if name in scope.literals and not isinstance(scope.literals[name], tuple | range):
        return read(scope, written(scope.literals[name], node))
    if name in scope.parts or isinstance(value_of(scope, node), tuple | range):
        hint = f"Write an item, as in '{name}[0]'."
        return scope.refuse("P051", f"'{name}' is a table or a tuple, not a number.", node, hint)
    if (dummy := scope.arguments.get(name)) is not None:
        if dummy.rank or dummy.role is Role.DOF_VALUE:
            what = f"'{name}' is looked at as a whole."
            hint = scope.access.hint if dummy.rank else f"Write '{name}[0]', its value at the dof."
            return scope.refuse("P051", what, node, hint)
        return TypedExpression(Name(scope.code(name)), dummy.type.intrinsic)
    if (value := scope.values.get(name)) is not None:
        return value
    if name in scope.assigned or scope.local(name) is not None:
        local = scope.local(name)
        if local is None or not scope.has_value(name):
            what = f"'{name}' may have no value here."
            hint = "Give it one on every way that leads here."
            return scope.refuse("P053", what, node, hint)
        if local.shape:
            what = f"'{name}' is an array; operations on whole arrays are not supported in kernels."
            return scope.refuse("P051", what, node, f"Write an element, as in '{name}[0]'.")
        code = Name(scope.code(name))
        if code.text in scope.from_one:
            return TypedExpression(
                nodes.binary_operation("-", code, nodes.signed_integer(1)), _WHOLE
            )
        return TypedExpression(code, local.type, may_change=code.text in scope.changing)
    if (constant := scope.constants.get(name)) is not None:
        return scope.constant(node, constant)
    if (number := scope.offered.constant(node)) is not None:
        return _real(scope, number)
    known = (*scope.arguments, *scope.assigned, *scope.values, *scope.constants)
    hint = did_you_mean(name, known) or (
        "A kernel knows its arguments, what it has assigned, and numbers that its module assigns."
    )
    return scope.refuse("P053", f"'{name}' is not defined.", node, hint)


def _attribute(scope: KernelScope, node: ast.Attribute) -> TypedExpression:
    if (value := scope.offered.constant(node)) is not None:
        return _real(scope, value)
    what = f"'{scope.text(node)}' is not known to a kernel."
    hint = "Assign it to a name of the module, as a number, or pass it."
    if (module := scope.modules.get(dotted(node.value) or "")) is not None:
        hint = (
            f"Write 'from {module} import {node.attr}' at the top of the file, and '{node.attr}'"
            f" here; or declare it here: '{node.attr}: float = {scope.text(node)}', or int or bool."
        )
    return scope.refuse("P053", what, node, hint)


def _subscript(scope: KernelScope, node: ast.Subscript) -> TypedExpression:
    base, index = sequences.indexed(node)
    name = base.id if isinstance(base, ast.Name) else ""
    if name not in scope.arguments:
        with scope.fixing():
            known = value_of(scope, node) if name else UNKNOWN_VALUE
        if known is not UNKNOWN_VALUE and not isinstance(known, tuple | range):
            return read(scope, written(known, node))
        if (item := sequences.item_of(scope, node)) is not None:
            return read(scope, item)
        table = value_of(scope, base)
        if isinstance(table, tuple):
            return _element_of_table(scope, node, table, index)
    if is_unsupported(base):
        return scope.refuse("P051", unsupported(base), base)
    return scope.access.read(scope, node)


def _element_of_table(
    scope: KernelScope, node: ast.Subscript, table: tuple[Any, ...], index: list[ast.expr]
) -> TypedExpression:
    """Return the element of a table that an index selects when the kernel runs."""
    shape, what = shape_of(table), scope.text(node)
    if not shape or len(shape) != len(index) or not sequences.has_index(table, node.slice):
        message = f"'{what}' is no number of a table with elements of one type."
        return scope.refuse("P051", message, node, "Write 'a[i, j]' for arrays, 'a[i][j]' else.")
    parts = [read_number(scope, one) for one in index]
    if any(part.type is not _WHOLE for part in parts):
        if all(part.type is not None for part in parts):
            scope.refuse("P054", f"'{what}' has an index that is not an integer.", node)
        return UNKNOWN
    for part, extent, at in zip(parts, shape, index, strict=True):
        number = integer_value(part.expr)
        is_outside = number is not None and not -extent <= number < extent
        if is_outside or excess(scope, part.expr, nodes.signed_integer(extent)) >= 0:
            message = f"'{scope.text(at)}' is out of range: the table has {extent} elements."
            return scope.refuse("P051", message, at)
    array = constant_array(scope, node, table)
    places = tuple(
        with_offset(index_with_check(part.expr, nodes.signed_integer(extent)), 1)
        for part, extent in zip(parts, shape, strict=True)
    )
    return TypedExpression(Element(Name(array.name), places), array.type)


# ---------------------------------------------------------------------------- operations


def _unary(scope: KernelScope, node: ast.UnaryOp) -> TypedExpression:
    if isinstance(node.op, ast.Not):
        found = read_condition(scope, node.operand)
        return (
            found
            if found.type is None
            else TypedExpression(nodes.unary_operation(found.expr, ".not."), _TRUTH)
        )
    if isinstance(node.op, ast.Invert):
        return bit_operation(scope, node, "not", [read(scope, node.operand)])
    found = read_number(scope, node.operand)
    if found.type is None:
        return found
    op = "-" if isinstance(node.op, ast.USub) else "+"
    wide = rounded.negative(scope, found) if op == "-" else found.wide
    kinds = precision.typed_negation_kinds(scope, found) if op == "-" else found.kinds
    made = TypedExpression(nodes.unary_operation(found.expr, op), found.type, wide, kinds=kinds)
    return bounded(scope, node, node, made)


def _binary(scope: KernelScope, node: ast.BinOp) -> TypedExpression:
    chain = list(left_operations(node))
    found: TypedExpression | None = None
    for number, one in enumerate(reversed(chain), 1):
        found = _operated(scope, one, found)
        if number % _LONGEST == 0 and one is not node:
            found = _stored(scope, "part", found, one)
    return found or UNKNOWN


def _operated(scope: KernelScope, node: ast.BinOp, left: TypedExpression | None) -> TypedExpression:
    """Return an operation; its `left` operand is read unless it is given."""
    if isinstance(node.op, ast.MatMult):
        if all(sequences.type_of_sequence(scope, one) for one in (node.left, node.right)):
            what = f"'{scope.text(node)}' multiplies two tuples or lists: '@' takes an array."
            return scope.refuse("P051", what, node, "Write 'np.dot' of them.")
        if (product := product_of(scope, node.left, node.right)) is not None:
            return read(scope, product)
        what = f"'{scope.text(node)}' is no product of two arrays of one length."
        return scope.refuse("P051", what, node, "'@' and 'np.dot' take local arrays or tables.")
    left = read(scope, node.left) if left is None else left
    if (word := BITS.get(type(node.op))) is not None:
        operands = [left, read(scope, node.right)]
        return bounded(scope, node, node, bit_operation(scope, node, word, operands))
    left, right = _number(scope, node.left, left), read_number(scope, node.right)
    if left.type is None or right.type is None:
        return UNKNOWN
    made = operation(scope, node, node.op, (_kept(scope, node.left, left), right))
    if made.wide is not None and rounded.is_nearest(scope, node):
        made = replace(made, wide=replace(made.wide, how=Exactness.EXACT))
    return bounded(scope, node, node, made)


def _stored(
    scope: KernelScope, wish: str, found: TypedExpression, node: ast.AST
) -> TypedExpression:
    """Return a new local variable with a value, to which preceding statements set it."""
    if found.type is None:
        return found
    place = scope.tree.span(node)
    value = precision.fresh_local(scope, wish, found, place)
    scope.before.append(Assign(value, found.expr, place=place))
    return TypedExpression(value, found.type, rounded.kept((found,)), may_change=found.may_change)


def _kept(scope: KernelScope, node: ast.expr, found: TypedExpression) -> TypedExpression:
    """Return an operand with its parentheses, which determine the order of evaluation."""
    span = scope.tree.span(node)
    before = span.source.text[: span.start].rstrip()
    if isinstance(node, ast.BinOp) and before.endswith("("):
        wide = rounded.evaluated_first(found.wide)
        return replace(found, expr=nodes.parenthesized(found.expr), wide=wide)
    return found


def _comparison(scope: KernelScope, node: ast.Compare) -> TypedExpression:
    if isinstance(node.ops[0], ast.In | ast.NotIn) and len(node.ops) == 1:
        return _membership(scope, node)
    sides = (node.left, node.comparators[0])
    if len(node.ops) == 1 and any(sequences.type_of_sequence(scope, one) for one in sides):
        return _of_tuples(scope, node)
    values = [read(scope, part) for part in (node.left, node.comparators[0])]
    for later in node.comparators[1:]:
        value, before = read_apart(scope, later, read)
        if before:
            what = f"'{scope.text(later)}' is compared only if what stands before it holds."
            hint = "Write the comparisons one by one, with 'and' between them."
            return scope.refuse("P051", what, later, hint)
        values.append(value)
    if any(value.type is None for value in values):
        return UNKNOWN
    parts: list[Expr] = []
    for op, left, right in zip(node.ops, values, values[1:], strict=False):
        word = _COMPARED.get(type(op), "")
        if (left.type is _TRUTH) is not (right.type is _TRUTH):
            return scope.refuse("P054", "A condition is compared with a number.", node)
        if left.type is _TRUTH:
            word = _OF_CONDITIONS.get(word, "")
        if not word:
            return scope.refuse("P051", f"'{scope.text(node)}' compares no numbers.", node)
        if not precision.is_compared(scope, word, (left, right)):
            return precision.refuse(scope, node)
        pair = rounded.comparison_operands(scope, *precision.promote_operands(scope, (left, right)))
        parts.append(nodes.binary_operation(word, *pair))
    return _chained(scope, ".and.", parts, node)


def _membership(scope: KernelScope, node: ast.Compare) -> TypedExpression:
    """Return whether a value equals one of the items of a sequence."""
    sequence = members(node.comparators[0])
    with scope.fixing() if isinstance(sequence, ast.Call) else nullcontext():
        items = sequences.iterated_items(scope, sequence)
    if items is None:
        what = f"'{scope.text(node.comparators[0])}' is no sequence known at compile time."
        return scope.refuse("P051", what, node.comparators[0], "Write a tuple, as 'n in (1, 2)'.")
    is_in = isinstance(node.ops[0], ast.In)
    if not items:
        return TypedExpression(nodes.truth(not is_in), _TRUTH)
    op: ast.cmpop = ast.Eq() if is_in else ast.NotEq()
    tests = [ast.copy_location(ast.Compare(node.left, [op], [item]), node) for item in items]
    return _all_of(scope, node, tests, is_any=is_in)


def _of_tuples(scope: KernelScope, node: ast.Compare) -> TypedExpression:
    """Return whether two tuples are equal or differ; those of other types are never equal."""
    sides = (node.left, node.comparators[0])
    (left, type_), (right, other) = (sequences.typed_items(scope, one) for one in sides)
    is_equal = isinstance(node.ops[0], ast.Eq)
    is_supported = isinstance(node.ops[0], ast.Eq | ast.NotEq)
    if left is None or right is None or None in (type_, other) or not is_supported:
        return scope.refuse("P051", "Only '==' and '!=' of tuples are supported in kernels.", node)
    if type_ is not other:
        return TypedExpression(nodes.truth(not is_equal), _TRUTH)
    if len(left) != len(right) or not left:
        return TypedExpression(nodes.truth((left == right) is is_equal), _TRUTH)
    tests = [ast.copy_location(ast.Compare(one, node.ops, [other]), node)
             for one, other in zip(left, right, strict=True)]  # fmt: skip
    return _all_of(scope, node, tests, is_any=not is_equal)


def _all_of(
    scope: KernelScope, node: ast.Compare, tests: list[ast.Compare], *, is_any: bool
) -> TypedExpression:
    op: ast.boolop = ast.Or() if is_any else ast.And()
    joint = ast.BoolOp(op, [*tests]) if len(tests) > 1 else tests[0]
    return read(scope, ast.copy_location(joint, node))


def _joint(scope: KernelScope, node: ast.BoolOp) -> TypedExpression:
    operands = [read_apart(scope, part, read_condition) for part in node.values]
    values = [value for value, _ in operands]
    if any(value.type is None for value in values):
        return UNKNOWN
    scope.before += operands[0][1]
    if any(before for _, before in operands[1:]):
        return _joint_by_statements(scope, node, operands)
    op = ".and." if isinstance(node.op, ast.And) else ".or."
    return _chained(scope, op, [value.expr for value in values], node)


def _chained(scope: KernelScope, op: str, parts: list[Expr], node: ast.expr) -> TypedExpression:
    """Return a condition that joins some conditions, from left to right."""
    whole = TypedExpression(parts[0], _TRUTH)
    for number, part in enumerate(parts[1:], 1):
        if number % _LONGEST == 0:
            whole = _stored(scope, "holds", whole, node)
        whole = replace(whole, expr=nodes.binary_operation(op, whole.expr, part))
    return whole


_Apart = tuple[TypedExpression, list[Line]]
"""An expression, and the statements that have to be done before it."""


def read_apart(
    scope: KernelScope,
    node: ast.expr,
    reader: Callable[[KernelScope, ast.expr], TypedExpression],
) -> _Apart:
    """Return an expression and its preceding statements, which are executed conditionally."""
    scope.before, around = [], scope.before
    with scope.reached(None):
        value = reader(scope, node)
    scope.before, made = around, scope.before
    return value, made


def _joint_by_statements(
    scope: KernelScope, node: ast.BoolOp, parts: Sequence[_Apart]
) -> TypedExpression:
    """Return a local variable for a condition whose operands need preceding statements.

    The operands are evaluated one by one until the result is determined, as in Python.
    """
    place = scope.tree.span(node)
    holds = scope.fresh("holds", _TRUTH, place)
    scope.before.append(Assign(holds, parts[0][0].expr, place=place))
    goes_on = holds if isinstance(node.op, ast.And) else nodes.unary_operation(holds, ".not.")
    for value, before in parts[1:]:
        body = (*before, Assign(holds, value.expr, place=place))
        scope.before.append(If((Branch(goes_on, body, place=place),), extent=place))
    return TypedExpression(holds, _TRUTH)


def _choice(scope: KernelScope, node: ast.IfExp) -> TypedExpression:
    folded = folded_condition(scope, node.test)
    if folded is not None:
        return read(scope, node.body if folded else node.orelse)
    test = read_condition(scope, node.test)
    (first, before_first), (second, before_second) = (
        read_apart(scope, one, read) for one in (node.body, node.orelse)
    )
    if not before_first and not before_second:
        return conditional_expression(scope, node, test, (first, second))
    if conditional_expression(scope, node, test, (first, second)).type is None:
        return UNKNOWN
    kinds = precision.taken(scope, (first, second)) if first.type is not _TRUTH else None
    if first.type is not _TRUTH:
        first, second = convert_to_common_type(scope, first, second)
    place = scope.tree.span(node)
    value = precision.fresh_local(scope, "chosen", replace(first, kinds=kinds), place)
    bodies = [(*before, Assign(value, one.expr, place=place))
              for one, before in ((first, before_first), (second, before_second))]  # fmt: skip
    branch = Branch(test.expr, bodies[0], place=place)
    scope.before.append(If((branch,), bodies[1], extent=place))
    may_change = first.may_change or second.may_change
    wide = rounded.kept((first, second))
    return TypedExpression(value, first.type, wide, may_change=may_change)


# ---------------------------------------------------------------------------- functions


def _call(scope: KernelScope, node: ast.Call) -> TypedExpression:
    name = scope.text(node.func)
    if (length := sequences.length(scope, node, name)) is not None:
        return length
    if (number := scope.access.number(scope, node)) is not None:
        return number
    if scope.helpers is not None and (helped := scope.helpers.value(scope, node)) is not None:
        return helped
    if (made := as_operations(scope, node)) is not None:
        return (
            made if isinstance(made, TypedExpression) else of_tuple(scope, node, read(scope, made))
        )
    function = None if name in scope.assigned else scope.offered.function(node.func)
    if function is None or name in scope.arguments or name in scope.values:
        what = f"'{name}' is no function that a kernel can call."
        hint = "A kernel calls the functions of numbers, as 'sqrt', and functions of its modules."
        if module := imported_from(scope.tree, name):
            what = f"The module '{module}' has no function '{name}' that a kernel can call."
            hint = "Define it there, by 'def': a kernel calls functions in Python."
        elif name in scope.offered.bound | scope.offered.defined:
            hint = "The module gives this name a meaning of its own, which a kernel cannot call."
        elif instead := to_write_for(name, scope.offered):
            hint = instead
        else:
            hint = did_you_mean(name, set(ALL) - scope.offered.bound) or hint
        return scope.refuse("P051", what, node.func, hint)
    if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
        return scope.refuse("P051", f"'{name}' is given its arguments by their order alone.", node)
    if not function.least <= len(node.args) <= function.most:
        what = f"'{name}' takes {count_of_arguments(function)}, not {len(node.args)}."
        return scope.refuse("P051", what, node)
    return _called(scope, node, function)


def _called(scope: KernelScope, node: ast.Call, function: TypedFunction) -> TypedExpression:
    if function.takes is Signature.TO_SINGLE:
        return _to_single(scope, node)
    if function.takes in (Signature.TO_REAL, Signature.TO_DOUBLE):
        return _to_real(scope, node, function)
    if function.takes is Signature.CHOICE:
        test, first, second = node.args
        with scope.reached(None):
            values = read(scope, first), read(scope, second)
        made = conditional_expression(scope, node, read_condition(scope, test), values, eager=True)
        made = by_numpy(scope, node, values, made) if made.type in (_REAL, _WHOLE) else made
        return replace(made, may_change=made.type is not None)
    args = [read_number(scope, one) for one in node.args]
    if any(arg.type is None for arg in args):
        return UNKNOWN
    return applied(scope, node, function, args)


def _to_real(scope: KernelScope, node: ast.Call, function: TypedFunction) -> TypedExpression:
    """Return a number converted to a real, possibly after rounding to single precision."""
    inner = _single(scope, node.args[0])
    found = read_number(scope, node.args[0] if inner is None else inner)
    if found.type is None:
        return UNKNOWN
    if inner is None and precision.is_lost(scope, found):
        return precision.refuse(scope, node)
    scope.called.setdefault(function.name, scope.tree.span(node))
    if inner is not None:
        found = TypedExpression(nodes.intrinsic_call("real", found.expr), _WHOLE)
    made = as_real(scope, found)
    if function.takes is Signature.TO_DOUBLE:
        return replace(made, expr=precision.double(scope, made.expr), kinds=DOUBLE)
    expr = made.expr if scope.single is None else precision.weak(scope, made.expr)
    return replace(made, expr=expr, kinds=precision.kinds_of_float(scope, found))


def _to_single(scope: KernelScope, node: ast.Call) -> TypedExpression:
    """Return a number rounded to single precision.

    This is an error without single-precision data.
    """
    if (wanted := scope.single) is None:
        what = f"'{scope.text(node)}' is of single precision, in which this kernel has no data."
        return scope.refuse("P051", what, node, f"Write 'float({scope.text(node)})'.")
    found = as_real(scope, read_number(scope, node.args[0]))
    if found.type is None:
        return found
    if precision.real_type(scope, found.expr) == wanted:
        return replace(found, kinds=SINGLE)
    scope.called.setdefault("real", scope.tree.span(node))
    made = precision.of_kind(found.expr, wanted)
    return TypedExpression(made, _REAL, kinds=SINGLE)


def _single(scope: KernelScope, node: ast.expr) -> ast.expr | None:
    """Return the operand of a conversion to single precision, or None for another expression."""
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) != 1:
        return None
    function = scope.offered.function(node.func)
    return node.args[0] if function and function.takes is Signature.TO_SINGLE else None


_READERS: Mapping[type[ast.expr], Callable[[KernelScope, Any], TypedExpression]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _comparison,
    ast.BoolOp: _joint,
    ast.IfExp: _choice,
    ast.Call: _call,
}
