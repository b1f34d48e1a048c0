"""Lowering of a program to a module, common to all APIs and targets.

This module determines names and order. Statements are lowered first; the values that they request
are collected in the workspace of the routine, so that declarations and set-up contain only used
entities. The infrastructure defines the code of each operation. The schedule is complete and is not
modified.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Set
from functools import partial
from itertools import groupby

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.infrastructures import profiling as abi_profile
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.devices import device_regions
from psyclone_storage.ir.insertion import END
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.loop_versions import loops_with_parts
from psyclone_storage.ir.runtime_ops import CopyTo, EnterDevice, ReducePoints
from psyclone_storage.ir.transfer import EnterData, TaskWait, Update, Wait
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.exchanges import exchange_lines, fill_lines, joint_lines, mark_lines
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.lowering.loop_versions import versions
from psyclone_storage.lowering.outline_cells import without_unused_counters
from psyclone_storage.lowering.reductions import (
    end_exact_sums,
    is_reduction,
    points_reduction,
    reduction_lines,
    starts,
)
from psyclone_storage.lowering.routine_builder import ModuleImports, Workspace
from psyclone_storage.lowering.statements import nested
from psyclone_storage.lowering.strip_chains import by_chain, chain_lines

Timed = Callable[[sch.ProfileRegion, tuple[un.Line, ...]], tuple[un.Line, ...]]


def lower_program(
    program: sch.Program, infrastructure: Infrastructure, comment: str = ""
) -> un.Unit:
    """Return the module with the routines of a program, which use `infrastructure`.

    Exceptions of the infrastructure's tables propagate.
    """
    names = {invoke.name for invoke in program.invokes}
    data = {datum.name for invoke in program.invokes for datum in invoke.schedule.data}
    inlined = {
        call.kernel.procedure
        for invoke in program.invokes
        for call in kernel_calls(invoke.schedule)
        if call.kernel.module == program.name
    }
    imports = ModuleImports({program.name, *names, *data, *inlined}, program.name)
    taken = keys_of(
        {
            *infrastructure.reserved,
            *abi_profile.RESERVED,
            *_names_of_procedures(program),
        }
    )
    names_of_module = imports, taken
    lowered = [
        _lower_invoke(program, invoke, names_of_module, infrastructure)
        for invoke in program.invokes
    ]
    own = tuple(procedure for _, work in lowered for procedure in work.procedures)
    helpers = (*infrastructure.helpers(program, imports), *imports.helpers())
    routines = tuple(routine for routine, _ in lowered)
    return un.Unit(program.name, imports.uses(), routines, comment, helpers, own)


def _lower_invoke(
    program: sch.Program,
    invoke: sch.Invoke,
    names: tuple[ModuleImports, Set[str]],
    infrastructure: Infrastructure,
) -> tuple[un.GeneratedRoutine, Workspace]:
    """Return the routine of an invoke; `names` are the module's imports and used names."""
    schedule = invoke.schedule
    imports, taken = names
    data = [datum.name for datum in schedule.all_data]
    work = Workspace(imports, data, partial(_home_of_kind, invoke, infrastructure), taken)
    context = LoweringContext(
        schedule,
        work,
        infrastructure,
        any(call.kernel.has_several_meshes for call in kernel_calls(schedule)),
        held=invoke.held,
        outlines=infrastructure.outlines,
    )
    dummies = tuple(map(work.dummy, infrastructure.dummies(context)))
    lowered = _lower_body(
        context, schedule.body, partial(infrastructure.profiled, work, program.name)
    )
    body = (*lowered, *_asked_of_storages(context, END))
    infrastructure.finish(context)
    around = infrastructure.around(context, (un.Comment(_heading(schedule)), *body))
    lines = (*work.set_up(), *around, *work.tear_down())
    declared = without_unused_counters(work, lines)
    return un.GeneratedRoutine(
        schedule.name, dummies, declared, lines, directives=work.directives()
    ), work


def _heading(schedule: sch.Schedule) -> str:
    if not schedule.body:
        return "Nothing to do: all calls are for halo cells, and data are not distributed"
    return "Halo exchanges and loops" if schedule.distributed else "Loops"


def _names_of_procedures(program: sch.Program) -> set[str]:
    """Return the names of procedures and modules, which variables must not have."""
    kernels = [call.kernel for item in program.invokes for call in kernel_calls(item.schedule)]
    return {
        *(invoke.name for invoke in program.invokes),
        *(name for kernel in kernels for name in (kernel.procedure, kernel.module)),
        program.name,
    }


def _home_of_kind(invoke: sch.Invoke, infrastructure: Infrastructure, kind: str) -> str:
    """Return the module of a kind parameter, preferably the one the algorithm imports it from."""
    for scope in invoke.parsed.scopes:
        for use in scope.uses:
            if any(name.key == key_of(kind) for name in use.only or ()):
                return use.module
    return infrastructure.home_of_kind(key_of(kind))


def _lower_body(
    context: LoweringContext, body: tuple[sch.Statement, ...], timed: Timed
) -> Iterator[un.Line]:
    """Yield the lowered statements, with blank lines before loops and their exchanges.

    `timed` encloses the lines of a profile region in profiler calls.
    """
    before: sch.Statement | None = None
    for items in _by_message(context, body):
        statement, *others = items
        if isinstance(statement, sch.ProfileRegion):
            lines = timed(statement, tuple(_lower_body(context, statement.body, timed)))
        elif others and isinstance(statement, sch.Compound):
            lines = chain_lines(context, items, _outer)
        elif others:
            exchanges = tuple(item for item in items if isinstance(item, sch.HaloExchange))
            lines = joint_lines(context, exchanges)
        else:
            lines = context.ops.beside(context, statement, _outer(context, statement))
        begins = isinstance(statement, sch.HaloExchange | sch.FillHalo | sch.Compound)
        if (
            before is not None
            and begins
            and not isinstance(before, sch.HaloExchange | sch.FillHalo)
        ):
            yield un.Blank()
        for item in items:
            yield from _asked_of_storages(context, item.uid)
        yield from lines
        before = statement


def _asked_of_storages(context: LoweringContext, before: str) -> Iterator[un.Line]:
    """Yield the storage actions before a statement, unless data are bound at once."""
    contract = context.ops.holding
    if contract is not None and not contract.at_once:
        for action in context.held.before(before):
            yield from context.storage_lines(action)


def _outer(context: LoweringContext, statement: sch.Statement) -> tuple[un.Line, ...]:
    """Return the lines of a top-level statement, or of one in a profile region."""
    match statement:
        case sch.Loop() | sch.DirectiveRegion() if loops_with_parts(statement):
            return versions(context, statement)
        case sch.Loop() if ReducePoints in context.ops.actions and is_reduction(statement):
            return points_reduction(context, statement)
        case sch.Loop() | sch.DirectiveRegion():
            return (
                *starts(context, statement),
                *nested(context, statement),
                *end_exact_sums(context, statement),
            )
        case sch.HaloExchange():
            return exchange_lines(context, statement)
        case sch.MarkHalo():
            return mark_lines(context, statement)
        case sch.FillHalo():
            return fill_lines(context, statement)
        case sch.GlobalReduction():
            return reduction_lines(context, statement)
        case EnterData():
            return _entered(context, statement)
        case Update():
            datum = context.schedule.datum(statement.datum)
            asked = CopyTo(statement.to, datum, statement.component, statement.guarded)
            return context.lines(asked)
        case Wait():
            return (un.QueueWaitLine(statement.queue),)
        case sch.KernelCall() | sch.ProfileRegion() | TaskWait():
            raise InternalError(f"'{statement.uid}' stands outside of any loop.")


def _entered(context: LoweringContext, enter: EnterData) -> tuple[un.Line, ...]:
    """Return the statements that enter the data of all device regions."""
    regions = tuple(device_regions(context.schedule))
    lowered = (line for region in regions for line in nested(context, region))
    # What the host does before a region, it does with what it has.
    lines = tuple(line for line in lowered if isinstance(line, un.DirectiveBlock))
    calls = tuple(call for region in regions for call in kernel_calls(region))
    return context.lines(EnterDevice(enter.data, enter.queue, calls, lines))


def _by_message(
    context: LoweringContext, body: tuple[sch.Statement, ...]
) -> Iterator[tuple[sch.Statement, ...]]:
    """Yield the statements one by one, but exchanges that share messages, and chains, as groups."""

    def message(numbered: tuple[int, tuple[sch.Statement, ...]]) -> Hashable:
        number, (statement, *_) = numbered
        return (isinstance(statement, sch.HaloExchange) and statement.joint) or number

    for _, items in groupby(enumerate(by_chain(context, body)), key=message):
        yield tuple(statement for _, group in items for statement in group)
