"""Run-time checks before the loops of generated code.

On request, four errors of an algorithm are logged: a field on another function space than in the
kernel's metadata; a wrong number of layers or of values per dof; a written field that is read-only;
and a halo shallower than a stencil, exchange or loop requires.

Three errors always stop the program, because results would be wrong or memory overwritten: a kernel
that uses an operator is called for halo cells without operator values; a field has a shallower halo
than a step requires; and loops were fused with `same_space` although their function spaces differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.infrastructures.lfric import OPERATOR_DEPTH, SPACES, spaces_meant
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.devices import moved_parts
from psyclone_storage.ir.halo_depths import depths_of_steps, fields_of_loop
from psyclone_storage.ir.kernel import ArgKind, KernelArg
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import WHOLE, Depth, describe_depth
from psyclone_storage.ir.runtime_ops import DataPerDof, Layers
from psyclone_storage.ir.schedule import Datum, HaloExchange, KernelCall, Loop
from psyclone_storage.ir.unit import Branch, If
from psyclone_storage.ir.walk import kernel_calls, outer_loops, statements
from psyclone_storage.lowering.function_space_refs import space_of
from psyclone_storage.lowering.halo_depth import depth_value, of_index_kind
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.bounds import last_dof
from psyclone_storage.targets.lfric_fortran.depths import least_depth
from psyclone_storage.targets.lfric_fortran.field_values import proxy
from psyclone_storage.targets.lfric_fortran.logs import log_call
from psyclone_storage.targets.lfric_fortran.spaces import space_object
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound


class CheckLevel(Enum):
    """Reaction of generated code to an error detected at run time."""

    NONE = "none"
    WARN = "warn"
    ERROR = "error"


_LEVELS = {CheckLevel.WARN: abi.Log.WARNING, CheckLevel.ERROR: abi.Log.ERROR}


def check_lines(context: LoweringContext, level: CheckLevel) -> tuple[If, ...]:
    """Return the run-time checks for the calls and exchanges of a schedule.

    Checks that always stop the program are included at every level.
    """
    checks = _operator_checks(context), _step_checks(context), _assertion_checks(context)
    stops = dict(check for found in checks for check in found)
    return _lines(context, stops, abi.Log.ERROR) + _asked_lines(context, level)


def _lines(
    context: LoweringContext, found: Mapping[object, tuple[ex.Expr, str]], level: abi.Log
) -> tuple[If, ...]:
    return tuple(
        If((Branch(condition, (log_call(context, words, level),)),))
        for condition, words in found.values()
    )


def _asked_lines(context: LoweringContext, level: CheckLevel) -> tuple[If, ...]:
    if level is CheckLevel.NONE:
        return ()
    found: dict[object, tuple[ex.Expr, str]] = {}
    for call in kernel_calls(context.schedule):
        for position, arg in enumerate(call.kernel.args):
            if arg.kind is ArgKind.FIELD:
                found.update(_field_checks(context, call, position, arg))
    found.update(_depth_checks(context))
    return _lines(context, found, _LEVELS[level])


Check = tuple[object, tuple[ex.Expr, str]]


def _field_checks(
    context: LoweringContext, call: KernelCall, position: int, arg: KernelArg
) -> Iterator[Check]:
    datum = context.datum(call, position)
    name, text = context.schedule.name, ex.spell(datum.actual)
    allowed = tuple(SPACES[name].constant for name in spaces_meant(arg.space))
    if allowed:
        words = (
            f"{name}: field '{text}' is not on the function space {arg.space} that "
            f"kernel {call.kernel.name} asks for."
        )
        yield (datum.name, arg.space), (_is_elsewhere(context, datum, allowed), words)
    yield from _number_checks(context, call, position, arg)
    if arg.access.writes:
        space = space_object(context, space_of(context, call, position))
        words = f"{name}: field '{text}' is written by {call.kernel.name} but read-only."
        yield (datum.name, "read-only"), (bound(space, abi.SpaceProcedure.IS_READONLY), words)


def _number_checks(
    context: LoweringContext, call: KernelCall, position: int, arg: KernelArg
) -> Iterator[Check]:
    """Yield checks of the numbers of layers and values per dof given in metadata."""
    datum, space = context.datum(call, position), space_of(context, call, position)
    for stated, asked, what in (
        (arg.layers, Layers(space), "layers"),
        (arg.data_per_dof, DataPerDof(space), "values at each dof"),
    ):
        if stated.isdecimal():
            condition = ex.Binary(Operator.NOT_EQUAL, context.value(asked), ex.whole(int(stated)))
            words = (
                f"{context.schedule.name}: field '{ex.spell(datum.actual)}' does not have {stated}"
                f" {what}, as kernel '{call.kernel.name}' requires."
            )
            yield (datum.name, what, stated), (condition, words)


def _is_elsewhere(context: LoweringContext, datum: Datum, allowed: tuple[str, ...]) -> ex.Expr:
    item: ex.Expr = ex.Name(datum.name)
    if datum.vector > 1:
        item = ex.Element(item, (ex.whole(1),))
    actual = bound(item, abi.FieldMember.WHICH_SPACE)
    tests = [
        ex.Binary(
            Operator.NOT_EQUAL,
            actual,
            ex.Name(context.work.imports.local(abi.LFRicModule.CONTINUITY, name)),
        )
        for name in allowed
    ]
    condition: ex.Expr = tests[0]
    for test in tests[1:]:
        condition = ex.Binary(Operator.AND, condition, test)
    return condition


def _operator_checks(context: LoweringContext) -> Iterator[Check]:
    """Yield checks of the halo depths to which kernels with operators are called.

    Constant depths were checked when the schedule was built.
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
            condition = ex.Binary(
                Operator.GREATER, depth_value(context, depth), ex.whole(OPERATOR_DEPTH)
            )
            words = (
                f"{context.schedule.name}: {call.kernel.name} is called for halo cells to"
                f" level {describe_depth(depth)}, but operators have values to level"
                f" {OPERATOR_DEPTH} only."
            )
            yield ("operators", depth), (condition, words)


def _step_checks(context: LoweringContext) -> Iterator[Check]:
    """Yield checks of the halo depths that extended loops require.

    Fields on a mesh without halos have no halos either; their first level is empty.
    """
    needed: dict[Depth, list[DatumPart]] = defaultdict(list)
    for part, depth in depths_of_steps(context.schedule).items():
        needed[depth].append(part)
    for depth, parts in needed.items():
        least = depth_value(context, depth)
        if depth in (Depth.of(1), WHOLE):
            owner = proxy(context, context.schedule.datum(parts[0].datum), parts[0].component)
            levels = bound(ex.Member(owner, abi.FieldMember.SPACE), abi.SpaceProcedure.HALO_DEPTH)
            least = ex.intrinsic("min", of_index_kind(context, ex.whole(1)), levels)
        condition = ex.Binary(Operator.LESS, least_depth(context, parts), least)
        words = (
            f"{context.schedule.name}: redundant computation needs {_levels(depth)} of halo, which"
            f" one of these fields does not have: {_names(context, parts)}."
        )
        yield ("steps", depth), (condition, words)


def _assertion_checks(context: LoweringContext) -> Iterator[Check]:
    """Yield checks of assertions that dof loops have the same function space."""
    for loop in outer_loops(context.schedule):
        calls = {call.uid: call for call in kernel_calls(loop)}
        first = space_of(context, kernel_calls(loop)[0], loop.bounds_from)
        for part in loop.asserted:
            space = space_of(context, calls[part.call], part.bounds_from)
            ends = [last_dof(context, loop.computed, one) for one in (first, space)]
            words = (
                f"{context.schedule.name}: '{ex.spell(first.datum.actual)}' and"
                f" '{ex.spell(space.datum.actual)}' are not on the same function space, although"
                " their loops were fused with 'same_space'."
            )
            yield (
                ("same space", loop.uid, part.call),
                (ex.Binary(Operator.NOT_EQUAL, ends[0], ends[1]), words),
            )


def _depth_checks(context: LoweringContext) -> Iterator[Check]:
    """Yield checks of depths that a field may not have: all except 1 and the whole halo."""
    for what, owner, depth, parts in _depths(context):
        if Depth.of(1).covers(depth) is Fresh.YES or depth == WHOLE:
            continue
        least = least_depth(context, parts)
        condition = ex.Binary(Operator.GREATER, depth_value(context, depth), least)
        words = (
            f"{context.schedule.name}: {what} needs {_levels(depth)} of halo, which"
            f" {owner} does not have."
        )
        yield (what, depth), (condition, words)


def _depths(
    context: LoweringContext,
) -> Iterator[tuple[str, str, Depth, list[DatumPart]]]:
    """Yield the statement that needs a halo, the field with the halo, the depth and the parts.

    Depths that steps require are always checked and left out here.
    """
    schedule = context.schedule
    for item in statements(schedule):
        if isinstance(item, HaloExchange):
            components = moved_parts(schedule.datum(item.datum), item.component)
            parts = [DatumPart(item.datum, component) for component in components]
            what = f"the exchange of field '{_names(context, parts)}'"
            yield what, "the field", item.depth, parts
    for loop in outer_loops(schedule):
        if not loop.computed.reach.in_halo or loop.extent.extended:
            continue
        needed: dict[Depth, list[DatumPart]] = defaultdict(list)
        for part, depth in dict.fromkeys(fields_of_loop(schedule, loop)):
            needed[depth].append(part)
        name = kernel_calls(loop)[0].kernel.name
        for depth, parts in needed.items():
            owner = f"one of the fields {_names(context, parts)}"
            yield f"the loop over {name}", owner, depth, parts


def _levels(depth: Depth) -> str:
    if depth in (Depth.of(1), WHOLE):
        return "1 level"
    return f"{describe_depth(depth)} levels"


def _names(context: LoweringContext, parts: Iterable[DatumPart]) -> str:
    data = (context.schedule.datum(part.datum) for part in parts)
    return ", ".join(dict.fromkeys(ex.spell(datum.actual) for datum in data))
