"""Name resolution for a whole file: the entity of each name, and array versus function.

All units are included: main programs, modules, submodules, and all procedures. A name is looked up
in the unit, in its imports, in the enclosing units with their imports, and among the intrinsics. A
submodule uses the declarations of its ancestor module. The declarations of an intermediate
submodule are not read, so it may define any name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Origin, Sort, Symbol
from psyclone_storage.ir.linking import Linker
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import rewritten
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    KernelModule,
    ModuleContext,
    Routine,
    SourceFile,
)
from psyclone_storage.ir.scopes import seen_procedures
from psyclone_storage.ir.symbols import ModuleSymbols, Procedure, SymbolTable, declared_symbol
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Opaque
from psyclone_storage.languages.fortran.parse.body import procedure_of
from psyclone_storage.languages.fortran.parse.included_items import with_included_items
from psyclone_storage.languages.fortran.parse.module_symbols import read_scope_symbols
from psyclone_storage.languages.fortran.parse.resolve import (
    NameScope,
    OwnNames,
    declared_elsewhere,
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


def link_file(
    file: SourceFile, finder: ModuleFinder, context: ModuleContext | None = None
) -> SourceFile:
    """Return `file` with all names linked to symbols.

    References with parentheses are classified as array elements or function calls. Analyses of
    statements use the module record of each unit, which includes the `context`.
    """
    linking = _FileLinker(file.source, finder, context)
    units = tuple(
        linking.linked(item, ()) if isinstance(item, Routine) else item for item in file.units
    )
    return replace(file, units=units)


class _LookedUp(Mapping[_Key, Symbol]):
    """Mapping of symbols that calls a function for keys not yet known."""

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


class _FileLinker:
    """Linker of a file, with its declarations and scopes by start offset."""

    def __init__(
        self, source: SourceText, finder: ModuleFinder, context: ModuleContext | None
    ) -> None:
        self._finder = finder
        self._context = context
        self._source = source
        self._symbols = read_scope_symbols(source)
        self._nodes = {scope.place.start: scope for scope in read_scopes(source).scopes}
        self._procedures: dict[int, tuple[Procedure, ...]] = {}

    def linked(self, unit: Routine, around: tuple[tuple[Routine, NameScope], ...]) -> Routine:
        """Return a unit with its names linked.

        `around` contains the enclosing units with scopes.
        """
        unit, included = with_included_items(unit, self._source, self._finder)
        scope = NameScope(
            self._own_names(unit, included),
            self._finder,
            around[0][1] if around else None,
            unit.body,
        )
        inner = ((unit, scope), *around)
        linker = Linker(scope.symbol, scope.structure)
        contained = tuple(
            self.linked(item, inner) if isinstance(item, Routine) else item
            for item in unit.contained
        )
        return replace(
            unit,
            specification=tuple(map(linker.specified, unit.specification)),
            body=rewritten(unit.body, lambda line: (linker.line(line),)),
            contained=contained,
            module=self._surroundings(unit, scope, tuple(one for one, _ in around)),
        )

    def _own_names(self, unit: Routine, included: tuple[str, ...]) -> OwnNames:
        """Return the names that a unit declares; `included` are the files that were read."""
        own = self._symbols.get(_start(unit), _NOTHING)
        if included and own is not _NOTHING:
            others = tuple(name for name in own.included if name not in included)
            own = self._finder.with_declarations(own, included, self._source)
            own = replace(own, included=(*own.included, *others))
        opaque = [item for item in unit.specification if isinstance(item, Opaque)]
        unsaid = [item for item in opaque if not _SAYS_NO_SHAPE.match(item.text)]
        names = OwnNames(
            _own_symbols(unit, own),
            own.uses or unit.uses,
            declared_elsewhere(unsaid, unit.body),
            unit.key if unit.kind is ScopeKind.MODULE else "",
            is_open=bool(own.included),
        )
        found = _OF_SUBMODULE.match(unit.opening)
        if found is None:
            return names
        home = self._finder.module(found["module"])
        is_open = home is None or bool(home.included) or bool(found["between"])
        return replace(names, parent=found["module"], is_open=names.is_open or is_open)

    def _surroundings(
        self, unit: Routine, scope: NameScope, around: tuple[Routine, ...]
    ) -> KernelModule:
        """Return the declarations of the enclosing units and the imported names used in a unit."""
        outermost = around[-1] if around else unit
        extent, whole = unit.extent, outermost.extent
        assert extent is not None
        assert whole is not None
        nodes = [node for one in around if (node := self._nodes.get(_start(one))) is not None]
        procedures = tuple(one for node in nodes for one in self._procedures_in(node))
        imported = [one for one in scope.known.values() if one.origin is Origin.IMPORTED]
        return KernelModule(
            outermost.name,
            whole,
            extent,
            tuple(use for one in around for use in one.uses),
            tuple(item for one in around for item in one.declarations),
            seen_procedures(unit, procedures),
            frozenset(one.name for node in nodes for one in node.generics if one.name),
            constants=frozenset(one.key for one in imported if one.sort is Sort.CONSTANT),
            variables=tuple(one for one in imported if one.sort is Sort.VARIABLE),
            symbols=SymbolTable(
                _LookedUp(scope.known, scope.symbol),
                _LookedUp(
                    scope.structures, lambda key: scope.structure(DerivedType(key[1], key[0]))
                ),
                scope.doubt,
            ),
            context=self._context,
        )

    def _procedures_in(self, node: ScopeNode) -> tuple[Procedure, ...]:
        start = node.place.start
        if start not in self._procedures:
            self._procedures[start] = tuple(map(procedure_of, node.procedures))
        return self._procedures[start]


def _start(unit: Routine) -> int:
    """Return the start offset of a unit in its file."""
    place = unit.place or unit.extent
    assert place is not None
    return place.start


def _own_symbols(unit: Routine, own: ModuleSymbols) -> dict[str, Symbol]:
    """Return the declarations of a unit, including its dummy arguments, by key.

    A main program without a `program` statement provides only its declarations.
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
