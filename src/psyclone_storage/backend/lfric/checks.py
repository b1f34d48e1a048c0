"""Tests that generated code makes before its loops, if the user asks for them.

Four mistakes of an algorithm show at run time only: a field that is not on the function space
that its kernel's metadata name, one that has not the number of layers or of values at a dof that
they state, a field to be written that is read-only, and a halo that is not as deep as a stencil, an
exchange or a loop needs. Each is reported through the log. A fifth stops the program unasked: a
kernel that uses an operator and is called for more of the halo than the operator has values for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from psyclone_storage.backend.depths import depth_value
from psyclone_storage.backend.infrastructure import LoweringContext
from psyclone_storage.backend.lfric import abi
from psyclone_storage.backend.lfric.logs import log_call
from psyclone_storage.backend.lfric.members import bound
from psyclone_storage.backend.lfric.mesh import halo_depth
from psyclone_storage.backend.lfric.spaces import space_object
from psyclone_storage.backend.spaces import space_for_mesh, space_of
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.infrastructures.lfric import OPERATOR_DEPTH, SPACES, spaces_meant
from psyclone_storage.ir.expr import (
    Binary,
    Element,
    Expr,
    Name,
    whole,
)
from psyclone_storage.ir.kernel import ArgKind, KernelArg
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import WHOLE, Depth, describe_depth
from psyclone_storage.ir.runtime_ops import DataPerDof, Layers, SpaceRef
from psyclone_storage.ir.schedule import Datum, HaloExchange, KernelCall, Loop
from psyclone_storage.ir.unit import Branch, If
from psyclone_storage.ir.walk import kernel_calls, statements


class CheckLevel(Enum):
    """What generated code does about a mistake that shows at run time."""

    NONE = "none"
    WARN = "warn"
    ERROR = "error"


_LEVELS = {CheckLevel.WARN: abi.Log.WARNING, CheckLevel.ERROR: abi.Log.ERROR}


def check_lines(context: LoweringContext, level: CheckLevel) -> tuple[If, ...]:
    """Return the tests that the calls and exchanges of a schedule call for, each once.

    That operators have values where they are used is tested at every level.
    """
    stops = dict(_operator_checks(context))
    return _lines(context, stops, abi.Log.ERROR) + _asked_lines(context, level)


def _lines(
    context: LoweringContext, found: Mapping[object, tuple[Expr, str]], level: abi.Log
) -> tuple[If, ...]:
    return tuple(
        If((Branch(condition, (log_call(context, words, level),)),))
        for condition, words in found.values()
    )


def _asked_lines(context: LoweringContext, level: CheckLevel) -> tuple[If, ...]:
    if level is CheckLevel.NONE:
        return ()
    found: dict[object, tuple[Expr, str]] = {}
    for call in kernel_calls(context.schedule):
        for position, arg in enumerate(call.kernel.args):
            if arg.kind is ArgKind.FIELD:
                found.update(_field_checks(context, call, position, arg))
    found.update(_depth_checks(context))
    return _lines(context, found, _LEVELS[level])


Check = tuple[object, tuple[Expr, str]]


def _field_checks(
    context: LoweringContext, call: KernelCall, position: int, arg: KernelArg
) -> Iterator[Check]:
    datum = context.datum(call, position)
    name = context.schedule.name
    allowed = tuple(SPACES[name].constant for name in spaces_meant(arg.space))
    if allowed:
        words = (
            f"{name}: field '{datum.name}' is not on the function space {arg.space} that "
            f"kernel {call.kernel.name} asks for."
        )
        yield (datum.name, arg.space), (_is_elsewhere(context, datum, allowed), words)
    yield from _number_checks(context, call, position, arg)
    if arg.access.writes:
        space = space_object(context, space_of(context, call, position))
        words = f"{name}: field '{datum.name}' is written by {call.kernel.name} but read-only."
        yield (datum.name, "read-only"), (bound(space, abi.SpaceProcedure.IS_READONLY), words)


def _number_checks(
    context: LoweringContext, call: KernelCall, position: int, arg: KernelArg
) -> Iterator[Check]:
    """Yield a test of each number of layers or of values at a dof that metadata state."""
    datum, space = context.datum(call, position), space_of(context, call, position)
    for stated, asked, what in (
        (arg.layers, Layers(space), "layers"),
        (arg.data_per_dof, DataPerDof(space), "values at each dof"),
    ):
        if stated.isdecimal():
            condition = Binary(Operator.NOT_EQUAL, context.value(asked), whole(int(stated)))
            words = (
                f"{context.schedule.name}: field '{datum.name}' has not {stated} {what}, which "
                f"kernel {call.kernel.name} asks for."
            )
            yield (datum.name, what, stated), (condition, words)


def _is_elsewhere(context: LoweringContext, datum: Datum, allowed: tuple[str, ...]) -> Expr:
    item: Expr = Name(datum.name)
    if datum.vector > 1:
        item = Element(item, (whole(1),))
    actual = bound(item, abi.FieldMember.WHICH_SPACE)
    tests = [
        Binary(
            Operator.NOT_EQUAL,
            actual,
            Name(context.work.imports.local(abi.LFRicModule.CONTINUITY, name)),
        )
        for name in allowed
    ]
    condition: Expr = tests[0]
    for test in tests[1:]:
        condition = Binary(Operator.AND, condition, test)
    return condition


def _operator_checks(context: LoweringContext) -> Iterator[Check]:
    """Yield a test of each depth to which an algorithm calls a kernel that uses an operator.

    Those that are written as numbers were looked at when the schedule was built.
    """
    for item in statements(context.schedule):
        if not isinstance(item, Loop) or not item.computed.reach.in_halo:
            continue
        for call in kernel_calls(item):
            if not any(arg.kind.is_operator for arg in call.kernel.args):
                continue
            depth = item.computed.depth
            if Depth.of(OPERATOR_DEPTH).covers(depth) is Fresh.YES:
                continue
            space = space_of(context, call, item.bounds_from)
            condition = Binary(
                Operator.GREATER, depth_value(context, depth, space), whole(OPERATOR_DEPTH)
            )
            words = (
                f"{context.schedule.name}: {call.kernel.name} is called for halo cells to"
                f" level {describe_depth(depth)}, but operators have values to level"
                f" {OPERATOR_DEPTH} only."
            )
            yield ("operators", depth), (condition, words)


def _depth_checks(context: LoweringContext) -> Iterator[Check]:
    """Yield a test of every depth that a mesh need not have: all but one level, and the whole."""
    for what, depth, space in _depths(context):
        if Depth.of(1).covers(depth) is Fresh.YES or depth == WHOLE:
            continue
        value = depth_value(context, depth, space)
        condition = Binary(Operator.GREATER, value, halo_depth(context, space))
        words = (
            f"{context.schedule.name}: {what} needs {describe_depth(depth)} levels of halo, which "
            "the mesh does not have."
        )
        yield (what, depth), (condition, words)


def _depths(context: LoweringContext) -> Iterator[tuple[str, Depth, SpaceRef]]:
    for item in statements(context.schedule):
        if isinstance(item, HaloExchange):
            datum = context.schedule.datum(item.datum)
            yield f"field '{datum.name}'", item.depth, space_for_mesh(datum)
        if isinstance(item, Loop) and item.computed.reach.in_halo:
            call = kernel_calls(item)[0]
            space = space_of(context, call, item.bounds_from)
            yield f"the loop over {call.kernel.name}", item.computed.depth, space
