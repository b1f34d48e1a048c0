"""Insertion of OpenACC directives into modules that kernels use.

A kernel on a device may call procedures with `acc routine` in their module, and may read variables
with `acc declare`. The call graph of the kernel is followed through all modules. If a device cannot
execute a procedure, its callers cannot be executed either. The annotated modules have the same
names and other contents, so they replace the original modules in a build.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.expr import OVERLAPPING, Origin, Sort, Symbol, spell
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import place_of_line, walk_lines
from psyclone_storage.ir.routine import DeclarationStatement, Routine
from psyclone_storage.ir.scopes import imports_of
from psyclone_storage.ir.symbols import ModuleSymbols, Procedure
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Call, Opaque
from psyclone_storage.languages.fortran.parse.module_code import ModuleCode, read_modules
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.print.edit_script import emit_changed
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.transform.kernel.acc_annotate import (
    ForDevice,
    annotated,
    lower_bounds,
    obstacles,
)
from psyclone_storage.transform.kernel.routine import (
    changed_on_device,
    check_device_routine,
    has_preprocessed_head,
    values_of,
)

_PLAIN = frozenset({"save", "public", "private", "protected", OVERLAPPING})
"""What a variable may be declared as that a module gives to a device."""
_NUMBERS = (Intrinsic.INTEGER, Intrinsic.REAL, Intrinsic.LOGICAL)
_OTHER_STATEMENTS = frozenset(
    """allocatable asynchronous bind codimension common data dimension equivalence pointer target
    volatile""".split()
)
_PROTECTED = frozenset({"protected"})
_OF_EACH_THREAD = regex(
    r"^[ \t]*!\$omp[ \t]+threadprivate[ \t]*\(([^()]*)\)", re.IGNORECASE | re.MULTILINE
)
_BESIDE = regex(
    r"^[ \t]*(?:#|!\$|include\b[ \t]*['\"])(?:[^\n]*[&\\][ \t]*\n)*[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines that are no statements of the module, and may do something to its variables."""
_INCLUDED = regex(r"[ \t]*#?[ \t]*include\b", re.IGNORECASE)
_WORD = regex(r"[a-z]\w*", re.IGNORECASE)
_CHANGE = "Set the variable in a procedure of its own, by plain assignments."
_NO_SOURCE = "Give the folder of the module's source with '-d'."
_FORCE = "'acc-routine' with 'force' takes it for something that is on the device."


@dataclass(frozen=True, slots=True)
class Needs:
    """Procedures and variables required on a device, as pairs of module and name."""

    procedures: frozenset[tuple[str, str]] = frozenset()
    variables: frozenset[tuple[str, str]] = frozenset()

    def with_all(self, other: Needs) -> Needs:
        """Return the union of two sets of requirements."""
        return Needs(self.procedures | other.procedures, self.variables | other.variables)

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of the modules with required procedures or variables."""
        return tuple(sorted({module for module, _ in self.procedures | self.variables}))


@dataclass(frozen=True, slots=True)
class Judged:
    """Requirements of a procedure on a device, or reasons why it cannot be executed there.

    - `there`: the local names of the required procedures and variables.

    - `known`: the required procedures.
    """

    needs: Needs = Needs()
    reasons: tuple[Diagnostic, ...] = ()
    there: frozenset[str] = frozenset()
    known: tuple[Procedure, ...] = ()


@dataclass(slots=True)
class DeviceModules:
    """Modules of `finder`, with cached results of the device check of their procedures."""

    finder: ModuleFinder
    _modules: dict[str, ModuleCode | None] = field(default_factory=dict)
    _judged: dict[tuple[str, str], Judged] = field(default_factory=dict)
    _obstacles: dict[str, dict[str, Diagnostic]] = field(default_factory=dict)

    def judge(self, code: Routine, *, variables: bool) -> tuple[Routine, Judged]:
        """Return a kernel's subroutine for annotated modules, and the result of the check.

        The result contains the requirements for these modules, or the reasons against them.
        Variables are included only if `variables` is true. The statements of the subroutine itself
        are not checked.
        """
        ready: list[Routine] = []
        needs, reasons = Needs(), list[Diagnostic]()
        for one in (code, *code.kernel_use.helpers):
            found = self._used(one, (), variables=variables)
            needs = needs.with_all(found.needs)
            reasons += found.reasons
            ready.append(_with_modules(one, found))
        kernel = replace(
            ready[0], kernel_use=replace(ready[0].kernel_use, helpers=tuple(ready[1:]))
        )
        return kernel, Judged(needs, tuple(dict.fromkeys(reasons)))

    def texts(self, needs: Needs) -> Iterator[tuple[Path, str]]:
        """Yield the paths and annotated texts of the files with required modules.

        Files that already have the directives are omitted.
        """
        by_file: dict[SourceText, list[str]] = {}
        for name in needs.modules:
            module = self._module(name)
            if module is not None:
                by_file.setdefault(module.source, []).append(name)
        for source, names in by_file.items():
            before = read_file(source)
            after = before.changed(partial(self._with_directives, names, needs))
            if after != before:
                yield Path(source.name), emit_changed(before, after)

    def _with_directives(self, names: Collection[str], needs: Needs, unit: Routine) -> Routine:
        key = key_of(unit.name)
        known = self.finder.module(key)
        if unit.kind is not ScopeKind.MODULE or key not in names or known is None:
            return unit
        procedures, variables = (
            frozenset(name for module, name in items if module == key) - {*known.on_device}
            for items in (needs.procedures, needs.variables)
        )
        changes = self._changes(key) if variables else {}
        tables = self._tables(key, procedures)
        taken = self._taken(key) if tables else frozenset[str]()
        return annotated(unit, ForDevice(procedures, variables, changes, tables, taken))

    def _taken(self, name: str) -> frozenset[str]:
        """Return all names in a module's file and in the modules that it may import."""
        module = self._module(name)
        new = keys_of(_WORD.findall(module.source.text)) if module is not None else frozenset()
        found, seen = set(new), set[str]()
        while new := new - seen:
            seen |= new
            known = [one for one in map(self.finder.module, sorted(new)) if one is not None]
            found.update(*(one.symbols for one in known))
            new = frozenset(use.module_key for one in known for use in one.uses)
        return frozenset(found)

    def _tables(self, name: str, procedures: frozenset[str]) -> dict[str, tuple[Symbol, ...]]:
        """Return the constant arrays of modules that each procedure uses."""
        module = self._module(name)
        found: dict[str, tuple[Symbol, ...]] = {}
        for key in sorted(procedures) if module is not None else ():
            code = module.code(key) if module is not None else None
            if code is not None:
                resolved = resolve_code(code, self.finder)
                symbols = map(resolved.symbol, sorted(resolved.used_values))
                found[key] = tuple(filter(_is_table, symbols))
        return found

    def _changes(self, name: str) -> dict[str, frozenset[str]]:
        """Return the module variables that each procedure of a module may change itself.

        A variable passed to another procedure is changed unless it has the intent `in` there.
        """
        module = self._module(name)
        found: dict[str, frozenset[str]] = {}
        if module is None:
            return found
        for key in module.procedures:
            code = _resolved(module, key, self.finder)
            if code is None or code.internal is not None:
                continue
            symbols = ((one, code.symbol(one)) for one in code.used_values)
            called = [
                replace(procedure, name=one)
                for one, symbol in symbols
                if symbol.is_called and (home := self._module(symbol.module_key)) is not None
                if (procedure := home.as_called(key_of(symbol.name))) is not None
            ]
            with_intents = _with_modules(code, Judged(known=tuple(called)))
            # A namelist that is read names none of its variables.
            items = (*code.declarations, *code.module.declarations)
            stated = [one for one in items if isinstance(one, Opaque) and "namelist" in one.names]
            changed = changed_on_device(with_intents).union(*(one.names for one in stated))
            found[key] = frozenset(
                one for one in changed if code.symbol(one).origin is not Origin.IMPORTED
            )
        return found

    def _obstacle(self, name: str, key: str) -> Diagnostic | None:
        """Return a diagnostic if directives cannot follow all changes of a variable, or None."""
        if name not in self._obstacles:
            module = self._module(name)
            self._obstacles[name] = {} if module is None else dict(self._found_obstacles(module))
        return self._obstacles[name].get(key)

    def _found_obstacles(self, module: ModuleCode) -> Iterator[tuple[str, Diagnostic]]:
        units = (one for one in read_file(module.source).units if isinstance(one, Routine))
        unit = next((one for one in units if key_of(one.name) == module.name), None)
        if unit is None or unit.kind is not ScopeKind.MODULE:
            return
        stated = (one for one in unit.specification if isinstance(one, DeclarationStatement))
        own = frozenset(one.key for item in stated for one in item.declares)
        wanted = ForDevice(frozenset(), own, self._changes(module.name))
        for key, line, reason in obstacles(unit, wanted):
            text = f"No directive can follow all changes of '{key}' of the module '{unit.name}':"
            yield key, Diagnostic("T055", f"{text} {reason}.", place_of_line(line), hint=_CHANGE)
        for found in _BESIDE.finditer(module.source.text, *_extent(unit)):
            place = Span(module.source, found.start(), found.end())
            hint = "Remove it, or set the variable in a procedure without it."
            included = _INCLUDED.match(found.group())
            for key in own if included else own & keys_of(_WORD.findall(found.group())):
                text = f"'{found.group().strip()}' may change '{key}' of the module '{unit.name}'."
                yield key, Diagnostic("T055", text, place, hint=hint)

    # ------------------------------------------------------------------------ procedures

    def _used(
        self, code: Routine, callers: tuple[tuple[str, str], ...], *, variables: bool = True
    ) -> Judged:
        """Return the result of the check for all names that `code` uses.

        `callers` is the call path.
        """
        needs, reasons = Needs(), list[Diagnostic]()
        there, known = set[str](), list[Procedure]()
        symbols = {key: code.symbol(key) for key in sorted(values_of(code) - code.used_kinds)}
        reasons += _no_tables(code, symbols) if callers else ()
        for key, reason in _not_found(code, symbols, callers == ()):
            there.add(key)
            reasons.append(reason)
        of_modules = {
            key: symbol
            for key, symbol in symbols.items()
            if symbol.module and key not in there
            # A kernel is copied with its module: what is of that is judged with its statements.
            if symbol.origin is Origin.IMPORTED or (symbol.origin is Origin.HOST and callers)
        }
        for key, symbol in of_modules.items():
            if symbol.is_called:
                found = self._called((symbol.module_key, key_of(symbol.name)), callers)
                needs = needs.with_all(found.needs)
                there.add(key)
                known += (replace(one, name=key) for one in found.known)
                if found.reasons:
                    reasons += (_calls(code, key), *found.reasons)
        so_far = Judged(needs, tuple(reasons), frozenset(there), tuple(known))
        return self._with_variables(code, so_far, of_modules) if variables else so_far

    def _with_variables(
        self, code: Routine, judged: Judged, symbols: Mapping[str, Symbol]
    ) -> Judged:
        """Return `judged` extended by the module variables that `code` uses."""
        changed = changed_on_device(_with_modules(code, judged))
        found = {key for key, symbol in symbols.items() if symbol.sort is Sort.VARIABLE}
        reasons = [one for key in sorted(found)
                   for one in self._about_variable(code, key, key in changed)]  # fmt: skip
        places = {(symbols[key].module_key, key_of(symbols[key].name)) for key in found}
        return Judged(
            judged.needs.with_all(Needs(variables=frozenset(places))),
            (*judged.reasons, *reasons),
            judged.there | found,
            judged.known,
        )

    def _called(self, place: tuple[str, str], callers: tuple[tuple[str, str], ...]) -> Judged:
        """Return the result of the check for all procedures to which a name may refer."""
        name, key = place
        module = self._module(name)
        if module is None:
            text = f"The source of the module '{name}' is not found."
            return Judged(reasons=(Diagnostic("T055", text, hint=_NO_SOURCE),))
        home = self.finder.module(name)
        called = module.as_called(key)
        known = () if called is None else (called,)
        if home is not None and key in home.on_device:
            return Judged(known=known)
        needs, reasons = Needs(), list[Diagnostic]()
        for specific in module.generics.get(key, (key,)):
            is_caller = specific != key and callers[-1:] == ((name, specific),)
            if is_caller and not module.is_recursive(specific):
                continue  # It must not call itself, so it means another one of the name.
            found = self._procedure(module, specific, callers)
            needs = needs.with_all(found.needs)
            reasons += found.reasons
        return Judged(needs, tuple(dict.fromkeys(reasons)), known=known)

    def _procedure(
        self, module: ModuleCode, key: str, callers: tuple[tuple[str, str], ...]
    ) -> Judged:
        place = (module.name, key)
        if place in callers:
            text = f"'{key}' of the module '{module.name}' calls itself."
            return Judged(reasons=(Diagnostic("T055", text, module.source.whole()),))
        if place not in self._judged:
            self._judged[place] = self._newly_judged(module, key, (*callers, place))
        return self._judged[place]

    def _newly_judged(
        self, module: ModuleCode, key: str, callers: tuple[tuple[str, str], ...]
    ) -> Judged:
        try:
            code = module.code(key)
            code = None if code is None else resolve_code(code, self.finder)
        except CompileError as error:
            return Judged(reasons=error.problems)
        if code is None:
            text = f"'{key}' is no one procedure of the module '{module.name}'."
            return Judged(reasons=(Diagnostic("T055", text, file=module.source.name),))
        used = self._used(code, callers)
        there = used.there | ({code.key} - values_of(code))
        reasons = (*check_device_routine(code, there), *used.reasons)
        if has_preprocessed_head(code):
            text = f"The declarations of '{code.name}' depend on the preprocessor."
            reasons = (*reasons, Diagnostic("T055", text, code.module.routine))
        needs = used.needs.with_all(Needs(procedures=frozenset({callers[-1]})))
        return Judged(needs, tuple(dict.fromkeys(reasons)))

    def _module(self, name: str) -> ModuleCode | None:
        if name not in self._modules:
            source = self.finder.source_of(name)
            found = () if source is None else read_modules(source)
            self._modules[name] = next((one for one in found if one.name == name), None)
        return self._modules[name]

    # ------------------------------------------------------------------------ variables

    def _about_variable(self, code: Routine, key: str, written: bool) -> Iterator[Diagnostic]:
        """Yield reasons why a device cannot have a copy of the module variable `key` (T055)."""
        symbol = code.symbol(key)
        what = f"'{symbol.name}' of the module '{symbol.module}'"
        hint, odd = "", sorted({*symbol.attributes} - _PLAIN)
        home, module = self.finder.module(symbol.module_key), self._module(symbol.module_key)
        if home is None or module is None:
            text, hint = f"The source of {what} is not found.", _NO_SOURCE
        elif written:
            text = f"'{code.name}' may change {what}, of which a device has a copy."
        elif not isinstance(symbol.type, ScalarType) or symbol.type.intrinsic not in _NUMBERS:
            text = f"{what} is no number or truth value, nor an array of them."
        elif odd:
            text = f"{what} is declared as '{odd[0]}', of which a device has no copy."
        elif home.included or key_of(symbol.name) in _said_more(module):
            text = f"More may be said of {what} than its declaration says."
        elif not _is_changed_at_home(home, module, symbol):
            text = f"{what} may be changed by other modules, of which a device would not know."
            hint = f"Declare it 'protected' or 'private' in '{symbol.module}'."
        elif key_of(symbol.name) not in home.on_device and (
            found := self._obstacle(symbol.module_key, key_of(symbol.name))
        ):
            yield found
            return
        else:
            return
        yield Diagnostic("T055", text, code.place_of(key), hint=hint)


def _is_table(symbol: Symbol) -> bool:
    """Return whether a name is a numeric constant array of a module."""
    of_numbers = isinstance(symbol.type, ScalarType) and symbol.type.intrinsic in _NUMBERS
    around = symbol.origin in (Origin.IMPORTED, Origin.HOST)
    return around and symbol.sort is Sort.CONSTANT and symbol.rank > 0 and of_numbers


def _resolved(module: ModuleCode, key: str, finder: ModuleFinder) -> Routine | None:
    """Return a procedure of a module, or None if it cannot be read."""
    try:
        code = module.code(key)
        return None if code is None else resolve_code(code, finder)
    except CompileError:
        return None


def _extent(unit: Routine) -> tuple[int, int]:
    """Return the start and stop of a unit in its file."""
    assert unit.extent is not None
    return unit.extent.start, unit.extent.stop


def _no_tables(code: Routine, symbols: Mapping[str, Symbol]) -> Iterator[Diagnostic]:
    """Yield an error for each constant array of a module that cannot be copied to a device."""
    for key, symbol in symbols.items():
        around = symbol.origin in (Origin.IMPORTED, Origin.HOST)
        if not around or symbol.sort is not Sort.CONSTANT or not symbol.rank:
            continue
        what = f"'{symbol.name}' of the module '{symbol.module}'"
        if isinstance(symbol.type, ScalarType) and not _is_table(symbol):
            text = f"{what} is a constant array, but not of numbers: a device gets no copy of it."
            yield Diagnostic("T055", text, code.place_of(key))
        elif None in lower_bounds(symbol):
            text = f"A lower bound of {what} is not written as a number, as a copy of it needs it."
            hint = "Write a number there, or begin at 1."
            yield Diagnostic("T055", text, code.place_of(key), hint=hint)


def _said_more(module: ModuleCode) -> frozenset[str]:
    """Return the names with attribute statements other than accessibility in a module."""
    of_threads = _OF_EACH_THREAD.findall(module.source.text)
    found = keys_of(name.strip() for names in of_threads for name in names.split(","))
    return found | module.names_in(_OTHER_STATEMENTS)


def _is_changed_at_home(home: ModuleSymbols, module: ModuleCode, symbol: Symbol) -> bool:
    """Return whether only statements of its module can change a variable."""
    key, words = key_of(symbol.name), {*symbol.attributes}
    is_protected = "protected" in words or key in module.names_in(_PROTECTED)
    hidden = home.hidden(key) and "public" not in words
    return (is_protected or hidden or "private" in words) and not module.submodules


def _with_modules(code: Routine, judged: Judged) -> Routine:
    """Return `code` with the requirements that annotated modules provide."""
    on_device = code.module.on_device | judged.there
    known = (*code.module.known, *judged.known)
    return replace(code, module=replace(code.module, on_device=on_device, known=known))


def _not_found(
    code: Routine, symbols: Mapping[str, Symbol], called_only: bool
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield an error for each imported name that is not found (T055).

    For kernels only subroutines are checked, because the steps report the others.
    """
    missing = {item.key: use for use, item in imports_of(code)}
    calls = (spell(line.procedure) for line in walk_lines(code.body) if isinstance(line, Call))
    called = keys_of(calls)
    for key, symbol in symbols.items():
        use = missing.get(key)
        if called_only and key not in called:
            continue
        if symbol.is_resolved or use is None or use.module_key in INTRINSIC_MODULES:
            continue
        text = f"It is not known what '{key}' is, which '{code.name}' takes from '{use.module}'."
        yield key, Diagnostic("T055", text, code.place_of(key), hint=_NO_SOURCE)


def _calls(code: Routine, key: str) -> Diagnostic:
    text = f"'{code.name}' calls '{key}', which stays on the host."
    return Diagnostic("T055", text, code.place_of(key), hint=_FORCE)
