"""Plans the device data of one file; procedures of other files are known by their contracts.

A called procedure is planned before its callers, for those that are usual. Its transfers then allow
some states at its entry and at its exit, of which each caller chooses. Only the root and the
procedure of a local array create copies on the device, so an array that a called procedure cannot
plan is left out where it is created. In all other procedures transfers have no effect if there is
no copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.analysis.bodies.effects import call_sites
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.device_program import ProcedureName, ProgramArray
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine, SourceFile, UseStatement
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.contract_files import (
    ContractName,
    ContractProblem,
    ProcedureContract,
    RecordedProcedure,
    UnitContract,
)
from psyclone_storage.pipeline.contract_folder import ContractFolder
from psyclone_storage.pipeline.contract_interfaces import interface_text
from psyclone_storage.pipeline.device_plans import DataPlanner
from psyclone_storage.pipeline.device_reports import DataPlan
from psyclone_storage.pipeline.device_restrictions import Restrictions, entries_of
from psyclone_storage.pipeline.overloads import is_overload
from psyclone_storage.pipeline.program_tree import TreeProblem
from psyclone_storage.pipeline.program_uses import GivenUses, OutsideProcedures
from psyclone_storage.transform.file_bench import FileBench


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The plan of one file: its contracts, and what it assumes about other files."""

    data: DataPlan
    promises: tuple[str, ...]
    root: ContractName
    contracts: tuple[UnitContract, ...]
    lines: Mapping[str, int]
    used: tuple[ContractName, ...]
    outside: tuple[ContractName, ...]
    procedures: tuple[RecordedProcedure, ...]


class SeparatePlanner(DataPlanner):
    """Plans the procedures of one file."""

    def __init__(
        self,
        bench: FileBench,
        finder: ModuleFinder,
        outside: OutsideProcedures,
        folder: ContractFolder,
        files: Mapping[str, SourceFile],
    ) -> None:
        super().__init__((bench,), finder, outside, folder.other_files(files))
        self._bench = bench
        self._folder = folder
        self._own_problems: dict[ProcedureName, list[TreeProblem]] = {}
        self._calls: dict[ProcedureName, tuple[tuple[ProcedureName, Span | None], ...]] = {}
        for unit in folder.units.values():
            self.tree.left_out |= unit.left_out
            for one in unit.procedures:
                for key, why in one.left_out.items():
                    self.tree.left_out[ProgramArray(one.name.module, one.name.name, key)] = why

    def plan(self, root: str) -> FilePlan:
        """Insert the directives of the file, whose procedures `root` or its callers may call.

        Raises:
            CompileError: `T003`, several procedures have the name `root`; `T098`, the data of the
                root, which is in the file, cannot be planned.
        """
        found = self.found(root)
        if len(found) > 1:
            hint = f"Write one of {', '.join(map(str, found))}."
            message = f"There are several procedures '{root}' in the file."
            raise CompileError(Diagnostic("T003", message, hint=hint))
        own = found[0] if found else None
        raise_if_any(tuple(self.problems(())))
        problems = self._read(own)
        if own is not None:
            raise_if_any(tuple(self._reported(own, problems)))
        good = {name: one for name, one in self.tree.procedures.items() if not problems[name]}
        self.tree.procedures = good
        every = {
            one for each in (good, self.tree.finished) for two in each.values() for one in two.data
        }
        excluded = self.excluded(every)
        closed = frozenset() if own is None else frozenset({own})
        kept, plan = self.solved(excluded, closed, frozenset(good) - closed)
        self.edit(own, kept, plan, excluded)
        on_device = self.on_device().keys()
        contracts = {
            name: replace(
                self._contract(name, excluded, problems[name]),
                states={
                    datum: replace(states, on_device=datum in on_device)
                    for datum, states in plan.states.get(name, {}).items()
                },
            )
            for name in self.places
        }
        line = 0 if own is None else _line(self.uses.procedures[own].place)
        return FilePlan(
            self.report(root, kept, plan, excluded),
            self._promises,
            ContractName(key_of(root), line),
            tuple(self._units(contracts, excluded)),
            {unit.key: _line(unit.place) for unit in self._bench.file.every_unit()},
            tuple(self._used()),
            tuple(self._outside()),
            tuple(self._procedures()),
        )

    # ------------------------------------------------------------------------ problems

    def _read(self, root: ProcedureName | None) -> dict[ProcedureName, list[ContractProblem]]:
        """Read the procedures, and return the reasons against a plan of each."""
        entries = (name for unit in self._folder.units.values() for name in unit.entries)
        restrictions = Restrictions(self.tree, self.modules, frozenset(entries), complete=False)
        own = self._own_problems
        self.tree.note_allocations(self.places)
        if root is not None:
            self.tree.root = root
            self.tree.read(root)
            inside = [name for name in self._reachable(root) if name in self.places]
            own |= {name: list(restrictions.problems([name])) for name in inside}
            self.tree.close(root)
        rest = [name for name in self.places if name not in own]
        self.tree.read(*(name for name in rest if self.tree.is_relevant(name)))
        own |= {name: list(restrictions.problems([name])) for name in rest}
        for one in self.tree.problems:
            own[one.procedure].append(one)
        self.tree.left_out |= restrictions.left_out(self.places)
        for name, known in self.tree.allocated.items():
            if name != root:
                shared = (one for _, data in known for _, one in data if not one.procedure)
                for datum in shared:
                    self.tree.left_out.setdefault(datum, f"'{name}' may allocate it")
        return {name: list(self._inherited(name)) for name in self.places}

    def _inherited(self, name: ProcedureName) -> Iterator[ContractProblem]:
        """Yield the reasons against a plan of a procedure and those that it calls."""
        source = self._bench.file.source.name
        for one in self._reachable(name):
            for problem in self._own_problems.get(one, ()):
                yield ContractProblem(str(problem.procedure), problem.reason, source)
            if one in self._folder.procedures:
                yield from self._folder.procedures[one].problems

    def _reported(
        self, root: ProcedureName, problems: Mapping[ProcedureName, list[ContractProblem]]
    ) -> Iterator[Diagnostic]:
        """Yield the reasons against a plan of the root."""
        own = [one for name in self._reachable(root) for one in self._own_problems.get(name, ())]
        own += self.mixed(root)
        yield from dict.fromkeys(self.problems(own))
        here = self._bench.file.source.name
        for one in dict.fromkeys(problems[root]):
            if one.source != here:
                message = f"The data of '{one.procedure}' cannot be planned: {one.reason}."
                yield Diagnostic("T098", message, file=one.source)

    def _called(self, name: ProcedureName) -> tuple[tuple[ProcedureName, Span | None], ...]:
        """Return the procedures of the program that a procedure of the file may call."""
        if name not in self._calls:
            found: dict[ProcedureName, Span | None] = {}
            if name in self.places:
                code = self.uses.code(name)
                for call in call_sites(walk_lines(code.body), code):
                    for one in self.uses.called(call, code):
                        found.setdefault(one, call.place)
            self._calls[name] = tuple(found.items())
        return self._calls[name]

    def _reachable(self, name: ProcedureName) -> tuple[ProcedureName, ...]:
        found = {name: None}
        queue = [name]
        for one in queue:
            new = [inner for inner, _ in self._called(one) if inner not in found]
            found |= dict.fromkeys(new)
            queue += new
        return tuple(found)

    # ------------------------------------------------------------------------ contracts

    @property
    def _promises(self) -> tuple[str, ...]:
        return tuple(sorted(one.value for one in self.uses.assumed))

    def _contract(
        self,
        name: ProcedureName,
        excluded: Mapping[ProgramArray, str],
        problems: list[ContractProblem],
    ) -> ProcedureContract:
        uses = self.uses.of(name)
        assert uses is not None
        dummies = self.uses.procedures[name].dummy_keys
        left_out = {
            key: excluded[datum]
            for key in dummies
            if (datum := ProgramArray(name.module, name.name, key)) in excluded
        }
        unique = tuple(dict.fromkeys(problems))
        regions = self.families(name) if self.tree.is_relevant(name) else frozenset[str]()
        allocates = frozenset(key for key in dummies if self.uses.may_allocate(name, key))
        given = GivenUses(uses, self.uses.changed(name), allocates)
        return ProcedureContract(name, given, regions, left_out=left_out, problems=unique)

    def _units(
        self,
        contracts: Mapping[ProcedureName, ProcedureContract],
        excluded: Mapping[ProgramArray, str],
    ) -> Iterator[UnitContract]:
        """Yield the contracts of the modules and external procedures of the file."""
        file = self._bench.file
        shared = {one: why for one, why in excluded.items() if not one.procedure}
        for unit in file.units:
            if not isinstance(unit, Routine) or unit.kind is ScopeKind.PROGRAM:
                continue
            home = unit.key if unit.kind is ScopeKind.MODULE else ""
            inner = [
                one
                for name, one in contracts.items()
                if name.module == home and (home or name.name == unit.key)
            ]
            codes = (self.uses.procedures[one.name] for one in inner)
            entries = tuple(sorted({name for code in codes for name in entries_of(code)}))
            yield UnitContract(
                unit.key, file.source.name, interface_text(unit), self._promises, entries, shared,
                tuple(sorted(inner, key=lambda one: one.name)),
            )  # fmt: skip

    # ------------------------------------------------------------------------ assumptions

    def _used(self) -> Iterator[ContractName]:
        """Yield the units of other files on whose contracts the file relies."""
        lines = {**dict(self._externals()), **dict(self._modules_used())}
        for unit in self._folder.units:
            yield ContractName(unit, lines.get(unit, 0), self._folder.digests[unit])

    def _outside(self) -> Iterator[ContractName]:
        """Yield the modules and external procedures that are assumed to be outside the program.

        The names of a module without a contract may come through modules with contracts.
        """
        own = {unit.key for unit in self._bench.file.every_unit()}
        through = dict.fromkeys(sorted(self._folder.missing), 0)
        lines = {**through, **dict(self._externals()), **dict(self._modules_used())}
        for name, line in lines.items():
            if name not in own and name not in self._folder.units:
                yield ContractName(name, line)

    def _modules_used(self) -> Iterator[tuple[str, int]]:
        """Yield the modules that the file uses, with lines."""
        found: dict[str, int] = {}
        for unit in self._bench.file.every_unit():
            for item in unit.specification:
                if isinstance(item, UseStatement) and item.use.module_key not in INTRINSIC_MODULES:
                    found.setdefault(item.use.module_key, _line(item.place))
        yield from found.items()

    def _externals(self) -> Iterator[tuple[str, int]]:
        """Yield the called procedures that are not known, with lines."""
        found: dict[str, int] = {}
        for name in self.places:
            code = self.uses.code(name)
            for call in call_sites(walk_lines(code.body), code):
                if not isinstance(call.procedure, ex.Name) or self.uses.called(call, code):
                    continue
                symbol = code.symbol(call.procedure.key)
                key = key_of(symbol.name)
                known = symbol.origin is ex.Origin.INTRINSIC or key in HARMLESS or is_overload(key)
                if not known and key not in code.dummy_keys:
                    for one in (key, *sorted(self.uses.names(call, code))):
                        found.setdefault(one, _line(call.place))
        yield from found.items()

    def _procedures(self) -> Iterator[RecordedProcedure]:
        for name in self.places:
            calls = tuple(ContractName(str(one), _line(place)) for one, place in self._called(name))
            yield RecordedProcedure(str(name), _line(self.uses.procedures[name].place), calls)


def _line(place: Span | None) -> int:
    return 0 if place is None else place.line
