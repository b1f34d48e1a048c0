"""Calls of `halo_check_mod`, the run-time check of halos, in generated Fortran."""

from __future__ import annotations

from enum import StrEnum

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Call, Declare, Line
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_fortran.logs import character_text

HALO_CHECK = DerivedType("halo_check_type", "halo_check_mod")
"""Checks halos at run time; in `external/halo_check`, to be compiled with other infrastructures."""


class HaloCheck(StrEnum):
    """Type-bound procedures of the run-time check of halos."""

    BEGIN = "begin"
    NEEDS = "needs"
    WROTE = "wrote"
    END = "finish"


def halo_check_call(context: LoweringContext, procedure: HaloCheck, *values: ex.Expr | str) -> Call:
    """Return a call of the check of the routine; texts become character literals."""
    wished = Declare("halo_check", HALO_CHECK, ("save",))
    check = context.work.variable(SetupSection.COUNTERS, "halo check", wished)
    args = tuple(character_text(one) if isinstance(one, str) else one for one in values)
    return Call(ex.Member(check, procedure), args)


def checks_ended(context: LoweringContext, _asked: ops.EndHaloChecks) -> tuple[Line, ...]:
    """Return the call that ends the halo checks of an invoke."""
    return (halo_check_call(context, HaloCheck.END),)
