"""Lowering of loops, directives and calls, common to all infrastructures."""

from __future__ import annotations

from functools import partial

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.branch_strips import runs_inside
from psyclone_storage.ir.routine import KernelUse, Routine
from psyclone_storage.ir.runtime_ops import ColourMap, LoopEnd, LoopStart
from psyclone_storage.ir.schedule import DirectiveRegion, KernelCall, Loop, Over, Statement
from psyclone_storage.ir.transfer import TaskWait
from psyclone_storage.ir.unit import Assign, Branch, Call, Comment, Do, If, Line, TaskWaitLine
from psyclone_storage.ir.walk import kernel_calls, statements
from psyclone_storage.lowering.arguments import actual_arguments, mask_condition
from psyclone_storage.lowering.branch_strips import strips, takes_strips
from psyclone_storage.lowering.builtins import formula_line
from psyclone_storage.lowering.device_regions import region_lines
from psyclone_storage.lowering.function_space_refs import space_of
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.outline_loops import outlined, outlined_loop
from psyclone_storage.lowering.reductions import with_partial_sums
from psyclone_storage.lowering.strip_chains import by_chain, chain_lines
from psyclone_storage.passes.inline.block import inlined_block

_ALL = ex.Range()
"""The index of a kernel that is called once for all cells."""


def nested(context: LoweringContext, statement: Statement) -> tuple[Line, ...]:
    """Return the lines of a statement inside a loop or directive region."""
    loop = outlined_loop(statement) if context.outlines else None
    if loop is not None:
        return outlined(context, statement, loop, nested)
    match statement:
        case Loop(over=Over.DOMAIN):
            return _inside(context, statement, _ALL)
        case Loop(over=Over.CELLS_OF_COLOUR | Over.CELLS_OF_TILE):
            return (_loop_over_positions(context, statement),)
        case Loop():
            if runs_inside(statement):
                return _inside_kernels(context, statement)
            if statement.over.starts_cells:
                context = replace(context, for_threads=_is_for_threads(context, statement))
            return (_loop(context, statement),)
        case DirectiveRegion():
            inner = with_partial_sums(context, statement)
            if statement.runs_on_device:
                inner = replace(inner, outlines=False, on_device=True)
            return region_lines(context, statement, nested_body(inner, statement.body))
        case TaskWait():
            return (TaskWaitLine(),)
    raise InternalError(f"'{statement.uid}' stands inside of a loop nest or a construct.")


def nested_body(context: LoweringContext, body: tuple[Statement, ...]) -> tuple[Line, ...]:
    """Return the lines of statements in a region; those of one chain form a loop over strips."""
    lines: list[Line] = []
    for items in by_chain(context, body):
        if len(items) > 1:
            lines += chain_lines(context, items, nested)
        else:
            lines += nested(context, items[0])
    return tuple(lines)


def _is_for_threads(context: LoweringContext, loop: Loop) -> bool:
    """Return whether one thread visits the cells of a coloured loop in mesh order.

    On a device, the number of OpenMP threads of the host has no meaning.
    """
    inside = (item for item in statements(loop) if isinstance(item, DirectiveRegion))
    on_device = context.on_device or any(item.runs_on_device for item in inside)
    return loop.for_threads and not on_device


def _inside_kernels(context: LoweringContext, loop: Loop) -> tuple[Line, ...]:
    """Return the calls of kernels that run a loop themselves and receive its ends."""
    start, stop, _ = _limits(context, loop)
    return _inside(replace(context, ends=(start, stop)), loop, _ALL)


def _limits(context: LoweringContext, loop: Loop) -> tuple[ex.Expr, ex.Expr, ex.Expr | None]:
    within = tuple(map(context.counter, loop.over.within))
    start, stop = context.value(LoopStart(loop)), context.value(LoopEnd(loop, within))
    return loop.over.limits(start, stop, loop.tile, within)


def _loop(context: LoweringContext, loop: Loop) -> Do:
    """Return a loop over a range, over the first indices of tiles, or within a tile."""
    start, stop, step = _limits(context, loop)
    if takes_strips(context, loop):
        return strips(context, loop, (start, stop), partial(_call, context))
    counter = context.counter(loop.over.counter)
    return Do(counter, start, stop, _inside(context, loop, counter), step)


def _loop_over_positions(context: LoweringContext, loop: Loop) -> Do:
    """Return the loop over the cells of a colour, or of a tile of a colour."""
    within = tuple(map(context.counter, loop.over.within))
    cell, position = context.counter("cell"), context.counter(loop.over.counter)
    start, stop = context.value(LoopStart(loop)), context.value(LoopEnd(loop, within))
    space = space_of(context, kernel_calls(loop)[0], loop.bounds_from)
    current = Assign(cell, context.value(ColourMap(space, (*within, position))))
    return Do(position, start, stop, (current, *_inside(context, loop, cell)))


def _inside(context: LoweringContext, loop: Loop, index: ex.Expr) -> tuple[Line, ...]:
    """Return the body of a loop: the calls for `index`, or nested loops and directives."""
    lines: list[Line] = []
    context = replace(context, outlines=False)
    for item in loop.body:
        lines += (
            _call(context, item, index) if isinstance(item, KernelCall) else nested(context, item)
        )
    return tuple(lines)


def _call(context: LoweringContext, call: KernelCall, index: ex.Expr) -> tuple[Line, ...]:
    kernel = call.kernel
    if kernel.formula is not None:
        line = formula_line(context, call, kernel.formula, index)
        return (Comment(f"Built-in: {kernel.name}"), line)
    lines = _coded_call(context, call, index)
    condition = mask_condition(context, call, index)
    return lines if condition is None else (If((Branch(condition, lines),)),)


def _coded_call(context: LoweringContext, call: KernelCall, index: ex.Expr) -> tuple[Line, ...]:
    args = actual_arguments(context, call, index)
    match call.codes:
        case (Routine(kernel_use=KernelUse(in_place=True)) as code,):
            return inlined_block(code, args, context.work.imported_kind)
    procedure = context.work.imports.local(call.kernel.module, call.kernel.procedure)
    return (Call(ex.Name(procedure), args),)
