"""Name resolution for a routine: the entity of each name, and array versus function.

A name is looked up in the routine, in its imports, in the enclosing units with their imports, and
among the intrinsics. A name that is not found has the origin `UNRESOLVED`. With parentheses it is
represented by `Unresolved`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Origin, Range, Sort, Symbol
from psyclone_storage.ir.intrinsics import PROCEDURES, PURE
from psyclone_storage.ir.linking import Linker, linked
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import STATEMENT_FUNCTION, Routine, Specified
from psyclone_storage.ir.scopes import (
    imports_of,
    local_names,
    surroundings,
)
from psyclone_storage.ir.symbols import ModuleSymbols, Procedure, SymbolTable, declared_symbol
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Associate, Declare, Line, Opaque, ScopedBlock, Select, Use
from psyclone_storage.languages.fortran.parse.module_symbols import symbol_of
from psyclone_storage.languages.fortran.parse.spec_statements import read_declarations
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.sources.module_finder import ModuleFinder


def resolve_code(code: Routine, finder: ModuleFinder) -> Routine:
    """Return `code` with names linked to symbols, and array and function references separated."""
    home = finder.of_source(code.module.source, code.module.name)
    scope = _scope_of(code, home, finder)
    used = code.used_names
    table = {key: scope.symbol(key) for key in used}
    around = {name.local.lower(): scope.symbol(name.local) for _, name in imports_of(code)}
    imports = _imports(code, finder, used)
    there = _on_device(scope, home, finder, used)
    module = replace(
        code.module,
        constants=imports.constants,
        variables=imports.variables,
        unresolved=imports.unresolved,
        symbols=SymbolTable({**around, **table}, scope.structures, scope.doubt),
        on_device=frozenset(there),
        known=(*code.module.known, *(one for one in there.values() if one is not None)),
    )
    helpers = tuple(resolve_code(one, finder) for one in code.kernel_use.helpers)
    use = replace(code.kernel_use, helpers=helpers)

    def structure(type_: DerivedType) -> Symbol | None:
        return scope.structure(type_) or code.structure(type_)

    return linked(replace(code, module=module, kernel_use=use), structure)


def _scope_of(code: Routine, home: ModuleSymbols | None, finder: ModuleFinder) -> NameScope:
    """Return the scope of a procedure.

    `home` contains the symbols of its module, or equals None.
    """
    opaque = (item for item in code.declarations if isinstance(item, Opaque))
    own = OwnNames(dict(_local_symbols(code)), code.uses, declared_elsewhere(opaque, code.body))
    known = {} if home is None else home.symbols
    uses = () if home is None else home.uses
    is_open = home is not None and bool(home.included)
    around = OwnNames(known, uses, module=code.module.key, is_open=is_open)
    return NameScope(own, finder, NameScope(around, finder), code.body)


@dataclass(frozen=True, slots=True)
class OwnNames:
    """Names declared in a unit, by key, and its imports.

    - `doubt`: names with incomplete declarations.

    - `module`: the key of the module.

    - `parent`: the ancestor module of a submodule.

    - `is_open`: an unread file may declare further names.
    """

    symbols: Mapping[str, Symbol]
    uses: tuple[Use, ...]
    doubt: frozenset[str] = frozenset()
    module: str = ""
    parent: str = ""
    is_open: bool = False


class NameScope:
    """Scope of a unit, which caches the entities of names used in it.

    `body` is searched for `associate` constructs.
    """

    def __init__(
        self,
        own: OwnNames,
        finder: ModuleFinder,
        outer: NameScope | None = None,
        body: tuple[Line, ...] = (),
    ) -> None:
        self.own = own
        self.doubt = own.doubt
        self.known = dict(own.symbols)
        self.structures: dict[tuple[str, str], Symbol] = {}
        self._finder = finder
        self._outer = outer
        self._typing = Typing(self.symbol, self.structure)
        self._name_associated(body)

    @property
    def is_open(self) -> bool:
        """True if an unread file may declare further names in this scope."""
        return self.own.is_open or (self._outer is not None and self._outer.is_open)

    def symbol(self, name: str) -> Symbol:
        """Return the entity that `name` denotes in this scope."""
        key = name.lower()
        if key in self.doubt:
            return Symbol(key, name, Origin.UNRESOLVED)
        if key not in self.known:
            self.known[key] = self._looked_up(key)
        return self.known[key]

    def structure(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type used in a declaration, or None if unknown."""
        place = (type_.module or "", type_.name)
        if place not in self.structures:
            found = self._defined(type_)
            if found is None:
                return None
            self.structures[place] = found
        return self.structures[place]

    def _looked_up(self, key: str) -> Symbol:
        """Return the entity of a name that is not declared in the unit itself."""
        found = self._finder.imported(self.own.uses, key)
        if found is not None and found.is_resolved:
            return found
        host = self._seen_around(key)
        if host is not None and host.origin is Origin.INTRINSIC:
            host = None
        if host is not None and found is not None and host.origin is Origin.IMPORTED:
            # A module that was not found may define the name, which then hides the outer import.
            return found
        if host is not None and host.is_resolved:
            around = host.origin in (Origin.LOCAL, Origin.DUMMY)
            return replace(host, origin=Origin.HOST) if around else host
        own = None if self.is_open or self.lists(key) else intrinsic_symbol(key)
        return own or found or host or Symbol(key, key, Origin.UNRESOLVED)

    def _seen_around(self, key: str) -> Symbol | None:
        if self._outer is not None:
            return self._outer.symbol(key)
        if self.own.parent:
            return self._finder.seen_in_submodule(self.own.parent, key)
        return None

    def lists(self, key: str) -> bool:
        """Return whether the name is imported explicitly, here or in an enclosing unit."""
        listed = any(name.key == key for use in self.own.uses for name in use.names)
        return listed or (self._outer is not None and self._outer.lists(key))

    def _defined(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type.

        The module given in the type is searched first.
        """
        if type_.module and not self.is_in(type_.module):
            found = self._finder.structure(type_.module, type_.name)
            if found is not None:
                return found
        own = self.symbol(type_.name)
        return own if own.sort is Sort.TYPE else None

    def is_in(self, module: str) -> bool:
        """Return whether the unit is the given module or inside it."""
        inside = self.own.module == module.lower()
        return inside or (self._outer is not None and self._outer.is_in(module))

    def _name_associated(self, body: tuple[Line, ...]) -> None:
        """Record the selector of each `associate` name with a known rank."""
        for line in walk_lines(body):
            if not isinstance(line, Associate):
                continue
            linker = Linker(self.symbol, self.structure)
            for name, selector in line.pairs:
                key, value = name.key, linker.expr(selector)
                rank = self._typing.rank_of(value)
                if key in self.known or rank is None:
                    self.doubt |= {key}
                    continue
                type_ = self._typing.type_of(value)
                shape = (Range(),) * rank
                self.known[key] = Symbol(key, name.text, Origin.LOCAL, Sort.VARIABLE, type_, shape)


def _on_device(
    scope: NameScope, home: ModuleSymbols | None, finder: ModuleFinder, keys: Iterable[str]
) -> dict[str, Procedure | None]:
    """Return which of `keys` directives place on a device: procedures, or None for variables."""
    found: dict[str, Procedure | None] = {}
    for key in keys:
        symbol = scope.symbol(key)
        there = home if symbol.origin is Origin.HOST else None
        if symbol.origin is Origin.IMPORTED:
            there = finder.module(symbol.module)
        if there is not None and symbol.name.lower() in there.on_device:
            one = there.on_device[symbol.name.lower()]
            found[key] = one and replace(one, name=key)
    return found


def intrinsic_symbol(key: str) -> Symbol | None:
    """Return the intrinsic procedure `key`, or None if there is no such intrinsic."""
    if key not in PROCEDURES:
        return None
    sort = Sort.FUNCTION if key in PURE else Sort.PROCEDURE
    return Symbol(key, key, Origin.INTRINSIC, sort)


# ---------------------------------------------------------------------------- local names


def _local_symbols(code: Routine) -> Iterator[tuple[str, Symbol]]:
    """Yield the local declarations of a subroutine, including those stored as text."""
    dummies = {name.lower() for name in code.dummies}
    internal = local_names(code) - dummies
    for key in internal:
        if code.internal is not None and key in code.internal.names:
            yield key, Symbol(key, key, Origin.LOCAL, Sort.PROCEDURE)
    for key in dummies:
        yield key, Symbol(key, key, Origin.DUMMY)
    for item in code.declarations:
        for symbol in _symbols_of(item):
            origin = Origin.DUMMY if symbol.key in dummies else Origin.LOCAL
            yield symbol.key, replace(symbol, origin=origin)


def _symbols_of(item: Specified) -> Iterator[Symbol]:
    if isinstance(item, Declare):
        yield declared_symbol(item, Origin.LOCAL)
    elif isinstance(item, Opaque):
        for statement in scan(SourceText("", item.text)):
            try:
                declared = read_declarations(statement)
            except CompileError:
                continue
            yield from (symbol_of(one, Origin.LOCAL) for one in declared)


def declared_elsewhere(opaque: Iterable[Opaque], body: tuple[Line, ...]) -> frozenset[str]:
    """Return the names whose declarations are incomplete.

    A statement such as `dimension` may add attributes. A block in `body` declares local names. The
    name of a statement function is declared like a scalar.
    """
    found: set[str] = set()
    for statement in opaque:
        if function := STATEMENT_FUNCTION.match(statement.text):
            found.add(function["name"].lower())
        elif not any(True for _ in _symbols_of(statement)):
            found |= statement.names
    for line in walk_lines(body):
        if isinstance(line, ScopedBlock):
            for item in line.declarations:
                found |= item.names if isinstance(item, Opaque) else set()
                found |= {item.name.lower()} if isinstance(item, Declare) else set()
        elif isinstance(line, Select) and line.alias:
            found.add(line.alias.key)
    return frozenset(found)


# ---------------------------------------------------------------------------- other modules


@dataclass(frozen=True, slots=True)
class _Imports:
    """Classified names that a subroutine uses from other modules."""

    constants: frozenset[str]
    variables: tuple[Symbol, ...]
    unresolved: frozenset[str]


def _imports(code: Routine, finder: ModuleFinder, used: frozenset[str]) -> _Imports:
    """Return the classified names that `code` uses from other modules.

    Constants include all constants that `code` or its module import by name, and those used from
    modules that are imported as a whole. Other classes contain only used names. A kind is always a
    constant.
    """
    listed = {
        name.local.lower(): finder.imported((use,), name.local) for use, name in imports_of(code)
    }
    whole = tuple(use for use in (*code.uses, *code.module.uses) if use.whole)
    kinds = code.used_kinds
    unknown = surroundings(code).unknown - kinds
    # A variable may have the name of a function of the language.
    words = (used & PURE) - local_names(code)
    others = {key: finder.imported(whole, key) for key in unknown | words}
    found = {**listed, **{key: others[key] for key in unknown}}
    found |= {key: item for key, item in others.items()
              if key in words and item and item.sort is Sort.VARIABLE}  # fmt: skip
    variables = tuple(
        replace(item, key=key)
        for key, item in sorted(found.items())
        if key in used and item is not None and item.sort is Sort.VARIABLE
    )
    lost = {key for key, item in found.items() if key in used and _is_lost(item, whole)}
    constants = {key for key, item in found.items() if item and item.sort is Sort.CONSTANT}
    return _Imports(frozenset(constants), variables, frozenset(lost - kinds))


def _is_lost(found: Symbol | None, whole: tuple[object, ...]) -> bool:
    """Return whether a name is unresolved, so that an unread module may define it."""
    return not whole if found is None else not found.is_resolved
