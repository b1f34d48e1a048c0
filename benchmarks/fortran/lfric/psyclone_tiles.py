"""PSyclone's best code for threads: its changed kernels, on tiles of cells, not on single ones."""

import psyclone_kernels
import psyclone_openmp


def trans(psyir):
    """Change kernels, then deal loops out to threads, those of increments tile by tile."""
    psyclone_kernels.trans(psyir)
    psyclone_openmp.share(psyir, tiling=True)
