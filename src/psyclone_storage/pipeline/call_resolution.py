"""Resolution of calls: the module procedures that a call may execute, and their code.

Generic interfaces, type-bound procedures, defined operators and final procedures are resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from psyclone_storage.analysis.bodies.effects import (
    FINAL_PATTERN,
    OVERLOADS,
    ProcedureCall,
    module_of,
)
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.symbols import ModuleSymbols
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DataType, DerivedType
from psyclone_storage.ir.unit import Assign, Declare, Use
from psyclone_storage.languages.fortran.parse.called import (
    FINAL,
    bound_procedures,
    has_interface,
    read_operators,
    read_with_internal,
    specific_procedures,
    with_constructs,
)
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.fortran.parse.state import StateInText
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.overloads import (
    OPERATORS,
    has_default_target,
    is_overload,
    lists_overload,
    may_take,
    offers_overloads,
    sort_of,
)

_GAP = r"(?:[ \t]|&[ \t]*(?:![^\n]*)?\n(?:[ \t]*(?:![^\n]*)?\n)*[ \t]*&?)"
_GENERIC = regex(rf"\b(?:interface{_GAP}|generic\b[^:\n]*::){_GAP}*([a-z]\w*)")
"""A generic name; a statement may be continued."""


@dataclass(frozen=True, slots=True)
class ProcedurePlace:
    """Module procedure: its file, and the lower-case names of module and procedure."""

    source: SourceText = field(repr=False)
    module: str
    name: str


@dataclass(slots=True)
class CallResolver:
    """Finds the procedures that calls may execute, with cached results.

    - `finder`: finds modules.

    - `state`: scans the text of a procedure.
    """

    finder: ModuleFinder
    state: Callable[[SourceText, str, str], StateInText]
    _states: dict[ProcedurePlace, StateInText] = field(default_factory=dict)
    _interfaces: dict[SourceText, frozenset[str]] = field(default_factory=dict)
    _overloaded: dict[tuple[re.Pattern[str], str], bool] = field(default_factory=dict)
    _imports: dict[tuple[Use, ...], tuple[str, ...]] = field(default_factory=dict)
    _codes: dict[ProcedurePlace, tuple[Routine, ...]] = field(default_factory=dict)

    def state_of(self, place: ProcedurePlace) -> StateInText:
        """Return the result of scanning the text of a procedure with its included files."""
        if place not in self._states:
            source = self.finder.with_included(place.source)
            self._states[place] = self.state(source, place.module, place.name)
        return self._states[place]

    def offers(
        self, pattern: re.Pattern[str], source: SourceText, module: str, uses: tuple[Use, ...]
    ) -> bool:
        """Return whether a procedure's file, or a module that it imports, contains a pattern."""
        around = self.finder.of_source(source, module)
        uses = (*uses, *(around.uses if around else ()))
        if pattern.search(source.text):
            return True
        return any(self._has(pattern, one) for one in self.imported_modules(uses))

    def _has(self, pattern: re.Pattern[str], module: str) -> bool:
        key = pattern, module
        if key not in self._overloaded:
            paths = self.finder.index.module_candidates(module)
            texts = (self.finder.index.read(path).text for path in paths)
            lost = pattern is OVERLOADS and not paths and module not in INTRINSIC_MODULES
            self._overloaded[key] = lost or any(map(pattern.search, texts))
        return self._overloaded[key]

    def imported_modules(self, uses: tuple[Use, ...]) -> tuple[str, ...]:
        """Return the modules imported by `uses`, and the modules whose operators these export."""
        if uses not in self._imports:
            found = dict.fromkeys(key_of(use.module) for use in uses)
            queue = list(found)
            for name in queue:
                scope = self.finder.module(name)
                offered = (
                    [] if scope is None else [use for use in scope.uses if offers_overloads(use)]
                )
                new = [key_of(use.module) for use in offered if key_of(use.module) not in found]
                found |= dict.fromkeys(new)
                queue += new
            self._imports[uses] = tuple(found)
        return self._imports[uses]

    def in_module(
        self, symbol: ex.Symbol, source: SourceText | None, *, known_only: bool = False
    ) -> tuple[ProcedurePlace, ...]:
        """Return the procedures that a symbol of a module denotes, () if one is not found.

        `source` is the file of the module, None if the finder has to find it. With `known_only`,
        modules that are not found may extend a generic name.
        """
        module, name = symbol.module_key, key_of(symbol.name)
        source = source or self.finder.source_of(module)
        if source is None:
            return ()
        here = ProcedurePlace(source, module, name)
        is_generic = name in self._generics(source)
        if self.state_of(here).found and not is_generic:
            return (here,)
        around = self.finder.of_source(source, module)
        uses = () if around is None else around.uses
        found: list[ProcedurePlace] = []
        extended = self.finder.imported(uses, name) if is_generic else None
        if extended is not None and extended.module_key != module:
            found += self.in_module(extended, None)
            if not found and not known_only:
                return ()
        for one in specific_procedures(self.finder.with_included(source), module, name):
            own = None if around is None else around.symbols.get(one)
            if own is None:
                own = self.finder.imported(uses, one)
            inner: tuple[ProcedurePlace, ...] = ()
            if one == name:
                inner = (here,) if self.state_of(here).found else ()
            elif own is not None:
                inner = self.in_module(own, source if own.origin is ex.Origin.HOST else None)
            if not inner:
                return ()
            found += inner
        return tuple(found)

    def generics_of(
        self, module: str, uses: Iterable[Use], name: str
    ) -> tuple[tuple[str, str], ...]:
        """Return the interfaces that a name may denote in a scope: their modules and names there.

        The scope is in `module` and has `uses` in addition. A module that imports a generic name
        may extend it. The result is () for other names.
        """
        found: list[tuple[str, str]] = []
        seen: set[tuple[str, str]] = set()
        waiting = [(module, name), *self.finder.origins(uses, name)]
        while waiting:
            home, key = waiting.pop()
            source = None if (home, key) in seen else self.finder.source_of(home)
            seen.add((home, key))
            if source is None:
                continue
            text = self.finder.with_included(source)
            if key in self._generics(source) and has_interface(text, home, key):
                found.append((home, key))
            around = self.finder.of_source(source, home)
            waiting += () if around is None else self.finder.origins(around.uses, key)
        return tuple(found)

    def names(self, symbol: ex.Symbol) -> frozenset[str]:
        """Return the names of the procedures that a symbol of a module may denote.

        Those of external procedures in interfaces are among them.
        """
        found: set[str] = set()
        waiting = [symbol]
        seen: set[tuple[str, str]] = set()
        while waiting:
            one = waiting.pop()
            module, name = one.module_key, key_of(one.name)
            source = self.finder.source_of(module)
            found.add(name)
            if (module, name) in seen or source is None:
                continue
            seen.add((module, name))
            around = self.finder.of_source(source, module)
            uses = () if around is None else around.uses
            text = self.finder.with_included(source)
            inner = dict.fromkeys((*specific_procedures(text, module, name), name))
            found.update(inner)
            waiting += filter(None, (self.finder.imported(uses, each) for each in inner))
        return frozenset(found)

    def is_generic(self, place: ProcedurePlace) -> bool:
        """Return whether the name of a procedure is also generic in its file."""
        return place.name in self._generics(place.source)

    def _generics(self, source: SourceText) -> frozenset[str]:
        if source not in self._interfaces:
            text = key_of(self.finder.with_included(source).text)
            self._interfaces[source] = frozenset(_GENERIC.findall(text))
        return self._interfaces[source]

    def code(self, place: ProcedurePlace) -> tuple[Routine, ...]:
        """Return a procedure and its internal procedures; () if they cannot be read."""
        if place not in self._codes:
            try:
                read = read_with_internal(place.source, place.module, place.name)
                codes = tuple(resolve_code(with_constructs(code), self.finder) for code in read)
            except CompileError:
                codes = ()
            self._codes[place] = codes
        return self._codes[place]

    def is_overloaded(self, code: Routine) -> bool:
        """Return whether interfaces may overload the operators of intrinsic types."""
        module = code.module
        return not module.is_python and self.offers(OPERATORS, module.source, module.key, code.uses)

    def called(
        self, site: ProcedureCall, symbol: ex.Symbol | None, code: Routine
    ) -> tuple[ProcedurePlace, ...]:
        """Return the procedures that a call in `code` may execute, () if they are not found.

        `symbol` is that of the called name, None for a type-bound procedure.
        """
        source = code.module.source
        if symbol is None:
            return self._bound(site, code)
        if is_overload(symbol.key):
            return self._of_operator(site, symbol.key, code)
        if symbol.origin is ex.Origin.UNRESOLVED and symbol.module:
            symbol = self.finder.offered(symbol.module, symbol.name) or symbol
        if symbol.sort not in (ex.Sort.SUBROUTINE, ex.Sort.FUNCTION, ex.Sort.PROCEDURE):
            return ()
        return self.in_module(symbol, source if symbol.origin is ex.Origin.HOST else None)

    def _bound(self, site: ProcedureCall, code: Routine) -> tuple[ProcedurePlace, ...]:
        """Return the procedures bound to the called name by the type of an object."""
        member = site.procedure
        if not isinstance(member, ex.Member):
            return ()
        kind = Typing(code.symbol, code.structure).type_of(member.base)
        overrides: tuple[ProcedurePlace, ...] = ()
        while isinstance(kind, DerivedType):
            module = module_of(kind, code)
            source = self._source(module, code)
            around = None if source is None else self.finder.of_source(source, module)
            if source is None or around is None:
                return ()
            if self.is_open(site, code):
                overrides += self._overriding(around, source, kind, member.key)
            if targets := bound_procedures(source, kind.name, member.key):
                places = tuple(ProcedurePlace(source, module, one) for one in targets)
                found = all(self.state_of(one).found for one in places)
                return (*places, *overrides) if found else ()
            own = around.symbols.get(kind.name)
            if own is None or not own.extends:
                return ()
            parent = around.symbols.get(own.extends) or self.finder.imported(
                around.uses, own.extends
            )
            kind = DerivedType(key_of(parent.name), parent.module_key) if parent else None
        return ()

    def _source(self, module: str, code: Routine) -> SourceText | None:
        is_own = module == code.module.key
        return code.module.source if is_own else self.finder.source_of(module)

    def is_lost(self, site: ProcedureCall, code: Routine) -> bool:
        """Return whether a call without a known procedure may call a user procedure.

        Assignments and I/O are intrinsic, unless a missing module may define them.
        """
        if not isinstance(site.procedure, ex.Name) or not is_overload(site.procedure.key):
            return True
        if site.procedure.key.startswith("operator("):
            return True
        typing = Typing(code.symbol, code.structure)
        kinds = (typing.type_of(arg) for arg in site.args)
        homes = [module_of(kind, code) for kind in kinds if isinstance(kind, DerivedType)]
        homes += [
            key_of(use.module) for use in (*code.uses, *code.module.uses) if lists_overload(use)
        ]
        return any(self._source(home, code) is None for home in homes)

    def is_open(self, site: ProcedureCall, code: Routine) -> bool:
        """Return whether extensions of the declared type may bind another procedure."""
        member = site.procedure
        if not isinstance(member, ex.Member):
            return False
        typing = Typing(code.symbol, code.structure)
        base = member.base
        while isinstance(base, ex.Index):
            base = base.base
        symbol = code.symbol(base.key) if isinstance(base, ex.Name) else None
        if isinstance(base, ex.Member):
            symbol = typing.component(base)
        kind = typing.type_of(member.base)
        if symbol is None or "class" not in symbol.attributes or not isinstance(kind, DerivedType):
            return False
        source = self._source(module_of(kind, code), code)
        fixed = rf"\bprocedure\b.*\bnon_overridable\b.*::.*\b{re.escape(member.key)}\b"
        return source is None or re.search(fixed, source.text, re.IGNORECASE) is None

    def _overriding(
        self, around: ModuleSymbols, source: SourceText, kind: DerivedType, binding: str
    ) -> tuple[ProcedurePlace, ...]:
        """Return the procedures that extensions of a type in its module bind to a name."""
        extending = {kind.name}
        for _ in around.symbols:
            extending |= {key for key, one in around.symbols.items() if one.extends in extending}
        return tuple(
            ProcedurePlace(source, key_of(around.name), target)
            for name in sorted(extending - {kind.name})
            for target in bound_procedures(source, name, binding)
        )

    def _of_operator(
        self, site: ProcedureCall, name: str, code: Routine
    ) -> tuple[ProcedurePlace, ...]:
        """Return the procedures that a defined operator or assignment may call."""
        typing = Typing(code.symbol, code.structure)
        kinds = [typing.type_of(arg) for arg in site.args]
        homes = [home for kind in kinds for home, *_ in self._parts(kind, code)]
        uses = (*code.uses, *code.module.uses)
        modules = dict.fromkeys((code.module.key, *homes, *self.imported_modules(uses)))
        found: list[ProcedurePlace] = []
        for module in modules:
            source = self._source(module, code)
            if source is None or not OVERLOADS.search(source.text):
                continue
            found += self._overloading(source, module, name)
        places = (one for one in dict.fromkeys(found) if self.state_of(one).found)
        sorts = [kind and sort_of(kind, code) for kind in kinds]
        return tuple(one for one in places if may_take(self.code(one), sorts))

    def _overloading(self, source: SourceText, module: str, name: str) -> Iterator[ProcedurePlace]:
        """Yield the procedures of an operator in a module, including overriding ones."""
        around = self.finder.of_source(source, module)
        for procedure, bound_to in read_operators(source).get(name, ()):
            targets = bound_procedures(source, bound_to, procedure) if bound_to else (procedure,)
            yield from (ProcedurePlace(source, module, one) for one in targets)
            if bound_to and around is not None:
                yield from self._overriding(
                    around, source, DerivedType(bound_to, module), procedure
                )

    def finals(self, code: Routine) -> Iterator[ProcedurePlace]:
        """Yield the final procedures of a procedure's objects, and types with default targets."""
        targets = (line.target for line in walk_lines(code.body) if isinstance(line, Assign))
        set_whole = {target.key for target in targets if isinstance(target, ex.Name)}
        for item in code.declarations:
            if not isinstance(item, Declare) or not isinstance(item.type, DerivedType):
                continue
            if item.key in code.dummy_keys and not (
                "intent(out)" in item.words or item.key in set_whole
            ):
                continue
            for module, name, source in self._parts(item.type, code):
                if source is not None and has_default_target(name, source.text):
                    yield ProcedurePlace(source, module, name)
                if source is not None and FINAL_PATTERN.search(source.text):
                    for one in bound_procedures(source, name, FINAL):
                        yield ProcedurePlace(source, module, one)

    def _parts(
        self, kind: DataType | None, code: Routine
    ) -> Iterator[tuple[str, str, SourceText | None]]:
        """Yield a type, its parent types and the types of its components, with their modules."""
        queue = [(module_of(kind, code), kind.name)] if isinstance(kind, DerivedType) else []
        for module, name in queue:
            source = self._source(module, code)
            around = None if source is None else self.finder.of_source(source, module)
            yield module, name, source
            own = None if around is None else around.symbols.get(name)
            if around is not None and own is None:
                own = self.finder.imported(around.uses, name)
            if around is None or own is None:
                continue
            if own.module_key not in ("", module):
                queue += [home] if (home := (own.module_key, key_of(own.name))) not in queue else []
                continue
            types = (part.type for part in own.components)
            names = [one.name for one in types if isinstance(one, DerivedType)]
            for other in (*names, *([own.extends] if own.extends else ())):
                found = around.symbols.get(other) or self.finder.imported(around.uses, other)
                home = (found and found.module_key) or module, other
                queue += [home] if home not in queue else []


def symbol_of_call(site: ProcedureCall, code: Routine) -> ex.Symbol | None:
    """Return the symbol of a called name, or None for a type-bound procedure."""
    return code.symbol(site.procedure.key) if isinstance(site.procedure, ex.Name) else None
