"""The parts that read and print Python, together: who asks for one needs most of them."""

from __future__ import annotations

from psyclone_storage.backend.native.printer import emit_grids_c, emit_grids_cuda
from psyclone_storage.backend.numpy.algorithm import emit_algorithm
from psyclone_storage.backend.numpy.kernel import emit_code
from psyclone_storage.backend.numpy.printer import emit_unit
from psyclone_storage.frontend.python.algorithm import read_algorithm
from psyclone_storage.frontend.python.body import read_code
from psyclone_storage.frontend.python.heads import routine_heads
from psyclone_storage.frontend.python.metadata import kernel_types, read_kernel
from psyclone_storage.ir.linking import linked

__all__ = [
    "emit_algorithm",
    "emit_code",
    "emit_grids_c",
    "emit_grids_cuda",
    "emit_unit",
    "kernel_types",
    "linked",
    "read_algorithm",
    "read_code",
    "read_kernel",
    "routine_heads",
]
