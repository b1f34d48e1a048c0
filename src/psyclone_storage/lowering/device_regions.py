"""Lowering of directive regions: private variables and reductions.

Private variables are determined from the lowered statements: loop counters and assigned scalars,
except reductions. Other variables are shared. The infrastructure determines the data of a device
region, and a printer the syntax.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.expr import Element, Expr, Name, canonical, spell
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import Masked, blocks_of, names_in, with_each_block
from psyclone_storage.ir.runtime_ops import ExactSum
from psyclone_storage.ir.schedule import Datum, DirectiveRegion
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.walk import kernel_calls, statements
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.reductions import (
    Reduced,
    initial_partial_sums,
    is_exact,
    ordered_reductions,
    reduced,
    summed,
    sums_in_order,
    thread_number,
)
from psyclone_storage.lowering.routine_builder import SetupSection


def region_lines(
    context: LoweringContext, region: DirectiveRegion, lines: tuple[un.Line, ...]
) -> tuple[un.Line, ...]:
    """Return `lines` under the directive of `region`.

    Reproducible reductions are initialised before a parallel region and combined after it. Exact
    sums do not depend on the order.
    """
    ordered = [
        item
        for inside in (region, *statements(region))
        if isinstance(inside, DirectiveRegion) and sums_in_order(context, inside)
        for item in ordered_reductions(context, inside)
    ]
    opens = region.directive is Directive.OMP_PARALLEL and bool(ordered)
    scalars = {datum.name: op for datum, op in _combined(context, region)}
    scalars |= dict(_exact(context, region))
    looked_up: list[un.Line] = []
    if region.runs_on_device and not region.directive.surroundings:
        lines = _with_ends_before(context, lines, looked_up)
    moves = region.directive.holds_data or (region.copies and context.ops.names_what_is_copied)
    items = context.ops.region_items(context, kernel_calls(region), lines) if moves else ()
    private = [name for name in dict.fromkeys(assigned(lines)) if name not in scalars]
    if not opens:
        return (*looked_up, _block(region, lines, private, scalars, items))
    number = thread_number(context)
    private.append(context.counter("thread").text)
    before = [line for datum, _ in ordered for line in initial_partial_sums(context, datum)]
    block = _block(region, (number, *lines), private, scalars, items)
    return (*before, block, *(summed(context, datum, op) for datum, op in ordered))


def enter_lines(items: Iterable[un.DeviceItem], queue: int = -1) -> Iterator[un.EnterDataLine]:
    """Yield statements that enter items on a device, outer objects first."""
    levels: dict[int, dict[Expr, None]] = {}
    for item in items:
        levels.setdefault(item.level, {})[item.what] = None
    for level in sorted(levels):
        yield un.EnterDataLine(tuple(levels[level]), queue)


def assigned(lines: Iterable[un.Line]) -> Iterator[str]:
    """Yield the names of scalars that `lines` assign or count, in order."""
    for line in lines:
        match line:
            case un.Do(variable=variable, body=body):
                yield variable.text
                yield from assigned(body)
            case un.Assign(target=Name(text)):
                yield text
            case un.ScopedBlock():
                yield from _counted_in((line,), frozenset())
            case _ if not isinstance(line, Masked):
                for block in blocks_of(line):
                    yield from assigned(block)


def _counted_in(lines: Iterable[un.Line], own: frozenset[str]) -> Iterator[str]:
    """Yield the loop counters in a block, except variables local to the block."""
    for line in lines:
        inner = own
        match line:
            case un.Do(variable=variable) if variable.key not in own:
                yield variable.text
            case un.ScopedBlock(uses, declarations):
                inner |= {item.key for item in declarations if isinstance(item, un.Declare)}
                inner |= {name.key for use in uses for name in use.names}
            case _:
                pass
        for block in blocks_of(line):
            yield from _counted_in(block, inner)


def _with_ends_before(
    context: LoweringContext, lines: tuple[un.Line, ...], before: list[un.Line]
) -> tuple[un.Line, ...]:
    """Return the lines of a device region, with colour limits looked up on the host before it.

    This avoids copying an array to the device for one number per colour. Limits that depend on
    counters inside the region are not moved.
    """
    counted = frozenset(map(key_of, assigned(lines)))

    def changed(line: un.Line) -> un.Line:
        line = with_each_block(line, lambda block: tuple(map(changed, block)))
        if not isinstance(line, un.Do) or not isinstance(line.stop, Element):
            return line
        known = context.work.found(spell(line.stop.base))
        if known is None or known[0] is not SetupSection.COLOURS or names_in(line.stop) & counted:
            return line
        wished = un.Declare("last_of_colour", context.ops.integer)
        name = context.work.variable(SetupSection.COUNTERS, ("end", canonical(line.stop)), wished)
        before.append(un.Assign(name, line.stop))
        return replace(line, stop=name)

    return tuple(map(changed, lines))


def _block(
    region: DirectiveRegion,
    lines: tuple[un.Line, ...],
    private: Iterable[str],
    scalars: dict[str, ReductionOp],
    items: tuple[un.DeviceItem, ...],
) -> un.DirectiveBlock:
    reductions = tuple(scalars.items())
    return un.DirectiveBlock(
        region.directive, region.options, lines, tuple(private), reductions, items
    )


def _combined(context: LoweringContext, region: DirectiveRegion) -> Iterator[Reduced]:
    """Yield the scalars that the directive combines in any order."""
    return iter(()) if sums_in_order(context, region) else ordered_reductions(context, region)


def _exact(context: LoweringContext, region: DirectiveRegion) -> Iterator[tuple[str, ReductionOp]]:
    """Yield the exact sums that the directive combines, with their variables."""
    for datum, op in reduced(context, region):
        if is_exact(context, datum, op):
            if region.runs_on_device:
                raise _refusal(datum)
            variable = context.value(ExactSum(datum))
            assert isinstance(variable, Name)
            if region.directive.shares_work and (declared := context.work.found(variable.text)):
                _, declare = declared
                if isinstance(declare.type, DerivedType):
                    context.work.specify(un.ReductionLine(declare.type.name))
            yield variable.text, op


def _refusal(datum: Datum) -> CompileError:
    """Return the error for an exact sum on a device (G002)."""
    return CompileError(
        Diagnostic(
            "G002",
            f"A device cannot sum exactly to '{datum.name}', as EXACT_SUMS asks.",
            datum.span,
            hint="Leave the loop that sums on the host, or set EXACT_SUMS = false.",
        )
    )
