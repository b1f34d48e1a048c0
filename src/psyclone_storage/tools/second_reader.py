"""Fortran as fparser2 reads it: expressions, types, entities, and the statements of a file.

The parser shares no code with that of this package. Its nodes become records of `ir` where there
are such; what has none is carried as text. Only this module imports fparser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from fparser.common.readfortran import FortranStringReader
from fparser.common.sourceinfo import FortranFormat
from fparser.two import C99Preprocessor, Fortran2003, Fortran2008
from fparser.two.parser import ParserFactory
from fparser.two.utils import FparserException, StmtBase, walk

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
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
    Star,
    Unary,
    Verbatim,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import (
    SPELLINGS,
    AnyOperator,
    DefinedOperator,
    Operator,
    OperatorKind,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.reader import DeclaredType, Entity
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

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
# Text that is not Fortran makes fparser raise these, a wrong name after `end` the last.
_FAILURES = (
    FparserException,
    AssertionError,
    LookupError,
    AttributeError,
    TypeError,
    ValueError,
    RecursionError,
    SystemExit,
)
_LINE = regex(r"at line (\d+)")

_UNITS = {
    "Module_Stmt": "module",
    "Submodule_Stmt": "submodule",
    "Program_Stmt": "program",
    "Subroutine_Stmt": "subroutine",
    "Function_Stmt": "function",
    "Block_Data_Stmt": "block data",
}

# The last ones are not derived from the class of statements.
_STATEMENTS = (
    StmtBase,
    Fortran2003.Private_Components_Stmt,
    Fortran2003.Sequence_Stmt,
    Fortran2003.Include_Stmt,
    Fortran2008.Submodule_Stmt,
)

StatementPart = Expr | DeclaredType | Entity | str
"""A part of a statement; a text is a list of names."""


@dataclass(frozen=True, slots=True)
class SecondStatement:
    """A statement of fparser2: the name of its class and its parts, None if they have no record.

    A logical `if` and the statement that it controls are two of them.
    """

    kind: str
    parts: tuple[StatementPart, ...] | None = None


@dataclass(frozen=True, slots=True)
class SecondReading:
    """A file as fparser2 reads it.

    `units` are the program units and procedures by line. `statements` are by line, in the order of
    the line. `refused` is the first line that cannot be parsed, 0 without one.
    """

    units: Mapping[int, str]
    statements: Mapping[int, tuple[tuple[SecondStatement, ...], ...]]
    refused: int = 0


def read_second(source: SourceText) -> SecondReading:
    """Return a file as fparser2 reads it; include files are not read."""
    try:
        tree = _tree(source)
    except _FAILURES as failure:
        found = _LINE.search(str(failure))
        return SecondReading({}, {}, int(found[1]) if found else 1)
    units: dict[int, str] = {}
    statements: dict[int, list[tuple[SecondStatement, ...]]] = {}
    for node in walk(tree, _STATEMENTS):
        item = getattr(node, "item", None)
        if item is None or type(node).__module__ == C99Preprocessor.__name__:
            continue
        statements.setdefault(item.span[0], []).append(tuple(_actions(node)))
        if not _is_in_interface(node) and (unit := _unit(node)):
            units[item.span[0]] = unit
    return SecondReading(units, {line: tuple(found) for line, found in statements.items()})


def _tree(source: SourceText) -> Any:
    reader = FortranStringReader(source.as_written, include_dirs=[], ignore_comments=True)
    is_fixed = source.written is not None
    reader.set_format(FortranFormat(not is_fixed, is_fixed))
    return _prepare()(reader)


def _is_in_interface(node: Any) -> bool:
    while node is not None and not isinstance(node, Fortran2003.Interface_Block):
        node = node.parent
    return node is not None


def _unit(node: Any) -> str:
    """Return the kind and name of the unit that a statement opens, or nothing."""
    kind = _UNITS.get(type(node).__name__, "")
    if not kind:
        return ""
    names = [key_of(str(one)) for one in node.items if isinstance(one, Fortran2003.Name)]
    return " ".join((kind, *names[-1:]))


# ---------------------------------------------------------------------------- statements


def _actions(node: Any) -> Iterator[SecondStatement]:
    """Yield a statement, and the statement that a logical `if`, `where` or `forall` controls."""
    kind = type(node).__name__
    parts = _PARTS.get(kind)
    yield SecondStatement(kind, None if parts is None else parts(node))
    if kind in ("If_Stmt", "Where_Stmt", "Forall_Stmt"):
        yield from _actions(node.items[1])


def _assignment(node: Any) -> tuple[StatementPart, ...]:
    return _converted(node.items[0]), _converted(node.items[2])


def _pointer_assignment(node: Any) -> tuple[StatementPart, ...] | None:
    return None if node.items[1] is not None else _assignment(node)


def _call(node: Any) -> tuple[StatementPart, ...]:
    return (_converted(node.items[0]), *map(_converted, _members(node.items[1])))


def _condition(node: Any) -> tuple[StatementPart, ...]:
    return (_converted(node.items[0]),)


def _loop(node: Any) -> tuple[StatementPart, ...] | None:
    control = next((one for one in node.items if type(one).__name__ == "Loop_Control"), None)
    if control is None:
        return ()
    condition, counted, _, *rest = control.items
    if any(rest):
        return None
    if counted is None:
        return (_converted(condition),)
    return (_converted(counted[0]), *map(_converted, counted[1]))


def _case(node: Any) -> tuple[StatementPart, ...]:
    return tuple(map(_converted, _members(node.items[0].items[0])))


def _names(node: Any) -> tuple[StatementPart, ...]:
    """Return all names in a statement, without keywords."""
    keywords = {
        id(one.items[0])
        for one in walk(node, (Fortran2003.Actual_Arg_Spec, Fortran2003.Component_Spec))
    }
    names = (Fortran2003.Name, Fortran2003.Intrinsic_Name)
    found = {key_of(str(one)) for one in walk(node, names) if id(one) not in keywords}
    return (", ".join(sorted(found)),)


def _allocation(node: Any) -> tuple[StatementPart, ...] | None:
    return _names(node) if node.items[0] is None else None


def _import(node: Any) -> tuple[StatementPart, ...]:
    found = {key_of(str(one)) for one in walk(node, Fortran2003.Name)}
    return (", ".join(sorted(found)),)


def _declaration(node: Any) -> tuple[StatementPart, ...]:
    attributes = walk(node.items[1], Fortran2003.Dimension_Attr_Spec) if node.items[1] else []
    shape = _shape(attributes[0].items[1]) if attributes else ()
    entities = map(_entity, _members(node.items[2]))
    return (
        second_type(str(node.items[0])),
        *(one if one.shape else replace(one, shape=shape) for one in entities),
    )


_Parts = Callable[[Any], tuple[StatementPart, ...] | None]
_PARTS: dict[str, _Parts] = {
    "Assignment_Stmt": _assignment,
    "Pointer_Assignment_Stmt": _pointer_assignment,
    "Call_Stmt": _call,
    **dict.fromkeys(("Nonlabel_Do_Stmt", "Label_Do_Stmt"), _loop),
    **dict.fromkeys(
        ("If_Stmt", "If_Then_Stmt", "Else_If_Stmt", "Where_Stmt", "Where_Construct_Stmt",
         "Masked_Elsewhere_Stmt", "Select_Case_Stmt"), _condition),
    "Case_Stmt": _case,
    **dict.fromkeys(
        ("Deallocate_Stmt", "Nullify_Stmt", "Write_Stmt", "Read_Stmt", "Print_Stmt", "Open_Stmt",
         "Close_Stmt", "Inquire_Stmt"), _names),
    "Allocate_Stmt": _allocation,
    "Use_Stmt": _import,
    "Type_Declaration_Stmt": _declaration,
}  # fmt: skip


# ---------------------------------------------------------------------------- expressions


def second_expression(text: str) -> Expr:
    """Return the expression written in `text`; raise `UnreadableError` if it is invalid."""
    return _converted(_parsed(Fortran2003.Expr, text))


def second_type(text: str) -> DeclaredType:
    """Return what a type specification such as `real(r_def)` or `class(t)` declares."""
    node = _parsed(Fortran2003.Declaration_Type_Spec, text)
    if isinstance(node, Fortran2003.Declaration_Type_Spec):
        keyword, named = node.items
        if isinstance(named, Fortran2003.Derived_Type_Spec):
            named = named.items[0]
        details = ("class",) if keyword == "CLASS" else ()
        return DeclaredType(DerivedType(key_of(str(named))), details)
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
    details = () if length is None else (key_of(f"len={''.join(str(length).split())}"),)
    return DeclaredType(scalar, details)


def second_entity(text: str) -> Entity:
    """Return the name, shape and initial value of one entity of a declaration."""
    return _entity(_parsed(Fortran2003.Entity_Decl, text))


def second_shape(text: str) -> tuple[Expr, ...]:
    """Return the dimensions of `dimension(text)`."""
    return second_entity(f"x({text})").shape


# ---------------------------------------------------------------------------- fparser


@cache
def _prepare() -> Any:
    """Build fparser's tables, once per process, and return its parser of files."""
    return ParserFactory().create(std="f2008")


def _parsed(rule: Any, text: str) -> Any:
    _prepare()
    try:
        node = rule(text)
    except _FAILURES as failure:
        raise UnreadableError(text) from failure
    if node is None:
        raise UnreadableError(text)
    return node


def _entity(node: Any) -> Entity:
    name, array, _length, value = node.items
    initial = None if value is None else _converted(value.items[1])
    return Entity(str(name), _shape(array), initial)


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
            return Name(key_of(str(node)))
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
        case Fortran2003.Case_Value_Range():
            return Range(*map(_optional, node.items))
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
    """Return `expr` in brackets, which count where they determine the order of a computation."""
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
    return Literal(key_of(value) + (f"_{kind}" if kind else ""), intrinsic, kind)


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
    word = _SYMBOLS.get(key_of(text), key_of(text))
    operator = SPELLINGS.get(word) or DefinedOperator(word)
    signs = (Operator.PLUS, Operator.MINUS)
    allowed = (*signs, Operator.NOT) if before else tuple(set(Operator) - {Operator.NOT})
    if isinstance(operator, Operator) and operator not in allowed:
        raise UnreadableError(text)
    return operator


_OPERATORS = frozenset({"+", "-", "*", "/", "**", "//", "==", "/=", "<", "<=", ">", ">="})
