"""Linking: attach symbols to names and classify `name(items)` by the symbol of the name.

The reader links a routine after it has resolved all names. Code that changes a routine links it
again, because the change may add names and declarations. A name without a declaration gets an
`UNRESOLVED` symbol, and `name(items)` becomes `Unresolved`. All occurrences of a name in a routine
share one node.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.checked import CheckedIndex, EagerChoice
from psyclone_storage.ir.rewrite import (
    ids_of,
    names_inside,
    rewritten,
    with_changed_blocks,
    with_expressions,
    with_parts,
)
from psyclone_storage.ir.routine import DeclarationStatement, Routine, SpecificationItem
from psyclone_storage.ir.typed import Typing, no_component
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import Allocate, Associate, Declare, Line, Select

Structures = Callable[[DerivedType], ex.Symbol | None]
"""Gives the definition of a derived type, None where it is not known."""


def linked(
    code: Routine,
    structure: Structures | None = None,
    former: Routine | None = None,
) -> Routine:
    """Return `code` with the symbol of each name, as its declarations and its table have them.

    Statements that are in the `former` version of the routine have theirs already, if `code` has
    the same declarations, or further ones of names that these statements do not contain.
    """
    if former is not None and _declares_alike(former, code):
        specification = code.specification
        if specification != former.specification:
            outer = Linker(code.symbol, structure or code.structure)
            new = map(outer.specified, specification[len(former.specification) :])
            code = replace(code, specification=(*former.specification, *new))
        linker = Linker(code.symbol, structure or code.structure)
        return replace(code, body=_with_new(code.body, linker, ids_of(former.body)))
    outer = Linker(code.symbol, structure or code.structure)
    declared = replace(code, specification=tuple(map(outer.specified, code.specification)))
    linker = Linker(declared.symbol, structure or declared.structure)
    body = rewritten(code.body, lambda line: (linker.line(line),))
    return replace(declared, body=body)


def _declares_alike(former: Routine, code: Routine) -> bool:
    """Return whether the declarations in `code` give the `former` statements the same meaning."""
    length = len(former.specification)
    new = code.specification[length:]
    if code.specification[:length] != former.specification:
        return False
    if not all(isinstance(one, DeclarationStatement) for one in new):
        return False
    items = (one for one in new if isinstance(one, DeclarationStatement))
    keys = {declared.key for item in items for declared in item.declares}
    return not keys or all(keys.isdisjoint(names_inside(line)) for line in former.body)


def _with_new(lines: tuple[Line, ...], linker: Linker, known: frozenset[int]) -> tuple[Line, ...]:
    """Return statements with symbols in those that are not `known` by their identity."""
    return tuple(
        line
        if id(line) in known
        else linker.line(with_changed_blocks(line, lambda one: _with_new(one, linker, known)))
        for line in lines
    )


class Linker:
    """Links the names of one routine, using the lookup functions `symbol` and `structure`.

    `component` returns the component with a given key of a structure of unknown type.
    """

    def __init__(
        self,
        symbol: Callable[[str], ex.Symbol],
        structure: Structures,
        component: Callable[[str], ex.Symbol | None] = no_component,
    ) -> None:
        self._symbol = symbol
        self._names: dict[str, ex.Name] = {}
        self.typing = Typing(self._symbol_of, structure, component)

    def specified(self, item: SpecificationItem) -> SpecificationItem:
        """Return an item of a specification part with linked expressions."""
        if not isinstance(item, DeclarationStatement):
            return item
        return replace(item, declares=tuple(map(self.declared, item.declares)))

    def declared(self, item: Declare) -> Declare:
        """Return the declaration of one name with linked expressions."""
        if not item.shape and item.value is None:
            return item
        value = None if item.value is None else self.expr(item.value)
        return replace(item, shape=tuple(map(self.expr, item.shape)), value=value)

    def line(self, line: Line) -> Line:
        """Return a statement with its own expressions linked, not those of nested statements."""
        match line:
            case Allocate():
                return with_expressions(line, self._allocated)
            case Associate(pairs):
                named = tuple((self._name(name.text), self.expr(value)) for name, value in pairs)
                return replace(line, pairs=named)
            case Select(alias=ex.Name() as alias):
                named_here = replace(line, alias=self._name(alias.text))
                return with_expressions(named_here, self.expr)
        return with_expressions(line, self.expr)

    def _allocated(self, array: ex.Expr) -> ex.Expr:
        array = with_parts(array, self.expr)
        return (
            ex.Extents(array.base, array.items) if isinstance(array, ex.Index) else self.expr(array)
        )

    def expr(self, expr: ex.Expr) -> ex.Expr:
        """Return `expr` with linked names and classified `name(items)` expressions."""
        match expr:
            case ex.Name(text):
                return self._name(text)
            case ex.Literal():
                return expr
        expr = with_parts(expr, self.expr)
        if isinstance(expr, ex.Index):
            kind = self._kind_of(expr)
            return expr if expr.__class__ is kind else kind(expr.base, expr.items)
        if isinstance(expr, ex.Member):
            component = self.typing.component(expr)
            return replace(expr, symbol=component) if component is not expr.symbol else expr
        return expr

    def _name(self, text: str) -> ex.Name:
        found = self._names.get(text)
        if found is None:
            found = self._names[text] = ex.Name(text, self._symbol(text))
        return found

    def _symbol_of(self, text: str) -> ex.Symbol:
        symbol = self._name(text).symbol
        assert symbol is not None
        return symbol

    # ------------------------------------------------------------------------ brackets

    def _kind_of(self, index: ex.Index) -> type[ex.Index]:
        """Return the class of `index`, whose parts are already linked."""
        match index.base:
            case ex.Name(symbol=symbol) if symbol is not None:
                return self._of_name(index, symbol)
            case ex.Member() as member:
                return self._of_component(index, member)
            case ex.Literal() | ex.Element() if _is_substring(index.items):
                return ex.Substring
        return ex.Unresolved

    def _of_name(self, index: ex.Index, found: ex.Symbol) -> type[ex.Index]:
        if found.is_data:
            return self._of_data(index, found)
        if found.is_called or found.origin is ex.Origin.INTRINSIC:
            is_special = isinstance(index, CheckedIndex | EagerChoice)
            return index.__class__ if is_special else ex.CallFunction
        return ex.StructureConstructor if found.sort is ex.Sort.TYPE else ex.Unresolved

    def _of_data(
        self, index: ex.Index, found: ex.Symbol, is_component: bool = False
    ) -> type[ex.Index]:
        if found.rank:
            return self._of_array(index) if found.rank == len(index.items) else ex.Unresolved
        is_text = isinstance(found.type, ScalarType) and (
            found.type.intrinsic is Intrinsic.CHARACTER
        )
        if is_text and _is_substring(index.items):
            return ex.Substring
        # A scalar with brackets that are no substring's is a function whose type is declared.
        is_own = found.origin in (ex.Origin.LOCAL, ex.Origin.DUMMY) and not is_component
        return ex.CallFunction if is_own else ex.Unresolved

    def _of_component(self, index: ex.Index, member: ex.Member) -> type[ex.Index]:
        if member.symbol is not None:
            return self._of_data(index, member.symbol, is_component=True)
        return ex.CallFunction if self.typing.is_binding(member) else ex.Unresolved

    def _of_array(self, index: ex.Index) -> type[ex.Index]:
        ranks = map(self.typing.subscript_rank, index.items)
        return ex.Element if all(rank == 0 for rank in ranks) else ex.Section


def _is_substring(items: tuple[ex.Expr, ...]) -> bool:
    return len(items) == 1 and isinstance(items[0], ex.Range)
