"""Names in arguments of invokes, and in extents of dummy arguments, with their symbols.

A name is looked up in the scopes around the invoke, the innermost first, among what the file
defines, and in the language. What another module declares is not read, but for the values of
constants in subscripts and extents of arrays: a name that is imported says so and no more, and one
that nothing declares is `UNRESOLVED`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.frontend.fortran.module_symbols import symbol_of, uses_of
from psyclone_storage.ir.expr import Expr, Index, Member, Name, Origin, Range, Sort, Symbol
from psyclone_storage.ir.intrinsics import FUNCTIONS
from psyclone_storage.ir.linking import Linker
from psyclone_storage.ir.parsed import (
    Association,
    Declaration,
    ParsedAlgorithm,
    ParsedArgument,
    ParsedInvoke,
    ParsedStructure,
    Scope,
    ScopeKind,
    UsedName,
)
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Use

_MODULES = (ScopeKind.MODULE, ScopeKind.SUBMODULE)
_SORTS = {ScopeKind.SUBROUTINE: Sort.SUBROUTINE, ScopeKind.FUNCTION: Sort.FUNCTION}
_CONDITIONAL = regex(r"^[ \t]*#[ \t]*(?:if|define)", re.MULTILINE)

ImportedConstant = Callable[[Iterable[Use], str], Symbol | None]
"""Gives the constant of a name that is imported, with its value; None if it is not imported."""


def no_constant(_uses: Iterable[Use], _name: str) -> Symbol | None:
    """Return None: no module is read."""
    return None


def link_algorithm(
    algorithm: ParsedAlgorithm,
    structures: Mapping[str, Symbol],
    imported: ImportedConstant = no_constant,
) -> ParsedAlgorithm:
    """Return `algorithm` with the names in arguments of its invokes linked with their symbols.

    `structures` are derived types that are known wherever they are imported from, by their keys.
    """
    file = _FileNames(algorithm, structures, imported)
    return replace(algorithm, invokes=tuple(_linked(each, file) for each in algorithm.invokes))


def link_declarations(declarations: tuple[Declaration, ...]) -> tuple[Declaration, ...]:
    """Return the declarations of a routine with the names in their extents linked."""
    own = {item.key: symbol_of(item, Origin.LOCAL) for item in declarations}

    def symbol(name: str) -> Symbol:
        key = name.lower()
        return own.get(key) or _beyond(key)

    linker = Linker(symbol, lambda _type: None)
    return tuple(
        replace(item, shape=tuple(map(linker.expr, item.shape))) if item.shape else item
        for item in declarations
    )


def _linked(invoke: ParsedInvoke, file: _FileNames) -> ParsedInvoke:
    names = file.inside(invoke.scopes)

    def linked(given: ParsedArgument) -> ParsedArgument:
        return ParsedArgument(names.with_subscripts(names.linker.expr(given.expr)), given.span)

    calls = (replace(call, args=tuple(map(linked, call.args))) for call in invoke.calls)
    return replace(invoke, calls=tuple(calls))


class _SeenNames:
    """The names that can be seen from a place, and what joins expressions with them."""

    def __init__(self, file: _FileNames) -> None:
        self.file = file
        self.linker = Linker(self.symbol, file.structure, file.component)
        self._known: dict[str, Symbol] = {}

    def symbol(self, name: str) -> Symbol:
        """Return what `name` stands for here."""
        key = name.lower()
        if key not in self._known:
            self._known[key] = self._found(key)
        return self._known[key]

    def with_subscripts(self, expr: Expr) -> Expr:
        """Return a linked expression with the values of constants that its subscripts import."""
        expr = with_parts(expr, self.with_subscripts)
        if not isinstance(expr, Index):
            return expr
        return replace(expr, items=tuple(map(self.with_values, expr.items)))

    def with_values(self, expr: Expr) -> Expr:
        """Return a linked expression with the values of constants that are imported."""
        match expr:
            case Name(symbol=Symbol(origin=Origin.IMPORTED | Origin.UNRESOLVED) as symbol):
                found = self.constant(expr.key)
                return Name(expr.text, replace(symbol, value=found.value)) if found else expr
        return with_parts(expr, self.with_values)

    def constant(self, key: str) -> Symbol | None:
        """Return the constant that is imported as `key`, None if that is not known."""
        raise NotImplementedError

    def is_declared(self, key: str) -> bool:
        """Return whether `key` may be declared or imported by its name here."""
        raise NotImplementedError

    def _found(self, key: str) -> Symbol:
        raise NotImplementedError


class _FileNames(_SeenNames):
    """What an algorithm file defines, and the places in it."""

    def __init__(
        self,
        algorithm: ParsedAlgorithm,
        structures: Mapping[str, Symbol],
        imported: ImportedConstant,
    ) -> None:
        self.imported = imported
        self.is_conditional = bool(_CONDITIONAL.search(algorithm.source.text))
        own = {one.key: _structure(one) for one in algorithm.types}
        self._structures = {**structures, **own}
        self._components: dict[str, list[Symbol]] = {}
        for structure in own.values():
            for item in structure.components:
                self._components.setdefault(item.key, []).append(item)
        self._names = {scope.key: _procedure(scope) for scope in algorithm.scopes} | own
        self._places: dict[tuple[int, ...], _SeenNames] = {(): self}
        super().__init__(self)

    def inside(self, scopes: tuple[Scope, ...]) -> _SeenNames:
        """Return the names that are seen in the innermost of `scopes`, which comes first."""
        address = tuple(scope.span.start for scope in scopes)
        if address not in self._places:
            self._places[address] = _ScopeNames(scopes[0], self.inside(scopes[1:]))
        return self._places[address]

    def structure(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type, None where it is not known."""
        return self._structures.get(type_.name)

    def component(self, key: str) -> Symbol | None:
        """Return the component `key` of a structure whose type is not known.

        A name that only one type of the file has for a component tells as much.
        """
        found = self._components.get(key, [])
        alike = len({(item.type, item.rank) for item in found}) == 1
        return found[0] if alike else None

    def constant(self, key: str) -> Symbol | None:
        """Return None: outside of all scopes nothing is imported."""
        return None

    def is_declared(self, key: str) -> bool:
        """Return whether `key` is a procedure or type of the file."""
        return key in self._names

    def _found(self, key: str) -> Symbol:
        return self._names.get(key) or _beyond(key)


class _ScopeNames(_SeenNames):
    """One scope of a file, with what is seen from around it."""

    def __init__(self, scope: Scope, outer: _SeenNames) -> None:
        super().__init__(outer.file)
        self._outer = outer
        self._others = scope.others
        self._origin = Origin.HOST if scope.kind in _MODULES else Origin.LOCAL
        self._own: dict[str, Association | Declaration | UsedName] = {}
        self._modules: dict[str, str] = {}
        self._uses = uses_of(scope.uses)
        self._includes = scope.includes
        self._times: Counter[str] = Counter(one.key for one in scope.declarations)
        for association in scope.associations:
            self._own[association.key] = association
        for declaration in scope.declarations:
            self._own.setdefault(declaration.key, declaration)
        for use in scope.uses:
            for item in (*(use.only or ()), *use.renames):
                self._modules[item.key] = use.module_key
                self._own.setdefault(item.key, item)
                self._times[item.key] += 1

    def _found(self, key: str) -> Symbol:
        match self._own.get(key):
            case Association() as item:
                return self._associated(item)
            case Declaration() as item:
                return self._declared(symbol_of(item, self._origin))
            case UsedName() as item:
                module = self._modules[key]
                return Symbol(key, item.original, Origin.IMPORTED, module=module)
        if key in self._others:
            return Symbol(key, key, self._origin)
        return self._outer.symbol(key)

    def constant(self, key: str) -> Symbol | None:
        """Return the constant that is imported as `key`, None if that is not known."""
        is_declared = isinstance(self._own.get(key), Association | Declaration)
        if is_declared or key in self._others or self._includes or self._is_ambiguous(key):
            return None
        return self.file.imported(self._uses, key) or self._outer.constant(key)

    def is_declared(self, key: str) -> bool:
        """Return whether `key` may be declared or imported by its name here."""
        return key in self._own or key in self._others or self._outer.is_declared(key)

    def _is_ambiguous(self, key: str) -> bool:
        """Return whether the preprocessor chooses which of several things a name is."""
        several = self._times[key] > 1 or (key in self._own and self._outer.is_declared(key))
        return several and self.file.is_conditional

    def _declared(self, symbol: Symbol) -> Symbol:
        """Return the symbol of a declaration with the names in its extents and value linked."""
        self._known[symbol.key] = replace(symbol, value=None)
        shape = tuple(self.with_values(self.linker.expr(extent)) for extent in symbol.shape)
        if symbol.value is None or self._includes or self._is_ambiguous(symbol.key):
            return replace(symbol, shape=shape, value=None)
        return replace(symbol, shape=shape, value=self.with_values(self.linker.expr(symbol.value)))

    def _associated(self, item: Association) -> Symbol:
        """Return what a name stands for that an `associate` construct gives to an expression."""
        selector = self._outer.linker.expr(item.expr)
        typing = self._outer.linker.typing
        type_, rank = typing.type_of(selector), typing.rank_of(selector)
        found = _designated(selector)
        if type_ is None or rank is None:
            return Symbol(item.key, item.name, Origin.LOCAL, span=item.span)
        is_whole = found is not None and rank == found.rank and not isinstance(selector, Index)
        shape = found.shape if found and is_whole else (Range(),) * rank
        place = found.span if found else item.span
        return Symbol(item.key, item.name, Origin.LOCAL, Sort.VARIABLE, type_, shape, span=place)


def _designated(expr: Expr) -> Symbol | None:
    """Return what an expression is, or is a part of: a variable or a component."""
    while isinstance(expr, Index):
        expr = expr.base
    return expr.symbol if isinstance(expr, Name | Member) else None


def _beyond(key: str) -> Symbol:
    """Return what a name stands for that the file does not declare."""
    if key in FUNCTIONS:
        return Symbol(key, key, Origin.INTRINSIC, Sort.FUNCTION)
    return Symbol(key, key, Origin.UNRESOLVED)


def _procedure(scope: Scope) -> Symbol:
    return Symbol(scope.key, scope.name, Origin.HOST, _SORTS.get(scope.kind, Sort.UNKNOWN))


def _structure(found: ParsedStructure) -> Symbol:
    components = tuple(symbol_of(item, Origin.HOST) for item in found.components)
    type_ = DerivedType(found.key)
    return Symbol(
        found.key, found.name, Origin.HOST, Sort.TYPE, type_, components=components, span=found.span
    )
