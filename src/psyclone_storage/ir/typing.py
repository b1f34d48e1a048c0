"""Typed scopes: symbols of names, sizes of types in bytes, values of constants.

Constants of other modules, and constants in their values, are looked up in those modules.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import PROCEDURES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType


class PrintError(Exception):
    """Raised for code that the target language cannot express; has the reason and the name."""

    def __init__(self, reason: str, name: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.name = name


@dataclass(frozen=True, slots=True)
class CType:
    """An intrinsic type with its size in bytes, which corresponds to a type in C."""

    intrinsic: Intrinsic
    size: int

    @property
    def name(self) -> str:
        """The C type; logical values are integers, 0 and 1."""
        if self.intrinsic is Intrinsic.REAL:
            return "float" if self.size == 4 else "double"
        return f"int{8 * self.size}_t"

    @property
    def is_real(self) -> bool:
        """Return whether values are floating-point numbers."""
        return self.intrinsic is Intrinsic.REAL

    @property
    def is_integer(self) -> bool:
        """Return whether values are integers."""
        return self.intrinsic is Intrinsic.INTEGER

    @property
    def is_logical(self) -> bool:
        """Return whether values are logical."""
        return self.intrinsic is Intrinsic.LOGICAL


INTEGER = CType(Intrinsic.INTEGER, 4)
LONG = CType(Intrinsic.INTEGER, 8)
REAL = CType(Intrinsic.REAL, 4)
DOUBLE = CType(Intrinsic.REAL, 8)
LOGICAL = CType(Intrinsic.LOGICAL, 4)

SIZES = {
    Intrinsic.REAL: (4, 8),
    Intrinsic.INTEGER: (1, 2, 4, 8),
    Intrinsic.LOGICAL: (1, 4, 8),
}
"""The sizes, in bytes, of the types that can be printed."""


def ctype(intrinsic: Intrinsic, size: int) -> CType:
    """Return the type of this size.

    Raises:
        PrintError: C has no equivalent type.
    """
    if intrinsic not in SIZES:
        raise PrintError(f"values of type {intrinsic.value} are not printed")
    if size not in SIZES[intrinsic]:
        raise PrintError(f"a {intrinsic.value} of {size} bytes has no type in C that is the same")
    return CType(intrinsic, size)


_EXTREMES: dict[str, Callable[[list[int]], int]] = {"max": max, "min": min}
_SIZES = {
    **{f"int{8 * size}": size for size in (1, 2, 4, 8)},
    **{f"real{8 * size}": size for size in (4, 8, 16)},
    **{f"c_int{8 * size}_t": size for size in (1, 2, 4, 8)},
    "c_double": 8, "c_float": 4, "c_int": 4, "c_bool": 1, "c_long": 8, "c_size_t": 8, "c_short": 2,
    "c_long_long": 8, "c_char": 1, "c_signed_char": 1, "c_intptr_t": 8,
}  # fmt: skip
"""The kinds that the language's own modules name, as numbers of bytes."""

_DEFAULT = {
    Intrinsic.REAL: 4, Intrinsic.INTEGER: 4, Intrinsic.LOGICAL: 4,
    Intrinsic.COMPLEX: 4, Intrinsic.CHARACTER: 1,
}  # fmt: skip
_KIND_OF = regex(r"kind\((?P<real>\d*\.\d*(?:(?P<letter>[ed])[-+]?\d+)?|\d+)\)", re.IGNORECASE)
_SELECTED = regex(r"selected_(?P<word>real|int)_kind\((?:p=)?(?P<digits>\d+)(?:,.*)?\)")
_REALS = ((6, 4), (15, 8))
_INTEGERS = ((2, 1), (4, 2), (9, 4), (18, 8))


@dataclass(frozen=True, slots=True)
class CScope:
    """The names visible in a procedure or, with `module`, in that module."""

    code: Routine
    around: ModuleContext
    module: str = ""

    def within(self, module: str) -> CScope:
        """Return the scope of declarations in `module`."""
        return CScope(self.code, self.around, key_of(module))

    def home_of(self, symbol: ex.Symbol) -> CScope:
        """Return the scope in which `symbol` is declared."""
        if symbol.module:
            return self.within(symbol.module)
        if symbol.origin in (ex.Origin.LOCAL, ex.Origin.DUMMY):
            return self
        return self.within(self.module or self.code.module.name)

    def symbol(self, key: str) -> ex.Symbol:
        """Return the symbol with this key.

        Raises:
            PrintError: there is no declaration.
        """
        found = None if self.module else self.code.symbol(key)
        if found is None or not found.is_resolved:
            found = self.around.symbol(self.module or self.code.module.key, key) or found
        if (found is None or not found.is_resolved) and key in PROCEDURES:
            return ex.Symbol(key, key, ex.Origin.INTRINSIC, ex.Sort.PROCEDURE)
        if found is None or not found.is_resolved:
            raise PrintError(f"what '{key}' stands for was not found", key)
        return found

    def structure(self, type_: DerivedType) -> ex.Symbol | None:
        """Return the definition of a derived type, or None if it was not found."""
        found = self.code.structure(type_)
        if found is None and type_.module:
            found = self.around.symbol(type_.module, type_.name)
        return found if found is not None and found.sort is ex.Sort.TYPE else None

    # ------------------------------------------------------------------------ kinds

    def type_of(self, symbol: ex.Symbol) -> CType:
        """Return the type of a variable or constant."""
        if symbol.type is None:
            raise PrintError(f"the type of '{symbol.name}' is not known", symbol.key)
        try:
            return self.home_of(symbol).declared_type(symbol.type, symbol.key)
        except PrintError as error:
            raise PrintError(error.reason, error.name or symbol.key) from None

    def declared_type(self, type_: DataType, name: str = "") -> CType:
        """Return the type in a declaration of `name`."""
        if isinstance(type_, DerivedType):
            raise PrintError(f"the derived type '{type_.name}' is not printed", name)
        if type_.kind is None:
            return ctype(type_.intrinsic, _DEFAULT[type_.intrinsic])
        if type_.intrinsic is Intrinsic.CHARACTER:
            return ctype(type_.intrinsic, 1)
        return ctype(type_.intrinsic, self.kind(type_.kind))

    def kind(self, text: str) -> int:
        """Return the value of a kind parameter as written in declarations and literals."""
        text = key_of("".join(text.split()))
        if text.isdigit():
            return int(text)
        if text.isidentifier():
            found = self.integer(ex.Name(text))
            if found is not None:
                return found
        if match := _KIND_OF.fullmatch(text):
            return 8 if match["letter"] == "d" else 4
        if match := _SELECTED.fullmatch(text):
            return _selected(match["word"], int(match["digits"]))
        raise PrintError(f"the kind '{text}' has no value that is known", text)

    # ------------------------------------------------------------------------ values

    def integer(self, expr: ex.Expr) -> int | None:
        """Return the value of a constant integer expression, or None."""
        match expr:
            case ex.Name():
                return self._constant(expr.key)
            case ex.Parenthesised(operand):
                return self.integer(operand)
            case ex.Unary(op, operand):
                inner = self.integer(operand)
                return None if inner is None else ex.integer_value(ex.Unary(op, _whole(inner)))
            case ex.Binary(op, left, right):
                first, second = self.integer(left), self.integer(right)
                if first is None or second is None:
                    return None
                return ex.integer_value(ex.Binary(op, _whole(first), _whole(second)))
            case ex.Index(ex.Name() as name, items):
                return self._inquired(name.key, items)
        return ex.integer_value(expr)

    def _constant(self, key: str) -> int | None:
        try:
            found = self.symbol(key)
        except PrintError:
            return None
        if found.sort is not ex.Sort.CONSTANT:
            return None
        if found.module in {"iso_fortran_env", "iso_c_binding"}:
            return _SIZES.get(found.key)
        is_whole = isinstance(found.type, ScalarType) and (
            found.type.intrinsic is Intrinsic.INTEGER
        )
        if found.value is None or not is_whole or found.shape:
            return None
        return self.home_of(found).integer(found.value)

    def _inquired(self, word: str, items: tuple[ex.Expr, ...]) -> int | None:
        if word == "kind" and len(items) == 1:
            return self._kind_of(items[0])
        if word in _EXTREMES and items:
            found = [one for item in items if (one := self.integer(item)) is not None]
            return _EXTREMES[word](found) if len(found) == len(items) else None
        if word in {"selected_real_kind", "selected_int_kind"} and items:
            first = items[0].value if isinstance(items[0], ex.Keyword) else items[0]
            digits = self.integer(first)
            return None if digits is None else _selected(word.split("_")[1], digits)
        return None

    def _kind_of(self, expr: ex.Expr) -> int | None:
        match expr:
            case ex.Literal():
                return self.literal_type(expr).size
            case ex.Name():
                return self.type_of(self.symbol(expr.key)).size
            case ex.CallFunction() | ex.Unary() | ex.Binary():
                return None
        return None

    def literal_type(self, literal: ex.Literal) -> CType:
        """Return the type of a literal."""
        if literal.intrinsic is Intrinsic.REAL and literal.kind is None:
            return ctype(Intrinsic.REAL, 8 if literal.is_double else 4)
        return self.declared_type(ScalarType(literal.intrinsic, literal.kind))


def _selected(word: str, digits: int) -> int:
    """Return the smallest kind with at least this number of digits, -1 without any."""
    table = _REALS if word == "real" else _INTEGERS
    return next((size for most, size in table if digits <= most), -1)


def _whole(value: int) -> ex.Expr:
    """Return an integer of any sign as a literal."""
    return ex.Literal(str(value), Intrinsic.INTEGER)
