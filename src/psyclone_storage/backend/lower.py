"""From a program for LFRic to the module that holds its routines: loops, calls, exchanges.

`backend.frame` owns the order of a routine, the modules of `backend.lfric` own the quantities. A
schedule is handed over with everything decided, and nothing about it is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.constructs import TASK_WAIT, wait_line
from psyclone_storage.backend.frame import Infrastructure, lower_routines
from psyclone_storage.backend.in_place import in_place_lines
from psyclone_storage.backend.lfric.arguments import actual_arguments
from psyclone_storage.backend.lfric.bounds import (
    last_of_colour,
    last_of_tile,
    last_tile,
    loop_bounds,
)
from psyclone_storage.backend.lfric.checks import CheckLevel, check_lines
from psyclone_storage.backend.lfric.constructs import construct_lines, reduced, with_partial_sums
from psyclone_storage.backend.lfric.context import Context, whole
from psyclone_storage.backend.lfric.device import enter_data_lines, update_lines
from psyclone_storage.backend.lfric.dummies import dummy_declarations
from psyclone_storage.backend.lfric.exact_sums import ended, is_exact
from psyclone_storage.backend.lfric.formulas import formula_line
from psyclone_storage.backend.lfric.halos import (
    exchange_lines,
    joint_lines,
    mark_lines,
    reduction_lines,
    reduction_start,
)
from psyclone_storage.backend.lfric.mesh import colour_map, ncolours, tiling_map
from psyclone_storage.backend.lfric.spaces import Space, space_of
from psyclone_storage.backend.workspace import Section, Workspace
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Expr, Index, Name, Range
from psyclone_storage.ir.schedule import (
    DirectiveRegion,
    GlobalReduction,
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Over,
    ProfileRegion,
    Program,
    Schedule,
    Statement,
)
from psyclone_storage.ir.transfer import EnterData, TaskWait, Update, Wait
from psyclone_storage.ir.unit import Assign, Call, Comment, Declare, Do, Line, Unit
from psyclone_storage.ir.walk import kernel_calls

_ALL = Range()
"""The index of a kernel that is called once for all cells."""


@dataclass(frozen=True, slots=True)
class LoweringOptions:
    """What a user can choose about generated code that is not in the schedule.

    `padding` counts the values from one partial sum of threads to the next.
    """

    checks: CheckLevel = CheckLevel.NONE
    comment: str = ""
    exact_sums: bool = False
    padding: int = 8


_PLAIN = LoweringOptions()


def lower_program(program: Program, options: LoweringOptions = _PLAIN) -> Unit:
    """Return the module of a program's routines, which call LFRic's infrastructure.

    Raises `CompileError` G001 if the infrastructure cannot reduce values of a kind, and G002 if a
    device should sum exactly.
    """

    def begin(schedule: Schedule, work: Workspace) -> _Lowering:
        several = any(call.kernel.is_intergrid for call in kernel_calls(schedule))
        context = Context(
            schedule, work, several, exact_sums=options.exact_sums, padding=options.padding
        )
        return _Lowering(context, options.checks)

    infrastructure = Infrastructure(abi.RESERVED, _home_of_kind, begin)
    return lower_routines(program, infrastructure, options.comment)


def _home_of_kind(kind: str) -> str:
    return abi.KIND_MODULES.get(kind, abi.Module.CONSTANTS)


@dataclass(frozen=True, slots=True)
class _Lowering:
    """The lowering of one routine."""

    context: Context
    checks: CheckLevel

    def dummies(self) -> tuple[Declare, ...]:
        """Return the declarations of the routine's dummy arguments."""
        return dummy_declarations(self.context)

    def lower(self, statement: Statement) -> tuple[Line, ...]:
        """Return the lines of a statement that stands directly in the schedule."""
        return _lower_outer(self.context, statement)

    def lower_joint(self, exchanges: tuple[HaloExchange, ...]) -> tuple[Line, ...]:
        """Return the one call of exchanges that share their messages."""
        return joint_lines(self.context, exchanges)

    def finish(self) -> None:
        """Add the checks of what the statements have asked for."""
        self.context.work.add(Section.CHECKS, *check_lines(self.context, self.checks))


# ---------------------------------------------------------------------------- statements


def _lower_outer(context: Context, statement: Statement) -> tuple[Line, ...]:
    """Return the lines of a statement that stands directly in the schedule."""
    match statement:
        case Loop() | DirectiveRegion():
            return (
                *_reduction_starts(context, statement),
                *_nested(context, statement),
                *_reduction_ends(context, statement),
            )
        case HaloExchange():
            return exchange_lines(context, statement)
        case MarkHalo():
            return mark_lines(context, statement)
        case GlobalReduction():
            return reduction_lines(context, statement)
        case EnterData():
            return enter_data_lines(context, statement, partial(_nested, context))
        case Update():
            return update_lines(context, statement)
        case Wait():
            return (wait_line(statement),)
        case KernelCall() | ProfileRegion() | TaskWait():
            raise InternalError(f"'{statement.uid}' stands outside of any loop.")


def _reduction_starts(context: Context, block: Loop | DirectiveRegion) -> Iterator[Assign]:
    for datum, operation in reduced(context, block):
        yield reduction_start(context, datum, operation)


def _reduction_ends(context: Context, block: Loop | DirectiveRegion) -> Iterator[Assign]:
    """Yield the end of each exact sum that no reduction over ranks will end."""
    for datum, operation in reduced(context, block):
        if not context.schedule.distributed and is_exact(context, datum, operation):
            yield ended(context, datum)


def _loop(context: Context, loop: Loop) -> tuple[Line, ...]:
    space = _bounds_space(context, loop)
    match loop.over:
        case Over.DOMAIN:
            return _body(context, loop, _ALL)
        case Over.COLOURS | Over.TILE_COLOURS:
            last = ncolours(context, space, of_tiles=loop.over is Over.TILE_COLOURS)
            return (_loop_over(context, "colour", last, loop),)
        case Over.TILES_OF_COLOUR:
            colour = _counter(context, "colour")
            return (
                _loop_over(context, "tile", last_tile(context, loop.extent, space, colour), loop),
            )
        case Over.CELLS_OF_COLOUR | Over.CELLS_OF_TILE:
            return (_loop_over_colour(context, loop, space),)
        case Over.CELLS | Over.DOFS:
            index = _counter(context, "cell" if loop.over is Over.CELLS else "df")
            start, stop = loop_bounds(context, loop, space)
            return (Do(index.text, start, stop, _body(context, loop, index)),)
    raise InternalError(f"'{loop.uid}' counts {loop.over.value}, which LFRic does not have.")


def _nested(context: Context, statement: Statement) -> tuple[Line, ...]:
    match statement:
        case Loop():
            return _loop(context, statement)
        case DirectiveRegion():
            inner = with_partial_sums(context, statement)
            lines = [line for item in statement.body for line in _nested(inner, item)]
            return construct_lines(context, statement, tuple(lines))
        case TaskWait():
            return (TASK_WAIT,)
    raise InternalError(f"'{statement.uid}' stands inside of a loop nest or a construct.")


def _loop_over(context: Context, name: str, last: Expr, loop: Loop) -> Do:
    """Return a loop from 1 that holds others, or constructs with others in them."""
    counter = _counter(context, name)
    inner = tuple(line for item in loop.body for line in _nested(context, item))
    return Do(counter.text, whole(1), last, inner)


def _loop_over_colour(context: Context, loop: Loop, space: Space) -> Do:
    """Return the loop over the cells of a colour, or over those of a tile of a colour."""
    colour, cell = _counter(context, "colour"), _counter(context, "cell")
    if loop.over is Over.CELLS_OF_TILE:
        tile, position = _counter(context, "tile"), _counter(context, "cell_of_tile")
        stop = last_of_tile(context, loop.extent, space, (colour, tile))
        current = Assign(cell, Index(tiling_map(context, space), (colour, tile, position)))
    else:
        position = _counter(context, "cell_of_colour")
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
    args = actual_arguments(context, call, index)
    match call.codes:
        case (KernelCode(in_place=True) as code,):
            return in_place_lines(code, args, context.work)
    procedure = context.work.imports.local(kernel.module, kernel.procedure)
    return (Call(Name(procedure), args),)
