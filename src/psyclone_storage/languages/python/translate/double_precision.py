"""The subroutine that implements a kernel in Python: the one with Python's precision.

A kernel of LFRic may have a subroutine for each kind of real numbers, of which Fortran takes the
one for the fields that it is given. Fields in Python have 8 bytes, whatever metadata call them.
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
    """Return the subroutine whose arguments are the `dummies`, its real numbers of 8 bytes.

    Raises:
        NoPythonError: none is, or it cannot be said which one is.
    """
    found = [code for code in codes if _fits(code, dummies, around)]
    if len(found) != 1:
        of_all = ", ".join(f"'{code.name}'" for code in codes)
        which = "none of which has" if not found else "several of which have"
        raise NoPythonError(f"there are {of_all}, {which} real arguments of 8 bytes alone")
    return found[0]


def _fits(code: Routine, dummies: Sequence[Dummy], around: ModuleContext) -> bool:
    """Return whether a subroutine takes what metadata say, of the kinds that Python has."""
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
