"""Check whether the subroutine of a GOcean kernel matches its metadata.

The kind of fields and of grid properties may have any name, because kernels may rename it at
import, but must be given. A scalar has the precision passed by the algorithm.

An argument that is only written may be `intent(out)` although the dummy is the whole field.
GOcean's kernels are written in this way, and compilers keep the values of an assumed-shape array of
numbers.
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
    """Return a diagnostic for each difference between `routine` and the metadata of `kernel`."""
    return check_interface(kernel, routine, build_gocean_dummies(kernel), _LEEWAY)


def _any_kind(wanted: Dummy, kind: str) -> bool:
    if wanted.type.intrinsic is not Intrinsic.REAL:
        return False
    return wanted.role is Role.SCALAR or bool(kind)


def _only_written(wanted: Dummy) -> bool:
    return wanted.access is Access.WRITE


_LEEWAY = InterfaceTolerance(_any_kind, _only_written)
