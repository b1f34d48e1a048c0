"""Checks of halo depths in the set-up of a routine, before any computation."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.infrastructures.lfric import OPERATOR_DEPTH
from psyclone_storage.ir.devices import moved_parts
from psyclone_storage.ir.expr import CallFunction, Expr, Member, canonical, integer_value, whole
from psyclone_storage.ir.halo_depths import depths_of_steps
from psyclone_storage.ir.region import WHOLE, Depth
from psyclone_storage.ir.schedule import Datum, Loop
from psyclone_storage.ir.storage_access import AcquireData
from psyclone_storage.ir.walk import kernel_calls, outer_loops, statements
from psyclone_storage.lowering.function_space_refs import space_of
from psyclone_storage.lowering.halo_depth import depth_value
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.lfric_python.runtime_values import component_of, runtime_number
from psyclone_storage.targets.lfric_python.spaces import runtime_space


def held_parts(
    context: LoweringContext, datum: Datum
) -> Iterator[tuple[int | None, list[AcquireData]]]:
    """Yield the parts of a datum that a routine acquires, with the acquire actions."""
    actions = [one for one in context.held.acquired if one.datum == datum.name]
    for component in moved_parts(datum, None) if actions else ():
        if component is None:
            yield None, actions
        elif meant := [one for one in actions if one.component in (None, component)]:
            yield component, meant


def look_at_depth(
    context: LoweringContext, datum: Datum, component: int | None, depth: Expr, least: int
) -> None:
    """Add a check that a halo is deep enough for its exchanges and flag updates.

    Each field has at least one level. The set-up receives a field vector as its acquired parts.
    """
    if integer_value(depth) == 1:
        return
    parts = [held for held, _ in held_parts(context, datum)]
    if component not in parts:
        return
    at = parts.index(component)
    owner = component_of(datum, None if component is None else at + 1)
    _look(context, (datum.name, at), owner, depth, least)


def look_at_operators(context: LoweringContext) -> None:
    """Add checks that operators have values for all cells that kernels access.

    Constant depths were checked when the schedule was built.
    """
    for call in kernel_calls(context.schedule) if context.schedule.distributed else ():
        for position, actual in enumerate(call.args):
            extent = actual.extent
            if extent is None or integer_value(extent) is not None:
                continue
            if call.kernel.args[position].kind.is_operator:
                datum = context.datum(call, position)
                _look(context, (datum.name, 0), component_of(datum, None), extent, 0)
    for loop in statements(context.schedule):
        if not isinstance(loop, Loop) or not loop.computed.reach.in_halo:
            continue
        depth = loop.computed.depth
        if Depth.of(OPERATOR_DEPTH).covers(depth) is Fresh.YES:
            continue
        for call in kernel_calls(loop):
            value = depth_value(context, depth)
            for position, arg in enumerate(call.kernel.args):
                if arg.kind.is_operator:
                    datum = context.datum(call, position)
                    _look(context, (datum.name, 0), component_of(datum, None), value, 0)


def look_at_steps(context: LoweringContext) -> None:
    """Add checks of the requirements of steps: deep enough halos and equal function spaces."""
    for part, depth in depths_of_steps(context.schedule).items():
        if depth != WHOLE:
            datum = context.schedule.datum(part.datum)
            look_at_depth(context, datum, part.component, depth_value(context, depth), 0)
    for loop in outer_loops(context.schedule):
        calls = {call.uid: call for call in kernel_calls(loop)}
        for asserted in loop.asserted:
            first = space_of(context, kernel_calls(loop)[0], loop.bounds_from)
            other = space_of(context, calls[asserted.call], asserted.bounds_from)
            value = CallFunction(
                Member(runtime_space(first), abi.SAME_DOFS), (runtime_space(other),)
            )
            key = ("same dofs", loop.uid, asserted.call)
            runtime_number(context, SetupSection.BOUNDS, key, f"{other.datum.name}_dofs", value)


def _look(
    context: LoweringContext, which: tuple[str, int], owner: Expr, depth: Expr, least: int
) -> None:
    value = CallFunction(Member(owner, abi.REACH), (depth, whole(least)))
    key = ("reach", which, canonical(depth), least)
    runtime_number(context, SetupSection.BOUNDS, key, f"{which[0]}_reach", value)
