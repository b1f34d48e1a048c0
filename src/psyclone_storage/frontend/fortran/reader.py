"""Expressions, types and declared entities by fparser2.

The only file that imports fparser; no object of it leaves. What is read is remembered by its
text, because a source tree repeats itself. Plain names and literals, by far the most frequent
arguments, do not need a parser. Text that is no Fortran raises `UnreadableError`; the caller
knows the place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from fparser.two import Fortran2003
from fparser.two.parser import ParserFactory
from fparser.two.utils import FparserException

from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    Expr,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Range,
    Unary,
    Verbatim,
)
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType

_REMEMBERED = 1 << 14
_NAME = re.compile(r"[A-Za-z]\w*")
_NUMBER = re.compile(r"(?P<text>(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?)(?:_(?P<kind>\w+))?")
_SYMBOLS = {
    ".eq.": "==", ".ne.": "/=", ".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">=",
}  # fmt: skip
_INTRINSICS = {
    "REAL": Intrinsic.REAL,
    "INTEGER": Intrinsic.INTEGER,
    "LOGICAL": Intrinsic.LOGICAL,
    "CHARACTER": Intrinsic.CHARACTER,
    "COMPLEX": Intrinsic.COMPLEX,
}
_DOUBLE = "kind(0.0d0)"
# Text that is no Fortran makes fparser stumble over itself now and then.
_FAILURES = (FparserException, LookupError, AttributeError, TypeError, ValueError, RecursionError)


class UnreadableError(ValueError):
    """A piece of text is not the Fortran that its place asks for."""


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """What a type specification says; `details` are attributes that come with it.

    They are `class` for a polymorphic entity, and a character's length as `len=...`.
    """

    type: DataType
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """One name of a declaration with what belongs to it alone; `value` is its initial value."""

    name: str
    shape: tuple[Expr, ...] = ()
    value: Expr | None = None


def read_expression(text: str) -> Expr:
    """Return the expression written in `text`; raise `UnreadableError` if it is none."""
    if _NAME.fullmatch(text):
        return Name(text)
    number = _NUMBER.fullmatch(text)
    if number:
        whole = number.group("text").isdigit()
        return Literal(text, Intrinsic.INTEGER if whole else Intrinsic.REAL, number.group("kind"))
    return _expression(text)


@lru_cache(maxsize=_REMEMBERED)
def _expression(text: str) -> Expr:
    return _converted(_parsed(Fortran2003.Expr, text))


@lru_cache(maxsize=_REMEMBERED)
def read_type(text: str) -> DeclaredType:
    """Return what a type specification such as `real(r_def)` or `class(t)` declares."""
    node = _parsed(Fortran2003.Declaration_Type_Spec, text)
    if isinstance(node, Fortran2003.Declaration_Type_Spec):
        keyword, named = node.items
        if isinstance(named, Fortran2003.Derived_Type_Spec):
            named = named.items[0]
        details = ("class",) if keyword == "CLASS" else ()
        return DeclaredType(DerivedType(str(named).lower()), details)
    name, selector = node.items
    if name == "DOUBLE PRECISION":
        return DeclaredType(ScalarType(Intrinsic.REAL, _DOUBLE))
    if name == "CHARACTER":
        return _character(selector)
    kind = None if selector is None else str(selector.items[1])
    return DeclaredType(ScalarType(_INTRINSICS[name], kind))


def _character(selector: Any) -> DeclaredType:
    length, kind = None, None
    if isinstance(selector, Fortran2003.Char_Selector):
        length, kind = selector.items
    elif selector is not None:
        length = selector.items[1]
    scalar = ScalarType(Intrinsic.CHARACTER, None if kind is None else str(kind))
    details = () if length is None else (f"len={''.join(str(length).split())}".lower(),)
    return DeclaredType(scalar, details)


def read_entity(text: str) -> Entity:
    """Return the name, shape and initial value of one entity of a declaration."""
    return Entity(text) if _NAME.fullmatch(text) else _entity(text)


@lru_cache(maxsize=_REMEMBERED)
def _entity(text: str) -> Entity:
    name, array, _length, value = _parsed(Fortran2003.Entity_Decl, text).items
    initial = None if value is None else _converted(value.items[1])
    return Entity(str(name), _shape(array), initial)


@lru_cache(maxsize=_REMEMBERED)
def read_shape(text: str) -> tuple[Expr, ...]:
    """Return the dimensions of `dimension(text)`."""
    return _entity(f"x({text})").shape


# ---------------------------------------------------------------------------- fparser


@cache
def _prepare() -> None:
    """Build fparser's tables, once per process."""
    ParserFactory().create(std="f2008")


def _parsed(rule: Any, text: str) -> Any:
    _prepare()
    try:
        node = rule(text)
    except _FAILURES as failure:
        raise UnreadableError(text) from failure
    if node is None:
        raise UnreadableError(text)
    return node


def _shape(node: Any) -> tuple[Expr, ...]:
    if node is None:
        return ()
    if isinstance(node, Fortran2003.Assumed_Size_Spec):
        leading, lower = node.items
        last: Expr = Verbatim("*")
        if lower is not None:
            last = Range(_converted(lower), last)
        return (*_shape(leading), last)
    return tuple(map(_dimension, _members(node)))


def _dimension(node: Any) -> Expr:
    lower, upper = map(_optional, node.items)
    if isinstance(node, Fortran2003.Explicit_Shape_Spec) and lower is None and upper is not None:
        return upper
    return Range(lower, upper)


def _members(node: Any) -> tuple[Any, ...]:
    """Return the items of a list node; a list of one may have been replaced by its item."""
    if node is None:
        return ()
    return tuple(node.items) if type(node).__name__.endswith("_List") else (node,)


def _optional(node: Any) -> Expr | None:
    return None if node is None else _converted(node)


def _converted(node: Any) -> Expr:
    """Return our form of an expression of fparser's; what has none is carried as text."""
    match node:
        case Fortran2003.Intrinsic_Name():
            return Name(str(node).lower())
        case Fortran2003.Name() | Fortran2003.Type_Name():
            return Name(str(node))
        case Fortran2003.Parenthesis():
            return _in_brackets(_converted(node.items[1]))
        case Fortran2003.Data_Ref():
            return _data_reference(node)
        case (
            Fortran2003.Part_Ref()
            | Fortran2003.Structure_Constructor()
            | Fortran2003.Function_Reference()
            | Fortran2003.Intrinsic_Function_Reference()
            | Fortran2003.Array_Section()
        ):
            base, items = node.items
            return Index(_converted(base), tuple(map(_converted, _members(items))))
        case Fortran2003.Procedure_Designator():
            base, _, name = node.items
            return Member(_converted(base), str(name))
        case Fortran2003.Subscript_Triplet():
            return Range(*map(_optional, node.items))
        case Fortran2003.Substring_Range():
            return Range(*map(_optional, node.items))
        case Fortran2003.Actual_Arg_Spec() | Fortran2003.Component_Spec():
            return Keyword(str(node.items[0]), _converted(node.items[1]))
        case Fortran2003.Array_Constructor() if not isinstance(node.items[1], Fortran2003.Ac_Spec):
            return ArrayLiteral(tuple(map(_converted, _members(node.items[1]))))
    return _literal(node) or _operation(node) or Verbatim(str(node))


def _in_brackets(expr: Expr) -> Expr:
    """Return `expr` in brackets, which count where they tell the order of a computation."""
    if isinstance(expr, Binary) and expr.op in _ARITHMETIC:
        return replace(expr, bracketed=True)
    return expr


def _data_reference(node: Any) -> Expr:
    """Return `a%b(i)%c` as nested members, the last component outermost."""
    base = _converted(node.items[0])
    for part in node.items[1:]:
        if isinstance(part, Fortran2003.Part_Ref):
            name, items = part.items
            base = Index(Member(base, str(name)), tuple(map(_converted, _members(items))))
        else:
            base = Member(base, str(part))
    return base


def _literal(node: Any) -> Literal | None:
    match node:
        case Fortran2003.Int_Literal_Constant():
            intrinsic = Intrinsic.INTEGER
        case Fortran2003.Real_Literal_Constant():
            intrinsic = Intrinsic.REAL
        case Fortran2003.Char_Literal_Constant():
            return Literal(str(node), Intrinsic.CHARACTER, node.items[1])
        case Fortran2003.Logical_Literal_Constant():
            intrinsic = Intrinsic.LOGICAL
        case _:
            return None
    value, kind = node.items
    return Literal(value.lower() + (f"_{kind}" if kind else ""), intrinsic, kind)


def _operation(node: Any) -> Expr | None:
    """Return a unary or binary operation with its operator in Fortran 90's spelling."""
    match getattr(node, "items", None):
        case (str(op), operand) if _is_operator(op):
            return Unary(op.lower(), _converted(operand))
        case (left, str(op), right) if _is_operator(op):
            word = op.lower()
            return Binary(_SYMBOLS.get(word, word), _converted(left), _converted(right))
    return None


def _is_operator(text: str) -> bool:
    return text.startswith(".") or text in _OPERATORS


_ARITHMETIC = frozenset({"+", "-", "*", "/", "**"})
_OPERATORS = frozenset({"+", "-", "*", "/", "**", "//", "==", "/=", "<", "<=", ">", ">="})
