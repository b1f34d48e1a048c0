"""Plans the data of the device regions of several files, and inserts the transfers as directives.

The root of the call tree creates the copies on the device and deletes them at its end; a procedure
does so with its local arrays. Transfers are `update` directives in the procedures of the tree. All
regions then find their arrays on the device.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from psyclone_storage.analysis.bodies.effects import ProcedureCall
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.coherence.program_transfers import ProgramPlan, plan_program
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.device_program import (
    Passed,
    ProcedureName,
    ProgramArray,
    ProgramCall,
    ProgramProcedure,
    ProgramTransfer,
    WorkStep,
    nested_steps,
)
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.expr import CallFunction, Name, Origin
from psyclone_storage.ir.facts import ASSUMPTIONS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import with_changed_blocks
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.transfer import Side
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.device_reports import DataPlan, transfer_reports
from psyclone_storage.pipeline.device_restrictions import Restrictions
from psyclone_storage.pipeline.pointed_arrays import pointed_names
from psyclone_storage.pipeline.program_regions import all_groups, host_lines, with_last
from psyclone_storage.pipeline.program_tree import ProgramTree, TreeProblem
from psyclone_storage.pipeline.program_uses import (
    GivenUses,
    OutsideProcedures,
    ProgramUses,
    home_module,
)
from psyclone_storage.pipeline.transfer_sizes import ArraySizes
from psyclone_storage.transform.file_bench import FileBench

_Lines = tuple[un.Line, ...]
_MODULES = (ScopeKind.MODULE, ScopeKind.SUBMODULE)


@dataclass(frozen=True, slots=True)
class OtherFiles:
    """The procedures of other files of which only contracts are known, and the modules of these.

    `finished` are those with device regions, and `families` the kinds of their directives.
    """

    codes: Mapping[ProcedureName, Routine] = field(default_factory=dict)
    modules: Mapping[str, Routine] = field(default_factory=dict)
    effects: Mapping[ProcedureName, GivenUses] = field(default_factory=dict)
    finished: Mapping[ProcedureName, ProgramProcedure] = field(default_factory=dict)
    families: Mapping[ProcedureName, frozenset[str]] = field(default_factory=dict)


class DataPlanner:
    """The procedures of files, and where each is; inserts the directives of a plan.

    Without `others`, the files are the whole program.
    """

    def __init__(
        self,
        benches: tuple[FileBench, ...],
        finder: ModuleFinder,
        outside: OutsideProcedures,
        others: OtherFiles | None = None,
    ) -> None:
        is_complete, others = others is None, others or OtherFiles()
        self.places = _places_of(benches)
        units = [unit for bench in benches for unit in bench.file.every_unit()]
        own = {unit.key: unit for unit in units if unit.kind is ScopeKind.MODULE}
        self.modules = {**others.modules, **own}
        self.submodules = [unit for unit in units if unit.kind is ScopeKind.SUBMODULE]
        kinds = (one.kind for bench in benches for one in bench.facts)
        codes = {name: bench.code(key) for name, (bench, key) in self.places.items()}
        assumed = frozenset(kind for kind in kinds if kind in ASSUMPTIONS)
        self.finder, self.others = finder, others
        self._families: dict[ProcedureName, frozenset[str]] = {}
        every = {**others.codes, **codes}
        self.uses = ProgramUses(every, finder, assumed, outside, others.effects)
        pointed = pointed_names(self.uses, units) if is_complete else None
        self.tree = ProgramTree(self.uses, others.finished, pointed)
        self._unnamed: dict[ProcedureName, dict[ProgramArray, str]] = {}
        self._imports_of: dict[str, frozenset[str]] = {}

    def solved(
        self,
        excluded: dict[ProgramArray, str],
        closed: frozenset[ProcedureName],
        opened: frozenset[ProcedureName] = frozenset(),
    ) -> tuple[tuple[ProgramProcedure, ...], ProgramPlan]:
        """Return the procedures without excluded arrays, and their plan.

        Arrays for which there is no plan are added to `excluded`.
        """
        every = (*self.tree.procedures.values(), *self.tree.finished.values())
        self._add_absent(excluded, closed | opened)
        while True:
            kept = tuple(self._with_names(one.without(frozenset(excluded))) for one in every)
            plan = plan_program(kept, closed, opened, self.uses.assumed)
            if not plan.infeasible:
                return tuple(one for one in kept if one.fixed is None), plan
            excluded |= self.with_passed(
                {one: self._why_infeasible(one) for one in plan.infeasible}
            )
            self._add_absent(excluded, closed | opened)

    def _with_names(self, procedure: ProgramProcedure) -> ProgramProcedure:
        """Return a procedure that transfers only arrays that it can name.

        At the start of a program, no array of a module is allocated; at its end, none is used.
        """
        unnamed = self._unnamed.get(procedure.name, {})
        found = replace(procedure, unmoved=frozenset(unnamed)) if unnamed else procedure
        own = self.uses.procedures.get(procedure.name)
        if own is None or own.kind is not ScopeKind.PROGRAM:
            return found
        shared = {one for one in procedure.data if not one.procedure}
        fresh = frozenset(one for one in shared if self._is_declared(one, "allocatable"))
        return replace(found, fresh=procedure.fresh | fresh, left=procedure.left | shared)

    def _why_infeasible(self, datum: ProgramArray) -> str:
        found = (one[datum] for one in self._unnamed.values() if datum in one)
        return next(found, "a part of it that may not be contiguous is used on both sides")

    def report(
        self,
        root: str,
        kept: tuple[ProgramProcedure, ...],
        plan: ProgramPlan,
        excluded: Mapping[ProgramArray, str],
    ) -> DataPlan:
        """Return the plan for the reports."""
        procedures = self.tree.procedures.values()
        used = frozenset[ProgramArray]().union(*(one.data for one in procedures))
        shown = {str(one): why for one, why in sorted(excluded.items()) if why and one in used}
        data = {one for procedure in kept for one in procedure.data}
        reports = tuple(transfer_reports(kept, plan, ArraySizes(self.tree, self.modules)))
        unknown = tuple(sorted(self.tree.unknown))
        return DataPlan(root, tuple(map(str, sorted(data))), reports, shown, unknown)

    def problems(self, found: Iterable[TreeProblem]) -> Iterator[Diagnostic]:
        """Yield the reasons against a plan as diagnostics."""
        for unit in self.submodules:
            message = f"The data of '{unit.name}' cannot be planned: it is a submodule."
            yield Diagnostic("T098", message, unit.place)
        for one in found:
            message = f"The data of '{one.procedure}' cannot be planned: {one.reason}."
            yield Diagnostic("T098", message, one.place)

    def found(self, root: str) -> list[ProcedureName]:
        """Return the procedures of the files that a name may mean."""
        key = key_of(root)
        return [one for one in self.places if key in (str(one), one.name)]

    # ------------------------------------------------------------------------ data

    def on_device(self) -> dict[ProgramArray, str]:
        """Return the arrays that device regions use, with those that are passed as them."""
        found: set[ProgramArray] = set()
        for procedure in self.tree.procedures.values():
            for step in nested_steps(procedure.body):
                if isinstance(step, WorkStep) and step.side is Side.DEVICE:
                    found |= step.data
        for procedure in self.tree.finished.values():
            fixed = procedure.fixed or {}
            found.update(one for one, states in fixed.items() if states.on_device)
        return self.with_passed(dict.fromkeys(found, ""), both=True)

    def excluded(
        self, every: Iterable[ProgramArray], root: ProcedureName | None = None
    ) -> dict[ProgramArray, str]:
        """Return those arrays that cannot be planned, with reasons.

        A procedure does not transfer what it cannot name. The `root` creates the copies, unless the
        tree allocates an array.
        """
        reasons = dict(self.tree.left_out)
        allocated = {
            one for known in self.tree.allocated.values() for _, data in known for _, one in data
        }
        for datum in every:
            if datum.procedure:
                continue
            if datum.module not in self.modules:
                reasons.setdefault(datum, "its module is not in the files")
                continue
            for name in self.tree.procedures:
                why = self._why_unnamed(datum, name)
                if why:
                    self._unnamed.setdefault(name, {})[datum] = why
                if why and (root is None or (name == root and datum not in allocated)):
                    reasons.setdefault(datum, why)
        return self.with_passed(reasons)

    def _why_unnamed(self, datum: ProgramArray, name: ProcedureName) -> str:
        """Return why a procedure cannot name a variable of a module, or ""."""
        module = self.finder.module(datum.module)
        code = self.uses.code(name)
        if datum.name in (name.name, name.module):
            return f"its name has another meaning in '{name}'"
        if self.uses.datum(datum.name, code) == datum or name.module == datum.module:
            return ""
        if module is None or module.hidden(datum.name):
            return f"it is private in '{datum.module}'"
        if name.module in self._imported_by(datum.module):
            return f"its module uses '{name.module}'"
        if code.symbol(datum.name).origin is not Origin.UNRESOLVED:
            return f"its name has another meaning in '{name}'"
        return ""

    def _imported_by(self, module: str) -> frozenset[str]:
        """Return the modules that a module uses, also through others."""
        if module not in self._imports_of:
            queue = [module]
            for one in queue:
                known = self.finder.module(one)
                new = () if known is None else (key_of(use.module) for use in known.uses)
                queue += [name for name in dict.fromkeys(new) if name not in queue]
            self._imports_of[module] = frozenset(queue[1:])
        return self._imports_of[module]

    def with_passed(
        self, reasons: Mapping[ProgramArray, str], *, both: bool = False
    ) -> dict[ProgramArray, str]:
        """Return arrays with those that are passed as them or, if `both`, as which they are passed.

        An argument can be planned although an array without copies is passed as it.
        """
        linked: dict[ProgramArray, set[ProgramArray]] = defaultdict(set)
        for one in self._passed():
            linked[one.inner].add(one.outer)
            if both:
                linked[one.outer].add(one.inner)
        found = dict(reasons)
        queue = list(reasons)
        for datum in queue:
            for other in sorted(linked[datum] - found.keys()):
                found[other] = found[datum]
                queue.append(other)
        return found

    def _passed(self) -> Iterator[Passed]:
        for procedure in self.tree.procedures.values():
            for step in nested_steps(procedure.body):
                if isinstance(step, ProgramCall):
                    for each in step.passed:
                        yield from each

    def _add_absent(
        self, excluded: dict[ProgramArray, str], callable_: frozenset[ProcedureName]
    ) -> None:
        """Exclude arguments as which no array with copies is passed.

        Others than the procedures of the tree may call those in `callable_`.
        """
        given: dict[ProgramArray, set[ProgramArray]] = defaultdict(set)
        for one in self._passed():
            given[one.inner].add(one.outer)
        for procedure in self.tree.procedures.values():
            for datum in procedure.data - excluded.keys():
                outer = given.get(datum, set())
                why = self.tree.temporary.get(datum)
                known = procedure.name in callable_ or not datum.procedure
                if known or not (outer or why) or outer - excluded.keys():
                    continue
                excluded[datum] = why or excluded[min(outer)]

    # ------------------------------------------------------------------------ directives

    def edit(
        self,
        root: ProcedureName | None,
        procedures: tuple[ProgramProcedure, ...],
        plan: ProgramPlan,
        excluded: Mapping[ProgramArray, str],
    ) -> None:
        """Insert the directives of a plan; `root` creates the copies of variables of modules."""
        used = self.on_device().keys()
        every = (*procedures, *self.tree.finished.values())
        shared = {one for procedure in every for one in procedure.data} - excluded.keys()
        for procedure in procedures:
            own = procedure.left & procedure.data
            if procedure.name == root:
                own |= {one for one in shared if not one.procedure} | procedure.data
                own -= self._unnamed.get(root, {}).keys()
            here = [one for one in plan.transfers if one.position.procedure == procedure.name]
            moved = {one.datum for one in here}
            absent = {one for one in moved if self._is_declared(one, "allocatable")}
            absent |= moved if procedure.name != root else set()
            optional = frozenset(one for one in moved if self._is_declared(one, "optional"))
            updates = _updates(here, absent, optional, openmp=self._is_openmp(procedure.name))
            self._edit_procedure(procedure.name, updates, own & used, moved, shared & used)
        if root is not None:
            for name in self.tree.allocated.keys() - {one.name for one in procedures}:
                self._edit_allocations(name, shared & used, openmp=self._is_openmp(root))

    def declaration(self, datum: ProgramArray) -> un.Declare | None:
        """Return the declaration of a variable of a procedure or of a module."""
        if not datum.procedure:
            module = self.modules.get(datum.module)
            return None if module is None else module.declared(datum.name)
        return self.uses.code(ProcedureName(datum.module, datum.procedure)).declared(datum.name)

    def _is_declared(self, datum: ProgramArray, word: str) -> bool:
        item = self.declaration(datum)
        return item is not None and word in item.words

    def _edit_procedure(
        self,
        name: ProcedureName,
        updates: Mapping[tuple[int, int], list[un.Line]],
        own: frozenset[ProgramArray] | set[ProgramArray],
        moved: set[ProgramArray],
        shared: set[ProgramArray],
    ) -> None:
        """Insert updates into a procedure, which creates the copies of its `own` arrays."""
        bench, key = self.places[name]
        code, openmp = bench.code(key), self._is_openmp(name)
        allocated = self.tree.allocated.get(name, ())
        body = _with_lines(code.body, updates, _allocating(allocated, shared, openmp=openmp))
        if own:
            body = _with_data(body, sorted(own), code, openmp=openmp)
        self.write(name, body, tuple(self._imports(code, moved | own)))

    def _edit_allocations(
        self, name: ProcedureName, data: set[ProgramArray], *, openmp: bool
    ) -> None:
        """Create and delete copies where a procedure without regions allocates arrays."""
        bench, key = self.places[name]
        known, code = self.tree.allocated[name], bench.code(key)
        body = _with_lines(code.body, {}, _allocating(known, data, openmp=openmp))
        self.write(name, body, ())

    def write(
        self, name: ProcedureName, body: tuple[un.Line, ...], uses: tuple[un.Use, ...]
    ) -> None:
        """Replace the statements of a procedure, which needs some imports in addition."""
        bench, key = self.places[name]
        code = bench.code(key)
        if body is not code.body or uses:
            bench.edit(key, code.body, body, uses=uses)

    def _imports(self, code: Routine, data: set[ProgramArray]) -> Iterator[un.Use]:
        """Yield the imports that a procedure needs to name variables of modules."""
        by_module: dict[str, list[str]] = defaultdict(list)
        for one in sorted(data):
            if not one.procedure and self.uses.datum(one.name, code) != one:
                by_module[one.module].append(one.name)
        for module, names in by_module.items():
            yield un.Use(module, tuple(un.Imported(name, name) for name in names))

    def families(self, name: ProcedureName) -> frozenset[str]:
        """Return "acc" and "omp", those of the regions of a procedure and those that it calls.

        "calls" means that it calls a procedure outside the program that uses the device.
        """
        if name in self.others.finished:
            return self.others.families.get(name, frozenset())
        if name not in self._families:
            self._families[name] = frozenset()
            found = set[str]()
            for is_region, group in all_groups(self.uses.procedures[name].body):
                line = group[0]
                if is_region and isinstance(line, un.DirectiveBlock):
                    found.add("omp" if line.directive is Directive.OMP_TARGET else "acc")
                elif is_region and isinstance(line, un.DirectiveLine):
                    found.add("omp" if key_of(line.text).startswith("omp") else "acc")
            if any(self.tree.uses_device(name)):
                found.add("calls")
            called = filter(self.tree.is_relevant, self.tree.called_by(name))
            self._families[name] = frozenset(found).union(*map(self.families, called))
        return self._families[name]

    def mixed(self, name: ProcedureName) -> tuple[TreeProblem, ...]:
        """Return a problem if the regions of a call tree do not share their copies."""
        place = self.uses.procedures[name].place
        mixed = TreeProblem(name, "it has regions of OpenACC and of OpenMP", place)
        return (mixed,) if {"acc", "omp"} <= self.families(name) else ()

    def _is_openmp(self, name: ProcedureName) -> bool:
        own = self.families(name) - {"calls"}
        return "omp" in (own or frozenset().union(*map(self.families, self.tree.procedures)))


def _places_of(benches: Iterable[FileBench]) -> dict[ProcedureName, tuple[FileBench, str]]:
    """Return the procedures of files, without internal ones, each with its file and key."""
    found: dict[ProcedureName, tuple[FileBench, str]] = {}
    for bench in benches:
        inner = {
            one.extent
            for unit in bench.file.every_unit()
            if unit.kind not in _MODULES
            for one in unit.procedures
        }
        for key in bench.routines:
            code = bench.code(key)
            if code.extent not in inner:
                name = ProcedureName(home_module(code), code.key)
                found.setdefault(name, (bench, key))
    return found


class TreePlanner(DataPlanner):
    """Plans a call tree whose procedures are all in the files."""

    def plan(self, root: str) -> DataPlan:
        """Plan the call tree of `root`."""
        name = self._named(root)
        self._read(name)
        every = {one for procedure in self.tree.procedures.values() for one in procedure.data}
        unused = dict.fromkeys(every - self.on_device().keys(), "")
        excluded = {**unused, **self.excluded(every, name)}
        kept, plan = self.solved(excluded, self._called_outside(name) | {name})
        self.edit(name, kept, plan, excluded)
        return self.report(str(name), kept, plan, excluded)

    def _read(self, root: ProcedureName) -> None:
        """Read the call tree of a procedure.

        Raises:
            CompileError: `T098`, all reasons against a plan.
        """
        restrictions = Restrictions(self.tree, self.modules)
        reachable = self.uses.reachable(root)
        self.tree.note_allocations(reachable)
        self.tree.root = root
        self.tree.read(root)
        found = (*restrictions.problems(reachable), *self.tree.problems, *self.mixed(root))
        raise_if_any(tuple(dict.fromkeys(self.problems(found))))
        self.tree.left_out |= restrictions.left_out(reachable)

    def _named(self, root: str) -> ProcedureName:
        key, found = key_of(root), self.found(root)
        if len(found) == 1:
            return found[0]
        known = [str(one).rpartition(".")[2] for one in self.places]
        what = "several procedures" if found else "no procedure"
        hint = f"Write one of {', '.join(map(str, found))}."
        if not found:
            hint = did_you_mean(key, known) or "Write the name of a procedure in them."
        raise CompileError(Diagnostic("T003", f"There is {what} '{root}' in the files.", hint=hint))

    def _called_outside(self, root: ProcedureName) -> frozenset[ProcedureName]:
        """Return the procedures of the tree that others than those of the tree call.

        A program executes no other procedures.
        """
        if self.uses.procedures[root].kind is ScopeKind.PROGRAM:
            return frozenset()
        found: set[ProcedureName] = set()
        for name in self.places.keys() - self.tree.procedures.keys():
            code = self.uses.code(name)
            for line in host_lines(code.body):
                if isinstance(line, un.Call) and not self._is_unused(name):
                    found.update(self.uses.called(ProcedureCall(line.procedure, line.args), code))
        return frozenset(found & self.tree.procedures.keys())

    def _is_unused(self, name: ProcedureName) -> bool:
        """Return whether a procedure is private in its module, and not named elsewhere in it."""
        module, code = self.finder.module(name.module), self.uses.procedures[name]
        if module is None or not module.hidden(name.name) or code.extent is None:
            return False
        text, start, end = code.module.source.text, code.extent.start, code.extent.stop
        rest = key_of(text[:start] + text[end:])
        return re.search(rf"\b{re.escape(name.name)}\b", rest) is None


def _is_unallocated(one: ProgramArray, code: Routine) -> bool:
    """Return whether an array is not allocated at the start of a procedure."""
    item = code.declared(one.name) if one.procedure else None
    words = frozenset[str]() if item is None else item.words
    return one.name not in code.dummy_keys and "allocatable" in words


def _with_data(body: _Lines, data: list[ProgramArray], code: Routine, *, openmp: bool) -> _Lines:
    """Return the statements of a procedure that creates copies of data and deletes them."""
    first = tuple(Name(one.name) for one in data if not _is_unallocated(one, code))
    enter = (un.EnterDataLine(first, values=False, openmp=openmp),) if first else ()
    leave = un.ExitDataLine(tuple(Name(one.name) for one in data), openmp=openmp)

    return (*enter, *with_last(body, leave))


def _same(old: tuple[un.Line, ...], new: list[un.Line]) -> tuple[un.Line, ...]:
    return old if all(one is other for one, other in zip(old, new, strict=True)) else tuple(new)


def _updates(
    transfers: Iterable[ProgramTransfer],
    absent: set[ProgramArray],
    optional: frozenset[ProgramArray],
    *,
    openmp: bool,
) -> Mapping[tuple[int, int], list[un.Line]]:
    """Return the updates at each position of a procedure.

    Data in `absent` may have no copies: allocatable arrays, and data outside the root, because
    others than the procedures of the tree may call it. Then regions copy what they need. Only if
    they are present, directives name `optional` arguments.
    """
    moved: dict[tuple[int, int], dict[tuple[Side, bool, ProgramArray | None], list[Name]]]
    moved = defaultdict(lambda: defaultdict(list))
    for one in transfers:
        key = one.to, one.datum in absent, one.datum if one.datum in optional else None
        moved[one.position.key, one.position.block][key].append(Name(one.datum.name))
    return {
        where: [
            _if_present(un.UpdateLine(to, tuple(names), if_present, openmp), argument)
            for (to, if_present, argument), names in lines.items()
        ]
        for where, lines in moved.items()
    }


def _if_present(update: un.UpdateLine, argument: ProgramArray | None) -> un.Line:
    if argument is None:
        return update
    return un.If((un.Branch(CallFunction(Name("present"), (Name(argument.name),)), (update,)),))


def _allocating(
    allocated: Iterable[tuple[un.Line, tuple[tuple[str, ProgramArray], ...]]],
    data: set[ProgramArray],
    *,
    openmp: bool,
) -> Mapping[int, un.Line]:
    """Return, by statement, what creates or deletes copies with the arrays on the host."""
    found: dict[int, un.Line] = {}
    for line, every in allocated:
        names = tuple(Name(key) for key, one in every if one in data)
        if names and isinstance(line, un.Allocate):
            found[id(line)] = un.EnterDataLine(names, values=False, openmp=openmp)
        elif names:
            found[id(line)] = un.ExitDataLine(names, openmp, finalize=True)
    return found


def _with_lines(
    body: _Lines, at: Mapping[tuple[int, int], list[un.Line]], allocating: Mapping[int, un.Line]
) -> _Lines:
    """Return statements with others before some of them and at the ends of blocks.

    Copies are created after an array is allocated, and deleted before it is deallocated.
    """

    def block(lines: _Lines, owner: un.Line | None, number: int) -> _Lines:
        found: list[un.Line] = []
        for line in lines:
            found += at.get((id(line), -1), ())
            more = allocating.get(id(line))
            if isinstance(more, un.ExitDataLine):
                found.append(more)
            found.append(inside(line))
            if isinstance(more, un.EnterDataLine):
                found.append(more)
        found += at.get((id(owner), number), ())
        return tuple(found) if len(found) > len(lines) else _same(lines, found)

    def inside(line: un.Line) -> un.Line:
        numbers = count()
        return with_changed_blocks(line, lambda lines: block(lines, line, next(numbers)))

    return block(body, None, 0)
