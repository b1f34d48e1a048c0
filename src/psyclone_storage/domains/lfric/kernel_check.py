"""Check whether the subroutine of an LFRic kernel matches its metadata.

Fields, operators and scalars may have any precision. All operators on a mesh have the same number
of cells.
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
    """Return a diagnostic for each difference between `routine` and the metadata of `kernel`."""
    return check_interface(kernel, routine, build_lfric_dummies(kernel), _LEEWAY)


def _any_kind(wanted: Dummy, kind: str) -> bool:  # noqa: ARG001 - a InterfaceTolerance's
    """Return whether a dummy may have any kind, including the default kind."""
    return wanted.role in _ANY_PRECISION and wanted.type.intrinsic is Intrinsic.REAL


def _never(wanted: Dummy) -> bool:  # noqa: ARG001 - a InterfaceTolerance's
    """Return False, because no call writes the whole array that it receives."""
    return False


def _same_extent(extent: Expr) -> Expr:
    is_count = isinstance(extent, Name) and extent.text.endswith(_NCELL_3D)
    return Name(_NCELL_3D) if is_count else extent


_LEEWAY = InterfaceTolerance(_any_kind, _never, _same_extent)
