"""Names joined with their symbols, and brackets told apart by what stands before them.

The front end does this once it has looked all names up, and again whoever changes a routine, since
a step adds names and declarations. What is not found says so: a symbol that is `UNRESOLVED`,
brackets that are `Unresolved`. Each name of a routine is one node, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import replace
from psyclone_storage.ir.code import KernelCode, Specified
from psyclone_storage.ir.expr import (
    CallFunction,
    Construct,
    Element,
    Expr,
    Extents,
    Index,
    Literal,
    Member,
    Name,
    Origin,
    Range,
    Section,
    Sort,
    Substring,
    Symbol,
    Unresolved,
)
from psyclone_storage.ir.rewrite import rewritten, with_expressions, with_parts
from psyclone_storage.ir.typed import Typing, no_component
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import Allocate, Associate, Declare, Line, Select

Structures = Callable[[DerivedType], Symbol | None]
"""Gives the definition of a derived type, None where it is not known."""


def linked(code: KernelCode, structure: Structures | None = None) -> KernelCode:
    """Return `code` with the symbol of each name, as its declarations and its table have them."""
    outer = Linker(code.symbol, structure or code.structure)
    declared = replace(code, declarations=tuple(map(outer.specified, code.declarations)))
    linker = Linker(declared.symbol, structure or declared.structure)
    body = rewritten(code.body, lambda line: (linker.line(line),))
    return replace(declared, body=body)


class Linker:
    """The link from names to what `symbol` and `structure` say of them, for one routine.

    `component` tells of the component of a structure whose type is not known, by its key.
    """

    def __init__(
        self,
        symbol: Callable[[str], Symbol],
        structure: Structures,
        component: Callable[[str], Symbol | None] = no_component,
    ) -> None:
        self._symbol = symbol
        self._names: dict[str, Name] = {}
        self.typing = Typing(self._symbol_of, structure, component)

    def specified(self, item: Specified) -> Specified:
        """Return a declaration with its expressions linked."""
        return self.declared(item) if isinstance(item, Declare) else item

    def declared(self, item: Declare) -> Declare:
        """Return the declaration of one name with its expressions linked."""
        if not item.shape and item.value is None:
            return item
        value = None if item.value is None else self.expr(item.value)
        return replace(item, shape=tuple(map(self.expr, item.shape)), value=value)

    def line(self, line: Line) -> Line:
        """Return a statement with its own expressions linked."""
        match line:
            case Allocate():
                return with_expressions(line, self._allocated)
            case Associate(pairs):
                named = tuple((self._name(name.text), self.expr(value)) for name, value in pairs)
                return replace(line, pairs=named)
            case Select(alias=Name() as alias):
                named_here = replace(line, alias=self._name(alias.text))
                return with_expressions(named_here, self.expr)
        return with_expressions(line, self.expr)

    def _allocated(self, array: Expr) -> Expr:
        array = with_parts(array, self.expr)
        return Extents(array.base, array.items) if isinstance(array, Index) else self.expr(array)

    def expr(self, expr: Expr) -> Expr:
        """Return `expr` with its names linked and its brackets told apart."""
        match expr:
            case Name(text):
                return self._name(text)
            case Literal():
                return expr
        expr = with_parts(expr, self.expr)
        if isinstance(expr, Index):
            kind = self._kind_of(expr)
            return expr if expr.__class__ is kind else kind(expr.base, expr.items)
        if isinstance(expr, Member):
            component = self.typing.component(expr)
            return replace(expr, symbol=component) if component is not expr.symbol else expr
        return expr

    def _name(self, text: str) -> Name:
        found = self._names.get(text)
        if found is None:
            found = self._names[text] = Name(text, self._symbol(text))
        return found

    def _symbol_of(self, text: str) -> Symbol:
        symbol = self._name(text).symbol
        assert symbol is not None
        return symbol

    # ------------------------------------------------------------------------ brackets

    def _kind_of(self, index: Index) -> type[Index]:
        """Return what the brackets of `index`, whose parts are linked, stand for."""
        match index.base:
            case Name(symbol=symbol) if symbol is not None:
                return self._of_name(index, symbol)
            case Member() as member:
                return self._of_component(index, member)
            case Literal() | Element() if _is_substring(index.items):
                return Substring
        return Unresolved

    def _of_name(self, index: Index, found: Symbol) -> type[Index]:
        if found.is_data:
            return self._of_data(index, found)
        if found.is_called or found.origin is Origin.INTRINSIC:
            return CallFunction
        return Construct if found.sort is Sort.TYPE else Unresolved

    def _of_data(self, index: Index, found: Symbol, is_component: bool = False) -> type[Index]:
        if found.rank:
            return self._of_array(index) if found.rank == len(index.items) else Unresolved
        is_text = isinstance(found.type, ScalarType) and (
            found.type.intrinsic is Intrinsic.CHARACTER
        )
        if is_text and _is_substring(index.items):
            return Substring
        # A scalar with brackets that are no substring's is a function whose type is declared.
        is_own = found.origin in (Origin.LOCAL, Origin.DUMMY) and not is_component
        return CallFunction if is_own else Unresolved

    def _of_component(self, index: Index, member: Member) -> type[Index]:
        if member.symbol is not None:
            return self._of_data(index, member.symbol, is_component=True)
        return CallFunction if self.typing.is_binding(member) else Unresolved

    def _of_array(self, index: Index) -> type[Index]:
        ranks = map(self.typing.subscript_rank, index.items)
        return Element if all(rank == 0 for rank in ranks) else Section


def _is_substring(items: tuple[Expr, ...]) -> bool:
    return len(items) == 1 and isinstance(items[0], Range)
