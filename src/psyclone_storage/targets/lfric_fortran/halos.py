"""Halo exchanges, halo flag updates and reductions over ranks."""

from __future__ import annotations

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.infrastructures.lfric import KINDS
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.devices import moved_parts
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.schedule import Phase
from psyclone_storage.ir.unit import Assign, Call, Comment, Declare, Line
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    SetupSection,
)
from psyclone_storage.targets.fortran_halo_checks import HaloCheck, halo_check_call
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.field_values import data_type, proxy
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound

_PHASES = {
    Phase.WHOLE: abi.FieldMember.EXCHANGE,
    Phase.START: abi.FieldMember.START,
    Phase.FINISH: abi.FieldMember.FINISH,
}
_ANNEXED = {Fresh.YES: 1, Fresh.MAYBE: 0, Fresh.NO: -1}
_TOGETHER = Comment("What is dirty of these goes in one message to each neighbour")


def exchanged(context: LoweringContext, asked: ops.Exchange, *more: ex.Expr) -> tuple[Line, ...]:
    """Return the exchange of a field or component; `more` are further arguments."""
    owner = proxy(context, asked.datum, asked.component)
    return (
        Call(ex.Member(owner, _PHASES[asked.phase]), (ex.Keyword("depth", asked.depth), *more)),
    )


def is_dirty(context: LoweringContext, asked: ops.IsDirty) -> ex.Expr:
    """Return the test of a field's dirty flag."""
    owner = proxy(context, asked.datum, asked.component)
    return bound(owner, abi.FieldMember.IS_DIRTY, ex.Keyword("depth", asked.depth))


def exchange_phase(
    context: LoweringContext, asked: ops.ExchangeTogether, *more: ex.Expr
) -> tuple[Line, ...]:
    """Return one call for joint exchanges of one phase, which tests the dirty flags."""
    owners: list[ex.Expr] = []
    depths: list[ex.Expr] = []
    for exchange, depth in zip(asked.exchanges, asked.depths, strict=True):
        datum = context.schedule.datum(exchange.datum)
        for part in moved_parts(datum, exchange.component):
            owners.append(proxy(context, datum, part))
            depths.append(depth)
    arguments = (ex.ArrayLiteral(tuple(owners)), ex.ArrayLiteral(tuple(depths)), *more)
    return (_TOGETHER, _joint_call(context, asked, arguments))


def _joint_call(
    context: LoweringContext, asked: ops.ExchangeTogether, arguments: tuple[ex.Expr, ...]
) -> Call:
    module, phase = str(abi.JOINT_EXCHANGE.module), asked.exchanges[0].phase
    if phase is Phase.WHOLE:
        exchange_fields = context.work.imports.local(module, abi.EXCHANGE_FIELDS)
        return Call(ex.Name(exchange_fields), arguments)
    key = ("joint", frozenset((item.datum, item.component) for item in asked.exchanges))
    wished = Declare("joint_exchange", abi.JOINT_EXCHANGE)
    both = context.work.variable(SetupSection.COUNTERS, key, wished)
    if phase is Phase.START:
        return Call(ex.Member(both, abi.JointExchange.START), arguments)
    return Call(ex.Member(both, abi.JointExchange.FINISH))


def marked_dirty(context: LoweringContext, asked: ops.MarkDirty) -> tuple[Line, ...]:
    """Return the call that marks a halo dirty."""
    return (
        Call(ex.Member(proxy(context, asked.datum, asked.component), abi.FieldMember.SET_DIRTY)),
    )


def marked_clean(context: LoweringContext, asked: ops.MarkClean) -> tuple[Line, ...]:
    """Return the call that marks halo levels clean."""
    owner = proxy(context, asked.datum, asked.component)
    return (Call(ex.Member(owner, abi.FieldMember.SET_CLEAN), (asked.depth,)),)


def given_numbers(context: LoweringContext, asked: ops.FillDofs) -> tuple[Line, ...]:
    """Return the assignment that initialises unread dofs, which are contiguous."""
    space = ex.Member(proxy(context, asked.datum, asked.component), abi.FieldMember.SPACE)
    if asked.annexed:
        before = bound(space, abi.SpaceProcedure.LAST_OWNED)
    elif asked.beyond is None:
        before = bound(space, abi.SpaceProcedure.LAST_ANNEXED)
    else:
        before = bound(space, abi.SpaceProcedure.LAST_HALO, asked.beyond)
    if asked.depth is None:
        last = bound(space, abi.SpaceProcedure.LAST_ANNEXED)
    else:
        last = bound(space, abi.SpaceProcedure.LAST_HALO, asked.depth)
    values = context.value(ops.DataOf(asked.datum, asked.component))
    dofs = ex.Range(ex.Binary(Operator.PLUS, before, ex.whole(1)), last)
    return (Assign(ex.Section(values, (dofs,)), ex.whole(0)),)


def checks_begun(context: LoweringContext, asked: ops.BeginHaloChecks) -> tuple[Line, ...]:
    """Return the call that begins the halo checks of an invoke."""
    values = (context.schedule.name, ex.whole(asked.every), ex.logical(asked.keeps_annexed))
    return (halo_check_call(context, HaloCheck.BEGIN, *values),)


def halo_checked(context: LoweringContext, asked: ops.CheckHalo) -> tuple[Line, ...]:
    """Return the call that checks the halo of a field."""
    owner = proxy(context, asked.datum, asked.component)
    component = f"({asked.component})" if asked.component else ""
    words = (ex.spell(asked.datum.actual) + component, asked.reader)
    values = (owner, *words, asked.depth, ex.logical(asked.annexed))
    return (halo_check_call(context, HaloCheck.NEEDS, *values),)


def noted(context: LoweringContext, asked: ops.NoteWrite) -> tuple[Line, ...]:
    """Return the call that notes a write and spoils the dirty halo."""
    owner = proxy(context, asked.datum, asked.component)
    states = (ex.whole(_ANNEXED[asked.annexed]), ex.logical(asked.trusted))
    return (halo_check_call(context, HaloCheck.WROTE, owner, asked.writer, asked.clean, *states),)


def reduced_over_ranks(context: LoweringContext, asked: ops.Reduce) -> tuple[Line, ...]:
    """Return the statements of a reduction over all ranks.

    Raises:
        CompileError: G001, the infrastructure has no reduction for the kind.
    """
    datum = asked.datum
    kind = data_type(datum).kind or ""
    reduced_by = KINDS[kind].reduced_by if kind in KINDS else None
    if reduced_by is None:
        offered = sorted(name for name, known in KINDS.items() if known.reduced_by)
        raise CompileError(
            Diagnostic(
                "G001",
                f"The infrastructure has no reduction over ranks for '{datum.name}', a value "
                f"of kind '{kind}'.",
                datum.span,
                hint=f"Declare it with one of the kinds {', '.join(offered)}.",
            )
        )
    wished = Declare(f"{datum.name}_on_ranks", reduced_by)
    partial = context.work.variable(SetupSection.COUNTERS, ("reduction", datum.name), wished)
    return (
        Assign(ex.Member(partial, abi.Scalar.VALUE), ex.Name(datum.name)),
        Assign(ex.Name(datum.name), bound(partial, abi.REDUCTIONS[asked.op])),
    )
