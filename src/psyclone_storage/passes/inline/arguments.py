"""Types, ranks and extents of call arguments, derived from their expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import ELEMENTAL, LIKE_FIRST, REDUCING
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.typing import CScope, CType
from psyclone_storage.passes.inline.array_arguments import declared_bounds, extent_between
from psyclone_storage.passes.inline.legality import InlineError

_SIGNS = (Operator.PLUS, Operator.MINUS)
_ARITHMETIC = (*_SIGNS, Operator.TIMES, Operator.DIVIDE, Operator.POWER)
ArgumentExtents = tuple[ex.Expr | None, ...]
"""The extents of an array, None where one is not known; nothing for a scalar."""
_Kind = tuple[str, str]
"""A kind: the module that names it, and its name there; a number, or nothing, of no module."""

_Type = tuple[Intrinsic, _Kind]


@dataclass(frozen=True, slots=True)
class CallArguments:
    """Properties of call arguments in a routine; `scope` and `symbol_of` resolve names."""

    scope: CScope
    symbol_of: Callable[[str], ex.Symbol]

    def is_scalar(self, expr: ex.Expr) -> bool:
        """Return whether an expression is scalar.

        Raises:
            InlineError: the rank is unknown.
        """
        match expr:
            case ex.Name():
                return not self.symbol_of(expr.key).shape
            case ex.Literal() | ex.Element():
                return True
            case ex.Section() | ex.ArrayLiteral():
                return False
            case ex.Parenthesised(operand) | ex.Unary(_, operand):
                return self.is_scalar(operand)
            case ex.Binary(_, left, right):
                return self.is_scalar(left) and self.is_scalar(right)
            case ex.CallFunction(ex.Name(key=word), items) if word in ELEMENTAL:
                return all(self.is_scalar(one) for one in items if not isinstance(one, ex.Keyword))
            case ex.CallFunction(ex.Name(key=word), (_,)) if word in REDUCING:
                return True
            case ex.CallFunction(ex.Name(key="dot_product" | "size")):
                return True
            case ex.CallFunction(ex.Name(key="matmul" | "transpose" | "reshape")):
                return False
        raise InlineError("it is not known whether an argument is an array")

    # ------------------------------------------------------------------------ types

    def type_of(self, arg: ex.Expr) -> CType | None:
        """Return the type of an argument, or None if it is unknown."""
        match arg:
            case ex.Name() | ex.Element(ex.Name()) | ex.Section(ex.Name()):
                base = arg if isinstance(arg, ex.Name) else arg.base
                assert isinstance(base, ex.Name)
                return self.scope.type_of(self.symbol_of(base.key))
            case ex.Literal():
                return self.scope.literal_type(arg)
            case ex.Parenthesised(operand) | ex.Unary(Operator.PLUS | Operator.MINUS, operand):
                return self.type_of(operand)
            case ex.Binary(op, left, right) if op in _ARITHMETIC:
                return _in_common(self.type_of(left), self.type_of(right))
            case ex.CallFunction(ex.Name(key="real"), (_, kind)):
                named = kind.value if isinstance(kind, ex.Keyword) else kind
                size = self.scope.integer(named)
                return None if size is None else CType(Intrinsic.REAL, size)
            case ex.CallFunction(ex.Name(key=word), (first, *_)) if word in LIKE_FIRST:
                return self.type_of(first)
        return None

    # ------------------------------------------------------------------------ extents

    def extents(self, arg: ex.Expr) -> ArgumentExtents | None:
        """Return the extents of an argument, None for unknown ones; None if the rank is unknown."""
        if self.is_scalar(arg):
            return ()
        match arg:
            case ex.Name():
                return tuple(
                    _extent(*declared_bounds(one)) for one in self.symbol_of(arg.key).shape
                )
            case ex.Section(ex.Name() as base, items):
                own = self.symbol_of(base.key).shape
                if len(items) != len(own):
                    return None
                found = (self._of_item(*one) for one in zip(items, own, strict=True))
                return tuple(one[0] for one in found if one)
            case ex.ArrayLiteral(items):
                is_plain = not any(isinstance(one, ex.ImpliedDo) for one in items)
                is_known = is_plain and all(map(self.is_scalar, items))
                return (_whole(len(items)) if is_known else None,)
            case ex.Parenthesised(operand) | ex.Unary(_, operand):
                return self.extents(operand)
            case ex.Binary(_, left, right):
                return self._of_operands((left, right))
            case ex.CallFunction(ex.Name(key=word), items) if word in ELEMENTAL:
                return self._of_operands(
                    tuple(one for one in items if not isinstance(one, ex.Keyword))
                )
        return None

    def _of_operands(self, operands: tuple[ex.Expr, ...]) -> ArgumentExtents | None:
        """Return the common extents of array operands, from the one with most known extents."""
        every = [self.extents(one) for one in operands if not self.is_scalar(one)]
        known = [one for one in every if one is not None]
        return min(known, key=lambda one: sum(part is None for part in one), default=None)

    def _of_item(self, item: ex.Expr, own: ex.Expr) -> ArgumentExtents:
        """Return the extent that a subscript contributes to a section.

        Empty for a scalar subscript.
        """
        if not isinstance(item, ex.Range):
            return () if self.is_scalar(item) else (None,)
        if item.step is not None and ex.integer_value(item.step) != 1:
            return (None,)
        first, last = declared_bounds(own)
        return (_extent(item.lower or first, item.upper or last),)


def _extent(lower: ex.Expr, upper: ex.Expr | None) -> ex.Expr | None:
    if upper is None:
        return None
    found = extent_between(lower, upper)
    value = ex.integer_value(found)
    return found if value is None or value >= 0 else _whole(0)


def _whole(value: int) -> ex.Expr:
    return ex.Literal(str(value), Intrinsic.INTEGER)


def _in_common(left: CType | None, right: CType | None) -> CType | None:
    """Return the result type of an operation on two numbers."""
    if left is None or right is None or left == right:
        return left if left == right else None
    reals = [one for one in (left, right) if one.intrinsic is Intrinsic.REAL]
    others = {one.intrinsic for one in (left, right)} - {Intrinsic.REAL}
    return reals[0] if len(reals) == 1 and others == {Intrinsic.INTEGER} else None


def ordered_actuals(code: Routine, args: tuple[ex.Expr, ...]) -> tuple[ex.Expr, ...] | None:
    """Return arguments in the order of the procedure's dummies, or None if they do not match."""
    plain = [item for item in args if not isinstance(item, ex.Keyword)]
    named: Mapping[str, ex.Expr] = {
        item.key: item.value for item in args if isinstance(item, ex.Keyword)
    }
    behind = code.dummy_keys[len(plain) :]
    if len(plain) > len(code.dummy_keys) or set(behind) != set(named):
        return None
    return (*plain, *(named[key] for key in behind))


# ---------------------------------------------------------------------------- names of kinds


def have_same_kinds(
    scope: CScope, passed: CallArguments, within: CScope, given: tuple[ex.Expr, ...]
) -> bool:
    """Return whether types, kinds and ranks of the arguments certainly match the procedure."""
    for key, arg in zip(within.code.dummy_keys, given, strict=True):
        symbol = within.symbol(key)
        wanted, known = _type_of(within, symbol), _passed_type(scope, passed, arg)
        extents = passed.extents(arg)
        if wanted is None or known != wanted or extents is None:
            return False
        if len(extents) != len(symbol.shape):
            return False
    return True


def _passed_type(scope: CScope, passed: CallArguments, arg: ex.Expr) -> _Type | None:
    match arg:
        case ex.Name() | ex.Element(ex.Name()) | ex.Section(ex.Name()):
            base = arg if isinstance(arg, ex.Name) else arg.base
            assert isinstance(base, ex.Name)
            return _type_of(scope, passed.symbol_of(base.key))
        case ex.Literal() if not arg.is_double:
            kind = _home(scope, arg.kind)
            return None if kind is None else (arg.intrinsic, kind)
    return None


def _type_of(scope: CScope, symbol: ex.Symbol) -> _Type | None:
    """Return the type and kind of a variable of a procedure, or None if unknown."""
    if symbol.origin not in (ex.Origin.LOCAL, ex.Origin.DUMMY):
        return None
    if not isinstance(symbol.type, ScalarType):
        return None
    kind = _home(scope, symbol.type.kind)
    return None if kind is None else (symbol.type.intrinsic, kind)


def _home(scope: CScope, kind: str | None) -> _Kind | None:
    if kind is None or kind.isdigit():
        return "", kind or ""
    symbol = scope.symbol(key_of(kind)) if kind.isidentifier() else None
    if symbol is None or symbol.origin in (ex.Origin.LOCAL, ex.Origin.DUMMY):
        return None
    return symbol.module_key or scope.code.module.key, key_of(symbol.name)
