"""fparser2 as a second reader of expressions, types and entities.

What our own reader makes of a text is compared with what fparser2 makes of it: two parsers that
share no code. Differences that are meant are listed in `agree`. Run as a program it compares all
that is in the Fortran files below some folders:

    python tests/support/fparser_reader.py FOLDER...
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fparser.two import Fortran2003
from fparser.two.parser import ParserFactory
from fparser.two.utils import FparserException

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    Expr,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Parenthesised,
    Range,
    Star,
    Unary,
    Verbatim,
    spell,
)
from psyclone_storage.ir.intrinsics import PROCEDURES
from psyclone_storage.ir.operators import (
    SPELLINGS,
    AnyOperator,
    DefinedOperator,
    Operator,
    OperatorKind,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse import executable, reader
from psyclone_storage.languages.fortran.parse import spec_statements as specification
from psyclone_storage.languages.fortran.parse.actions import read_simple
from psyclone_storage.languages.fortran.parse.construct_heads import read_case, read_head, read_mask
from psyclone_storage.languages.fortran.parse.reader import DeclaredType, Entity
from psyclone_storage.languages.fortran.parse.spec_statements import read_declarations
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError
from psyclone_storage.languages.sources.files import read_source

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
_FAILURES = (
    FparserException,
    AssertionError,
    LookupError,
    AttributeError,
    TypeError,
    ValueError,
    RecursionError,
)


def read_expression(text: str) -> Expr:
    """Return the expression written in `text`; raise `UnreadableError` if it is none."""
    return _converted(_parsed(Fortran2003.Expr, text))


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
    name, array, _length, value = _parsed(Fortran2003.Entity_Decl, text).items
    initial = None if value is None else _converted(value.items[1])
    return Entity(str(name), _shape(array), initial)


def read_shape(text: str) -> tuple[Expr, ...]:
    """Return the dimensions of `dimension(text)`."""
    return read_entity(f"x({text})").shape


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
        last: Expr = Star()
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
    if isinstance(expr, Binary) and expr.op.kind is OperatorKind.ARITHMETIC:
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
            return Unary(_operator(op, before=True), _converted(operand))
        case (left, str(op), right) if _is_operator(op):
            return Binary(_operator(op), _converted(left), _converted(right))
    return None


def _is_operator(text: str) -> bool:
    return text.startswith(".") or text in _OPERATORS


def _operator(text: str, *, before: bool = False) -> AnyOperator:
    """Return an operator between operands, or before one.

    Where the language has none of that spelling there, fparser2 takes it for one that a user
    defines, which the language forbids.
    """
    word = _SYMBOLS.get(text.lower(), text.lower())
    operator = SPELLINGS.get(word) or DefinedOperator(word)
    signs = (Operator.PLUS, Operator.MINUS)
    allowed = (*signs, Operator.NOT) if before else tuple(set(Operator) - {Operator.NOT})
    if isinstance(operator, Operator) and operator not in allowed:
        raise UnreadableError(text)
    return operator


_OPERATORS = frozenset({"+", "-", "*", "/", "**", "//", "==", "/=", "<", "<=", ">", ">="})


# ---------------------------------------------------------------------------- comparing

Rule = Callable[[str], object]
RULES: dict[str, tuple[Rule, Rule]] = {
    "expression": (reader.read_expression, read_expression),
    "type": (reader.read_type, read_type),
    "entity": (reader.read_entity, read_entity),
}


def outcome(rule: Rule, text: str) -> object:
    """Return what `rule` makes of `text`, None if it refuses."""
    try:
        return rule(text)
    except UnreadableError:
        return None


def agree(ours: object, theirs: object) -> bool:
    """Return whether both readers understood the same.

    What fparser2 carries along as text ours may understand, if it is the same text. A variable in
    brackets that is an argument is a node of ours alone. Names of kinds, and of functions that only
    one of them knows as the language's own, may differ in case.
    """
    if isinstance(ours, Parenthesised):
        ours = ours.operand
    if isinstance(theirs, Verbatim):
        return _bare(spell(ours)) == _bare(theirs.text)  # type: ignore[arg-type]
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, str):
        return _bare(ours) == _bare(str(theirs))
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(agree, ours, theirs))
    if is_dataclass(ours):
        names = [field.name for field in fields(ours)]
        if isinstance(ours, Entity):
            names.remove("details")
        return all(agree(getattr(ours, name), getattr(theirs, name)) for name in names)
    return ours == theirs


_BRACKETS = {ord(mark): None for mark in "()[]/"}


def _bare(text: str) -> str:
    return (
        "".join(text.split()).lower().replace("kind=", "").replace("len=", "").translate(_BRACKETS)
    )


def asked_in(file: Path) -> set[tuple[str, str]]:
    """Return all rules and texts that reading the statements of `file` asks our reader for."""
    asked: set[tuple[str, str]] = set()

    def noting(name: str, rule: Rule) -> Rule:
        def note(text: str) -> object:
            asked.add((name, text))
            return rule(text)

        return note

    with (
        patch.object(executable, "read_expression", noting("expression", reader.read_expression)),
        patch.object(specification, "read_type", noting("type", reader.read_type)),
        patch.object(specification, "read_entity", noting("entity", reader.read_entity)),
    ):
        for statement in scan(read_source(file)):
            read_simple(statement.text)
            for rule in (read_head, read_mask, read_case):
                with suppress(UnreadableError):
                    rule(statement.text)
            with suppress(CompileError):
                read_declarations(statement)
    return asked


# fparser2 counts the arguments of names that it takes for functions of the language.
_COUNTED = re.compile(rf"\b(?:{'|'.join(PROCEDURES)})\s*\(", re.IGNORECASE)


def differences(files: Iterable[Path], seen: set[tuple[str, str]]) -> Iterator[str]:
    """Yield what is read differently in `files`, each text once; `seen` grows by what was read."""
    for file in files:
        for name, text in sorted(asked_in(file) - seen):
            seen.add((name, text))
            ours, theirs = (outcome(rule, text) for rule in RULES[name])
            if not agree(ours, theirs) and not (theirs is None and _COUNTED.search(text)):
                yield f"{file.name}: {name} {text!r}\n  ours    {ours}\n  fparser {theirs}"


def main(folders: list[str]) -> int:
    """Print all differences in the Fortran files below `folders`; return whether there are any."""
    seen: set[tuple[str, str]] = set()
    suffixes = (".f90", ".x90")
    files = [path for folder in folders for path in sorted(Path(folder).rglob("*"))
             if path.suffix.lower() in suffixes and path.is_file()]  # fmt: skip
    found = []
    for difference in differences(files, seen):
        found.append(difference)
        sys.stdout.write(difference + "\n")
    total = f"{len(files)} files, {len(seen)} different texts, {len(found)} read differently"
    sys.stdout.write(total + "\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
