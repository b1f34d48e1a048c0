"""From a program to the module that holds its routines: one subroutine per invoke.

Statements are lowered first. What they need is asked for on the way and collects in the
routine's workspace, so that declarations and set-up, which are written before them, hold
what is used and nothing else. This file owns the order of a routine; the modules of
`backend.lfric` own the quantities. It is handed a schedule in which everything is
decided, and changes nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.lfric.arguments import actual_arguments
from psyclone_storage.backend.lfric.bounds import last_of_colour, loop_bounds
from psyclone_storage.backend.lfric.checks import CheckLevel, check_lines
from psyclone_storage.backend.lfric.context import Context, whole
from psyclone_storage.backend.lfric.dummies import dummy_declarations
from psyclone_storage.backend.lfric.formulas import formula_line, written_argument
from psyclone_storage.backend.lfric.halos import (
    exchange_lines,
    mark_lines,
    reduction_lines,
    reduction_start,
)
from psyclone_storage.backend.lfric.mesh import colour_map, ncolours
from psyclone_storage.backend.lfric.spaces import Space, space_of
from psyclone_storage.backend.workspace import Imports, Section, Workspace
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Expr, Index, Name, Range
from psyclone_storage.ir.schedule import (
    GlobalReduction,
    HaloExchange,
    Invoke,
    KernelCall,
    Loop,
    MarkHalo,
    Over,
    Program,
    Schedule,
    Statement,
)
from psyclone_storage.ir.unit import Assign, Blank, Call, Comment, Declare, Do, Line, Routine, Unit
from psyclone_storage.ir.walk import kernel_calls

_ALL = Range()
"""The index of a kernel that is called once for all cells."""


@dataclass(frozen=True, slots=True)
class LoweringOptions:
    """What a user can choose about generated code that is not in the schedule."""

    checks: CheckLevel = CheckLevel.NONE
    comment: str = ""


_PLAIN = LoweringOptions()


def lower_program(program: Program, options: LoweringOptions = _PLAIN) -> Unit:
    """Return the module of a program's routines.

    Raises `CompileError` G001 if the infrastructure cannot reduce values of a kind.
    """
    routines = {invoke.name for invoke in program.invokes}
    data = {datum.name for invoke in program.invokes for datum in invoke.schedule.data}
    imports = Imports({program.name, *routines, *data})
    lowered = tuple(_lower_invoke(program, invoke, imports, options) for invoke in program.invokes)
    return Unit(program.name, imports.uses(), lowered, options.comment)


def _lower_invoke(
    program: Program, invoke: Invoke, imports: Imports, options: LoweringOptions
) -> Routine:
    schedule = invoke.schedule
    calls = kernel_calls(schedule)
    work = Workspace(imports, _taken(program, schedule), partial(_home_of_kind, invoke))
    context = Context(schedule, work, any(call.kernel.is_intergrid for call in calls))
    dummies = dummy_declarations(context)
    body = tuple(_lower_body(context, schedule))
    work.add(Section.CHECKS, *check_lines(context, options.checks))
    heading = Comment("Halo exchanges and loops" if schedule.distributed else "Loops")
    lines = (*work.set_up(), heading, *body, *work.tear_down())
    return Routine(schedule.name, dummies, work.declarations(), lines)


def _taken(program: Program, schedule: Schedule) -> set[str]:
    """Return the names that no variable of the routine may have."""
    kernels = [call.kernel for item in program.invokes for call in kernel_calls(item.schedule)]
    return {
        *abi.RESERVED,
        *(datum.name for datum in schedule.data),
        *(invoke.name for invoke in program.invokes),
        *(name for kernel in kernels for name in (kernel.procedure, kernel.module)),
        program.name,
    }


def _home_of_kind(invoke: Invoke, kind: str) -> str:
    """Return the module of a kind parameter: the algorithm's if it names one, else LFRic's."""
    for scope in invoke.parsed.scopes:
        for use in scope.uses:
            if any(name.local.lower() == kind.lower() for name in use.only or ()):
                return use.module
    return abi.KIND_MODULES.get(kind.lower(), abi.Module.CONSTANTS)


# ---------------------------------------------------------------------------- statements


def _lower_body(context: Context, schedule: Schedule) -> Iterator[Line]:
    """Yield the statements, an empty line before each loop and before the exchanges for it."""
    before: Statement | None = None
    for statement in schedule.body:
        lines = _lower_outer(context, statement)
        starts = isinstance(statement, Loop | HaloExchange)
        if before is not None and starts and not isinstance(before, HaloExchange):
            yield Blank()
        yield from lines
        before = statement


def _lower_outer(context: Context, statement: Statement) -> tuple[Line, ...]:
    """Return the lines of a statement that stands directly in the schedule."""
    match statement:
        case Loop():
            return (*_reduction_starts(context, statement), *_loop(context, statement))
        case HaloExchange():
            return exchange_lines(context, statement)
        case MarkHalo():
            return mark_lines(context, statement)
        case GlobalReduction():
            return reduction_lines(context, statement)
        case KernelCall(uid):
            raise InternalError(f"Call '{uid}' stands outside of any loop.")


def _reduction_starts(context: Context, loop: Loop) -> Iterator[Assign]:
    for call in kernel_calls(loop):
        formula = call.kernel.formula
        if formula is not None and formula.reduction is not None:
            written = context.datum(call, written_argument(call))
            yield reduction_start(context, written, formula.reduction)


def _loop(context: Context, loop: Loop) -> tuple[Line, ...]:
    space = _bounds_space(context, loop)
    match loop.over:
        case Over.DOMAIN:
            return _body(context, loop, _ALL)
        case Over.COLOURS:
            colour = _counter(context, "colour")
            inner = [line for item in loop.body for line in _nested(context, item)]
            return (Do(colour.text, whole(1), ncolours(context, space), tuple(inner)),)
        case Over.CELLS_OF_COLOUR:
            return (_loop_over_colour(context, loop, space),)
        case Over.CELLS | Over.DOFS:
            index = _counter(context, "cell" if loop.over is Over.CELLS else "df")
            start, stop = loop_bounds(context, loop, space)
            return (Do(index.text, start, stop, _body(context, loop, index)),)


def _nested(context: Context, statement: Statement) -> tuple[Line, ...]:
    if isinstance(statement, Loop):
        return _loop(context, statement)
    raise InternalError(f"'{statement.uid}' stands between a loop over colours and its cells.")


def _loop_over_colour(context: Context, loop: Loop, space: Space) -> Do:
    colour, position, cell = (
        _counter(context, name) for name in ("colour", "cell_of_colour", "cell")
    )
    stop = last_of_colour(context, loop.extent, space, colour)
    current = Assign(cell, Index(colour_map(context, space), (colour, position)))
    return Do(position.text, whole(1), stop, (current, *_body(context, loop, cell)))


def _bounds_space(context: Context, loop: Loop) -> Space:
    """Return the function space that gives a loop its bounds."""
    return space_of(context, kernel_calls(loop)[0], loop.bounds_from)


def _counter(context: Context, name: str) -> Name:
    return context.work.variable(Section.COUNTERS, name, Declare(name, abi.INTEGER))


def _body(context: Context, loop: Loop, index: Expr) -> tuple[Line, ...]:
    """Return the calls and built-ins in a loop, for the cell or dof `index`."""
    lines: list[Line] = []
    for call in loop.body:
        if not isinstance(call, KernelCall):
            raise InternalError(f"'{call.uid}' stands in a loop over {loop.over.value}.")
        lines += _call(context, call, index)
    return tuple(lines)


def _call(context: Context, call: KernelCall, index: Expr) -> tuple[Line, ...]:
    kernel = call.kernel
    if kernel.formula is not None:
        line = formula_line(context, call, kernel.formula, index)
        return (Comment(f"Built-in: {kernel.name}"), line)
    procedure = context.work.imports.local(kernel.module, kernel.procedure)
    return (Call(Name(procedure), actual_arguments(context, call, index)),)
