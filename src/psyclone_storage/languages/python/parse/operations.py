"""Results of operations and functions on numbers in Python kernels, with their types.

This module defines the semantics of operators: `/` is real division, `//` and `%` round down.
Operands are already typed. An operation that typed code cannot represent is an error at its
location.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence

from psyclone_storage.base.records import replace
from psyclone_storage.ir.checked import EagerChoice, EagerCondition
from psyclone_storage.ir.expr import Expr, Literal, Name, integer_value, walk
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse import promotion as precision
from psyclone_storage.languages.python.parse import rounding_integers as rounded
from psyclone_storage.languages.python.parse.functions import Signature, TypedFunction
from psyclone_storage.languages.python.parse.rounding_integers import as_real, as_real_if_rounded
from psyclone_storage.languages.python.parse.scope import UNKNOWN, KernelScope, TypedExpression
from psyclone_storage.languages.python.parse.weak_types import DOUBLE, UNKNOWN_NUMBER, Kind, sized

_REAL, _WHOLE, _TRUTH = Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL
LARGEST, _BITS = 2**31 - 1, 31
_PLAIN: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_COMPUTED: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift,
}  # fmt: skip


# ---------------------------------------------------------------------------- written numbers


def too_large(scope: KernelScope, node: ast.AST) -> TypedExpression:
    """Record an error for an integer literal of more than 32 bits."""
    what = f"'{scope.text(node)}' is more than an integer in a kernel can be."
    return scope.refuse("P054", what, node, "Write it as a real number.")


def literal_integer(node: ast.expr) -> int | None:
    """Return the Python value of an integer expression of literals, or None for others.

    Operands have 32 bits. If a power would exceed this range, any integer beyond the range is
    returned.
    """
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
            inner = literal_integer(operand)
            return -inner if inner is not None and isinstance(sign, ast.USub) else inner
        case ast.BinOp(first, sign, second):
            left, right = literal_integer(first), literal_integer(second)
            if left is not None and right is not None:
                return _computed(sign, left, right)
    return None


def _computed(sign: ast.operator, left: int, right: int) -> int | None:
    if isinstance(sign, ast.Pow):
        if right < 0:
            return None
        return int(left ** (right if abs(left) <= 1 else min(right, _BITS + 1)))
    is_quotient = isinstance(sign, ast.FloorDiv | ast.Mod)
    if isinstance(sign, ast.LShift) and not 0 <= right <= _BITS:
        return None
    compute = _COMPUTED.get(type(sign))
    return None if compute is None or (is_quotient and right == 0) else compute(left, right)


def bounded(
    scope: KernelScope, node: ast.AST, computed: ast.expr, found: TypedExpression
) -> TypedExpression:
    """Return the result of an operation; record an error for a constant beyond 32 bits."""
    value = literal_integer(computed) if found.type is _WHOLE else None
    if value is not None and not -LARGEST - 1 <= value <= LARGEST:
        return too_large(scope, node)
    return found


# ---------------------------------------------------------------------------- operations


def operation(
    scope: KernelScope,
    node: ast.AST,
    op: ast.operator,
    operands: tuple[TypedExpression, TypedExpression],
) -> TypedExpression:
    """Return an arithmetic operation with Python's semantics."""
    left, right = operands
    if _joined(left, right) is _REAL:
        left, right = (as_real_if_rounded(scope, one) for one in operands)
    kinds = precision.typed_operation_kinds(scope, op, (left, right))
    if kinds is None:
        return precision.refuse(scope, node)
    left, right = precision.promote_operands(scope, (left, right))
    return replace(_operation(scope, node, op, (left, right)), kinds=kinds)


def _operation(
    scope: KernelScope,
    node: ast.AST,
    op: ast.operator,
    operands: tuple[TypedExpression, TypedExpression],
) -> TypedExpression:
    left, right = operands
    if (word := BITS.get(type(op))) is not None:
        return bit_operation(scope, node, word, (left, right))
    wide = rounded.integer_operation(scope, node, op, (left, right))
    if (sign := _PLAIN.get(type(op))) is not None:
        made = nodes.binary_operation(sign, left.expr, right.expr)
        return TypedExpression(made, _joined(left, right), wide)
    match op:
        case ast.Div():
            return _divided(scope, left, right)
        case ast.Mod():
            left, right = convert_to_common_type(scope, left, right)
            return TypedExpression(
                nodes.intrinsic_call("modulo", left.expr, right.expr), left.type, wide
            )
        case ast.FloorDiv():
            return replace(_rounded_down(scope, node, left, right), wide=wide)
        case ast.Pow():
            return replace(power_operation(scope, node, left, right), wide=wide)
    what = f"'{scope.text(node)}' is no operation on numbers."
    return scope.refuse("P051", what, node, "Write '+', '-', '*', '/', '//', '%' or '**'.")


BITS: Mapping[type[ast.operator], str] = {
    ast.BitAnd: "iand", ast.BitOr: "ior", ast.BitXor: "ieor", ast.LShift: "shiftl",
    ast.RShift: "shifta",
}  # fmt: skip
_OF_TRUTHS = {"iand": ".and.", "ior": ".or.", "ieor": ".neqv."}


def bit_operation(
    scope: KernelScope, node: ast.AST, word: str, operands: Sequence[TypedExpression]
) -> TypedExpression:
    """Return an operation on the bits of integers, or on conditions, which are both computed."""
    types = {one.type for one in operands}
    if None in types:
        return UNKNOWN
    if types == {_TRUTH} and word in _OF_TRUTHS:
        left, right = operands
        made = nodes.binary_operation(_OF_TRUTHS[word], left.expr, right.expr)
        if word != "ieor":
            made = EagerCondition(made.op, made.left, made.right)
        return TypedExpression(replace(made, bracketed=True), _TRUTH)
    if types != {_WHOLE}:
        what = f"'{scope.text(node)}' does not combine two integers, or two conditions."
        return scope.refuse("P054", what, node)
    shift = integer_value(operands[-1].expr)
    if word in ("shiftl", "shifta") and shift is not None and not 0 <= shift <= _BITS:
        what = f"'{scope.text(node)}' shifts by a number that is not from 0 to {_BITS}."
        return scope.refuse("P054", what, node)
    return TypedExpression(nodes.intrinsic_call(word, *(one.expr for one in operands)), _WHOLE)


def _divided(scope: KernelScope, left: TypedExpression, right: TypedExpression) -> TypedExpression:
    """Return a quotient, which is real.

    A quotient of 32-bit integers also has at most 32 bits. The only exception is the least integer
    divided by -1, which Fortran does not allow.
    """
    if left.type is not _WHOLE or right.type is not _WHOLE:
        return TypedExpression(nodes.binary_operation("/", left.expr, right.expr), _REAL)
    divisor = integer_value(right.expr)
    does_not_grow = divisor is None or divisor > 0
    within = left.wide is None and right.wide is None and does_not_grow
    left, right = rounded.as_exact(scope, left), rounded.as_exact(scope, right)
    return TypedExpression(nodes.binary_operation("/", left.expr, right.expr), _REAL, within=within)


def convert_to_common_type(
    scope: KernelScope, first: TypedExpression, second: TypedExpression
) -> tuple[TypedExpression, TypedExpression]:
    """Return two numbers converted to the same type."""
    if _joined(first, second) is _REAL:
        first, second = as_real(scope, first), as_real(scope, second)
        first, second = precision.promote_to_one_kind(scope, (first, second))
    return first, second


def power_operation(
    scope: KernelScope, node: ast.AST, base: TypedExpression, exponent: TypedExpression
) -> TypedExpression:
    """Return a power; a power of integers needs a non-negative literal exponent.

    The function `pow` computes powers of reals, as in Python. Products replace it where they differ
    from it by at most one unit in the last place.
    """
    if base.type is _WHOLE and exponent.type is _WHOLE:
        value = integer_value(exponent.expr)
        if value is None or value < 0:
            what = "A power of integers has an exponent that is written out, and not negative."
            return scope.refuse("P054", what, node, "Write 'float(...)' around the base.")
        return TypedExpression(nodes.binary_operation("**", base.expr, exponent.expr), _WHOLE)
    if not (integer_value(exponent.expr) in _MULTIPLIED or scope.tree.has_powers_of_fortran):
        exponent = as_real(scope, exponent)
    base, exponent = precision.promote_operands(scope, (as_real(scope, base), exponent))
    return TypedExpression(nodes.binary_operation("**", base.expr, exponent.expr), _REAL)


_MULTIPLIED = range(-2, 4)


def _rounded_down(
    scope: KernelScope, node: ast.AST, left: TypedExpression, right: TypedExpression
) -> TypedExpression:
    if left.type is not _WHOLE or right.type is not _WHOLE:
        what = "'//' divides integers in a kernel."
        return scope.refuse("P054", what, node, "Write 'math.floor(a / b)' for real ones.")
    multiple = nodes.binary_operation(
        "-", left.expr, nodes.intrinsic_call("modulo", left.expr, right.expr)
    )
    return TypedExpression(nodes.binary_operation("/", multiple, right.expr), _WHOLE)


def _joined(first: TypedExpression, second: TypedExpression) -> Intrinsic:
    return _REAL if _REAL in (first.type, second.type) else _WHOLE


def conditional_expression(
    scope: KernelScope,
    node: ast.AST,
    test: TypedExpression,
    values: tuple[TypedExpression, TypedExpression],
    *,
    eager: bool = False,
) -> TypedExpression:
    """Return a conditional expression; if it is `eager`, both values are computed."""
    if test.type is None or any(value.type is None for value in values):
        return UNKNOWN
    first, second = values
    if (first.type is _TRUTH) is not (second.type is _TRUTH):
        return scope.refuse("P054", "Either a number or a condition is chosen.", node)
    kinds = None
    if first.type is not _TRUTH:
        kinds = precision.taken(scope, values)
        if kinds is None:
            return precision.refuse(scope, node)
        first, second = convert_to_common_type(scope, first, second)
    scope.called.setdefault("merge", scope.tree.span(node))
    made = replace(_of_numbers(scope, "merge", (first, second), test.expr), kinds=kinds)
    if eager:
        made = replace(made, expr=EagerChoice(Name("merge"), (first.expr, second.expr, test.expr)))
    return made


_GIVE_ONE = ("merge", "min", "max")
"""Functions that give what they are passed itself."""


def _of_numbers(
    scope: KernelScope, function: str, args: Sequence[TypedExpression], *others: Expr
) -> TypedExpression:
    """Return a call of an intrinsic with arguments of one type and a result of this type."""
    wide = rounded.select_integer(scope, function, args, *others)
    value = nodes.intrinsic_call(function, *(arg.expr for arg in args), *others)
    may_change = function in _GIVE_ONE and any(arg.may_change for arg in args)
    return TypedExpression(value, args[0].type, wide, may_change=may_change)


# ---------------------------------------------------------------------------- functions


def applied(
    scope: KernelScope, node: ast.Call, function: TypedFunction, args: list[TypedExpression]
) -> TypedExpression:
    """Return a call of a numeric function of Python or NumPy."""
    of_numpy = scope.offered.is_numpy(node.func)
    if function.takes is Signature.POWER:
        scope.called.setdefault(function.name, scope.tree.span(node))
        return _power_by_call(scope, node, (args[0], args[1]))
    if not of_numpy and any(precision.is_lost(scope, one) for one in _converted(function, args)):
        return precision.refuse(scope, node)
    scope.called.setdefault(function.name, scope.tree.span(node))
    if function.takes is Signature.TO_WHOLE:
        return _to_whole(scope, node, function, args[0])
    # The remainder of an integer of 32 bits has no more.
    within = function.name == "mod" and args[0].type is _WHOLE and args[0].wide is None
    kinds = precision.taken(scope, args) if function.takes is Signature.NUMBERS else UNKNOWN_NUMBER
    if kinds is None and not of_numpy:
        return precision.refuse(scope, node)
    given = tuple(args)
    if function.takes is Signature.REALS or any(arg.type is _REAL for arg in args):
        args = [as_real(scope, arg) for arg in args]
        if function.takes is Signature.REALS and not of_numpy and scope.single is not None:
            args = [replace(arg, expr=precision.weak(scope, arg.expr)) for arg in args]
        args = [*precision.promote_to_one_kind(scope, tuple(args))]
    if function.name == "abs" and kinds is not None:
        kinds = sized(kinds)
    made = replace(_of_numbers(scope, function.name, args), within=within, kinds=kinds)
    if of_numpy and made.type is _REAL and function.name in ("min", "max"):
        made = replace(made, expr=_extreme_of_numpy(function.name, args[0].expr, args[1].expr))
    return by_numpy(scope, node, given, made) if of_numpy else made


def _extreme_of_numpy(word: str, first: Expr, second: Expr) -> Expr:
    """Return the maximum or minimum of two reals, which is NaN if either operand is.

    The intrinsic returns its first operand if the second one is NaN. Therefore the second operand
    is tested explicitly. The simpler of the two expressions is used as the second operand.
    """
    if len(tuple(walk(first))) < len(tuple(walk(second))) or isinstance(first, Literal):
        first, second = second, first
    usual = nodes.intrinsic_call(word, first, second)
    if isinstance(second, Literal):
        return usual
    return nodes.intrinsic_call(
        "merge", second, usual, nodes.binary_operation("/=", second, second)
    )


def _converted(
    function: TypedFunction, args: Sequence[TypedExpression]
) -> Sequence[TypedExpression]:
    """Return the arguments that a Python function converts to Python floats."""
    return () if function.takes is Signature.NUMBERS else args


def by_numpy(
    scope: KernelScope,
    node: ast.AST,
    given: Sequence[TypedExpression],
    made: TypedExpression,
) -> TypedExpression:
    """Return the result of a NumPy function, whose kind is kept in further operations."""
    kinds = precision.of_numpy(scope, given)
    if scope.single is None:
        return made
    if kinds is None:
        return precision.refuse(scope, node)
    if made.type is _REAL and kinds == DOUBLE:
        made = replace(made, expr=precision.double(scope, made.expr))
    return replace(made, kinds=kinds)


def of_tuple(scope: KernelScope, node: ast.Call, made: TypedExpression) -> TypedExpression:
    """Return the result of a function: of a tuple, NumPy makes an array without Python numbers."""
    items = node.args[0] if node.args else None
    is_array = isinstance(items, ast.Tuple | ast.List) and scope.offered.numpy.meant(node.func)
    if not is_array or made.type not in (_REAL, _WHOLE):
        return made
    return by_numpy(scope, node, (made,), made)


def _power_by_call(
    scope: KernelScope, node: ast.Call, args: tuple[TypedExpression, TypedExpression]
) -> TypedExpression:
    """Return a power written as a call; the result of `math.pow` is a Python float."""
    given = args
    if scope.offered.is_math(node.func) and scope.single is not None:
        if any(precision.is_lost(scope, one) for one in args):
            return precision.refuse(scope, node)
        base, exponent = (as_real(scope, one) for one in args)
        args = (
            replace(base, expr=precision.weak(scope, base.expr), kinds=UNKNOWN_NUMBER),
            replace(exponent, expr=precision.weak(scope, exponent.expr), kinds=UNKNOWN_NUMBER),
        )
    of_numpy = scope.offered.is_numpy(node.func)
    kinds = None if of_numpy else precision.typed_operation_kinds(scope, ast.Pow(), args)
    if kinds is None and not of_numpy:
        return precision.refuse(scope, node)
    made = replace(power_operation(scope, node, *args), kinds=kinds)
    if of_numpy:
        made = by_numpy(scope, node, given, made)
    return bounded(scope, node, ast.BinOp(node.args[0], ast.Pow(), node.args[1]), made)


def _to_whole(
    scope: KernelScope, node: ast.Call, function: TypedFunction, given: TypedExpression
) -> TypedExpression:
    if scope.offered.is_numpy(node.func):
        whole = given.expr if given.type is _WHOLE else nodes.intrinsic_call("int", given.expr)
        return TypedExpression(whole, _WHOLE, kinds=DOUBLE)
    if given.type is _WHOLE:
        return replace(given, kinds=UNKNOWN_NUMBER)
    is_trunc = function.name == "int" and scope.offered.is_math(node.func)
    if is_trunc and scope.single is not None and Kind.SINGLE in precision.kinds_of(scope, given).of:
        what = f"'{scope.text(node.func)}' takes no number of 4 bytes."
        return scope.refuse("P054", what, node, "Write 'int(...)'.")
    whole = nodes.intrinsic_call(function.name, given.expr)
    if given.within:
        return TypedExpression(whole, _WHOLE)
    wide = rounded.rounded(scope, node, function.name, given.expr)
    return TypedExpression(whole, _WHOLE, wide)
