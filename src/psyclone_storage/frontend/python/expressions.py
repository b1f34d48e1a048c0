"""Expressions of kernels in Python, each with the type that its value has.

Owns the meaning of operators: `/` is real division, `//` and `%` round down, numbers and conditions
are not mixed. What typed code has no word for is refused at its place.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import replace
from psyclone_storage.frontend.python import nodes, precision, rounded
from psyclone_storage.frontend.python.functions import ALL, Signature, TypedFunction
from psyclone_storage.frontend.python.imports import dotted, imported_from
from psyclone_storage.frontend.python.rounded import as_real, as_real_if_rounded
from psyclone_storage.frontend.python.scope import UNKNOWN, Exactness, KernelScope, TypedExpression
from psyclone_storage.ir.expr import Expr, Name, integer_value
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Branch, If, Line

_REAL, _WHOLE, _TRUTH = Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL
_LARGEST, _BITS = 2**31 - 1, 31
_PLAIN: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_COMPUTED: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "/=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_OF_CONDITIONS = {"==": ".eqv.", "/=": ".neqv."}


def read(scope: KernelScope, node: ast.expr) -> TypedExpression:
    """Return the typed expression that `node` is; what is wrong is noted in `scope`."""
    reader = _READERS.get(type(node))
    if reader is None:
        what = f"'{scope.text(node)}' is nothing that a kernel can compute."
        return scope.refuse(
            "P051", what, node, "Write numbers, conditions and the usual functions."
        )
    return reader(scope, node)


def read_number(scope: KernelScope, node: ast.expr) -> TypedExpression:
    """Return the number that `node` is; a condition is refused."""
    found = read(scope, node)
    if found.type is _TRUTH:
        return scope.refuse("P054", f"'{scope.text(node)}' is a condition, not a number.", node)
    return found


def read_condition(scope: KernelScope, node: ast.expr) -> TypedExpression:
    """Return the condition that `node` is; a number is refused."""
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
        if value > _LARGEST:
            return _too_large(scope, node)
        return TypedExpression(nodes.whole(value), _WHOLE)
    if isinstance(value, float):
        if value == float("inf"):
            what = f"'{scope.text(node)}' is more than a real number can be."
            return scope.refuse("P054", what, node)
        return TypedExpression(nodes.real(value, scope.real), _REAL)
    what = f"'{scope.text(node)}' is no number."
    return scope.refuse("P054", what, node)


def _too_large(scope: KernelScope, node: ast.AST) -> TypedExpression:
    what = f"'{scope.text(node)}' is more than a whole number in a kernel can be."
    return scope.refuse("P054", what, node, "Write it as a real number.")


def _written(node: ast.expr) -> int | None:
    """Return the whole number that is computed of written ones alone, as Python does, else None.

    Operands have 32 bits. Of a power that has more, some number that has more is returned.
    """
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
            inner = _written(operand)
            return -inner if inner is not None and isinstance(sign, ast.USub) else inner
        case ast.BinOp(first, sign, second):
            left, right = _written(first), _written(second)
            if left is not None and right is not None:
                return _computed(sign, left, right)
    return None


def _computed(sign: ast.operator, left: int, right: int) -> int | None:
    if isinstance(sign, ast.Pow):
        if right < 0:
            return None
        return int(left ** (right if abs(left) <= 1 else min(right, _BITS + 1)))
    is_quotient = isinstance(sign, ast.FloorDiv | ast.Mod)
    compute = _COMPUTED.get(type(sign))
    return None if compute is None or (is_quotient and right == 0) else compute(left, right)


def _bounded(
    scope: KernelScope, node: ast.AST, computed: ast.expr, found: TypedExpression
) -> TypedExpression:
    """Return what an operation gives; of written whole numbers it has 32 bits or is refused."""
    value = _written(computed) if found.type is _WHOLE else None
    if value is not None and not -_LARGEST - 1 <= value <= _LARGEST:
        return _too_large(scope, node)
    return found


def _name(scope: KernelScope, node: ast.Name) -> TypedExpression:
    name = node.id
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
            hint = f"Write an element, as in '{name}[0]'."
            return scope.refuse("P051", f"'{name}' is looked at as a whole.", node, hint)
        code = Name(scope.code(name))
        if code.text in scope.from_one:
            return TypedExpression(nodes.binary("-", code, nodes.whole(1)), _WHOLE)
        return TypedExpression(code, local.type)
    if (constant := scope.constants.get(name)) is not None:
        return scope.constant(node, constant)
    if (number := scope.offered.constant(node)) is not None:
        return TypedExpression(nodes.real(number, scope.real), _REAL)
    known = (*scope.arguments, *scope.assigned, *scope.values, *scope.constants)
    hint = did_you_mean(name, known) or (
        "A kernel knows its arguments, what it has assigned, and numbers that its module assigns."
    )
    return scope.refuse("P053", f"'{name}' is not defined.", node, hint)


def _attribute(scope: KernelScope, node: ast.Attribute) -> TypedExpression:
    if (value := scope.offered.constant(node)) is not None:
        return TypedExpression(nodes.real(value, scope.real), _REAL)
    what = f"'{scope.text(node)}' is not known to a kernel."
    hint = "Assign it to a name of the module, as a number, or pass it."
    if dotted(node.value) in scope.modules:
        hint = f"Say what it is: '{node.attr}: float = {scope.text(node)}', or int or bool."
    return scope.refuse("P053", what, node, hint)


def _subscript(scope: KernelScope, node: ast.Subscript) -> TypedExpression:
    return scope.access.read(scope, node)


# ---------------------------------------------------------------------------- operations


def _unary(scope: KernelScope, node: ast.UnaryOp) -> TypedExpression:
    if isinstance(node.op, ast.Not):
        found = read_condition(scope, node.operand)
        return (
            found
            if found.type is None
            else TypedExpression(nodes.negated(found.expr, ".not."), _TRUTH)
        )
    if isinstance(node.op, ast.Invert):
        return scope.refuse("P051", "A kernel does not compute with bits.", node)
    found = read_number(scope, node.operand)
    if found.type is None:
        return found
    op = "-" if isinstance(node.op, ast.USub) else "+"
    wide = rounded.negative(scope, found) if op == "-" else found.wide
    made = TypedExpression(nodes.negated(found.expr, op), found.type, wide)
    return _bounded(scope, node, node, made)


def _binary(scope: KernelScope, node: ast.BinOp) -> TypedExpression:
    left, right = read_number(scope, node.left), read_number(scope, node.right)
    if left.type is None or right.type is None:
        return UNKNOWN
    made = operation(scope, node, node.op, (_kept(scope, node.left, left), right))
    if made.wide is not None and _is_nearest(scope, node):
        made = replace(made, wide=replace(made.wide, how=Exactness.EXACT))
    return _bounded(scope, node, node, made)


def _is_nearest(scope: KernelScope, node: ast.BinOp) -> bool:
    """Return whether a sum is that of the whole number nearest to `x`, of two the outer one.

    It is written `int(x) + int(2.0 * (x - int(x)))`, and is a real number as it is: what `x` has
    behind its point has no rounding, a whole number of more than 52 bits has nothing there.
    """
    match node:
        case ast.BinOp(
            ast.Call() as whole,
            ast.Add(),
            ast.Call(
                args=[
                    ast.BinOp(
                        ast.Constant(2.0), ast.Mult(), ast.BinOp(x, ast.Sub(), ast.Call() as again)
                    )
                ]
            ) as behind,
        ):
            calls = (whole, behind, again)
            is_cut = all(
                (function := scope.offered.function(one.func)) is not None
                and function.name == "int"
                and len(one.args) == 1
                and not one.keywords
                for one in calls
            )
            same = {ast.dump(one) for one in (whole.args[0], again.args[0], x)} if is_cut else ()
            return len(same) == 1
    return False


def operation(
    scope: KernelScope,
    node: ast.AST,
    op: ast.operator,
    operands: tuple[TypedExpression, TypedExpression],
) -> TypedExpression:
    """Return an operation on two numbers, as Python computes it."""
    left, right = operands
    if _joined(left, right) is _REAL:
        left, right = (as_real_if_rounded(scope, one) for one in operands)
        left, right = precision.met(scope, (left, right))
    wide = rounded.combined(scope, node, op, (left, right))
    if (sign := _PLAIN.get(type(op))) is not None:
        made = nodes.binary(sign, left.expr, right.expr)
        return TypedExpression(made, _joined(left, right), wide)
    match op:
        case ast.Div():
            return _divided(scope, left, right)
        case ast.Mod():
            left, right = alike(scope, left, right)
            return TypedExpression(nodes.call("modulo", left.expr, right.expr), left.type, wide)
        case ast.FloorDiv():
            return replace(_rounded_down(scope, node, left, right), wide=wide)
        case ast.Pow():
            return replace(power(scope, node, left, right), wide=wide)
    what = f"'{scope.text(node)}' is no operation on numbers."
    return scope.refuse("P051", what, node, "Write '+', '-', '*', '/', '//', '%' or '**'.")


def _divided(scope: KernelScope, left: TypedExpression, right: TypedExpression) -> TypedExpression:
    """Return a quotient, which is a real number; one of numbers of 32 bits has no more.

    That of the least such number and -1 has, as it has in Fortran, where no program may ask for it.
    """
    if left.type is not _WHOLE or right.type is not _WHOLE:
        return TypedExpression(nodes.binary("/", left.expr, right.expr), _REAL)
    divisor = integer_value(right.expr)
    does_not_grow = divisor is None or divisor > 0
    within = left.wide is None and right.wide is None and does_not_grow
    left, right = rounded.as_exact(scope, left), rounded.as_exact(scope, right)
    return TypedExpression(nodes.binary("/", left.expr, right.expr), _REAL, within=within)


def alike(
    scope: KernelScope, first: TypedExpression, second: TypedExpression
) -> tuple[TypedExpression, TypedExpression]:
    """Return two numbers as ones of the same type."""
    if _joined(first, second) is _REAL:
        first, second = as_real(scope, first), as_real(scope, second)
        first, second = precision.alike(scope, (first, second))
    return first, second


def power(
    scope: KernelScope, node: ast.AST, base: TypedExpression, exponent: TypedExpression
) -> TypedExpression:
    """Return a power; one of whole numbers has an exponent that is written out."""
    if base.type is _WHOLE and exponent.type is _WHOLE:
        value = integer_value(exponent.expr)
        if value is None or value < 0:
            what = "A power of whole numbers has an exponent that is written out, and not negative."
            return scope.refuse("P054", what, node, "Write 'float(...)' around the base.")
        return TypedExpression(nodes.binary("**", base.expr, exponent.expr), _WHOLE)
    base, exponent = precision.met(scope, (as_real(scope, base), exponent))
    return TypedExpression(nodes.binary("**", base.expr, exponent.expr), _REAL)


def _rounded_down(
    scope: KernelScope, node: ast.AST, left: TypedExpression, right: TypedExpression
) -> TypedExpression:
    if left.type is not _WHOLE or right.type is not _WHOLE:
        what = "'//' divides whole numbers in a kernel."
        return scope.refuse("P054", what, node, "Write 'math.floor(a / b)' for real ones.")
    multiple = nodes.binary("-", left.expr, nodes.call("modulo", left.expr, right.expr))
    return TypedExpression(nodes.binary("/", multiple, right.expr), _WHOLE)


def _joined(first: TypedExpression, second: TypedExpression) -> Intrinsic:
    return _REAL if _REAL in (first.type, second.type) else _WHOLE


def _kept(scope: KernelScope, node: ast.expr, found: TypedExpression) -> TypedExpression:
    """Return an operand with the brackets around it, which tell what to compute first."""
    span = scope.tree.span(node)
    before = span.source.text[: span.start].rstrip()
    if isinstance(node, ast.BinOp) and before.endswith("("):
        made = nodes.bracketed(found.expr)
        return TypedExpression(made, found.type, rounded.bracketed(found.wide), found.within)
    return found


def _comparison(scope: KernelScope, node: ast.Compare) -> TypedExpression:
    values = [read(scope, part) for part in (node.left, node.comparators[0])]
    for later in node.comparators[1:]:
        value, before = _apart(scope, later, read)
        if before:
            what = f"'{scope.text(later)}' is compared only if what stands before it holds."
            hint = "Write the comparisons one by one, with 'and' between them."
            return scope.refuse("P051", what, later, hint)
        values.append(value)
    if any(value.type is None for value in values):
        return UNKNOWN
    whole: Expr | None = None
    for op, left, right in zip(node.ops, values, values[1:], strict=False):
        word = _COMPARED.get(type(op), "")
        if (left.type is _TRUTH) is not (right.type is _TRUTH):
            return scope.refuse("P054", "A condition is compared with a number.", node)
        if left.type is _TRUTH:
            word = _OF_CONDITIONS.get(word, "")
        if not word:
            return scope.refuse("P051", f"'{scope.text(node)}' compares no numbers.", node)
        part = nodes.binary(word, *rounded.compared(scope, *precision.met(scope, (left, right))))
        whole = part if whole is None else nodes.binary(".and.", whole, part)
    return UNKNOWN if whole is None else TypedExpression(whole, _TRUTH)


def _joint(scope: KernelScope, node: ast.BoolOp) -> TypedExpression:
    read_apart = [_apart(scope, part, read_condition) for part in node.values]
    values = [value for value, _ in read_apart]
    if any(value.type is None for value in values):
        return UNKNOWN
    scope.before += read_apart[0][1]
    if any(before for _, before in read_apart[1:]):
        return _joint_by_statements(scope, node, read_apart)
    op = ".and." if isinstance(node.op, ast.And) else ".or."
    whole = values[0].expr
    for value in values[1:]:
        whole = nodes.binary(op, whole, value.expr)
    return TypedExpression(whole, _TRUTH)


_Apart = tuple[TypedExpression, list[Line]]
"""An expression, and the statements that have to be done before it."""


def _apart(
    scope: KernelScope,
    node: ast.expr,
    reader: Callable[[KernelScope, ast.expr], TypedExpression],
) -> _Apart:
    """Return an expression with what has to be done before it, which is not done otherwise."""
    scope.before, around = [], scope.before
    value = reader(scope, node)
    scope.before, made = around, scope.before
    return value, made


def _joint_by_statements(
    scope: KernelScope, node: ast.BoolOp, parts: Sequence[_Apart]
) -> TypedExpression:
    """Return a local that gets a condition part by part, until one decides."""
    place = scope.tree.span(node)
    holds = scope.fresh("holds", _TRUTH, place)
    scope.before.append(Assign(holds, parts[0][0].expr, place=place))
    goes_on = holds if isinstance(node.op, ast.And) else nodes.negated(holds, ".not.")
    for value, before in parts[1:]:
        body = (*before, Assign(holds, value.expr, place=place))
        scope.before.append(If((Branch(goes_on, body, place=place),), extent=place))
    return TypedExpression(holds, _TRUTH)


def _choice(scope: KernelScope, node: ast.IfExp) -> TypedExpression:
    test = read_condition(scope, node.test)
    (first, before_first), (second, before_second) = (
        _apart(scope, one, read) for one in (node.body, node.orelse)
    )
    if not before_first and not before_second:
        return chosen(scope, node, test, (first, second))
    if chosen(scope, node, test, (first, second)).type is None:
        return UNKNOWN
    if first.type is not _TRUTH:
        first, second = alike(scope, first, second)
    place = scope.tree.span(node)
    value = precision.fresh_local(scope, "chosen", first, place)
    bodies = [(*before, Assign(value, one.expr, place=place))
              for one, before in ((first, before_first), (second, before_second))]  # fmt: skip
    branch = Branch(test.expr, bodies[0], place=place)
    scope.before.append(If((branch,), bodies[1], extent=place))
    return TypedExpression(value, first.type, rounded.kept((first, second)))


def chosen(
    scope: KernelScope,
    node: ast.AST,
    test: TypedExpression,
    values: tuple[TypedExpression, TypedExpression],
) -> TypedExpression:
    """Return one of two values, by a condition."""
    if test.type is None or any(value.type is None for value in values):
        return UNKNOWN
    first, second = values
    if (first.type is _TRUTH) is not (second.type is _TRUTH):
        return scope.refuse("P054", "Either a number or a condition is chosen.", node)
    if first.type is not _TRUTH:
        first, second = alike(scope, first, second)
    scope.called.setdefault("merge", scope.tree.span(node))
    return _of_numbers(scope, "merge", (first, second), test.expr)


def _of_numbers(
    scope: KernelScope, function: str, args: Sequence[TypedExpression], *others: Expr
) -> TypedExpression:
    """Return a function that gives a value of the type of its arguments, all of one type."""
    wide = rounded.chosen(scope, function, args, *others)
    value = nodes.call(function, *(arg.expr for arg in args), *others)
    return TypedExpression(value, args[0].type, wide)


# ---------------------------------------------------------------------------- functions


def _call(scope: KernelScope, node: ast.Call) -> TypedExpression:
    name = scope.text(node.func)
    if name == "len" and len(node.args) == 1 and not node.keywords:
        length = scope.access.length(scope, node.args[0])
        if length is not None:
            return length
    if (number := scope.access.number(scope, node)) is not None:
        return number
    if scope.helpers is not None and (helped := scope.helpers.value(scope, node)) is not None:
        return helped
    function = None if name in scope.assigned else scope.offered.function(node.func)
    if function is None or name in scope.arguments or name in scope.values:
        what = f"'{name}' is no function that a kernel can call."
        hint = "A kernel calls the functions of numbers, as 'sqrt', and functions of its modules."
        if module := imported_from(scope.tree, name):
            what = f"The module '{module}' has no function '{name}' that a kernel can call."
            hint = "Define it there, by 'def': a kernel calls functions in Python."
        elif name in scope.offered.bound:
            hint = "The module gives this name a meaning of its own, which a kernel cannot call."
        hint = did_you_mean(name, set(ALL) - scope.offered.bound) or hint
        return scope.refuse("P051", what, node.func, hint)
    if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
        what = f"'{name}' is given its arguments by their order alone."
        return scope.refuse("P051", what, node)
    if not function.least <= len(node.args) <= function.most:
        what = f"'{name}' takes {_count(function)}, not {len(node.args)}."
        return scope.refuse("P051", what, node)
    return _called(scope, node, function)


def _count(function: TypedFunction) -> str:
    if function.least == function.most:
        return f"{function.least} argument{'s' if function.least > 1 else ''}"
    return f"{function.least} arguments or more"


def _called(scope: KernelScope, node: ast.Call, function: TypedFunction) -> TypedExpression:
    if function.takes is Signature.TO_SINGLE:
        return _to_single(scope, node)
    if function.takes in (Signature.TO_REAL, Signature.TO_DOUBLE):
        return _to_real(scope, node, function)
    if function.takes is Signature.CHOICE:
        test, first, second = node.args
        values = read(scope, first), read(scope, second)
        return chosen(scope, node, read_condition(scope, test), values)
    args = [read_number(scope, one) for one in node.args]
    if any(arg.type is None for arg in args):
        return UNKNOWN
    scope.called.setdefault(function.name, scope.tree.span(node))
    match function.takes:
        case Signature.POWER:
            made = power(scope, node, args[0], args[1])
            return _bounded(scope, node, ast.BinOp(node.args[0], ast.Pow(), node.args[1]), made)
        case Signature.TO_WHOLE:
            if args[0].type is _WHOLE:
                return args[0]
            whole = nodes.call(function.name, args[0].expr)
            if args[0].within:
                return TypedExpression(whole, _WHOLE)
            wide = rounded.rounded(scope, node, function.name, args[0].expr)
            return TypedExpression(whole, _WHOLE, wide)
    # What remains of a whole number of 32 bits has no more.
    within = function.name == "mod" and args[0].type is _WHOLE and args[0].wide is None
    if function.takes is Signature.REALS or any(arg.type is _REAL for arg in args):
        args = [*precision.alike(scope, tuple(as_real(scope, arg) for arg in args))]
    return replace(_of_numbers(scope, function.name, args), within=within)


def _to_real(scope: KernelScope, node: ast.Call, function: TypedFunction) -> TypedExpression:
    """Return a number as a real one, which may be rounded to single precision before."""
    inner = _single(scope, node.args[0])
    found = read_number(scope, node.args[0] if inner is None else inner)
    if found.type is None:
        return UNKNOWN
    scope.called.setdefault(function.name, scope.tree.span(node))
    if inner is not None:
        found = TypedExpression(nodes.call("real", found.expr), _WHOLE)
    made = as_real(scope, found)
    to_kind = precision.double if function.takes is Signature.TO_DOUBLE else precision.widened
    return replace(made, expr=to_kind(scope, made.expr))


def _to_single(scope: KernelScope, node: ast.Call) -> TypedExpression:
    """Return a number rounded to single precision, which a kernel computes with if it has such."""
    if (wanted := scope.single) is None:
        what = f"'{scope.text(node)}' is of single precision, in which this kernel has no data."
        return scope.refuse("P051", what, node, f"Write 'float({scope.text(node)})'.")
    found = as_real(scope, read_number(scope, node.args[0]))
    if found.type is None or precision.type_of(scope, found.expr) == wanted:
        return found
    scope.called.setdefault("real", scope.tree.span(node))
    return TypedExpression(precision.of_kind(found.expr, wanted), _REAL)


def _single(scope: KernelScope, node: ast.expr) -> ast.expr | None:
    """Return what is rounded to single precision, None if `node` does not do that."""
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
