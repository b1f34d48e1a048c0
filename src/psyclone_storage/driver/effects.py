"""Transitive effects of the procedures that kernels call on data shared between threads.

A scan of the text of a procedure comes first; the body is parsed only if the scan is inconclusive.
Results are cached per procedure and reused for the next kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from psyclone_storage.analysis.bodies.effects import (
    ProcedureCall,
    base_of,
    call_sites,
    continuing,
    names_behind,
)
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.finder import ModuleFinder
from psyclone_storage.frontend.fortran.called import (
    read_bound,
    read_specifics,
    read_with_internal,
)
from psyclone_storage.frontend.fortran.resolve import intrinsic_symbol, resolve_code
from psyclone_storage.frontend.fortran.state import StateInText
from psyclone_storage.frontend.search import index_with
from psyclone_storage.infrastructures.lfric import MESSAGE_PROCEDURES
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Keyword, Member, Name, Origin, Sort, Symbol
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rules import SharedProcedure
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Use
from psyclone_storage.transform.kernel.state import changed_state, ends_program, kept_variables

Effects = tuple[tuple[SharedProcedure, ...], tuple[str, ...]]
"""Procedures that may change shared data, and the names of procedures that are not found."""

_INTERFACE = regex(r"\binterface\s+([a-z]\w*)")
_ACTS = frozenset({"random_seed", "random_init"})


@dataclass(frozen=True, slots=True)
class ProcedurePlace:
    """A procedure of a module: the file, and the names of both in lower case."""

    source: SourceText = field(repr=False)
    module: str
    name: str


@dataclass(frozen=True, slots=True)
class _Known:
    """The effects of one procedure.

    `codes` are its subroutine and internal procedures where they may change what threads share,
    each with the variables that it passes to procedures that change them. `calls` are the
    procedures that it calls, and `unknown` the names of those that are not found.
    """

    codes: tuple[tuple[KernelCode, frozenset[str]], ...] = ()
    calls: tuple[ProcedurePlace, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(slots=True)
class SharedEffects:
    """The effects of procedures below some directories, computed on the first request of a step.

    Modules that the `finder` does not find are searched for in the folder of the `infrastructure`.
    `state` scans the text of a procedure; procedures in `trusted` are assumed to have no effects.
    """

    finder: ModuleFinder
    infrastructure: Path
    state: Callable[[SourceText, str, str], StateInText]
    trusted: frozenset[str]
    _states: dict[ProcedurePlace, StateInText] = field(default_factory=dict)
    _kernels: dict[tuple[ProcedurePlace, ...], Effects] = field(default_factory=dict)
    _interfaces: dict[SourceText, frozenset[str]] = field(default_factory=dict)
    _found: dict[ProcedurePlace, _Known] = field(default_factory=dict)
    _codes: dict[ProcedurePlace, tuple[KernelCode, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Add the modules of the infrastructure to the index."""
        self.finder = self.finder.among(index_with(self.finder.index, self.infrastructure))

    def of_kernel(
        self,
        kernel: str,
        source: SourceText,
        module: str,
        names: Iterable[str],
        codes: tuple[KernelCode, ...],
    ) -> Effects:
        """Return the data that threads in a kernel share, and the procedures that are not found.

        The kernel's own procedures have `names` in a module, or are what steps have made: `codes`.
        """
        places = tuple(ProcedurePlace(source, key_of(module), key_of(name)) for name in names)
        if codes:
            return self._closed(kernel, [self._read(codes, None)], places)
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
            shared += [SharedProcedure(code, passed, callers) for code, passed in found.codes]
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
        known = None if state.may_change else self._by_text(place, state)
        return known or self._read(self._code(place), place)

    def _state(self, place: ProcedurePlace) -> StateInText:
        if place not in self._states:
            self._states[place] = self.state(place.source, place.module, place.name)
        return self._states[place]

    def _by_text(self, place: ProcedurePlace, state: StateInText) -> _Known | None:
        """Return the effects found in the text of a procedure, or None if its body is needed."""
        calls: list[ProcedurePlace] = []
        unknown: list[str] = []
        for key, passed in state.called.items():
            symbol = self._symbol(place, state.uses, key)
            if symbol.sort in (Sort.VARIABLE, Sort.CONSTANT, Sort.TYPE) or _is_message(symbol):
                continue
            if symbol.origin is Origin.INTRINSIC and key not in _ACTS:
                continue
            found = self._places(symbol, place)
            if not found and (symbol.is_resolved or not symbol.module):
                return None
            calls += found
            unknown += () if found else (key,)
            changes = symbol.sort is not Sort.FUNCTION or any(
                self._state(one).changes_arguments for one in found
            )
            if changes and any(
                self._symbol(place, state.uses, name).sort is Sort.VARIABLE for name in passed
            ):
                return None
        left = tuple(one for one in unknown if one not in self.trusted)
        return _Known(calls=self._untrusted(calls), unknown=left)

    def _symbol(self, place: ProcedurePlace, uses: tuple[Use, ...], key: str) -> Symbol:
        """Return the symbol of a name in a procedure that does not declare it."""
        found = self.finder.imported(uses, key)
        if found is not None and found.is_resolved:
            return found
        around = self.finder.of_source(place.source, place.module)
        if around is not None and key in around.symbols:
            return around.symbols[key]
        if around is not None and found is None:
            found = self.finder.imported(around.uses, key)
        return found or intrinsic_symbol(key) or Symbol(key, key, Origin.UNRESOLVED)

    def _places(self, symbol: Symbol, place: ProcedurePlace) -> tuple[ProcedurePlace, ...]:
        """Return the procedures that a name refers to in the procedure at `place`."""
        if symbol.sort not in (Sort.SUBROUTINE, Sort.FUNCTION, Sort.PROCEDURE):
            return ()
        return self._in_module(symbol, place.source if symbol.origin is Origin.HOST else None)

    def _in_module(self, symbol: Symbol, source: SourceText | None) -> tuple[ProcedurePlace, ...]:
        module, name = symbol.module_key, key_of(symbol.name)
        source = source or self.finder.source_of(module)
        if source is None:
            return ()
        here = ProcedurePlace(source, module, name)
        if self._state(here).found and name not in self._generics(source):
            return (here,)
        found: list[ProcedurePlace] = []
        around = self.finder.of_source(source, module)
        for one in read_specifics(source, module, name):
            own = None if around is None else around.symbols.get(one)
            if own is None and around is not None:
                own = self.finder.imported(around.uses, one)
            inner: tuple[ProcedurePlace, ...] = ()
            if one == name:
                inner = (here,) if self._state(here).found else ()
            elif own is not None:
                inner = self._in_module(own, source if own.origin is Origin.HOST else None)
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

    def _code(self, place: ProcedurePlace) -> tuple[KernelCode, ...]:
        """Return a procedure and its internal procedures; empty if they cannot be read."""
        if place not in self._codes:
            try:
                read = read_with_internal(place.source, place.module, place.name)
                codes = tuple(resolve_code(code, self.finder) for code in read)
            except CompileError:
                codes = ()
            self._codes[place] = codes
        return self._codes[place]

    def _read(self, codes: tuple[KernelCode, ...], place: ProcedurePlace | None) -> _Known:
        """Return the effects in the bodies of a procedure and its internal ones, or of a kernel."""
        if not codes and place is not None:
            return _Known(unknown=(place.name,))
        own = {code.key for code in codes}
        kept: list[tuple[KernelCode, frozenset[str]]] = []
        calls: list[ProcedurePlace] = []
        unknown: list[str] = []
        for code in codes:
            passed: set[str] = set()
            owners = kept_variables(code)
            behind = names_behind(code)
            for site in call_sites(continuing(code.body, ends_program(code)), code):
                symbol = _symbol_of(site, code)
                if symbol is not None and (symbol.key in own or self._is_harmless(symbol)):
                    continue
                found = self._called(site, symbol, code)
                calls += found
                if not found:
                    unknown.append(_spelled(site))
                passed.update(_passed(site, found, owners, behind, self._code))
            if any(changed_state(code, passed=frozenset(passed))):
                kept.append((code, frozenset(passed)))
        return _Known(tuple(kept), self._untrusted(calls),
                      tuple(one for one in unknown if one not in self.trusted))  # fmt: skip

    def _is_harmless(self, symbol: Symbol) -> bool:
        """Return whether a name refers to data, or to a procedure without relevant effects."""
        if symbol.origin is Origin.DUMMY or symbol.is_data or symbol.sort is Sort.TYPE:
            return True
        return symbol.origin is Origin.INTRINSIC or _is_message(symbol)

    def _called(
        self, site: ProcedureCall, symbol: Symbol | None, code: KernelCode
    ) -> tuple[ProcedurePlace, ...]:
        source = code.module.source
        if symbol is None:
            return self._bound(site, code)
        if symbol.origin is Origin.UNRESOLVED and symbol.module:
            symbol = self.finder.offered(symbol.module, symbol.name) or symbol
        if symbol.sort not in (Sort.SUBROUTINE, Sort.FUNCTION, Sort.PROCEDURE):
            return ()
        return self._in_module(symbol, source if symbol.origin is Origin.HOST else None)

    def _bound(self, site: ProcedureCall, code: KernelCode) -> tuple[ProcedurePlace, ...]:
        """Return the procedures that the type of an object binds to the name that is called."""
        member = site.procedure
        if not isinstance(member, Member):
            return ()
        kind = Typing(code.symbol, code.structure).type_of(member.base)
        while isinstance(kind, DerivedType):
            module = key_of(kind.module or code.symbol(kind.name).module or code.module.name)
            is_own = module == code.module.key
            source = code.module.source if is_own else self.finder.source_of(module)
            if source is None:
                return ()
            targets = read_bound(source, kind.name, member.key)
            if targets:
                places = tuple(ProcedurePlace(source, module, one) for one in targets)
                return places if all(self._state(one).found for one in places) else ()
            around = self.finder.of_source(source, module)
            own = None if around is None else around.symbols.get(kind.name)
            if own is None or not own.extends or around is None:
                return ()
            parent = around.symbols.get(own.extends) or self.finder.imported(
                around.uses, own.extends
            )
            kind = DerivedType(key_of(parent.name), parent.module_key) if parent else None
        return ()


def _symbol_of(site: ProcedureCall, code: KernelCode) -> Symbol | None:
    """Return the symbol of a called name, or None for a type-bound procedure."""
    return code.symbol(site.procedure.key) if isinstance(site.procedure, Name) else None


def _spelled(site: ProcedureCall) -> str:
    return site.procedure.key if isinstance(site.procedure, Name | Member) else "a procedure"


def _is_message(symbol: Symbol) -> bool:
    return (symbol.module_key, key_of(symbol.name)) in MESSAGE_PROCEDURES


def _passed(
    site: ProcedureCall,
    places: tuple[ProcedurePlace, ...],
    owners: Mapping[str, str],
    behind: Mapping[str, frozenset[str]],
    code_of: Callable[[ProcedurePlace], tuple[KernelCode, ...]],
) -> Iterator[str]:
    """Yield the variables that outlive calls and that a call passes to what changes them."""
    bound = isinstance(site.procedure, Member)
    for at, arg in enumerate(site.args):
        base = base_of(arg)
        kept = ({base} | behind.get(base, frozenset())) & owners.keys()
        if kept and any(
            _changes(code_of(place), arg, position)
            for place in places
            for position in range(at, at + 1 + bound)
        ):
            yield from kept


def _changes(codes: tuple[KernelCode, ...], arg: object, at: int) -> bool:
    """Return whether a procedure may change the argument at a position, or of a keyword."""
    if not codes:
        return True
    keys = codes[0].dummy_keys
    key = arg.key if isinstance(arg, Keyword) else next(iter(keys[at : at + 1]), "")
    if key not in keys:
        return False
    declared = codes[0].declared(key)
    return declared is None or not {"intent(in)", "value"} & declared.words
