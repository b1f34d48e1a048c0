"""Plans the device data of several files, and inserts directives or calls of storages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from psyclone_storage.coherence.program_transfers import ProgramPlan
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.device_program import (
    CopyUse,
    ProcedureName,
    ProgramArray,
    ProgramCall,
    ProgramProcedure,
    WorkStep,
    nested_steps,
)
from psyclone_storage.ir.rewrite import names_of_line, walk_lines
from psyclone_storage.ir.transfer import Side
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.device_plans import TreePlanner
from psyclone_storage.pipeline.device_reports import DataPlan
from psyclone_storage.pipeline.program_regions import all_groups
from psyclone_storage.pipeline.program_uses import OutsideProcedures
from psyclone_storage.pipeline.storage_calls import (
    StorageCalls,
    StoredArray,
    stored_array,
    why_not_stored,
)
from psyclone_storage.pipeline.transfer_sizes import ArraySizes
from psyclone_storage.transform.file_bench import FileBench


def plan_device_data(
    benches: Iterable[FileBench],
    finder: ModuleFinder,
    root: str,
    outside: OutsideProcedures = OutsideProcedures(),  # noqa: B008
    *,
    storages: bool = False,
) -> DataPlan:
    """Plan the data of a call tree in files, insert its transfers as steps, and return the plan.

    `root` is the name of a procedure, `module.procedure` if there are several. `outside` are
    procedures outside the files. Transfers are directives, or calls of `storages`.

    Raises:
        CompileError: `T003`, there is no such procedure; `T098`, a statement of a procedure with
            device regions is not understood, moves data already, or the procedure is recursive.
    """
    planner = _StoragePlanner if storages else TreePlanner
    return planner(tuple(benches), finder, outside).plan(root)


class _StoragePlanner(TreePlanner):
    """Inserts calls of storages, which arrays of some types have."""

    _kept: Mapping[ProcedureName, ProgramProcedure] = {}

    @cached_property
    def _sizes(self) -> ArraySizes:
        return ArraySizes(self.tree, self.modules)

    def excluded(
        self, every: Iterable[ProgramArray], root: ProcedureName | None = None
    ) -> dict[ProgramArray, str]:
        """Return those arrays that cannot be planned, or have no storage, with reasons."""
        data = tuple(every)
        reasons = super().excluded(data, root)
        new: dict[ProgramArray, str] = {}
        for datum in data:
            item = self.declaration(datum)
            why = "" if item is None else why_not_stored(item, self._sizes.of_element(datum))
            if item is not None and "optional" in item.words:
                why = "it may be absent"
            if why:
                new[datum] = why
        for procedure in self.tree.procedures.values():
            for step in nested_steps(procedure.body):
                for each in step.passed if isinstance(step, ProgramCall) else ():
                    for one in each:
                        if not one.whole:
                            new[one.outer] = "a storage is found by the address of a whole array"
        new |= self.tree.temporary
        return self.with_passed({**new, **reasons})

    def with_passed(
        self, reasons: Mapping[ProgramArray, str], *, both: bool = True
    ) -> dict[ProgramArray, str]:
        """Return arrays with those that are passed as them and as which they are passed.

        A storage keeps its copy on the device, so no array without a plan may get one.
        """
        return super().with_passed(reasons, both=both)

    def edit(
        self,
        root: ProcedureName | None,
        procedures: tuple[ProgramProcedure, ...],
        plan: ProgramPlan,
        excluded: Mapping[ProgramArray, str],
    ) -> None:
        """Insert the calls of a plan."""
        self._kept = {one.name: one for one in procedures}
        super().edit(root, procedures, plan, excluded)

    def write(
        self, name: ProcedureName, body: tuple[un.Line, ...], uses: tuple[un.Use, ...]
    ) -> None:
        """Replace the statements of a procedure, with calls instead of directives."""
        bench, key = self.places[name]
        code = bench.code(key)
        regions = self._regions(name)
        calls = StorageCalls(code, self._arrays(name), regions, root=name == self.tree.root)
        new = calls.replaced(body)
        if new is not code.body or uses:
            declares = tuple(calls.declares.values())
            bench.edit(key, code.body, new, declares=declares, uses=(*uses, *calls.uses))

    def _regions(self, name: ProcedureName) -> dict[int, dict[str, CopyUse]]:
        """Return the uses of arrays by the device regions of a procedure, by their names there."""
        procedure, code = self._kept.get(name), self.uses.code(name)
        if procedure is None:
            return {}
        groups = {id(group[0]): group for _, group in all_groups(code.body)}
        found: dict[int, dict[str, CopyUse]] = {}
        for step in nested_steps(procedure.body):
            if isinstance(step, WorkStep) and step.side is Side.DEVICE:
                names = {key for line in walk_lines(groups[id(step.line)])
                         for key in names_of_line(line)}  # fmt: skip
                data = {key: self.uses.datum(key, code) for key in names}
                found[id(step.line)] = {
                    key: step.uses[one] for key, one in data.items() if one in step.uses
                }
        return found

    def _arrays(self, name: ProcedureName) -> dict[str, StoredArray]:
        """Return the planned arrays of a procedure, by their names there."""
        code, found = self.uses.code(name), dict[str, StoredArray]()
        data = {one for kept in self._kept.values() for one in kept.data}
        for key in {one.name for one in data}.union(*map(names_of_line, walk_lines(code.body))):
            datum = self.uses.datum(key, code)
            if datum not in data:
                datum = next((one for one in data if not one.procedure and one.name == key), datum)
            item = self.declaration(datum)
            if datum in data and item is not None:
                found[key] = stored_array(item, key, self._sizes.of_element(datum))
        return found
