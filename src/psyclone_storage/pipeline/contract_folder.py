"""Contracts of other files that a file needs; their interfaces replace the sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from psyclone_storage.base.reading import resolved
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.device_program import ProcedureName, ProgramProcedure, StepSequence
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.routine import Routine, SourceFile
from psyclone_storage.languages.fortran.parse.fixed_form import fixed_source, is_fixed_form
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.sources.include_lines import included_file, inclusions
from psyclone_storage.languages.sources.kernel_search import SourceIndex, index_with_modules
from psyclone_storage.languages.sources.module_names import defined_modules, used_modules
from psyclone_storage.pipeline.contract_files import (
    SUFFIX,
    ProcedureContract,
    UnitContract,
    read_contract,
)
from psyclone_storage.pipeline.device_plans import OtherFiles
from psyclone_storage.pipeline.program_uses import home_module

_WORD = regex(r"[a-z]\w*")
_BLOCK = regex(r"(?ms)^\s*(?:abstract\s+)?interface\b(.*?)^\s*end\s*interface\b")
_BODY = regex(r"\b(?:subroutine|function)\s+([a-z]\w*)")


@dataclass(frozen=True)
class ContractFolder:
    """The contracts in a folder that a file needs, with their interfaces, by the names of units."""

    folder: Path
    units: Mapping[str, UnitContract] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, SourceText] = field(default_factory=dict)

    @cached_property
    def procedures(self) -> dict[ProcedureName, ProcedureContract]:
        """The contracts of all procedures."""
        return {one.name: one for unit in self.units.values() for one in unit.procedures}

    @cached_property
    def missing(self) -> frozenset[str]:
        """The units that the contracts name, and that have no contract here."""
        named = (name for one in self.units.values() for name in _named(one))
        return frozenset(named).difference(self.units, [""])

    def index(self, index: SourceIndex) -> SourceIndex:
        """Return an index in which the interfaces of modules have priority over the sources."""
        found = self.sources.items()
        modules = {unit: text for unit, text in found if unit in defined_modules(text.text)}
        for source in self.sources.values():
            index.texts.give(source)
            index.used[Path(source.name)] = None
        return index_with_modules(index, modules)

    def without(self, file: SourceFile) -> ContractFolder:
        """Return the contracts without those of external procedures in a file itself."""
        own = {unit.key for unit in file.units if isinstance(unit, Routine)}
        units = {name: one for name, one in self.units.items() if name not in own}
        return replace(self, units=units, sources={name: self.sources[name] for name in units})

    def other_files(self, files: Mapping[str, SourceFile]) -> OtherFiles:
        """Return the procedures of the units, whose parsed interfaces are `files`."""
        codes: dict[ProcedureName, Routine] = {}
        modules: dict[str, Routine] = {}
        for file in files.values():
            modules |= {one.key: one for one in file.every_unit() if one.kind is ScopeKind.MODULE}
            for code in file.routines().values():
                name = ProcedureName(home_module(code), code.key)
                if name in self.procedures:
                    codes[name] = code
        known = {name: self.procedures[name] for name in codes}
        finished = {
            name: ProgramProcedure(name, StepSequence(), fixed=one.states)
            for name, one in known.items()
            if one.regions
        }
        effects = {name: one.given for name, one in known.items()}
        families = {name: one.regions for name, one in known.items()}
        return OtherFiles(codes, modules, effects, finished, families)


def read_contracts(folder: Path, file: Path, index: SourceIndex) -> ContractFolder:
    """Return the contracts of all units that a file may name, and of the modules that these name.

    Those of units in the file itself are left out.

    Raises:
        CompileError: `P001`, the file cannot be read; `L021`, a contract cannot be used.
    """
    source = index.texts.read(file)
    own = set(defined_modules(source.text))
    known = {path.name.partition(".")[0]: path for path in folder.glob("*" + SUFFIX)}
    units: dict[str, UnitContract] = {}
    digests: dict[str, str] = {}
    words = {one for text in _statements(source, index) for one in _WORD.findall(key_of(text))}
    waiting = sorted(words & known.keys() - own, reverse=True)
    while waiting:
        name = waiting.pop()
        if name not in units:
            found, digest = read_contract(known[name])
            if resolved(Path(found.source)) == resolved(file):
                continue
            units[name], digests[name] = found, digest
            waiting += sorted({*_named(units[name])} & known.keys() - own, reverse=True)
    texts = {name: SourceText(str(known[name]), one.interface) for name, one in units.items()}
    return ContractFolder(folder, units, digests, texts)


def _named(contract: UnitContract) -> Iterator[str]:
    """Yield the modules that a contract names, and the procedures in its interface blocks."""
    yield from used_modules(contract.interface)
    for block in _BLOCK.findall(key_of(contract.interface)):
        yield from _BODY.findall(block)
    for one in contract.procedures:
        for datum in one.given.uses.shared:
            yield datum.module


def _statements(source: SourceText, index: SourceIndex) -> Iterator[str]:
    """Yield the statements of a file and of those that it includes, without comments."""
    waiting, seen = [source], set[Path]()
    while waiting:
        text = waiting.pop()
        fixed = is_fixed_form(text.name) and text.written is None
        yield from (one.text for one in scan(fixed_source(text) if fixed else text))
        paths = (included_file(one, index.folders) for one in inclusions(text))
        new = [path for path in dict.fromkeys(paths) if path is not None and path not in seen]
        seen.update(new)
        waiting += map(index.texts.read, new)
