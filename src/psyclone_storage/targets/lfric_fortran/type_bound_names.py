"""Common expressions and declarations for the modules of this folder."""

from __future__ import annotations

from collections.abc import Hashable

from psyclone_storage.infrastructures.lfric import INTEGER
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.types import DataType
from psyclone_storage.ir.unit import Declare
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection, colons


def bound(base: ex.Expr, procedure: str, *args: ex.Expr) -> ex.Expr:
    """Return the reference `base%procedure(args)`."""
    return ex.CallFunction(ex.Member(base, procedure), args)


def setup_number(
    context: LoweringContext, section: SetupSection, key: Hashable, wish: str, value: ex.Expr
) -> ex.Name:
    """Return the integer variable for `key`, which is set to `value`."""
    return context.work.assigned(section, key, Declare(wish, INTEGER), value)


def view(wish: str, data_type: DataType, rank: int) -> Declare:
    """Return the declaration of a contiguous pointer to an array.

    LFRic's arrays are allocatables accessed by pointers, so they are contiguous. The attribute lets
    a compiler pass them to a kernel without a test, and vectorise loops.
    """
    return Declare(wish, data_type, ("contiguous",), colons(rank))
