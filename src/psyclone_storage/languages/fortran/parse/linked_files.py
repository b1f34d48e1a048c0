"""Name resolution for a whole file: the entity of each name and the meaning of its brackets.

Every unit counts: main programs, modules, submodules, and all procedures. A name is looked up in
the unit, in its imports, in the enclosing units with their imports, and in the language. A
submodule sees the declarations of the module that it belongs to. The declarations of an
intermediate submodule are not read, and may define any name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir.expr import Origin, Sort, Symbol
from psyclone_storage.ir.linking import Linker
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import rewritten
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    KernelModule,
    Routine,
    SourceFile,
    UseStatement,
)
from psyclone_storage.ir.scopes import seen_procedures
from psyclone_storage.ir.symbols import ModuleSymbols, Procedure, SymbolTable, declared_symbol
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Opaque
from psyclone_storage.languages.fortran.parse.body import procedure_of
from psyclone_storage.languages.fortran.parse.module_symbols import read_scope_symbols
from psyclone_storage.languages.fortran.parse.resolve import (
    LookedUpNames,
    declared_elsewhere,
    intrinsic_symbol,
)
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.sources.module_finder import ModuleFinder

_OF_SUBMODULE = regex(r"submodule\s*\(\s*(?P<module>\w+)\s*(?P<between>:)?", re.IGNORECASE)
_SAYS_NO_SHAPE = regex(
    r"(?:type\b\s*(?!\()|(?:abstract\s+)?interface\b|implicit\b|import\b|public\b|private\b|save\b"
    r"|enum\b|procedure\b|generic\b|external\b|intrinsic\b|data\b|namelist\b|parameter\b|#)",
    re.IGNORECASE,
)
_Key = TypeVar("_Key")
_NOTHING = ModuleSymbols("", {}, ())


def link_file(file: SourceFile, finder: ModuleFinder) -> SourceFile:
    """Return `file` with a symbol for each name in its units, and brackets told apart.

    The module of each unit describes its surroundings, for analyses of its statements.
    """
    symbols = read_scope_symbols(file.source)
    scopes = {scope.place.start: scope for scope in read_scopes(file.source).scopes}
    found = _FileScopes(finder, symbols, scopes)
    units = tuple(
        _linked(item, _Seen(item, None, found)) if isinstance(item, Routine) else item
        for item in file.units
    )
    return replace(file, units=units)


def _linked(unit: Routine, seen: _Seen) -> Routine:
    linker = Linker(seen.symbol, seen.structure)
    contained = tuple(
        _linked(item, seen.inside(item)) if isinstance(item, Routine) else item
        for item in unit.contained
    )
    return replace(
        unit,
        specification=tuple(map(linker.specified, unit.specification)),
        body=rewritten(unit.body, lambda line: (linker.line(line),)),
        contained=contained,
        module=seen.surroundings(),
    )


@dataclass(frozen=True, slots=True)
class _FileScopes:
    """The modules of other files, and the declarations and scopes of this file, by their starts."""

    finder: ModuleFinder
    symbols: Mapping[int, ModuleSymbols]
    nodes: Mapping[int, ScopeNode]
    _procedures: dict[int, tuple[Procedure, ...]] = field(default_factory=dict)

    def node(self, unit: Routine) -> ScopeNode | None:
        """Return the scope of a unit, None for a main program without its first statement."""
        place = unit.place or unit.extent
        return None if place is None else self.nodes.get(place.start)

    def procedures(self, node: ScopeNode) -> tuple[Procedure, ...]:
        """Return the procedures that a scope contains."""
        start = node.place.start
        if start not in self._procedures:
            self._procedures[start] = tuple(map(procedure_of, node.procedures))
        return self._procedures[start]


class _LookedUp(Mapping[_Key, Symbol]):
    """The symbols that are known, and those that a function finds on request."""

    __slots__ = ("_find", "_known")

    def __init__(self, known: Mapping[_Key, Symbol], find: Callable[[_Key], Symbol | None]) -> None:
        self._known = known
        self._find = find

    def __getitem__(self, key: _Key) -> Symbol:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class _Seen(LookedUpNames):
    """The names that are seen inside of a unit.

    It `is_open` if something that is not read may declare any name here.
    """

    def __init__(
        self,
        unit: Routine,
        outer: _Seen | None,
        file: _FileScopes,
    ) -> None:
        self.unit = unit
        self._outer = outer
        self._file = file
        self._finder = finder = file.finder
        place = unit.place or unit.extent
        own = _NOTHING if place is None else file.symbols.get(place.start, _NOTHING)
        self._uses = own.uses or tuple(
            item.use for item in unit.specification if isinstance(item, UseStatement)
        )
        self._parent = ""
        self.is_open: bool = bool(own.included) or (outer is not None and outer.is_open)
        if found := _OF_SUBMODULE.match(unit.opening):
            self._parent = found["module"]
            around = finder.module(self._parent)
            self.is_open |= around is None or bool(around.included) or bool(found["between"])
        self._module = unit.name if unit.kind is ScopeKind.MODULE else ""
        opaque = [item for item in unit.specification if isinstance(item, Opaque)]
        unsaid = [item for item in opaque if not _SAYS_NO_SHAPE.match(item.text)]
        doubt = declared_elsewhere(unsaid, unit.body)
        super().__init__(_own_symbols(unit, own), doubt, unit.body)

    def inside(self, unit: Routine) -> _Seen:
        """Return the names visible inside of a procedure that this unit contains."""
        return _Seen(unit, self, self._file)

    def surroundings(self) -> KernelModule:
        """Return what the units around this one offer, and the names of other modules in it."""
        around = [] if self._outer is None else list(self._outer.outwards())
        units = [one.unit for one in around]
        outermost = units[-1] if units else self.unit
        extent, whole = self.unit.extent, outermost.extent
        assert extent is not None
        assert whole is not None
        nodes = [node for unit in units if (node := self._file.node(unit)) is not None]
        procedures = tuple(one for node in nodes for one in self._file.procedures(node))
        imported = [one for one in self._known.values() if one.origin is Origin.IMPORTED]
        return KernelModule(
            outermost.name,
            whole,
            extent,
            tuple(use for unit in units for use in unit.uses),
            tuple(item for unit in units for item in unit.declarations),
            seen_procedures(self.unit, procedures),
            frozenset(one.name for node in nodes for one in node.generics if one.name),
            constants=frozenset(one.key for one in imported if one.sort is Sort.CONSTANT),
            variables=tuple(one for one in imported if one.sort is Sort.VARIABLE),
            symbols=SymbolTable(
                _LookedUp(self._known, self.symbol),
                _LookedUp(self.structures, lambda key: self.structure(DerivedType(key[1], key[0]))),
                self.doubt,
            ),
        )

    def outwards(self) -> Iterator[_Seen]:
        """Yield the unit and those around it, the innermost first."""
        yield self
        if self._outer is not None:
            yield from self._outer.outwards()

    def looked_up(self, key: str) -> Symbol:
        """Return the entity of a name that the unit does not declare itself."""
        found = self._finder.imported(self._uses, key)
        if found is not None and found.is_resolved:
            return found
        host = None
        if self._outer is not None:
            host = self._outer.symbol(key)
        elif self._parent:
            host = self._finder.seen_in_submodule(self._parent, key)
        if host is not None and host.is_resolved and host.origin is not Origin.INTRINSIC:
            around = host.origin in (Origin.LOCAL, Origin.DUMMY)
            return replace(host, origin=Origin.HOST) if around else host
        own = None if self.is_open or self.lists(key) else intrinsic_symbol(key)
        return own or found or Symbol(key, key, Origin.UNRESOLVED)

    def lists(self, key: str) -> bool:
        """Return whether the name is imported explicitly, here or in an enclosing unit."""
        listed = any(name.key == key for use in self._uses for name in use.names)
        return listed or (self._outer is not None and self._outer.lists(key))

    def defined(self, type_: DerivedType) -> Symbol | None:
        """Return the definition of a derived type by the module that is said to have it."""
        if type_.module and type_.module != self._module.lower():
            found = self._finder.structure(type_.module, type_.name)
            if found is not None:
                return found
        own = self.symbol(type_.name)
        return own if own.sort is Sort.TYPE else None


def _own_symbols(unit: Routine, own: ModuleSymbols) -> dict[str, Symbol]:
    """Return the declarations of a unit, including its arguments, by key.

    For a main program without its first statement, only its declarations are available.
    """
    dummies = {name.lower() for name in unit.dummies}
    known = {key: Symbol(key, key, Origin.DUMMY) for key in dummies}
    if own is _NOTHING:
        items = [item for item in unit.specification if isinstance(item, DeclarationStatement)]
        declared = [declared_symbol(one, Origin.LOCAL) for item in items for one in item.declares]
        known |= {symbol.key: symbol for symbol in declared}
    for key, symbol in own.symbols.items():
        origin = Origin.DUMMY if key in dummies else Origin.LOCAL
        if symbol.is_called or unit.kind is ScopeKind.MODULE:
            origin = Origin.HOST
        known[key] = replace(symbol, origin=origin)
    return known
