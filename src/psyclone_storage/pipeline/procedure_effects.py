"""Effects of called procedures of other modules on their arguments, for verdicts on loops.

A procedure has a record if it is declared pure and depends only on its arguments and on constants,
also through the procedures that it calls. It consists of statements whose effects are known.
Generic names, recursive procedures and modules with included text have no records.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.analysis.bodies.accesses import (
    unknown_calls,
    unknown_lines,
)
from psyclone_storage.analysis.bodies.def_use import Summary
from psyclone_storage.analysis.bodies.flow import summary_of_routine
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.symbols import Procedure
from psyclone_storage.ir.types import DerivedType, Intent, ScalarType
from psyclone_storage.ir.used import values_in
from psyclone_storage.languages.fortran.parse.body import procedure_of
from psyclone_storage.languages.fortran.parse.comments import is_preprocessed
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.fortran.parse.state import read_state
from psyclone_storage.languages.sources.module_finder import INCLUDE, ModuleFinder
from psyclone_storage.languages.sources.module_names import defined_modules
from psyclone_storage.pipeline.call_resolution import CallResolver, ProcedurePlace

_CLEAR = regex(r"(?:implicit\s+none|intrinsic|private|public)\b")
_UNCLEAR_WORDS = frozenset({"pointer", "volatile", "asynchronous", "save", "external"})
_Statement = (
    un.Comment | un.Blank | un.Assign | un.Call | un.Do | un.If | un.Allocate | un.Deallocate
    | un.Where | un.Forall | un.DoConcurrent | un.Select | un.Return | un.Cycle | un.Exit
)  # fmt: skip
"""The statements of a procedure with known effects."""


@dataclass(slots=True)
class ProcedureEffects:
    """Effects of module procedures, computed when a verdict first needs them."""

    calls: CallResolver
    _known: dict[ProcedurePlace, Procedure | None] = field(default_factory=dict)
    _declared: dict[ProcedurePlace, Procedure | None] = field(default_factory=dict)

    @classmethod
    def of_modules(cls, finder: ModuleFinder) -> ProcedureEffects:
        """Return the effects of the procedures in the modules of a finder."""
        return cls(CallResolver(finder, read_state))

    @property
    def _finder(self) -> ModuleFinder:
        return self.calls.finder

    def of(self, symbol: ex.Symbol, uses: Iterable[un.Use]) -> Procedure | None:
        """Return the record of a procedure that certainly changes only its arguments, or None.

        `symbol` is that of its name, which may be generic, and `uses` are the imports visible at
        the call.
        """
        place = self._place_of(symbol, uses)
        found = None if place is None else self._of(place)
        return None if found is None else replace(found, name=key_of(symbol.name))

    def declared(self, symbol: ex.Symbol, uses: Iterable[un.Use]) -> Procedure | None:
        """Return the record of a procedure that is promised to be pure, or None.

        Its arguments have the intents `in` that are declared, except for those with pointers. The
        intent `out` of an array does not imply that all elements are set.
        """
        place = self._place_of(symbol, uses)
        if place is None:
            return None
        if place not in self._declared:
            self._declared[place] = self._declared_at(place)
        found = self._declared[place]
        return None if found is None else replace(found, name=key_of(symbol.name))

    def _declared_at(self, place: ProcedurePlace) -> Procedure | None:
        if not self._is_readable(place):
            return None
        scopes = _scopes_of(place)
        if len(scopes) != 1:
            return None
        found = procedure_of(scopes[0], promised=True)
        if "pointer" in found.names:
            return None
        plain = {
            item.key for item in scopes[0].parsed.declarations if isinstance(item.type, ScalarType)
        }
        dummies = (
            (key, intent if key in plain and intent is Intent.IN else None)
            for key, intent in found.dummies
        )
        return replace(found, dummies=tuple(dummies))

    def _place_of(self, symbol: ex.Symbol, uses: Iterable[un.Use]) -> ProcedurePlace | None:
        """Return the only procedure that a name certainly denotes, else None."""
        home = symbol.module_key, key_of(symbol.name)
        places = self.calls.in_module(symbol, None)
        if len(places) != 1 or (places[0].module, places[0].name) != home:
            return None
        if self.calls.is_generic(places[0]) or self._is_merged(symbol, uses):
            return None
        return places[0]

    def _is_readable(self, place: ProcedurePlace) -> bool:
        """Return whether the text of a procedure is complete and the only one of its name."""
        if is_preprocessed(place.source) or INCLUDE.search(place.source.text):
            return False
        return self._is_unique(place.module)

    def _is_merged(self, symbol: ex.Symbol, uses: Iterable[un.Use]) -> bool:
        """Return whether several imports give a name different meanings, so that it is generic."""
        home = symbol.module_key, key_of(symbol.name)
        found = (self._finder.imported((use,), symbol.key) for use in uses)
        known = (one for one in found if one is not None and one.is_resolved)
        return any((one.module_key, key_of(one.name)) != home for one in known)

    def _is_unique(self, module: str) -> bool:
        """Return whether a module is in the file itself, or in files with equal contents."""
        own = self._finder.own
        if own is not None and module in defined_modules(own.text):
            return True
        return len(self._finder.index.files_defining(module)) == 1

    # ------------------------------------------------------------------------ one procedure

    def _of(self, place: ProcedurePlace) -> Procedure | None:
        if place not in self._known:
            self._known[place] = None  # a recursive call
            self._known[place] = self._looked_into(place)
        return self._known[place]

    def _looked_into(self, place: ProcedurePlace) -> Procedure | None:
        if not self._is_readable(place) or not self.calls.state_of(place).pure:
            return None
        scopes = _scopes_of(place)
        codes = self.calls.code(place)
        if len(scopes) != 1 or len(codes) != 1:
            return None
        code = replace(codes[0], module=replace(codes[0].module, context=self._context))
        names = RoutineNames(code)
        if not self._is_clear(code) or not _is_understood(code, names):
            return None
        summary = summary_of_routine(names)
        if any(code.declared(one[0]) is None for one in summary.written):
            return None
        return _record(scopes[0], summary) if self._reads_arguments(code) else None

    @property
    def _context(self) -> ModuleContext:
        return ModuleContext(
            lambda *_: None,
            lambda *_: (),
            imported=self._finder.imported,
            effects=self.of,
        )

    def _is_clear(self, code: Routine) -> bool:
        """Return whether the declarations of a procedure are all known, and without pointers."""
        for item in code.declarations:
            if isinstance(item, un.Opaque):
                if not _CLEAR.match(key_of(item.text)):
                    return False
            elif isinstance(item, un.Declare):
                is_saved = item.value is not None and "parameter" not in item.words
                if is_saved or item.polymorphic or _UNCLEAR_WORDS & item.words:
                    return False
                if isinstance(item.type, DerivedType) and (
                    item.key == key_of(code.result) or code.structure(item.type) is None
                ):
                    return False
        declared = all(code.declared(key) is not None for key in code.dummy_keys)
        if not declared or any("threadprivate" in key_of(one.text) for one in code.directives):
            return False
        return not any(True for _ in self.calls.finals(code))

    def _reads_arguments(self, code: Routine) -> bool:
        """Return whether a procedure reads only its arguments, local variables and constants."""
        stated = tuple(item for item in code.declarations if isinstance(item, un.Declare))
        for key in values_in(stated, code.body, frozenset()):
            symbol = code.symbol(key)
            if symbol.origin in (ex.Origin.LOCAL, ex.Origin.DUMMY) or key == key_of(code.result):
                if symbol.is_called:
                    return False
            elif symbol.origin is ex.Origin.INTRINSIC:
                if key not in HARMLESS:
                    return False
            elif symbol.is_called:
                home = key_of(symbol.module or code.module.name)
                uses = (*code.uses, *code.module.uses)
                if self.of(replace(symbol, module=home), uses) is None:
                    return False
            elif symbol.sort not in (ex.Sort.CONSTANT, ex.Sort.TYPE):
                return False
        return True


def _scopes_of(place: ProcedurePlace) -> list[ScopeNode]:
    return [
        scope
        for around in read_scopes(place.source).modules
        for scope in around.procedures
        if (around.key, scope.key) == (place.module, place.name)
    ]


def _is_understood(code: Routine, names: RoutineNames) -> bool:
    """Return whether the effects of all statements of a procedure are known."""
    lines = tuple(walk_lines(code.body))
    if not all(isinstance(line, _Statement) for line in lines):
        return False
    if any(isinstance(line, un.Select) and line.word != "case" for line in lines):
        return False
    if any(unknown_lines(code.body)):
        return False
    return not any(unknown_calls(code.body, names))


def _record(scope: ScopeNode, summary: Summary) -> Procedure | None:
    """Return the record of a procedure with known effects; None for a function that has any."""
    own = procedure_of(scope)
    written = {one[0] for one in summary.written}
    keys = {key for key, _ in own.dummies}
    if own.is_function and keys & written:
        return None
    read = {one[0] for one in summary.exposed}
    whole = own.scalars - read
    sets = frozenset(key for key in whole if summary.sets and (key,) in summary.sets)

    def intent_of(key: str, given: Intent | None) -> Intent | None:
        if given is Intent.OUT:
            return given
        if given is Intent.IN:  # a target of its pointer components may be written
            return Intent.INOUT if key in written else given
        return Intent.OUT if key in sets else given if key in written else Intent.IN

    dummies = tuple((key, intent_of(key, given)) for key, given in own.dummies)
    return replace(own, dummies=dummies, closed=True, sets=sets)
