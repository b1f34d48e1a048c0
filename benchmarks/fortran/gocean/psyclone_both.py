"""PSyclone's way to threads and to kernels that a compiler sees, together."""

import psyclone_inline
import psyclone_openmp


def trans(psyir):
    """Copy all kernels, then deal all outer loops out."""
    psyclone_inline.trans(psyir)
    psyclone_openmp.trans(psyir)
