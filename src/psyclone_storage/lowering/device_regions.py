"""Statements under a directive: which variables are a thread's own, which scalars are reduced.

What a thread needs for itself is read off the lowered lines: the variables that loops count and
the scalars that are assigned, but for those that are reduced. All else is shared. What a region
for a device takes is for each infrastructure to say, and how the directive is spelt for a printer.
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

    Reductions that are to be reproducible are made ready before a region of threads, and
    combined after it; exact sums are so in any order.
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
    """Yield what gives a device what it has not, outer objects first."""
    levels: dict[int, dict[Expr, None]] = {}
    for item in items:
        levels.setdefault(item.level, {})[item.what] = None
    for level in sorted(levels):
        yield un.EnterDataLine(tuple(levels[level]), queue)


def assigned(lines: Iterable[un.Line]) -> Iterator[str]:
    """Yield the names of scalars that `lines` count or assign, in order."""
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
    """Yield what loops in a block count, but for the variables that are its own, or imported."""
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
    """Return the lines of a region on a device with ends of colours that the host looks up before.

    It has the arrays, which need not go there for one number of each colour. What a loop inside of
    the region counts is not known before.
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
    """Yield the scalars that the directive of `region` has to combine as they are."""
    return iter(()) if sums_in_order(context, region) else ordered_reductions(context, region)


def _exact(context: LoweringContext, region: DirectiveRegion) -> Iterator[tuple[str, ReductionOp]]:
    """Yield the exact sums, by their variables, that a directive of `region` has to combine."""
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
    """Return what is said where a device should sum exactly to `datum` (G002)."""
    return CompileError(
        Diagnostic(
            "G002",
            f"A device cannot sum exactly to '{datum.name}', as EXACT_SUMS asks.",
            datum.span,
            hint="Leave the loop that sums on the host, or set EXACT_SUMS = false.",
        )
    )
