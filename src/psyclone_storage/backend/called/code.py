"""The code of a procedure that is to stand in the place of a call: names, ends, what it writes."""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.backend.c.scope import CScope
from psyclone_storage.backend.called.arrays import NotInPlaceError, PassedArray
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Element,
    Expr,
    ImpliedDo,
    Index,
    Keyword,
    Literal,
    Name,
    Origin,
    Section,
    Symbol,
    intrinsic_called,
    walk,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    expressions_of,
    names_in,
    names_of_line,
    walk_lines,
    with_parts,
)
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Comment,
    Continue,
    Cycle,
    Declare,
    DirectiveLine,
    Do,
    Exit,
    If,
    Line,
    Opaque,
    Return,
    Select,
)

_UNDERSTOOD = (Assign, Blank, Comment, Continue, Cycle, DirectiveLine, Do, Exit, If, Return, Select)
_HARMLESS = (["implicit", "none"], ["IMPLICIT", "NONE"])
_OF_BOUNDS = ("lbound", "ubound")
_NEVER_FAIL = (*_OF_BOUNDS, "abs", "max", "merge", "min", "real", "sign", "size")
_NUMBERS = (Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL)
_ATTRIBUTES = ("save", "allocatable", "pointer", "target", "external", "volatile", "class")


@dataclass(slots=True)
class ProcedureNames:
    """The names of a procedure as they are where it is called.

    Arguments are the caller's `scalars` and `arrays`, variables its new `locals`. What belongs to a
    module is `seen` under some name; functions of the language are so for the caller, too.
    """

    scope: CScope
    scalars: dict[str, Expr]
    arrays: dict[str, PassedArray]
    seen: Callable[[Symbol, str], Name]
    is_of_language: Callable[[str], bool]
    keeps_kinds: bool = False
    locals: dict[str, Name] = field(default_factory=dict)

    def typed(self, symbol: Symbol) -> ScalarType:
        """Return the type of a variable of the procedure, with a kind that the caller knows.

        That is a number, or with `keeps_kinds` what the kind is called there.
        """
        if not self.keeps_kinds:
            found = self.scope.type_of(symbol)
            return ScalarType(found.intrinsic, str(found.size))
        if not isinstance(symbol.type, ScalarType) or symbol.type.intrinsic not in _NUMBERS:
            raise NotInPlaceError(f"'{symbol.name}' is no number and no truth value")
        kind = symbol.type.kind
        return ScalarType(symbol.type.intrinsic, None if kind is None else self._kind(kind))

    def _kind(self, text: str) -> str:
        """Return a kind of the procedure as it is written where it is called."""
        if text.isdigit() or not self.keeps_kinds:
            return text if text.isdigit() else str(self.scope.kind(text))
        found = self.changed(Name(text)) if text.isidentifier() else None
        if not isinstance(found, Name):
            raise NotInPlaceError(f"the kind '{text}' has no name where it is called")
        return found.text

    def changed(self, expr: Expr) -> Expr:
        """Return an expression of the procedure as one of the caller."""
        match expr:
            case Literal() if expr.kind is not None and not expr.kind.isdigit():
                return expr.with_kind(self._kind(expr.kind))
            case Name():
                return self._name(expr)
            case Index(Name() as base, items) if base.key in self.arrays:
                if not isinstance(expr, Element | Section):
                    raise NotInPlaceError(f"'{base.text}' is no array where it is called")
                index = [self.changed(item) for item in items]
                return self.arrays[base.key].at(index, is_element=isinstance(expr, Element))
            case CallFunction(Name(key=word), items) if word in _OF_BOUNDS:
                self._check_bounds(items)
            case ImpliedDo(variable=counter) if counter.key not in self.locals:
                raise NotInPlaceError(f"'{counter.text}' counts and is no variable of its own")
        return with_parts(expr, self.changed)

    def _check_bounds(self, items: tuple[Expr, ...]) -> None:
        """Refuse to ask for bounds of an argument that has others where it is called."""
        for item in items:
            asked = item.value if isinstance(item, Keyword) else item
            if not isinstance(asked, Name) or asked.key not in self.arrays:
                continue
            if not self.arrays[asked.key].keeps_bounds:
                raise NotInPlaceError(f"the bounds of '{asked.text}' are others where it is called")

    def _name(self, name: Name) -> Expr:
        if name.key in self.arrays:
            return self.arrays[name.key].whole()
        if name.key in self.scalars:
            return self.scalars[name.key]
        if name.key in self.locals:
            return self.locals[name.key]
        symbol = self.scope.symbol(name.key)
        if symbol.origin is Origin.INTRINSIC:
            if not self.is_of_language(name.key):
                raise NotInPlaceError(f"'{name.text}' is another name where it is called")
            return name
        if symbol.origin in (Origin.LOCAL, Origin.DUMMY) or not symbol.is_data:
            raise NotInPlaceError(f"what '{name.text}' stands for is not known where it is called")
        return self.seen(symbol, symbol.module or self.scope.code.module.key)


def check_understood(code: KernelCode) -> None:
    """Refuse a procedure whose statements or declarations may do more than is known here."""
    for line in walk_lines(code.body):
        if not isinstance(line, _UNDERSTOOD) or (isinstance(line, Return) and line.value):
            raise NotInPlaceError(f"'{code.name}' has statements that are not understood")
        if isinstance(line, Select) and line.word != "case":
            raise NotInPlaceError(f"'{code.name}' chooses by a type")
    for item in code.declarations:
        if isinstance(item, Opaque) and item.text.split() not in _HARMLESS:
            raise NotInPlaceError(f"'{code.name}' has declarations that are not understood")
        if not isinstance(item, Declare):
            continue
        words = set(item.attributes) & set(_ATTRIBUTES)
        kept = item.value is not None and "parameter" not in item.attributes
        if words or kept or "optional" in item.attributes:
            what = "keeps its value between calls" if kept else "is no plain variable"
            raise NotInPlaceError(f"'{item.name}' of '{code.name}' {what}")


def written_in(body: tuple[Line, ...]) -> set[str]:
    """Return the keys of the names that statements assign to, those of counters included."""
    found: set[str] = set()
    for line in walk_lines(body):
        match line:
            case Assign(Name() as name) | Assign(Index(Name() as name)) | Do(variable=name):
                found.add(name.key)
            case Assign():
                raise NotInPlaceError("it is not known what an assignment changes")
    return found


def may_be_folded(body: tuple[Line, ...], key: str) -> bool:
    """Return whether a compiler computes something of a variable if it is a constant, and may fail.

    It refuses to divide by a constant 0, though a condition excludes it, and a logarithm of that.
    """
    for line in walk_lines(body):
        for expr in expressions_of(line):
            for part in walk(expr):
                match part:
                    case Binary(Operator.DIVIDE, _, right) if key in names_in(right):
                        return True
                    case Binary(Operator.POWER) if key in names_in(part):
                        return True
                    case CallFunction(items=items) if intrinsic_called(part) not in _NEVER_FAIL:
                        if any(key in names_in(item) for item in items):
                            return True
    return False


def sets_first(body: tuple[Line, ...], key: str) -> bool:
    """Return whether statements give a variable a value on every way before they look at it."""
    for line in body:
        match line:
            case Assign(Name() as name, value) if name.key == key:
                return key not in names_in(value)
            case If(branches, otherwise) if all(
                key not in names_in(branch.condition) for branch in branches
            ) and all(sets_first(way, key) for way in (*(one.body for one in branches), otherwise)):
                return True
        if any(isinstance(one, Return) or key in names_of_line(one) for one in walk_lines([line])):
            return False
    return False
