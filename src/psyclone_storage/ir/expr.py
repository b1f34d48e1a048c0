"""Expressions, the symbols of names in them, and their canonical spelling.

The canonical spelling is Fortran's, with no more brackets than the standard asks for: it is what
messages and schedule views show. The Fortran printer keeps the brackets of the author, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from enum import Enum
from typing import ClassVar

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.keys import (
    Attributed,
    FromModule,
    Named,
    OfKind,
    key_of,
)
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
    """A constant as written, with its type: `0.5_r_def`, `3`, `.true.`, `'text'`."""

    text: str
    intrinsic: Intrinsic
    kind: str | None = None

    @property
    def value(self) -> int | DecimalNumber | bool | str:
        """The exact value, independent of the range of its kind."""
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
        """Return whether the letter of its exponent makes it a real of double precision."""
        is_real = self.intrinsic is Intrinsic.REAL and self.kind is None
        return is_real and ("d" in self.text or "D" in self.text)

    @property
    def _number(self) -> str:
        return self.text.partition("_")[0]

    def with_kind(self, kind: str) -> Literal:
        """Return the number or truth value with another kind."""
        return Literal(f"{self._number}_{kind}", self.intrinsic, kind)


@dataclass(frozen=True, slots=True)
class DecimalNumber:
    """The number `digits * 10**exponent`; two of one value are equal."""

    digits: int
    exponent: int

    def __float__(self) -> float:
        """Return the nearest number of double precision."""
        return float(f"{self.digits}e{self.exponent}")


def _decimal(text: str) -> DecimalNumber:
    """Return the value of a real constant, whose exponent may have any letter."""
    mantissa, _, exponent = text.lower().replace("d", "e").replace("q", "e").partition("e")
    before, _, behind = mantissa.partition(".")
    digits, power = (before + behind).lstrip("0"), int(exponent or 0) - len(behind)
    kept = digits.rstrip("0")
    return DecimalNumber(int(kept), power + len(digits) - len(kept)) if kept else _NOTHING


_NOTHING = DecimalNumber(0, 0)


def whole(value: int, kind: str | None = None) -> Literal:
    """Return the integer constant `value`, which is not negative."""
    literal = Literal(str(value), Intrinsic.INTEGER)
    return literal if kind is None else literal.with_kind(kind)


def logical(value: bool) -> Literal:
    """Return the constant `.true.` or `.false.`."""
    return Literal(".true." if value else ".false.", Intrinsic.LOGICAL)


class Origin(Enum):
    """Origin of a name in a procedure."""

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


ASSOCIATED = "associate"
"""The attribute of a name of an `associate` construct, whose selector is its value."""


@dataclass(frozen=True, slots=True)
class Symbol(FromModule, Attributed):
    """A name and the entity that it denotes.

    `key` is the name in lower case where it is used, `name` the name as its declaration has it, in
    `module`, which is empty for what no module declares. `type` is that of a variable, a constant
    or a function's value, None where it is not known. `components` are those of a derived type's
    definition, `bindings` the names, in lower case, of its procedures, and `extends` the type that
    it extends. `home_of_kind` is the module that the
    kind of the type comes from and the kind's name there, where that is known. `span` is the place
    of the declaration.
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
        """Return whether the name is resolved."""
        return self.origin is not Origin.UNRESOLVED

    @property
    def is_data(self) -> bool:
        """Return whether it denotes a variable or a constant."""
        return self.sort in (Sort.VARIABLE, Sort.CONSTANT)

    @property
    def is_called(self) -> bool:
        """Return whether it denotes a procedure of any kind."""
        return self.sort in (Sort.FUNCTION, Sort.SUBROUTINE, Sort.PROCEDURE)

    @property
    def rank(self) -> int:
        """The number of dimensions, 0 for a scalar."""
        return len(self.shape)

    @property
    def kind(self) -> str | None:
        """The kind of the type as written, None without one."""
        return self.type.kind if isinstance(self.type, ScalarType) else None


@dataclass(frozen=True, slots=True)
class Name:
    """A plain name in its author's spelling; names are looked up by `key`, which has no case.

    The `symbol` is the entity that the name denotes, None if it was not looked up. It takes no part
    in comparisons.
    """

    text: str
    symbol: Symbol | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> str:
        """Return the name in lower case, under which it is looked up."""
        return key_of(self.text)


@dataclass(frozen=True, slots=True)
class Member(Named):
    """A component of a structure, `base%name`; the `symbol` is the component's, where known."""

    base: Expr
    name: str
    symbol: Symbol | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """`base(items)`: an array element, an array section, a function reference, or the like.

    Which it is its class says, one of those below; one of this class itself has not been looked at
    yet. That is knowledge about a text: two of them are equal if base and items are.
    """

    base: Expr
    items: tuple[Expr, ...]

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same text, whatever is known of them."""
        if not isinstance(other, Index):
            return NotImplemented
        return self.base == other.base and self.items == other.items

    def __hash__(self) -> int:
        """Return a hash that does not depend on what is known."""
        return hash((self.base, self.items))


@dataclass(frozen=True, slots=True, eq=False)
class Element(Index):
    """One element of an array: all subscripts are scalars."""


@dataclass(frozen=True, slots=True, eq=False)
class Section(Index):
    """Elements of an array: a subscript is a triplet or an array, or may be an array."""


@dataclass(frozen=True, slots=True, eq=False)
class Substring(Index):
    """Characters of a scalar: `base(first:last)`."""


@dataclass(frozen=True, slots=True, eq=False)
class CallFunction(Index):
    """A reference to a function, of the language, of a module or bound to a type."""


@dataclass(frozen=True, slots=True, eq=False)
class StructureConstructor(Index):
    """A value of a derived type, made of its components."""


@dataclass(frozen=True, slots=True, eq=False)
class Extents(Index):
    """An array and the extents that it is given where it is allocated."""


@dataclass(frozen=True, slots=True, eq=False)
class Unresolved(Index):
    """Brackets after a name that was looked up and not found.

    It may be a function with any effect.
    """


@dataclass(frozen=True, slots=True)
class Unary:
    """An operator before one operand: a sign, `.not.`, or one that an author defines."""

    op: AnyOperator
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator between two operands.

    One that is `bracketed` is in brackets, which fix the order of evaluation: without
    them a compiler may compute `(a + b) + c` in another order. Comparisons ignore brackets.
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
    """An argument given by keyword: `name=value`."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """An array constructor `[items]` or `(/ items /)`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ComplexLiteral:
    """A complex constant `(real, imaginary)`; its parts are numbers or named constants."""

    real: Expr
    imaginary: Expr


@dataclass(frozen=True, slots=True)
class ImpliedDo:
    """A loop in an array constructor or a list of values: `(items, variable = start, stop)`."""

    items: tuple[Expr, ...]
    variable: Name
    start: Expr
    stop: Expr
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Parenthesised:
    """A variable in brackets as a whole argument: its value is passed, which does not change."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Star:
    """A `*`, which others determine: an assumed size, or the unit or form of input and output."""

    text: ClassVar[str] = "*"


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that is carried along without being understood."""

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
    """Return the spelling of `expr` with the brackets that its author put around operations."""
    return _FortranWriter(keeps_brackets=True).write(expr).text


@dataclass(frozen=True, slots=True)
class _FortranWriter:
    """The writer of expressions in Fortran."""

    keeps_brackets: bool

    def write(self, expr: Expr) -> RankedText:
        """Return the text of `expr`."""
        match expr:
            case Literal() | Name() | Verbatim() | Star():
                return RankedText(expr.text)
            case Member(base, name):
                return RankedText(f"{self._base(base)}%{name}")
            case Index(base, items):
                return RankedText(f"{self._base(base)}({self._list(items)})")
            case ArrayLiteral(items):
                return RankedText(f"[{self._list(items)}]")
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
    """Return the direct parts of `expr`, in the order of their text."""
    match expr:
        case Name() | Literal():
            return ()
        case Index(base, items):
            return (base, *items)
        case Member(base, _):
            return (base,)
        case ArrayLiteral(items):
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
        case Binary(_, left, right):
            return (left, right)
        case Range(lower, upper, step):
            return tuple(part for part in (lower, upper, step) if part is not None)
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and everything in it, parents first."""
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(children(part)))


def is_shallow(expr: Expr, limit: int) -> bool:
    """Return whether `expr` is nested at most `limit` levels deep."""
    level = [expr]
    for _ in range(limit):
        level = [child for part in level for child in children(part)]
        if not level:
            return True
    return False


def intrinsic(word: str, *items: Expr) -> CallFunction:
    """Return a reference to the function `word` of the language."""
    return CallFunction(Name(word, Symbol(word, word, Origin.INTRINSIC, Sort.FUNCTION)), items)


def intrinsic_called(expr: Expr) -> str | None:
    """Return the function of the language that `expr` refers to, None if it does not."""
    match expr:
        case CallFunction(Name(symbol=Symbol(key=key, origin=Origin.INTRINSIC))):
            return key
    return None


def is_constant(expr: Expr) -> bool:
    """Return whether `expr` holds literals only, so that it needs no variable."""
    return all(isinstance(part, Literal | Unary | Binary) for part in walk(expr))


def whole_number(expr: Expr) -> int | None:
    """Return the value of an integer constant without a sign, whatever its kind, else None."""
    if isinstance(expr, Literal) and expr.intrinsic is Intrinsic.INTEGER:
        value = expr.value
        return value if isinstance(value, int) else None
    return None


def integer_value(expr: Expr) -> int | None:
    """Return the value of an expression of integer constants, as Fortran computes it, else None."""
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
    """Return the quotient without its fraction, towards zero."""
    if divisor == 0:
        return None
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) is (divisor < 0) else -quotient


def _power(base: int, exponent: int) -> int | None:
    """Return a power that an integer can hold."""
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
    """Return whether two expressions are the same text, but for case and blanks."""
    return canonical(first) == canonical(second)


def canonical(expr: Expr) -> str:
    """Return a key under which two expressions are equal if they differ in case or blanks only."""
    return key_of("".join(spell(expr).split()))
