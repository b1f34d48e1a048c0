"""Does the subroutine of a GOcean kernel take what its metadata says it is passed?

Owns what an author may write otherwise. The kind of fields and of grid properties may have any
name, since kernels rename it when they import it, but must have one. A scalar has whatever
precision the algorithm passes. What is only written may be `intent(out)`: the dummy is the whole
field, but so the kernels of GOcean have it, and no compiler takes values away from a dummy that is
an assumed-shape array of numbers.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.domains.gocean.arguments import build_gocean_dummies
from psyclone_storage.domains.kernel_check import InterfaceTolerance, check_interface
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Access, Kernel
from psyclone_storage.ir.parsed import ParsedRoutine
from psyclone_storage.ir.types import Intrinsic


def check_gocean_procedure(kernel: Kernel, routine: ParsedRoutine) -> tuple[Diagnostic, ...]:
    """Return every way in which `routine` differs from what `kernel`'s metadata asks for."""
    return check_interface(kernel, routine, build_gocean_dummies(kernel), _LEEWAY)


def _any_kind(wanted: Dummy, kind: str) -> bool:
    if wanted.type.intrinsic is not Intrinsic.REAL:
        return False
    return wanted.role is Role.SCALAR or bool(kind)


def _only_written(wanted: Dummy) -> bool:
    return wanted.access is Access.WRITE


_LEEWAY = InterfaceTolerance(_any_kind, _only_written)
