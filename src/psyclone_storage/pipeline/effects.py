"""Effects on data shared between threads, of all procedures called by kernels.

The text of a procedure is scanned first. The body is parsed only if the scan is inconclusive.
Results are cached per procedure and reused for other kernels.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.analysis.bodies.effects import (
    ACTIONS,
    OVERLOADS,
    ProcedureCall,
    call_sites,
    continuing,
    set_functions,
)
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.infrastructures.lfric import MESSAGE_PROCEDURES
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.ir.intrinsics import DEFINED
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import SharedProcedure
from psyclone_storage.ir.scopes import WORDS
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Use
from psyclone_storage.languages.fortran.parse.called import (
    with_constructs,
)
from psyclone_storage.languages.fortran.parse.resolve import intrinsic_symbol, resolve_code
from psyclone_storage.languages.fortran.parse.state import StateInText
from psyclone_storage.languages.sources.module_finder import INCLUDE
from psyclone_storage.pipeline.call_resolution import (
    CallResolver,
    ProcedurePlace,
    symbol_of_call,
)
from psyclone_storage.pipeline.overloads import (
    OPERATORS,
    is_merged,
)
from psyclone_storage.transform.kernel.passed import PassingCall, changed_by_calls
from psyclone_storage.transform.kernel.state import (
    changes_unknown,
    check_shared_state,
    ends_program,
)

Effects = tuple[tuple[SharedProcedure, ...], tuple[str, ...]]
"""Procedures that may change shared data, and the names of procedures that are not found."""


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
class SharedEffects(CallResolver):
    """Effects of procedures in directory trees, computed when a step first needs them.

    Procedures in `trusted` are assumed to have no effects.
    """

    trusted: frozenset[str] = frozenset()
    _kernels: dict[tuple[ProcedurePlace, ...], Effects] = field(default_factory=dict)
    _changed: dict[tuple[int, ...], tuple[tuple[Routine, ...], Effects]] = field(
        default_factory=dict
    )
    _found: dict[ProcedurePlace, _Known] = field(default_factory=dict)

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
        state = self.state_of(place)
        if not state.found:
            return _Known(unknown=(place.name,))
        if state.pure:
            return _Known()
        pattern = OVERLOADS if state.has_structures else OPERATORS
        needs_body = state.may_change or self.offers(
            pattern, place.source, place.module, state.uses
        )
        known = None if needs_body else self._by_text(place, state)
        return known or self._read(self.code(place), place)

    def _by_text(self, place: ProcedurePlace, state: StateInText) -> _Known | None:
        """Return the effects found in the text of a procedure, or None if its body is needed."""
        calls: list[ProcedurePlace] = []
        unknown: list[str] = []
        for key, passed in state.called.items():
            symbol = self._symbol(place, state.uses, key)
            if (
                symbol.sort is ex.Sort.TYPE or isinstance(symbol.type, DerivedType)
            ) and self.offers(OVERLOADS, place.source, place.module, state.uses):
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
                self.state_of(one).changes_arguments for one in found
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
        return self.in_module(symbol, place.source if symbol.origin is ex.Origin.HOST else None)

    def _untrusted(self, places: Iterable[ProcedurePlace]) -> tuple[ProcedurePlace, ...]:
        return tuple(one for one in dict.fromkeys(places) if one.name not in self.trusted)

    # ------------------------------------------------------------------------ its body

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
            calls += self.finals(code)
            unknown += set_functions(code)
            sites: list[PassingCall] = []
            lines = continuing(code.body, ends_program(code))
            for call in call_sites(lines, code, overloaded=self.is_overloaded(code)):
                symbol = symbol_of_call(call, code)
                if symbol is not None and symbol.key in own:
                    sites.append(PassingCall(call, (own[symbol.key],)))
                elif symbol is not None and symbol.key in code.dummy_keys and not symbol.is_data:
                    sites.append(PassingCall(call, ((),)))
                elif symbol is None or not self._is_harmless(symbol):
                    found = self.called(call, symbol, code)
                    calls += found
                    if self.is_lost(call, code) if not found else self.is_open(call, code):
                        unknown.append(_spelled(call))
                    elif symbol is not None and is_merged(
                        symbol.key, (*code.uses, *code.module.uses)
                    ):
                        unknown.append(symbol.key)
                    sites.append(PassingCall(call, tuple(self.code(one) for one in found)))
            one = SharedProcedure(code, *changed_by_calls(code, sites))
            if changes_unknown(code, one.passed):
                unknown.append(code.key)
            if any(check_shared_state(code, passed=one.passed, aimed=one.aimed)):
                shared.append(one)
        return _Known(tuple(shared), self._untrusted(calls),
                      tuple(one for one in unknown if one not in self.trusted))  # fmt: skip

    def _is_harmless(self, symbol: ex.Symbol) -> bool:
        """Return whether a name refers to data or to a procedure without relevant effects."""
        if symbol.is_data or symbol.sort is ex.Sort.TYPE:
            return True
        return symbol.origin is ex.Origin.INTRINSIC or _is_without_effects(symbol)


def _spelled(site: ProcedureCall) -> str:
    return site.procedure.key if isinstance(site.procedure, ex.Name | ex.Member) else "a procedure"


def _is_without_effects(symbol: ex.Symbol) -> bool:
    """Return whether a name denotes a message procedure or an intrinsic module's function."""
    if symbol.module_key in INTRINSIC_MODULES:
        return symbol.sort is ex.Sort.FUNCTION
    return (symbol.module_key, key_of(symbol.name)) in MESSAGE_PROCEDURES
