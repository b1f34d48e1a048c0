"""Lowering table of LFRic fields and operators with storages.

Numbers, maps, halos and reductions are those of LFRic. Values are accessed by windows: pointers
that an acquire sets. Loops update halo flags as in LFRic, and an access does not change them.
"""

from __future__ import annotations

from psyclone_storage.base.records import replace
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir import storage_access as sa
from psyclone_storage.ir.expr import Expr, Keyword, Member, Name, logical
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import Datum, Phase
from psyclone_storage.ir.unit import Call, Line
from psyclone_storage.lowering.emit_storage import (
    acquire_lines,
    knows_itself,
    marks_itself,
    prefetch_lines,
    release_lines,
)
from psyclone_storage.lowering.infrastructure import PADDING, Infrastructure, LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_fortran.checks import CheckLevel
from psyclone_storage.targets.lfric_fortran.field_values import data_type, proxy
from psyclone_storage.targets.lfric_fortran.halos import exchange_phase, exchanged
from psyclone_storage.targets.lfric_fortran.table import lfric_infrastructure
from psyclone_storage.targets.lfric_fortran.type_bound_names import view
from psyclone_storage.targets.lfric_storage import abi
from psyclone_storage.targets.lfric_storage.lookup_tables import with_tables

CONTRACT = sa.StoragePolicy(through_exchanges=False, at_once=False, directives_act=True)


def lfric_storage(
    checks: CheckLevel = CheckLevel.NONE, *, exact_sums: bool = False, padding: int = PADDING
) -> Infrastructure:
    """Return the table of LFRic with storages; arguments as for `lfric_infrastructure`."""
    plain = lfric_infrastructure(checks, exact_sums=exact_sums, padding=padding)
    return replace(
        plain,
        name="LFRic with storages",
        reserved=abi.RESERVED,
        values={
            **plain.values,
            ops.DataOf: lambda context, op: window(context, op.datum, op.component),
        },
        actions={
            **plain.actions,
            ops.Exchange: lambda context, op: exchanged(context, op, *_by_parts(op.phase)),
            ops.ExchangeTogether: lambda context, op: exchange_phase(
                context, op, *_by_parts(op.exchanges[0].phase)
            ),
            ops.MarkDirty: _marked_dirty,
            ops.EnterDevice: knows_itself,
            ops.CopyTo: knows_itself,
        },
        holding=CONTRACT,
        beside=with_tables,
        storages={
            sa.AcquireData: _acquired,
            sa.TouchData: marks_itself,
            sa.ReleaseData: lambda context, asked: release_lines(
                context, asked, _owner(context, asked)
            ),
            sa.PrefetchData: lambda context, asked: prefetch_lines(
                context, asked, _owner(context, asked)
            ),
        },
    )


def _owner(
    context: LoweringContext, asked: sa.AcquireData | sa.ReleaseData | sa.PrefetchData
) -> Expr:
    return proxy(context, context.schedule.datum(asked.datum), asked.component)


def window(context: LoweringContext, datum: Datum, component: int | None) -> Name:
    """Return the window (pointer) to the values of a field or operator while acquired."""
    match datum.kind:
        case ArgKind.OPERATOR:
            stem, rank = "local_stencil", 3
        case ArgKind.COLUMNWISE_OPERATOR:
            stem, rank = "matrix", 3
        case _:
            stem, rank = f"{component or 1}_data" if datum.vector > 1 else "data", 1
    wished = view(f"{datum.name}_{stem}", data_type(datum), rank)
    pointing = replace(wished, attributes=("pointer", *wished.attributes))
    key = ("window", datum.name, component or 1)
    return context.work.variable(SetupSection.DATA, key, pointing)


def _acquired(context: LoweringContext, asked: sa.AcquireData) -> tuple[Line, ...]:
    values = window(context, context.schedule.datum(asked.datum), asked.component)
    sharing = (Keyword(abi.MAY_SHARE, logical(value=True)),) if asked.may_be else ()
    return acquire_lines(context, asked, _owner(context, asked), values, *sharing)


def _by_parts(phase: Phase) -> tuple[Expr, ...]:
    return (Keyword(abi.BY_PARTS, logical(value=True)),) if phase is Phase.START else ()


def _marked_dirty(context: LoweringContext, asked: ops.MarkDirty) -> tuple[Line, ...]:
    return (Call(Member(proxy(context, asked.datum, asked.component), abi.SET_HALO_DIRTY)),)
