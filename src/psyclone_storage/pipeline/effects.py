"""Effects on data shared between threads, of all procedures called by kernels.

The text of a procedure is scanned first. The body is parsed only if the scan is inconclusive.
Results are cached per procedure and reused for other kernels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from psyclone_storage.analysis.bodies.effects import (
    ACTIONS,
    FINAL_PATTERN,
    OVERLOADS,
    ProcedureCall,
    call_sites,
    continuing,
    module_of,
    set_functions,
)
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.infrastructures.lfric import MESSAGE_PROCEDURES
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.ir.intrinsics import DEFINED
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import SharedProcedure
from psyclone_storage.ir.scopes import WORDS
from psyclone_storage.ir.symbols import ModuleSymbols
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DataType, DerivedType
from psyclone_storage.ir.unit import Assign, Declare, Use
from psyclone_storage.languages.fortran.parse.called import (
    FINAL,
    bound_procedures,
    read_operators,
    read_with_internal,
    specific_procedures,
    with_constructs,
)
from psyclone_storage.languages.fortran.parse.resolve import intrinsic_symbol, resolve_code
from psyclone_storage.languages.fortran.parse.state import StateInText
from psyclone_storage.languages.sources.kernel_search import index_with
from psyclone_storage.languages.sources.module_finder import INCLUDE, ModuleFinder
from psyclone_storage.pipeline.overloads import (
    OPERATORS,
    has_default_target,
    is_merged,
    is_overload,
    lists_overload,
    may_take,
    offers_overloads,
    sort_of,
)
from psyclone_storage.transform.kernel.passed import PassingCall, changed_by_calls
from psyclone_storage.transform.kernel.state import (
    changes_unknown,
    check_shared_state,
    ends_program,
)

Effects = tuple[tuple[SharedProcedure, ...], tuple[str, ...]]
"""Procedures that may change shared data, and the names of procedures that are not found."""

_INTERFACE = regex(r"\binterface\s+([a-z]\w*)")


@dataclass(frozen=True, slots=True)
class ProcedurePlace:
    """Module procedure: its file, and the lower-case names of module and procedure."""

    source: SourceText = field(repr=False)
    module: str
    name: str


@dataclass(frozen=True, slots=True)
class _Known:
    """Effects of one procedure.

    - `shared`: the procedure and its internal procedures that may change data shared by threads.

    - `calls`: the called procedures.

    - `unknown`: the names of called procedures that are not found.
    """

    shared: tuple[SharedProcedure, ...] = ()
    calls: tuple[ProcedurePlace, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(slots=True)
class SharedEffects:
    """Effects of procedures in directory trees, computed when a step first needs them.

    - `finder`: finds modules. The folder `infrastructure` is searched for modules that it does not
      find.

    - `state`: scans the text of a procedure.

    - `trusted`: procedures that are assumed to have no effects.
    """

    finder: ModuleFinder
    infrastructure: Path
    state: Callable[[SourceText, str, str], StateInText]
    trusted: frozenset[str]
    _states: dict[ProcedurePlace, StateInText] = field(default_factory=dict)
    _kernels: dict[tuple[ProcedurePlace, ...], Effects] = field(default_factory=dict)
    _changed: dict[tuple[int, ...], tuple[tuple[Routine, ...], Effects]] = field(
        default_factory=dict
    )
    _interfaces: dict[SourceText, frozenset[str]] = field(default_factory=dict)
    _overloaded: dict[tuple[re.Pattern[str], str], bool] = field(default_factory=dict)
    _imports: dict[tuple[Use, ...], tuple[str, ...]] = field(default_factory=dict)
    _found: dict[ProcedurePlace, _Known] = field(default_factory=dict)
    _codes: dict[ProcedurePlace, tuple[Routine, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Add the modules of the infrastructure to the index."""
        self.finder = self.finder.among(index_with(self.finder.index, self.infrastructure))

    def of_kernel(
        self,
        kernel: str,
        source: SourceText,
        module: str,
        names: Iterable[str],
        codes: tuple[Routine, ...],
    ) -> Effects:
        """Return the effects of a kernel on data shared by threads.

        Effects include called procedures that are not found. The procedures of the kernel have
        `names` in a module, or they are the `codes` created by steps.
        """
        places = tuple(ProcedurePlace(source, key_of(module), key_of(name)) for name in names)
        if codes:
            key = tuple(map(id, codes))
            if key not in self._changed:
                opened = ((code, with_constructs(code)) for code in codes)
                read = (new if new is code else resolve_code(new, self.finder)
                        for code, new in opened)  # fmt: skip
                found = self._closed(kernel, [self._read(tuple(read), None)], places)
                self._changed[key] = codes, found
            return self._changed[key][1]
        if places not in self._kernels:
            self._kernels[places] = self._closed(kernel, map(self._of, places), places)
        return self._kernels[places]

    def _closed(
        self, kernel: str, roots: Iterable[_Known], places: tuple[ProcedurePlace, ...]
    ) -> Effects:
        """Return the combined effects of `roots` and all procedures that they call."""
        shared: list[SharedProcedure] = []
        unknown: dict[str, None] = {}
        queue: list[tuple[_Known, str, tuple[str, ...]]] = [(root, kernel, ()) for root in roots]
        done: set[ProcedurePlace] = set(places)
        for found, name, callers in queue:
            shared += [replace(one, callers=callers) for one in found.shared]
            unknown |= dict.fromkeys(found.unknown)
            for place in found.calls:
                if place not in done:
                    done.add(place)
                    queue.append((self._of(place), place.name, (*callers, name)))
        return tuple(shared), tuple(unknown)

    # ------------------------------------------------------------------------ one procedure

    def _of(self, place: ProcedurePlace) -> _Known:
        """Return the effects of a procedure, from its text or its body."""
        if place not in self._found:
            self._found[place] = self._looked_into(place)
        return self._found[place]

    def _looked_into(self, place: ProcedurePlace) -> _Known:
        state = self._state(place)
        if not state.found:
            return _Known(unknown=(place.name,))
        if state.pure:
            return _Known()
        pattern = OVERLOADS if state.has_structures else OPERATORS
        needs_body = state.may_change or self._offers(
            pattern, place.source, place.module, state.uses
        )
        known = None if needs_body else self._by_text(place, state)
        return known or self._read(self._code(place), place)

    def _state(self, place: ProcedurePlace) -> StateInText:
        if place not in self._states:
            source = self.finder.with_included(place.source)
            self._states[place] = self.state(source, place.module, place.name)
        return self._states[place]

    def _by_text(self, place: ProcedurePlace, state: StateInText) -> _Known | None:
        """Return the effects found in the text of a procedure, or None if its body is needed."""
        calls: list[ProcedurePlace] = []
        unknown: list[str] = []
        for key, passed in state.called.items():
            symbol = self._symbol(place, state.uses, key)
            if (
                symbol.sort is ex.Sort.TYPE or isinstance(symbol.type, DerivedType)
            ) and self._offers(OVERLOADS, place.source, place.module, state.uses):
                return None
            if symbol.sort in (
                ex.Sort.VARIABLE,
                ex.Sort.CONSTANT,
                ex.Sort.TYPE,
            ) or _is_without_effects(symbol):
                continue
            if key in ACTIONS or (key in DEFINED and self._variables(place, state, passed)):
                return None
            if symbol.origin is ex.Origin.INTRINSIC:
                continue
            found = self._places(symbol, place)
            if not found and (symbol.is_resolved or not symbol.module):
                return None
            calls += found
            around = self.finder.of_source(place.source, place.module)
            uses = (*state.uses, *(around.uses if around else ()))
            unknown += () if found and not is_merged(key, uses) else (key,)
            changes = symbol.sort is not ex.Sort.FUNCTION or any(
                self._state(one).changes_arguments for one in found
            )
            if changes and self._variables(place, state, passed):
                return None
            for name in passed - state.called.keys():
                given = self._symbol(place, state.uses, name)
                if given.is_called and given.origin is not ex.Origin.INTRINSIC:
                    calls += (procedures := self._places(given, place))
                    unknown += () if procedures else (name,)
        left = tuple(one for one in unknown if one not in self.trusted)
        return _Known(calls=self._untrusted(calls), unknown=left)

    def _variables(
        self, place: ProcedurePlace, state: StateInText, names: Iterable[str]
    ) -> frozenset[str]:
        """Return those of `names` that are or may be variables declared outside a procedure."""
        found = ((name, self._symbol(place, state.uses, name)) for name in names)
        return frozenset(
            name
            for name, symbol in found
            if symbol.sort is ex.Sort.VARIABLE or (symbol.module and not symbol.is_resolved)
        )

    def _offers(
        self, pattern: re.Pattern[str], source: SourceText, module: str, uses: tuple[Use, ...]
    ) -> bool:
        """Return whether a procedure's file, or a module that it imports, contains a pattern."""
        around = self.finder.of_source(source, module)
        uses = (*uses, *(around.uses if around else ()))
        if pattern.search(source.text):
            return True
        return any(self._has(pattern, one) for one in self._imported_modules(uses))

    def _has(self, pattern: re.Pattern[str], module: str) -> bool:
        key = pattern, module
        if key not in self._overloaded:
            paths = self.finder.index.module_candidates(module)
            texts = (self.finder.index.read(path).text for path in paths)
            lost = pattern is OVERLOADS and not paths and module not in INTRINSIC_MODULES
            self._overloaded[key] = lost or any(map(pattern.search, texts))
        return self._overloaded[key]

    def _imported_modules(self, uses: tuple[Use, ...]) -> tuple[str, ...]:
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

    def _symbol(self, place: ProcedurePlace, uses: tuple[Use, ...], key: str) -> ex.Symbol:
        """Return the symbol of a name that a procedure does not declare.

        The name of an intrinsic denotes a user procedure only if that procedure is found or
        imported by name.
        """
        found = self.finder.imported(uses, key)
        if found is not None and found.is_resolved:
            return found
        around = self.finder.of_source(place.source, place.module)
        if around is not None and key in around.symbols:
            return around.symbols[key]
        if around is not None and found is None:
            found = self.finder.imported(around.uses, key)
        if found is not None and found.is_resolved:
            return found
        uses = (*uses, *(around.uses if around is not None else ()))
        if not any(name.key == key for use in uses for name in use.names):
            if key in WORDS:
                return ex.Symbol(key, key, ex.Origin.INTRINSIC)
            found = intrinsic_symbol(key) or found
        return found or ex.Symbol(key, key, ex.Origin.UNRESOLVED)

    def _places(self, symbol: ex.Symbol, place: ProcedurePlace) -> tuple[ProcedurePlace, ...]:
        """Return the procedures to which a name refers in the procedure at `place`."""
        if symbol.sort not in (ex.Sort.SUBROUTINE, ex.Sort.FUNCTION, ex.Sort.PROCEDURE):
            return ()
        return self._in_module(symbol, place.source if symbol.origin is ex.Origin.HOST else None)

    def _in_module(
        self, symbol: ex.Symbol, source: SourceText | None
    ) -> tuple[ProcedurePlace, ...]:
        module, name = symbol.module_key, key_of(symbol.name)
        source = source or self.finder.source_of(module)
        if source is None:
            return ()
        here = ProcedurePlace(source, module, name)
        if self._state(here).found and name not in self._generics(source):
            return (here,)
        found: list[ProcedurePlace] = []
        around = self.finder.of_source(source, module)
        for one in specific_procedures(source, module, name):
            own = None if around is None else around.symbols.get(one)
            if own is None and around is not None:
                own = self.finder.imported(around.uses, one)
            inner: tuple[ProcedurePlace, ...] = ()
            if one == name:
                inner = (here,) if self._state(here).found else ()
            elif own is not None:
                inner = self._in_module(own, source if own.origin is ex.Origin.HOST else None)
            if not inner:
                return ()
            found += inner
        return tuple(found)

    def _generics(self, source: SourceText) -> frozenset[str]:
        if source not in self._interfaces:
            self._interfaces[source] = frozenset(_INTERFACE.findall(key_of(source.text)))
        return self._interfaces[source]

    def _untrusted(self, places: Iterable[ProcedurePlace]) -> tuple[ProcedurePlace, ...]:
        return tuple(one for one in dict.fromkeys(places) if one.name not in self.trusted)

    # ------------------------------------------------------------------------ its body

    def _code(self, place: ProcedurePlace) -> tuple[Routine, ...]:
        """Return a procedure and its internal procedures; () if they cannot be read."""
        if place not in self._codes:
            try:
                read = read_with_internal(place.source, place.module, place.name)
                codes = tuple(resolve_code(with_constructs(code), self.finder) for code in read)
            except CompileError:
                codes = ()
            self._codes[place] = codes
        return self._codes[place]

    def _read(self, codes: tuple[Routine, ...], place: ProcedurePlace | None) -> _Known:
        """Return the effects in the bodies of a procedure and its internal procedures.

        `place` equals None for a kernel.
        """
        if not codes and place is not None:
            return _Known(unknown=(place.name,))
        own = {code.key: (code,) for code in codes}
        shared: list[SharedProcedure] = []
        calls: list[ProcedurePlace] = []
        unknown: list[str] = []
        for code in codes:
            if not code.module.is_python and INCLUDE.search(code.module.routine.text):
                unknown.append(code.key)
            calls += self._finals(code)
            unknown += set_functions(code)
            sites: list[PassingCall] = []
            lines = continuing(code.body, ends_program(code))
            for call in call_sites(lines, code, overloaded=self._is_overloaded(code)):
                symbol = _symbol_of(call, code)
                if symbol is not None and symbol.key in own:
                    sites.append(PassingCall(call, (own[symbol.key],)))
                elif symbol is not None and symbol.key in code.dummy_keys and not symbol.is_data:
                    sites.append(PassingCall(call, ((),)))
                elif symbol is None or not self._is_harmless(symbol):
                    found = self._called(call, symbol, code)
                    calls += found
                    if self._is_lost(call, code) if not found else self._is_open(call, code):
                        unknown.append(_spelled(call))
                    elif symbol is not None and is_merged(
                        symbol.key, (*code.uses, *code.module.uses)
                    ):
                        unknown.append(symbol.key)
                    sites.append(PassingCall(call, tuple(self._code(one) for one in found)))
            one = SharedProcedure(code, *changed_by_calls(code, sites))
            if changes_unknown(code, one.passed):
                unknown.append(code.key)
            if any(check_shared_state(code, passed=one.passed, aimed=one.aimed)):
                shared.append(one)
        return _Known(tuple(shared), self._untrusted(calls),
                      tuple(one for one in unknown if one not in self.trusted))  # fmt: skip

    def _is_overloaded(self, code: Routine) -> bool:
        """Return whether interfaces may overload the operators of intrinsic types."""
        module = code.module
        return not module.is_python and self._offers(
            OPERATORS, module.source, module.key, code.uses
        )

    def _is_harmless(self, symbol: ex.Symbol) -> bool:
        """Return whether a name refers to data or to a procedure without relevant effects."""
        if symbol.is_data or symbol.sort is ex.Sort.TYPE:
            return True
        return symbol.origin is ex.Origin.INTRINSIC or _is_without_effects(symbol)

    def _called(
        self, site: ProcedureCall, symbol: ex.Symbol | None, code: Routine
    ) -> tuple[ProcedurePlace, ...]:
        source = code.module.source
        if symbol is None:
            return self._bound(site, code)
        if is_overload(symbol.key):
            return self._of_operator(site, symbol.key, code)
        if symbol.origin is ex.Origin.UNRESOLVED and symbol.module:
            symbol = self.finder.offered(symbol.module, symbol.name) or symbol
        if symbol.sort not in (ex.Sort.SUBROUTINE, ex.Sort.FUNCTION, ex.Sort.PROCEDURE):
            return ()
        return self._in_module(symbol, source if symbol.origin is ex.Origin.HOST else None)

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
            if self._is_open(site, code):
                overrides += self._overriding(around, source, kind, member.key)
            if targets := bound_procedures(source, kind.name, member.key):
                places = tuple(ProcedurePlace(source, module, one) for one in targets)
                found = all(self._state(one).found for one in places)
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

    def _is_lost(self, site: ProcedureCall, code: Routine) -> bool:
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

    def _is_open(self, site: ProcedureCall, code: Routine) -> bool:
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
        modules = dict.fromkeys((code.module.key, *homes, *self._imported_modules(uses)))
        found: list[ProcedurePlace] = []
        for module in modules:
            source = self._source(module, code)
            if source is None or not OVERLOADS.search(source.text):
                continue
            found += self._overloading(source, module, name)
        places = (one for one in dict.fromkeys(found) if self._state(one).found)
        sorts = [kind and sort_of(kind, code) for kind in kinds]
        return tuple(one for one in places if may_take(self._code(one), sorts))

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

    def _finals(self, code: Routine) -> Iterator[ProcedurePlace]:
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


def _symbol_of(site: ProcedureCall, code: Routine) -> ex.Symbol | None:
    """Return the symbol of a called name, or None for a type-bound procedure."""
    return code.symbol(site.procedure.key) if isinstance(site.procedure, ex.Name) else None


def _spelled(site: ProcedureCall) -> str:
    return site.procedure.key if isinstance(site.procedure, ex.Name | ex.Member) else "a procedure"


def _is_without_effects(symbol: ex.Symbol) -> bool:
    """Return whether a name denotes a message procedure or an intrinsic module's function."""
    if symbol.module_key in INTRINSIC_MODULES:
        return symbol.sort is ex.Sort.FUNCTION
    return (symbol.module_key, key_of(symbol.name)) in MESSAGE_PROCEDURES
