"""PSyclone's way to threads: colour what cells share, then `omp parallel do` on every loop."""

from psyclone.domain.lfric import LFRicConstants
from psyclone.psyGen import InvokeSchedule
from psyclone.psyir.nodes import Loop
from psyclone.transformations import LFRicColourTrans, LFRicOMPParallelLoopTrans


def trans(psyir):
    """Colour cells, then deal all loops out to threads."""
    share(psyir, tiling=False)


def share(psyir, tiling):
    """Colour cells or tiles of cells, then deal all loops out to threads."""
    for schedule in psyir.walk(InvokeSchedule):
        for loop in schedule.walk(Loop):
            discontinuous = LFRicConstants().VALID_DISCONTINUOUS_NAMES
            shares = loop.field_space.orig_name not in discontinuous
            if loop.iteration_space.endswith("cell_column") and shares:
                LFRicColourTrans().apply(loop, tiling=tiling)
        for loop in schedule.walk(Loop):
            if loop.loop_type not in ("colours", "cells_in_tile"):
                LFRicOMPParallelLoopTrans().apply(loop)
