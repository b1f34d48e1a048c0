"""PSyclone's way to let a compiler see the kernels: copies of them in the PSy layer's module."""

from psyclone.domain.common.transformations import KernelModuleInlineTrans
from psyclone.psyGen import CodedKern


def trans(psyir):
    """Copy all kernels."""
    for kernel in psyir.walk(CodedKern):
        KernelModuleInlineTrans().apply(kernel)
