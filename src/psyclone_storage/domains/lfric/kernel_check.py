"""Does the subroutine of an LFRic kernel take what its metadata says it is passed?

Owns what an author may write otherwise: fields, operators and scalars have a precision of their
own, whatever the metadata says, and all operators on a mesh have as many cells.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.domains.kernel_check import InterfaceTolerance, check_interface
from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.parsed import ParsedRoutine
from psyclone_storage.ir.types import Intrinsic

_ANY_PRECISION = {
    Role.FIELD,
    Role.DOF_VALUE,
    Role.OPERATOR,
    Role.SCALAR,
    Role.SCALAR_ARRAY,
    Role.CMA_MATRIX,
}
_NCELL_3D = "_ncell_3d"


def check_lfric_procedure(kernel: Kernel, routine: ParsedRoutine) -> tuple[Diagnostic, ...]:
    """Return every way in which `routine` differs from what `kernel`'s metadata asks for."""
    return check_interface(kernel, routine, build_lfric_dummies(kernel), _LEEWAY)


def _any_kind(wanted: Dummy, kind: str) -> bool:  # noqa: ARG001 - a InterfaceTolerance's
    """Return whether any kind will do, the default one included."""
    return wanted.role in _ANY_PRECISION and wanted.type.intrinsic is Intrinsic.REAL


def _never(wanted: Dummy) -> bool:  # noqa: ARG001 - a InterfaceTolerance's
    """Return False: no cell writes all of the array that it is passed."""
    return False


def _same_extent(extent: Expr) -> Expr:
    is_count = isinstance(extent, Name) and extent.text.endswith(_NCELL_3D)
    return Name(_NCELL_3D) if is_count else extent


_LEEWAY = InterfaceTolerance(_any_kind, _never, _same_extent)
