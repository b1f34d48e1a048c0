"""Effects of called procedures on their arguments and on module variables, for verdicts on loops.

A procedure has a record if it certainly changes only its arguments. It is declared pure, or the
analysis of threads finds nothing that it changes, and it consists of statements whose effects are
known. Every module variable that it may read is listed, also those read by procedures that it
calls. A recursive procedure has no record.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.analysis.bodies.accesses import (
    unknown_calls,
    unknown_lines,
)
from psyclone_storage.analysis.bodies.def_use import Summary
from psyclone_storage.analysis.bodies.effects import threadprivate_in
from psyclone_storage.analysis.bodies.flow import summary_of_routine
from psyclone_storage.analysis.bodies.names import ATTRIBUTES, RoutineNames
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.symbols import Procedure
from psyclone_storage.ir.types import DerivedType, Intent
from psyclone_storage.ir.used import values_in
from psyclone_storage.languages.fortran.parse.body import procedure_of
from psyclone_storage.languages.fortran.parse.comments import is_preprocessed
from psyclone_storage.languages.fortran.parse.device_directives import joined
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.fortran.parse.state import read_state
from psyclone_storage.languages.sources.module_finder import INCLUDE, ModuleFinder
from psyclone_storage.languages.sources.module_names import defined_modules
from psyclone_storage.pipeline.call_resolution import ProcedurePlace
from psyclone_storage.pipeline.effects import SharedEffects

_Entity = tuple[str, str]
"""A module variable: the lower-case names of its module and of the variable."""

_CLEAR = regex(r"(?:implicit\s+none|intrinsic|private|public)\b")
_WORD = regex(r"[a-z]\w*")
_UNCLEAR_WORDS = frozenset({"pointer", "volatile", "asynchronous", "save", "external"})
_SHARED_WORDS = frozenset({"pointer", "target", "volatile", "asynchronous", "class"})
_Statement = (
    un.Comment | un.Blank | un.Assign | un.Call | un.Do | un.If | un.Allocate | un.Deallocate
    | un.Where | un.Forall | un.DoConcurrent | un.Select | un.Return | un.Cycle | un.Exit
)  # fmt: skip
"""The statements of a procedure with known effects."""


@dataclass(slots=True)
class ProcedureEffects:
    """Effects of module procedures, computed when a verdict first needs them."""

    calls: SharedEffects
    _known: dict[ProcedurePlace, Procedure | None] = field(default_factory=dict)
    _variables: dict[_Entity, bool] = field(default_factory=dict)
    _unique: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of_modules(cls, finder: ModuleFinder) -> ProcedureEffects:
        """Return the effects of the procedures in the modules of a finder."""
        return cls(SharedEffects(finder, read_state))

    @property
    def _finder(self) -> ModuleFinder:
        return self.calls.finder

    def of(self, symbol: ex.Symbol, uses: Iterable[un.Use]) -> Procedure | None:
        """Return the record of a procedure that certainly changes only its arguments, or None.

        `symbol` is that of its name, which may be generic, and `uses` are the imports visible at
        the call.
        """
        places = self.calls.in_module(symbol, None) if self._is_unique(symbol.module_key) else ()
        is_generic = places[1:] or any(one.name != key_of(symbol.name) for one in places)
        if not places or self._is_extended(symbol, uses, is_generic=bool(is_generic)):
            return None
        found = [one for place in places if (one := self._of(place)) is not None]
        if len(found) < len(places):
            return None
        return _united(key_of(symbol.name), found)

    def _is_extended(self, symbol: ex.Symbol, uses: Iterable[un.Use], *, is_generic: bool) -> bool:
        """Return whether imports may add procedures of other modules to a generic name."""
        home = symbol.module_key, key_of(symbol.name)
        for use in uses:
            other = self._finder.imported((use,), symbol.key)
            if other is None or (not is_generic and not other.is_resolved):
                continue
            if not other.is_resolved or (other.module_key, key_of(other.name)) != home:
                return True
        return False

    def _is_unique(self, module: str) -> bool:
        """Return whether all files that define a module are equal; a file's own module is first."""
        if module not in self._unique:
            own, index = self._finder.own, self._finder.index
            texts = {index.read(path).text for path in index.module_candidates(module)}
            here = own is not None and module in defined_modules(own.text)
            defining = (text for text in texts if module in defined_modules(text))
            self._unique[module] = here or len(tuple(defining)) == 1
        return self._unique[module]

    # ------------------------------------------------------------------------ one procedure

    def _of(self, place: ProcedurePlace) -> Procedure | None:
        if place not in self._known:
            self._known[place] = None  # a recursive call
            self._known[place] = self._looked_into(place)
        return self._known[place]

    def _looked_into(self, place: ProcedurePlace) -> Procedure | None:
        if is_preprocessed(place.source) or not self._is_unique(place.module):
            return None
        scopes = [
            scope
            for around in read_scopes(place.source).modules
            for scope in around.procedures
            if (around.key, scope.key) == (place.module, place.name)
        ]
        codes = self.calls.code(place)
        if len(scopes) != 1 or len(codes) != 1:
            return None
        code = replace(codes[0], module=replace(codes[0].module, context=self._context))
        names = RoutineNames(code)
        if not self._is_clear(code) or not _is_understood(code, names):
            return None
        reads, summary = self._read_by(code), summary_of_routine(names)
        if reads is None or any(code.declared(one[0]) is None for one in summary.written):
            return None
        if not self.calls.state_of(place).pure and not self.calls.changes_nothing(place):
            return None
        return _record(scopes[0], summary, reads)

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

    def _read_by(self, code: Routine) -> frozenset[_Entity] | None:
        """Return the module variables that a procedure may read; None if they are unknown."""
        stated = tuple(item for item in code.declarations if isinstance(item, un.Declare))
        found: set[_Entity] = set()
        for key in values_in(stated, code.body, frozenset()):
            symbol = code.symbol(key)
            if symbol.origin in (ex.Origin.LOCAL, ex.Origin.DUMMY) or key == key_of(code.result):
                if symbol.is_called:
                    return None
                continue
            if symbol.origin is ex.Origin.INTRINSIC:
                if key not in HARMLESS:
                    return None
                continue
            home = key_of(symbol.module or code.module.name), key_of(symbol.name)
            if symbol.is_called:
                uses = (*code.uses, *code.module.uses)
                called = self.of(replace(symbol, module=home[0]), uses)
                if called is None or called.reads is None:
                    return None
                found |= called.reads
            elif symbol.sort is ex.Sort.VARIABLE:
                if not self._is_plain_variable(home, symbol):
                    return None
                found.add(home)
            elif symbol.sort not in (ex.Sort.CONSTANT, ex.Sort.TYPE):
                return None
        return frozenset(found)

    def _is_plain_variable(self, home: _Entity, symbol: ex.Symbol) -> bool:
        """Return whether no pointer or other name may denote the data of a module variable."""
        if home not in self._variables:
            self._variables[home] = self._is_plain(home, symbol)
        return self._variables[home]

    def _is_plain(self, home: _Entity, symbol: ex.Symbol) -> bool:
        module, name = home
        words = {_first_word(word) for word in symbol.attributes}
        if words & {*_SHARED_WORDS, "bind"} or isinstance(symbol.type, DerivedType):
            return False
        source, known = self._finder.source_of(module), self._finder.module(module)
        if source is None or known is None or not self._is_unique(module):
            return False
        if INCLUDE.search(source.text):
            return False
        scopes = [one for one in read_scopes(source).modules if one.key == module]
        if is_preprocessed(source) or len(scopes) != 1:
            return False
        inner = [(one.place.start, one.stop) for one in scopes[0].children]
        for statement in scopes[0].statements:
            at = statement.offset(0)
            text = key_of(statement.text)
            is_own = not any(start <= at < stop for start, stop in inner)
            if (
                is_own
                and _first_word(text) in {*ATTRIBUTES, "bind"}
                and name in _WORD.findall(text)
            ):
                return False
        return name not in threadprivate_in(scopes[0].place.text)


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


def _record(scope: ScopeNode, summary: Summary, reads: frozenset[_Entity]) -> Procedure | None:
    """Return the record of a procedure with known effects; None for a function that has any."""
    own = procedure_of(scope, proved=True)
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
    return replace(own, dummies=dummies, reads=reads, sets=sets)


def _united(name: str, procedures: list[Procedure]) -> Procedure:
    """Return one record for all procedures that a name may denote."""
    if len(procedures) == 1:
        return replace(procedures[0], name=name)
    arrays = {key for one in procedures for key, _ in one.dummies if key not in one.scalars}
    made = joined(name, procedures)
    scalars = {
        key
        for at, (key, _) in enumerate(made.dummies)
        if not any(one.dummies[at][0] in arrays for one in procedures if at < len(one.dummies))
    }
    reads = frozenset[_Entity]().union(*(one.reads or frozenset() for one in procedures))
    return replace(made, scalars=frozenset(scalars), reads=reads)


def _first_word(text: str) -> str:
    found = _WORD.match(text)
    return found[0] if found else ""
