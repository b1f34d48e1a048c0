"""PSyclone's best code for one thread: what its scripts do for built-ins and for kernels."""

import psyclone_fused
import psyclone_kernels


def trans(psyir):
    """Fuse built-ins, then change kernels."""
    psyclone_fused.trans(psyir)
    psyclone_kernels.trans(psyir)
