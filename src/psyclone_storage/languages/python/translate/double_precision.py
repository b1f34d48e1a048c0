"""Selection of a kernel's double-precision subroutine for translation to Python.

An LFRic kernel may have a subroutine for each kind of reals, and Fortran selects one by the kind of
the fields. Fields in Python always have 8 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.typing import DOUBLE, INTEGER, LOGICAL, CScope, PrintError
from psyclone_storage.languages.python.translate.values import NoPythonError

_KINDS = {Intrinsic.REAL: DOUBLE, Intrinsic.INTEGER: INTEGER, Intrinsic.LOGICAL: LOGICAL}


def of_double_precision(
    codes: Sequence[Routine], dummies: Sequence[Dummy], around: ModuleContext
) -> Routine:
    """Return the subroutine that matches `dummies` with all reals in double precision.

    Raises:
        NoPythonError: none or several of the subroutines match.
    """
    found = [code for code in codes if _fits(code, dummies, around)]
    if len(found) != 1:
        of_all = ", ".join(f"'{code.name}'" for code in codes)
        which = "none of which has" if not found else "several of which have"
        raise NoPythonError(f"there are {of_all}, {which} real arguments of 8 bytes alone")
    return found[0]


def _fits(code: Routine, dummies: Sequence[Dummy], around: ModuleContext) -> bool:
    """Return whether a subroutine has the arguments given by metadata, with Python's kinds."""
    scope = CScope(code, around)
    if len(code.dummy_keys) != len(dummies):
        return False
    try:
        found = [scope.type_of(scope.symbol(key)) for key in code.dummy_keys]
    except PrintError:
        return False
    return all(
        kind == _KINDS.get(dummy.type.intrinsic) for kind, dummy in zip(found, dummies, strict=True)
    )
