"""Expressions, and their one canonical spelling.

The canonical spelling is Fortran's, with no more brackets than the standard asks for: it is what
messages, schedule views and the Fortran printer show. A target language with other operators has
a printer of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.types import Intrinsic


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant as written, with its type: `0.5_r_def`, `3`, `.true.`, `'text'`."""

    text: str
    intrinsic: Intrinsic
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A plain name."""

    text: str


@dataclass(frozen=True, slots=True)
class Member:
    """A component of a structure: `base%name`."""

    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """`base(items)`: an array element, an array section or a function reference."""

    base: Expr
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """An operator before one operand: `-`, `+`, `.not.`."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator between two operands, in its Fortran 90 spelling: `==`, not `.eq.`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Range:
    """A subscript triplet `lower:upper:step`; each part may be absent."""

    lower: Expr | None = None
    upper: Expr | None = None
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Keyword:
    """An argument given by keyword: `name=value`."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """An array constructor `[items]` or `(/ items /)`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that is carried along without being understood."""

    text: str


Expr = Literal | Name | Member | Index | Unary | Binary | Range | Keyword | ArrayLiteral | Verbatim

_RANK = {
    ".eqv.": 1, ".neqv.": 1, ".or.": 2, ".and.": 3, ".not.": 4,
    "==": 5, "/=": 5, "<": 5, "<=": 5, ">": 5, ">=": 5, "//": 6,
    "+": 7, "-": 7, "*": 8, "/": 8, "**": 9,
}  # fmt: skip
_SIGN = _RANK["+"]
_TIGHT = 10


def is_spelt(op: str) -> bool:
    """Return whether `op` is an operator of the language, whose precedence is known."""
    return op in _RANK


def spell(expr: Expr) -> str:
    """Return the canonical spelling of `expr`."""
    return _spell(expr, 0)


def _spell(expr: Expr, outer: int) -> str:
    match expr:
        case Literal(text) | Name(text) | Verbatim(text):
            return text
        case Member(base, name):
            return f"{_spell(base, _TIGHT)}%{name}"
        case Index(base, items):
            return f"{_spell(base, _TIGHT)}({_listed(items)})"
        case ArrayLiteral(items):
            return f"[{_listed(items)}]"
        case Keyword(name, value):
            return f"{name}={spell(value)}"
        case Range(lower, upper, step):
            text = f"{spell(lower) if lower else ''}:{spell(upper) if upper else ''}"
            return f"{text}:{spell(step)}" if step else text
        case Unary(op, operand):
            return _spell_unary(op, operand, outer)
        case Binary(op, left, right):
            return _spell_binary(op, left, right, outer)
    raise InternalError(f"Expression of class {type(expr).__name__} has no spelling.")


def _listed(items: tuple[Expr, ...]) -> str:
    return ", ".join(map(spell, items))


def _spell_unary(op: str, operand: Expr, outer: int) -> str:
    if op == ".not.":
        return _bracketed(f"{op} {_spell(operand, _RANK[op] + 1)}", _RANK[op], outer)
    # A sign binds like an addition, and no two operators may stand side by side.
    return _bracketed(f"{op}{_spell(operand, _SIGN + 1)}", _SIGN, outer)


def _spell_binary(op: str, left: Expr, right: Expr, outer: int) -> str:
    rank = _RANK.get(op, 0)
    near, far = rank, rank + 1
    if op == "**":
        near, far = rank + 1, rank
    elif rank == _RANK["=="]:
        near = rank + 1
    first = _spell(left, near)
    second = _spell(right, far)
    if second.startswith(("-", "+")):
        second = f"({second})"
    return _bracketed(f"{first} {op} {second}", rank, outer)


def _bracketed(text: str, rank: int, outer: int) -> str:
    return f"({text})" if rank < outer else text


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct parts of `expr`, in the order of their text."""
    match expr:
        case Member(base, _):
            return (base,)
        case Index(base, items):
            return (base, *items)
        case ArrayLiteral(items):
            return items
        case Keyword(_, value):
            return (value,)
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Range(lower, upper, step):
            return tuple(part for part in (lower, upper, step) if part is not None)
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and everything in it, parents first."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def is_constant(expr: Expr) -> bool:
    """Return whether `expr` holds literals only, so that it needs no variable."""
    return all(isinstance(part, Literal | Unary | Binary) for part in walk(expr))


def whole_number(expr: Expr) -> int | None:
    """Return the value of an integer constant without a sign, whatever its kind, else None."""
    if isinstance(expr, Literal) and expr.intrinsic is Intrinsic.INTEGER:
        return int(expr.text.partition("_")[0])
    return None


def same(first: Expr, second: Expr) -> bool:
    """Return whether two expressions are the same text, but for case and blanks."""
    return canonical(first) == canonical(second)


def canonical(expr: Expr) -> str:
    """Return a key under which two expressions are equal if they differ in case or blanks only."""
    return "".join(spell(expr).split()).lower()
