"""Kinds of reals in one kernel: the kind of an expression, and type promotion.

The rules are those of NumPy. Literals, module variables, and results of `float` and of functions of
`math` are Python floats with 8 bytes. In an operation they take the kind of the other operand. If
both operands have a fixed kind, the larger one is the result kind. Results of NumPy functions and
integers from arrays have a fixed kind.

An expression whose precision in Python depends on values at run time is an error. If all reals of a
kernel have the default kind, none of these rules has an effect.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse import weak_types as algebra
from psyclone_storage.languages.python.parse.scope import (
    KernelScope,
    LocalVariable,
    TypedExpression,
)
from psyclone_storage.languages.python.parse.weak_types import (
    DOUBLE,
    SINGLE,
    UNKNOWN_NUMBER,
    WEAK,
    Kind,
    NumberKinds,
)

_REAL, _WHOLE = Intrinsic.REAL, Intrinsic.INTEGER
_ROUNDS = "aint"
"""What integers are as reals, which meet others as integers do."""
_CHOOSES = "merge"


def real_type(scope: KernelScope, expr: ex.Expr) -> ScalarType | None:
    """Return the real type of an expression; None if it takes the kind of the other operand.

    One conversion to the default kind denotes a Python float. Two nested conversions denote a NumPy
    number.
    """
    match expr:
        case ex.Name(text) | ex.Element(ex.Name(text), _):
            return _declared(scope, text)
        case ex.CallFunction(ex.Name("real"), (inner, ex.Name(kind))):
            if kind == scope.real.kind and not _has_kind(inner, kind):
                return None
            return ScalarType(_REAL, kind)
        case ex.CallFunction(ex.Name(function), args):
            args = args[:-1] if function == _CHOOSES else args
            return None if function == _ROUNDS else _larger(scope, args)
        case ex.Unary(_, operand):
            return real_type(scope, operand)
        case ex.Binary(_, left, right):
            return _larger(scope, (left, right))
    return None


def _declared(scope: KernelScope, name: str) -> ScalarType | None:
    if (local := scope.locals.get(name)) is not None:
        is_weak = local.kinds is not None and local.kinds.one is Kind.WEAK
        return local.real if local.type is _REAL and not is_weak else None
    dummy = scope.passed.get(name)
    if dummy is None or (not dummy.rank and scope.access.has_python_scalars):
        return None
    return dummy.type if dummy.type.intrinsic is _REAL else None


def _larger(scope: KernelScope, parts: Iterable[ex.Expr]) -> ScalarType | None:
    found = [type_ for part in parts if (type_ := real_type(scope, part)) is not None]
    if not found:
        return None
    return scope.single if all(one == scope.single for one in found) else scope.real


def _has_kind(expr: ex.Expr, kind: str) -> bool:
    match expr:
        case ex.CallFunction(ex.Name("real"), (_, ex.Name(inner))):
            return inner == kind
    return False


# ---------------------------------------------------------------------------- kinds in Python


def kinds_of(scope: KernelScope, found: TypedExpression) -> NumberKinds:
    """Return the kinds that a number may have in Python."""
    if found.kinds is not None:
        return found.kinds
    expr = found.expr
    local = scope.locals.get(expr.text) if isinstance(expr, ex.Name) else None
    if local is not None and local.kinds is not None:
        return local.kinds
    if found.type is _WHOLE:
        return _kinds_of_whole(scope, expr)
    if isinstance(expr, ex.Literal) and expr.intrinsic is _REAL:
        return algebra.literal_kinds(_value(expr))
    real = real_type(scope, expr)
    if real is None:
        return UNKNOWN_NUMBER
    return SINGLE if real == scope.single else DOUBLE


def _value(number: ex.Literal) -> float:
    value = number.value
    assert not isinstance(value, bool | str)
    return float(value)


def _kinds_of_whole(scope: KernelScope, expr: ex.Expr) -> NumberKinds:
    """Return the kinds of an integer.

    An array element is a NumPy integer, which promotes to double.
    """
    if (value := ex.integer_value(expr)) is not None:
        return algebra.literal_kinds(float(value))
    if isinstance(expr, ex.Element):
        return DOUBLE
    dummy = scope.passed.get(expr.text) if isinstance(expr, ex.Name) else None
    return DOUBLE if dummy is not None and dummy.role is Role.DOF_VALUE else UNKNOWN_NUMBER


def refuse(scope: KernelScope, node: ast.AST) -> TypedExpression:
    """Record an error for an expression whose precision in Python depends on run-time values."""
    what = f"'{scope.text(node)}' is computed with 4 bytes or with 8, by the numbers that it meets."
    hint = (
        "Write 'np.float32(...)' around a number of Python that may stand for one of 4 bytes,"
        " 'np.float64(...)' around what is to have 8, or 'int(...)' around an element."
    )
    return scope.refuse("P054", what, node, hint)


_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Mod: "%",
}  # fmt: skip


def typed_operation_kinds(
    scope: KernelScope, op: ast.operator, operands: Sequence[TypedExpression]
) -> NumberKinds | None:
    """Return the kinds of an operation's result.

    None if its precision depends on run-time values.
    """
    if scope.single is None:
        return WEAK
    left, right = (kinds_of(scope, one) for one in operands)
    return algebra.operation_kinds(_SIGNS.get(type(op), ""), left, right)


def is_compared(scope: KernelScope, op: str, operands: Sequence[TypedExpression]) -> bool:
    """Return whether a comparison gives the same result as in Python."""
    if scope.single is None or any(one.type is Intrinsic.LOGICAL for one in operands):
        return True
    left, right = (kinds_of(scope, one) for one in operands)
    small = any(one.type is _WHOLE and one.wide is None for one in operands)
    return algebra.compares_as_in_python(op, left, right, small=small)


def taken(scope: KernelScope, values: Sequence[TypedExpression]) -> NumberKinds | None:
    """Return the kinds of one of several values; None if precision may be lost."""
    if scope.single is None:
        return WEAK
    made = kinds_of(scope, values[0])
    for one in values[1:]:
        made = algebra.either(made, kinds_of(scope, one))
    return None if Kind.DOUBLE in made.of and made.is_lost else made


def of_numpy(scope: KernelScope, values: Sequence[TypedExpression]) -> NumberKinds | None:
    """Return the kinds of the result of a NumPy function.

    None if they depend on run-time values.
    """
    if scope.single is None:
        return WEAK
    made = kinds_of(scope, values[0])
    found = made.of
    for one in values[1:]:
        made = NumberKinds(found)
        found = algebra.common_kinds(made, kinds_of(scope, one))
    found = frozenset(Kind.DOUBLE if one is Kind.WEAK else one for one in found)
    if len(found) > 1:
        return None
    if Kind.DOUBLE in found and any(kinds_of(scope, one).is_lost for one in values):
        return None
    return NumberKinds(found)


def is_lost(scope: KernelScope, found: TypedExpression) -> bool:
    """Return whether a value with 8 bytes in Python may be stored in 4 bytes."""
    return scope.single is not None and kinds_of(scope, found).is_lost


def typed_negation_kinds(scope: KernelScope, found: TypedExpression) -> NumberKinds | None:
    """Return the kinds of a negated number."""
    return None if scope.single is None else algebra.negation_kinds(kinds_of(scope, found))


# ---------------------------------------------------------------------------- conversions

Pair = tuple[TypedExpression, TypedExpression]


def promote_operands(scope: KernelScope, values: Pair) -> Pair:
    """Return the operands of an operation after promotion.

    An operand without a fixed kind takes the kind of the other operand. Other kinds may differ,
    because the operation uses the larger one.
    """
    if scope.single is not None and _REAL in (values[0].type, values[1].type):
        values = _with_real(scope, values[0]), _with_real(scope, values[1])
    common = _common(scope, values)
    if common is None or common == scope.real:
        return values
    return _as(scope, values[0], common), _as(scope, values[1], common)


def _with_real(scope: KernelScope, found: TypedExpression) -> TypedExpression:
    """Return a NumPy integer converted to a real of the default kind."""
    if found.type is not _WHOLE or found.wide is not None:
        return found
    return of_whole(scope, found) if Kind.DOUBLE in kinds_of(scope, found).of else found


def of_whole(
    scope: KernelScope, found: TypedExpression, real: ex.Expr | None = None
) -> TypedExpression:
    """Return an integer converted to a real; `real` is the converted expression if given."""
    if real is None:
        kind = [ex.Name(scope.real.kind)] if scope.real.kind else []
        real = nodes.intrinsic_call("real", found.expr, *kind)
    if scope.single is None:
        return TypedExpression(real, _REAL)
    known = kinds_of(scope, found)
    expr = double(scope, real) if Kind.DOUBLE in known.of else real
    return TypedExpression(expr, _REAL, kinds=known)


def promote_to_one_kind(
    scope: KernelScope, values: tuple[TypedExpression, ...]
) -> tuple[TypedExpression, ...]:
    """Return arguments of a function converted to one real kind."""
    common = _common(scope, values)
    if scope.single is None or common is None:
        return values
    return tuple(
        one if real_type(scope, one.expr) == common else _as(scope, one, common) for one in values
    )


def _common(scope: KernelScope, values: tuple[TypedExpression, ...]) -> ScalarType | None:
    if scope.single is None:
        return None
    return _larger(scope, (one.expr for one in values if one.type is _REAL))


def _as(scope: KernelScope, found: TypedExpression, wanted: ScalarType) -> TypedExpression:
    if found.type is _WHOLE and found.wide is None and not isinstance(found.expr, ex.Literal):
        # An integer of Python, which in an array of NumPy would have a fixed kind.
        made = of_kind(found.expr, wanted)
        return TypedExpression(made, _REAL, kinds=kinds_of(scope, found))
    if found.type is not _REAL or real_type(scope, found.expr) == wanted:
        return found
    if isinstance(found.expr, ex.Literal):
        return replace(found, expr=found.expr.with_kind(str(wanted.kind)))
    return replace(found, expr=of_kind(found.expr, wanted))


def of_kind(expr: ex.Expr, wanted: ScalarType) -> ex.Expr:
    """Return a number converted to a real of the given kind."""
    return nodes.intrinsic_call("real", expr, ex.Name(str(wanted.kind)))


def weak(scope: KernelScope, expr: ex.Expr) -> ex.Expr:
    """Return a real as a Python float, which takes the kind of the other operand."""
    kind = str(scope.real.kind)
    while (
        _has_kind(expr, kind)
        and isinstance(expr, ex.CallFunction)
        and _has_kind(expr.items[0], kind)
    ):
        expr = expr.items[0]
    return expr if real_type(scope, expr) is None else of_kind(expr, scope.real)


def widened(scope: KernelScope, expr: ex.Expr) -> ex.Expr:
    """Return a real with at least the default kind, so that rounding to an integer is exact."""
    is_single = scope.single is not None and real_type(scope, expr) == scope.single
    return of_kind(expr, scope.real) if is_single else expr


def double(scope: KernelScope, expr: ex.Expr) -> ex.Expr:
    """Return a number converted to a real of the default kind, kept in further operations."""
    made = widened(scope, expr)
    while scope.single is not None and real_type(scope, made) is None:
        made = of_kind(made, scope.real)
    return made


# ---------------------------------------------------------------------------- locals


def record_local(scope: KernelScope, name: str, value: TypedExpression, place: Span) -> None:
    """Record an assignment to a local variable, given by its name in typed code."""
    known = scope.locals.get(name)
    if known is None or known.type is None:
        known = scope.locals[name] = LocalVariable(value.type, place)
    if scope.single is None or known.type not in (_REAL, _WHOLE) or value.type is None:
        return
    made = kinds_of(scope, value)
    if known.type is _WHOLE:
        made = replace(made, exact=False, values=None)
    if (before := scope.local_kinds.get(name)) is not None:
        made = algebra.either(before, made)
    scope.local_kinds[name] = made
    real = _kept_as(scope, made) if known.type is _REAL else None
    scope.locals[name] = replace(known, real=real, kinds=made)


def _kept_as(scope: KernelScope, kinds: NumberKinds) -> ScalarType:
    return scope.single if kinds.in_single and scope.single is not None else scope.real


def fresh_local(scope: KernelScope, wish: str, value: TypedExpression, place: Span) -> ex.Name:
    """Return a new local variable for a value."""
    if scope.single is None or value.type not in (_REAL, _WHOLE):
        return scope.fresh(wish, value.type, place)
    kinds = kinds_of(scope, value)
    real = _kept_as(scope, kinds) if value.type is _REAL else None
    return scope.fresh(wish, value.type, place, real, kinds)


def has_room(
    scope: KernelScope, into: LocalVariable | Dummy | None, value: TypedExpression
) -> bool:
    """Return whether a value can be stored without a loss of precision compared with Python."""
    if isinstance(into, LocalVariable):
        real = into.real if into.shape else None
    else:
        real = None if into is None else into.type
    return real != scope.real or value.type is not _REAL or not is_lost(scope, value)


def of_elements(scope: KernelScope, value: TypedExpression) -> ScalarType | None:
    """Return the real type of an array whose elements store `value`, or None for other types."""
    if value.type is not _REAL:
        return None
    return scope.real if scope.single is None else _kept_as(scope, kinds_of(scope, value))


def kinds_of_float(scope: KernelScope, found: TypedExpression) -> NumberKinds:
    """Return the kinds of a real after conversion to a Python float."""
    known = kinds_of(scope, found) if scope.single is not None else WEAK
    is_known = known.one is Kind.WEAK
    return known if is_known else UNKNOWN_NUMBER
