"""Linking of names in invoke arguments and in extents of dummy arguments to symbols.

A name is looked up in the scopes around the invoke, starting with the innermost, in the rest of the
file, and among the intrinsics. Other modules are read only for the values of constants in
subscripts and array extents. Hence an imported name has no type, and an undeclared name has the
origin `UNRESOLVED`.

A value or bound is known only if its declaration is certain. No preprocessor conditional,
construct, implicit declaration or import may replace the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import parsed
from psyclone_storage.ir.intrinsics import FUNCTIONS
from psyclone_storage.ir.linking import Linker
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Use
from psyclone_storage.languages.fortran.parse.comments import is_preprocessed
from psyclone_storage.languages.fortran.parse.complete_types import CompleteType, CompleteTypes
from psyclone_storage.languages.fortran.parse.module_symbols import symbol_of, uses_of

_MODULES = (parsed.ScopeKind.MODULE, parsed.ScopeKind.SUBMODULE)
_SORTS = {
    parsed.ScopeKind.SUBROUTINE: ex.Sort.SUBROUTINE,
    parsed.ScopeKind.FUNCTION: ex.Sort.FUNCTION,
}

ImportedConstant = Callable[[Iterable[Use], str], ex.Symbol | None]
"""Gives the constant of a name that is imported, with its value; None if it is not imported."""


def no_constant(_uses: Iterable[Use], _name: str) -> ex.Symbol | None:
    """Return None: no other module is read."""
    return None


def no_type(_module: str, _name: str, _component: str) -> ex.Symbol | None:
    """Return None: no other module is read."""
    return None


def link_algorithm(
    algorithm: parsed.ParsedAlgorithm,
    structures: Mapping[str, ex.Symbol],
    imported: ImportedConstant = no_constant,
    complete_type: CompleteType = no_type,
) -> parsed.ParsedAlgorithm:
    """Return `algorithm` with the names in invoke arguments linked to symbols.

    `structures` contains derived types by key, known independently of the module that exports them.
    A component that the type of its variable certainly lacks gets an unresolved symbol, which
    contains the parts of the type.
    """
    file = _FileNames(algorithm, structures, imported)
    types = CompleteTypes(algorithm, complete_type)
    return replace(
        algorithm, invokes=tuple(_linked(each, file, types) for each in algorithm.invokes)
    )


def link_declarations(
    declarations: tuple[parsed.Declaration, ...],
) -> tuple[parsed.Declaration, ...]:
    """Return the declarations of a routine with the names in their extents linked."""
    own = {item.key: symbol_of(item, ex.Origin.LOCAL) for item in declarations}

    def symbol(name: str) -> ex.Symbol:
        key = name.lower()
        return own.get(key) or _beyond(key)

    linker = Linker(symbol, lambda _type: None)
    return tuple(
        replace(item, shape=tuple(map(linker.expr, item.shape))) if item.shape else item
        for item in declarations
    )


def _linked(
    invoke: parsed.ParsedInvoke, file: _FileNames, types: CompleteTypes
) -> parsed.ParsedInvoke:
    names = file.inside(invoke.scopes)

    def linked(given: parsed.ParsedArgument) -> parsed.ParsedArgument:
        expr = names.with_subscripts(names.linker.expr(given.expr))
        return parsed.ParsedArgument(types.with_missing(expr, names.linker.typing), given.span)

    calls = (replace(call, args=tuple(map(linked, call.args))) for call in invoke.calls)
    return replace(invoke, calls=tuple(calls))


class _SeenNames:
    """Names visible at a location, and the linker for expressions with these names."""

    def __init__(self, file: _FileNames) -> None:
        self.file = file
        self.linker = Linker(self.symbol, file.structure, file.component)
        self._known: dict[str, ex.Symbol] = {}

    def symbol(self, name: str) -> ex.Symbol:
        """Return the entity that `name` denotes at this location."""
        key = name.lower()
        if key not in self._known:
            self._known[key] = self._found(key)
        return self._known[key]

    def with_subscripts(self, expr: ex.Expr) -> ex.Expr:
        """Return a linked expression with values for the imported constants in its subscripts."""
        expr = with_parts(expr, self.with_subscripts)
        if not isinstance(expr, ex.Index):
            return expr
        return replace(expr, items=tuple(map(self.with_values, expr.items)))

    def with_values(self, expr: ex.Expr) -> ex.Expr:
        """Return a linked expression with values for imported constants."""
        match expr:
            case ex.Name(
                symbol=ex.Symbol(origin=ex.Origin.IMPORTED | ex.Origin.UNRESOLVED) as symbol
            ):
                found = self.constant(expr.key)
                return ex.Name(expr.text, replace(symbol, value=found.value)) if found else expr
        return with_parts(expr, self.with_values)

    def constant(self, key: str) -> ex.Symbol | None:
        """Return the constant imported as `key`, or None if it is unknown."""
        raise NotImplementedError

    def _found(self, key: str) -> ex.Symbol:
        raise NotImplementedError


class _FileNames(_SeenNames):
    """Definitions in an algorithm file, and the visible names for each location."""

    def __init__(
        self,
        algorithm: parsed.ParsedAlgorithm,
        structures: Mapping[str, ex.Symbol],
        imported: ImportedConstant,
    ) -> None:
        self.imported = imported
        self.is_preprocessed = is_preprocessed(algorithm.source)
        own: dict[str, ex.Symbol] = {}
        self._structures = structures
        self._own: dict[str, list[ex.Symbol]] = {}
        self._components: dict[str, list[ex.Symbol]] = {}
        for found in algorithm.types:
            structure = own[found.key] = _structure(found)
            self._own.setdefault(found.key, []).append(structure)
            for item in structure.components:
                self._components.setdefault(item.key, []).append(item)
        self._names = {scope.key: _procedure(scope) for scope in algorithm.scopes} | own
        self._places: dict[tuple[int, ...], _SeenNames] = {(): self}
        super().__init__(self)

    def inside(self, scopes: tuple[parsed.Scope, ...]) -> _SeenNames:
        """Return the names visible in `scopes`, which start with the innermost scope."""
        address = tuple(scope.span.start for scope in scopes)
        if address not in self._places:
            self._places[address] = _ScopeNames(scopes[0], self.inside(scopes[1:]))
        return self._places[address]

    def structure(self, type_: DerivedType) -> ex.Symbol | None:
        """Return the definition of a derived type, or None if it is unknown.

        Modules of the file may define different types of one name.
        """
        own = self._own.get(type_.name, [])
        if type_.module is not None:
            own = [one for one in own if one.module == type_.module]
        if own:
            return own[0] if len(own) == 1 else None
        return self._structures.get(type_.name)

    def component(self, key: str) -> ex.Symbol | None:
        """Return the component `key` of a structure with an unknown type.

        The function returns None unless all types of the file with such a component agree on its
        type and rank. The bounds of the component are unknown.
        """
        found = self._components.get(key, [])
        alike = len({(item.type, item.rank) for item in found}) == 1
        return _without_values(found[0]) if alike else None

    def constant(self, key: str) -> ex.Symbol | None:
        """Return None, because nothing is imported outside all scopes."""
        return None

    def _found(self, key: str) -> ex.Symbol:
        return self._names.get(key) or _beyond(key)


class _ScopeNames(_SeenNames):
    """Scope of a file, with the names visible from the enclosing scopes."""

    def __init__(self, scope: parsed.Scope, outer: _SeenNames) -> None:
        super().__init__(outer.file)
        self._outer = outer
        self._scope = scope
        self._origin = ex.Origin.HOST if scope.kind in _MODULES else ex.Origin.LOCAL
        self._own: dict[str, parsed.Association | parsed.Declaration | parsed.UsedName] = {}
        self._modules: dict[str, str] = {}
        self._uses = uses_of(scope.uses)
        for association in scope.associations:
            self._own[association.key] = association
        for declaration in scope.declarations:
            self._own.setdefault(declaration.key, declaration)
        for use in scope.uses:
            for item in (*(use.only or ()), *use.renames):
                self._modules[item.key] = use.module_key
                self._own.setdefault(item.key, item)

    def _found(self, key: str) -> ex.Symbol:
        match self._own.get(key):
            case parsed.Association() as item:
                return self._associated(item)
            case parsed.Declaration() as item:
                return self._declared(item)
            case parsed.UsedName() as item:
                module = self._modules[key]
                return ex.Symbol(key, item.original, ex.Origin.IMPORTED, module=module)
        if key in self._scope.others:
            return ex.Symbol(key, key, self._origin)
        if key in self._scope.untyped:
            return ex.Symbol(key, key, ex.Origin.UNRESOLVED)
        return self._from_outside(self._outer.symbol(key))

    def _from_outside(self, symbol: ex.Symbol) -> ex.Symbol:
        """Return a symbol of the enclosing scope, reduced if an import or include may hide it."""
        if not symbol.is_data:
            return symbol
        offered = self.file.imported(self._uses, symbol.key)
        if offered is not None and offered.is_resolved:
            return ex.Symbol(symbol.key, symbol.key, ex.Origin.UNRESOLVED)
        return _without_values(symbol) if offered or self._scope.includes else symbol

    def constant(self, key: str) -> ex.Symbol | None:
        """Return the constant imported as `key`, or None if it is unknown."""
        is_declared = isinstance(self._own.get(key), parsed.Association | parsed.Declaration)
        hidden = is_declared or key in self._scope.others or key in self._scope.untyped
        if hidden or self._scope.includes or self.file.is_preprocessed:
            return None
        return self.file.imported(self._uses, key) or self._outer.constant(key)

    def _declared(self, item: parsed.Declaration) -> ex.Symbol:
        """Return the symbol of a declaration with the names in its extents and value linked."""
        symbol = symbol_of(item, self._origin)
        if self.file.is_preprocessed:
            same = (one for one in self._scope.declarations if one.key == item.key)
            alike = len({(one.type, one.rank) for one in same}) == 1
            return (
                _without_values(symbol) if alike else ex.Symbol(item.key, item.name, self._origin)
            )
        self._known[symbol.key] = replace(symbol, value=None)
        shape = tuple(self.with_values(self.linker.expr(extent)) for extent in symbol.shape)
        if symbol.value is None or self._scope.includes:
            return replace(symbol, shape=shape, value=None)
        return replace(symbol, shape=shape, value=self.with_values(self.linker.expr(symbol.value)))

    def _associated(self, item: parsed.Association) -> ex.Symbol:
        """Return the symbol of an associate name, with its selector as value."""
        unknown = ex.Symbol(item.key, item.name, ex.Origin.LOCAL, span=item.span)
        around = self._outer if self._scope.kind is parsed.ScopeKind.ASSOCIATE else self
        self._known[item.key] = unknown
        selector = around.with_subscripts(around.linker.expr(item.expr))
        unknown = replace(unknown, attributes=(ex.ASSOCIATED,), value=selector)
        if around is self:
            return unknown
        typing = self._outer.linker.typing
        type_, rank = typing.type_of(selector), typing.rank_of(selector)
        found = _designated(selector)
        if type_ is None or rank is None:
            return unknown
        is_whole = found is not None and rank == found.rank and not isinstance(selector, ex.Index)
        shape = found.shape if found and is_whole else (ex.Range(),) * rank
        place = found.span if found else item.span
        return replace(unknown, sort=ex.Sort.VARIABLE, type=type_, shape=shape, span=place)


def _designated(expr: ex.Expr) -> ex.Symbol | None:
    """Return the symbol of the variable or component of which `expr` is a part."""
    while isinstance(expr, ex.Index):
        expr = expr.base
    return expr.symbol if isinstance(expr, ex.Name | ex.Member) else None


def _without_values(symbol: ex.Symbol) -> ex.Symbol:
    """Return a symbol with unknown value and bounds."""
    return replace(symbol, shape=(ex.Range(),) * symbol.rank, value=None)


def _beyond(key: str) -> ex.Symbol:
    """Return the entity of a name not declared in the file: an intrinsic, or unresolved."""
    if key in FUNCTIONS:
        return ex.Symbol(key, key, ex.Origin.INTRINSIC, ex.Sort.FUNCTION)
    return ex.Symbol(key, key, ex.Origin.UNRESOLVED)


def _procedure(scope: parsed.Scope) -> ex.Symbol:
    return ex.Symbol(scope.key, scope.name, ex.Origin.HOST, _SORTS.get(scope.kind, ex.Sort.UNKNOWN))


def _structure(found: parsed.ParsedStructure) -> ex.Symbol:
    components = tuple(symbol_of(item, ex.Origin.HOST) for item in found.components)
    if is_preprocessed(found.span.source):
        components = tuple(map(_without_values, components))
    type_ = DerivedType(found.key)
    return ex.Symbol(
        found.key,
        found.name,
        ex.Origin.HOST,
        ex.Sort.TYPE,
        type_,
        module=found.module or "",
        components=components,
        span=found.span,
    )
