"""Expressions, the symbols of their names, and their canonical spelling.

The canonical spelling is Fortran with the minimum of parentheses. Messages and schedule views use
it. The Fortran printer also preserves parentheses in the source.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from enum import Enum
from typing import ClassVar

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.keys import Attributed, FromModule, Named, OfKind, key_of
from psyclone_storage.ir.operators import (
    FORTRAN,
    AnyOperator,
    DefinedOperator,
    Operator,
    Precedence,
    Prefix,
    RankedText,
    fortran_infix,
)
from psyclone_storage.ir.types import DataType, Intrinsic, ScalarType


@dataclass(frozen=True, slots=True)
class Literal(OfKind):
    """A literal as written, with its type: `0.5_r_def`, `3`, `.true.`, `'text'`."""

    text: str
    intrinsic: Intrinsic
    kind: str | None = None

    @property
    def value(self) -> int | DecimalNumber | bool | str:
        """The exact value, without rounding to the kind of the literal."""
        match self.intrinsic:
            case Intrinsic.CHARACTER:
                quote = self.text[-1]
                return self.text[self.text.index(quote) + 1 : -1].replace(quote * 2, quote)
            case Intrinsic.LOGICAL:
                return self.text[1] in "tT"
            case Intrinsic.INTEGER:
                return int(self._number)
        return _decimal(self._number)

    @property
    def is_double(self) -> bool:
        """Return whether the literal has a `d` exponent and so is double precision."""
        is_real = self.intrinsic is Intrinsic.REAL and self.kind is None
        return is_real and ("d" in self.text or "D" in self.text)

    @property
    def _number(self) -> str:
        return self.text.partition("_")[0]

    def with_kind(self, kind: str) -> Literal:
        """Return the numeric or logical literal with the kind parameter `kind`."""
        return Literal(f"{self._number}_{kind}", self.intrinsic, kind)


@dataclass(frozen=True, slots=True)
class DecimalNumber:
    """The number `digits * 10**exponent`, normalized so that equal numbers compare equal."""

    digits: int
    exponent: int

    def __float__(self) -> float:
        """Return the nearest double-precision number."""
        return float(f"{self.digits}e{self.exponent}")


def _decimal(text: str) -> DecimalNumber:
    """Return the value of a real literal with an `e`, `d` or `q` exponent."""
    mantissa, _, exponent = text.lower().replace("d", "e").replace("q", "e").partition("e")
    before, _, behind = mantissa.partition(".")
    digits, power = (before + behind).lstrip("0"), int(exponent or 0) - len(behind)
    kept = digits.rstrip("0")
    return DecimalNumber(int(kept), power + len(digits) - len(kept)) if kept else _NOTHING


_NOTHING = DecimalNumber(0, 0)


def whole(value: int, kind: str | None = None) -> Literal:
    """Return an integer literal for a non-negative `value`."""
    literal = Literal(str(value), Intrinsic.INTEGER)
    return literal if kind is None else literal.with_kind(kind)


def logical(value: bool) -> Literal:
    """Return the literal `.true.` or `.false.`."""
    return Literal(".true." if value else ".false.", Intrinsic.LOGICAL)


class Origin(Enum):
    """Place where a name used in a procedure is declared."""

    LOCAL = "declared in the procedure"
    DUMMY = "an argument of the procedure"
    HOST = "declared in the module around the procedure"
    IMPORTED = "imported from another module"
    INTRINSIC = "provided by the language"
    UNRESOLVED = "not found"


class Sort(Enum):
    """Kind of entity that a name denotes."""

    VARIABLE = "variable"
    CONSTANT = "constant"
    FUNCTION = "function"
    SUBROUTINE = "subroutine"
    PROCEDURE = "procedure"
    INTERFACE = "interface"
    TYPE = "type"
    UNKNOWN = "unknown"


INCOMPLETE = "incomplete"
"""The attribute of a derived type with components that are not known."""
ASSOCIATED = "associate"
"""The attribute of a name of an `associate` construct, whose selector is its value."""
OVERLAPPING = "overlapping"
"""The attribute of a variable that a statement of its module may join with other data."""


@dataclass(frozen=True, slots=True)
class Symbol(FromModule, Attributed):
    """A name and the entity that it denotes.

    - `key`: the name at its use, in lower case. `name`: the name in its declaration.
    - `module`: the module that declares it, or empty.
    - `type`: the type of a variable, constant or function result, None if unknown.
    - `components`, `bindings`, `extends`: the components, the type-bound procedure names (lower
      case) and the parent type of a derived type.
    - `home_of_kind`: the module that defines the kind parameter, and its name there, if known.
    - `span`: the position of the declaration.
    """

    key: str
    name: str
    origin: Origin
    sort: Sort = Sort.UNKNOWN
    type: DataType | None = None
    shape: tuple[Expr, ...] = ()
    attributes: tuple[str, ...] = ()
    value: Expr | None = None
    module: str = ""
    components: tuple[Symbol, ...] = ()
    bindings: frozenset[str] = frozenset()
    extends: str = ""
    home_of_kind: tuple[str, str] | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def is_resolved(self) -> bool:
        """Return whether a declaration of the name was found."""
        return self.origin is not Origin.UNRESOLVED

    @property
    def is_data(self) -> bool:
        """Return whether the symbol denotes a variable or a constant."""
        return self.sort in (Sort.VARIABLE, Sort.CONSTANT)

    @property
    def is_called(self) -> bool:
        """Return whether the symbol denotes a procedure."""
        return self.sort in (Sort.FUNCTION, Sort.SUBROUTINE, Sort.PROCEDURE)

    @property
    def rank(self) -> int:
        """The number of dimensions, 0 for a scalar."""
        return len(self.shape)

    @property
    def kind(self) -> str | None:
        """The kind parameter as written, or None."""
        return self.type.kind if isinstance(self.type, ScalarType) else None


@dataclass(frozen=True, slots=True)
class Name:
    """A name as spelled in the source. Lookups use `key`, the name in lower case.

    `symbol` is the entity that the name denotes, None before linking. Comparisons ignore it.
    """

    text: str
    symbol: Symbol | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> str:
        """The name in lower case."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Member(Named):
    """A component of a structure, `base%name`, with the component's symbol if known."""

    base: Expr
    name: str
    symbol: Symbol | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """`base(items)`: an array element, an array section, a function reference or similar.

    The subclass defines which one it is; an instance of this class itself is not yet linked.
    Equality compares only base and items, not the subclass.
    """

    base: Expr
    items: tuple[Expr, ...]

    def __eq__(self, other: object) -> bool:
        """Return whether both have equal base and items, whatever their subclass."""
        if not isinstance(other, Index):
            return NotImplemented
        return self.base == other.base and self.items == other.items

    def __hash__(self) -> int:
        """Return a hash that does not depend on the subclass."""
        return hash((self.base, self.items))


@dataclass(frozen=True, slots=True, eq=False)
class Element(Index):
    """An array element: all subscripts are scalars."""


@dataclass(frozen=True, slots=True, eq=False)
class Section(Index):
    """An array section: at least one subscript is, or may be, a triplet or an array."""


@dataclass(frozen=True, slots=True, eq=False)
class Substring(Index):
    """A substring of a scalar: `base(first:last)`."""


@dataclass(frozen=True, slots=True, eq=False)
class CallFunction(Index):
    """A reference to an intrinsic function, a module function or a type-bound function."""


@dataclass(frozen=True, slots=True, eq=False)
class StructureConstructor(Index):
    """A structure constructor: a value of a derived type."""


@dataclass(frozen=True, slots=True, eq=False)
class Extents(Index):
    """An array with its extents, as in an `allocate` statement."""


@dataclass(frozen=True, slots=True, eq=False)
class Unresolved(Index):
    """`name(items)` for a name without a known declaration.

    It may be a function with side effects.
    """


@dataclass(frozen=True, slots=True)
class Unary:
    """A unary operation: a sign, `.not.` or a user-defined operator."""

    op: AnyOperator
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operation.

    `bracketed` records parentheses in the source, which fix the order of evaluation: without them a
    compiler may reassociate `(a + b) + c`. Comparisons ignore it.
    """

    op: AnyOperator
    left: Expr
    right: Expr
    bracketed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Range:
    """A subscript triplet `lower:upper:step`; each part may be absent."""

    lower: Expr | None = None
    upper: Expr | None = None
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Keyword(Named):
    """A keyword argument `name=value`."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """An array constructor `[items]` or `(/ items /)`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TypedArrayLiteral:
    """An array constructor `[type :: items]`, which converts its items."""

    type: ScalarType
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ComplexLiteral:
    """A complex constant `(real, imaginary)`; its parts are numbers or named constants."""

    real: Expr
    imaginary: Expr


@dataclass(frozen=True, slots=True)
class ImpliedDo:
    """An implied `do` in an array constructor or `data` list: `(items, variable = start, stop)`."""

    items: tuple[Expr, ...]
    variable: Name
    start: Expr
    stop: Expr
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Parenthesised:
    """A parenthesized variable as an argument.

    The callee receives a copy, so it cannot modify the variable.
    """

    operand: Expr


@dataclass(frozen=True, slots=True)
class Star:
    """A `*`: an assumed size, or the default unit or format of input and output."""

    text: ClassVar[str] = "*"


@dataclass(frozen=True, slots=True)
class BozLiteral:
    """A binary, octal or hexadecimal constant as written, such as `z'ff'`."""

    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Source text that is preserved without being parsed."""

    text: str


Expr = (
    Literal
    | Name
    | Member
    | Index
    | Unary
    | Binary
    | Range
    | Keyword
    | ArrayLiteral
    | TypedArrayLiteral
    | BozLiteral
    | ComplexLiteral
    | ImpliedDo
    | Parenthesised
    | Star
    | Verbatim
)


def spell(expr: Expr) -> str:
    """Return the canonical spelling of `expr`."""
    return _FortranWriter(keeps_brackets=False).write(expr).text


def spell_as_written(expr: Expr) -> str:
    """Return the Fortran text of `expr`, preserving the parentheses of the source."""
    return _FortranWriter(keeps_brackets=True).write(expr).text


@dataclass(frozen=True, slots=True)
class _FortranWriter:
    """Writes expressions in Fortran."""

    keeps_brackets: bool

    def write(self, expr: Expr) -> RankedText:
        """Return the text of `expr` and the precedence of its outermost operator."""
        match expr:
            case Literal() | Name() | BozLiteral() | Verbatim() | Star():
                return RankedText(expr.text)
            case Member(base, name):
                return RankedText(f"{self._base(base)}%{name}")
            case Index(base, items):
                return RankedText(f"{self._base(base)}({self._list(items)})")
            case ArrayLiteral(items):
                return RankedText(f"[{self._list(items)}]")
            case TypedArrayLiteral(type_, items):
                kind = "" if type_.kind is None else f"({type_.kind})"
                return RankedText(f"[{type_.intrinsic.value}{kind} :: {self._list(items)}]")
            case ComplexLiteral() | Parenthesised():
                return RankedText(f"({self._list(children(expr))})")
            case ImpliedDo(items, variable):
                bounds = self._list(children(expr)[len(items) + 1 :])
                return RankedText(f"({self._list(items)}, {variable.text} = {bounds})")
            case Keyword(name, value):
                return RankedText(f"{name}={self.write(value).text}")
            case Range():
                return RankedText(self._range(expr))
            case Unary(op, operand):
                return self._unary(op, self.write(operand))
            case Binary():
                return self._binary(expr)
        raise InternalError(f"Expression of class {type(expr).__name__} has no spelling.")

    def _base(self, expr: Expr) -> str:
        return self.write(expr).within(Precedence.DEFINED_PREFIX)

    def _list(self, items: tuple[Expr, ...]) -> str:
        return ", ".join(self.write(item).text for item in items)

    def _range(self, expr: Range) -> str:
        lower, upper = ("" if end is None else self.write(end).text
                        for end in (expr.lower, expr.upper))  # fmt: skip
        text = f"{lower}:{upper}"
        return f"{text}:{self.write(expr.step).text}" if expr.step else text

    def _unary(self, op: AnyOperator, operand: RankedText) -> RankedText:
        if isinstance(op, DefinedOperator):
            # An operator of the user binds its operand before all others.
            row = Prefix(f"{op.spelling} ", Precedence.DEFINED_PREFIX, Precedence.PRIMARY)
            return RankedText(row.apply(operand), row.rank)
        return FORTRAN.unary(op, operand)

    def _binary(self, expr: Binary) -> RankedText:
        left, right = self.write(expr.left), self.write(expr.right)
        if isinstance(expr.op, DefinedOperator):
            row = fortran_infix(expr.op)
            made = RankedText(row.join(left, right), row.rank)
        else:
            made = FORTRAN.binary(expr.op, left, right)
        if self.keeps_brackets and expr.bracketed:
            return RankedText(f"({made.text})")
        return made


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct subexpressions of `expr`, in source order."""
    match expr:
        case Name() | Literal():
            return ()
        case Index(base, items):
            return (base, *items)
        case Binary(_, left, right):
            return (left, right)
        case Member(base, _):
            return (base,)
        case ArrayLiteral(items) | TypedArrayLiteral(_, items):
            return items
        case Keyword(_, value) | Parenthesised(value):
            return (value,)
        case ComplexLiteral(real, imaginary):
            return (real, imaginary)
        case ImpliedDo(items, variable, start, stop, step):
            bounds = (start, stop) if step is None else (start, stop, step)
            return (*items, variable, *bounds)
        case Unary(_, operand):
            return (operand,)
        case Range(lower, upper, step):
            return tuple(part for part in (lower, upper, step) if part is not None)
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and all its subexpressions, parents first."""
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        yield part
        if inside := children(part):
            waiting.extend(reversed(inside))


def is_shallow(expr: Expr, limit: int) -> bool:
    """Return whether `expr` is nested at most `limit` levels deep."""
    level = [expr]
    for _ in range(limit):
        level = [child for part in level for child in children(part)]
        if not level:
            return True
    return False


def intrinsic(word: str, *items: Expr) -> CallFunction:
    """Return a reference to the intrinsic function `word` with the arguments `items`."""
    return CallFunction(Name(word, Symbol(word, word, Origin.INTRINSIC, Sort.FUNCTION)), items)


def intrinsic_called(expr: Expr) -> str | None:
    """Return the name of the intrinsic function that `expr` calls, or None."""
    match expr:
        case CallFunction(Name(symbol=Symbol(key=key, origin=Origin.INTRINSIC))):
            return key
    return None


def is_constant(expr: Expr) -> bool:
    """Return whether `expr` contains only literals and operators."""
    return all(isinstance(part, Literal | Unary | Binary) for part in walk(expr))


def whole_number(expr: Expr) -> int | None:
    """Return the value of an integer literal, or None for any other expression."""
    if isinstance(expr, Literal) and expr.intrinsic is Intrinsic.INTEGER:
        value = expr.value
        return value if isinstance(value, int) else None
    return None


def integer_value(expr: Expr) -> int | None:
    """Return the value of an expression of integer literals, or None.

    Operations follow Fortran's integer arithmetic.
    """
    match expr:
        case Literal():
            return whole_number(expr)
        case Unary(Operator.PLUS | Operator.MINUS as op, operand):
            value = integer_value(operand)
            return -value if value is not None and op is Operator.MINUS else value
        case Binary(op, left, right) if op in _INTEGER_OPERATIONS:
            first, second = integer_value(left), integer_value(right)
            if first is not None and second is not None:
                return _INTEGER_OPERATIONS[op](first, second)
    return None


def _quotient(dividend: int, divisor: int) -> int | None:
    """Return the integer quotient, truncated towards zero; None for a division by zero."""
    if divisor == 0:
        return None
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) is (divisor < 0) else -quotient


def _power(base: int, exponent: int) -> int | None:
    """Return an integer power, None if the result is too large."""
    if exponent < 0:
        return _quotient(1, base ** min(-exponent, _BITS)) if abs(base) <= 1 else 0
    return base**exponent if abs(base) <= 1 or exponent < _BITS else None


_BITS = 64
_INTEGER_OPERATIONS: dict[AnyOperator, Callable[[int, int], int | None]] = {
    Operator.PLUS: operator.add,
    Operator.MINUS: operator.sub,
    Operator.TIMES: operator.mul,
    Operator.DIVIDE: _quotient,
    Operator.POWER: _power,
}


def same(first: Expr, second: Expr) -> bool:
    """Return whether two expressions are equal except for case and spaces."""
    return canonical(first) == canonical(second)


def canonical(expr: Expr) -> str:
    """Return a key that is equal for expressions that differ only in case or spaces."""
    return key_of("".join(spell(expr).split()))
