"""PSyclone's way to threads: `omp parallel do` on every outer loop that it can be on."""

import contextlib

from psyclone.psyGen import InvokeSchedule
from psyclone.psyir.nodes import Loop
from psyclone.psyir.transformations import TransformationError
from psyclone.transformations import GOceanOMPParallelLoopTrans


def trans(psyir):
    """Deal all outer loops out to threads."""
    for schedule in psyir.walk(InvokeSchedule):
        for loop in schedule.walk(Loop):
            if loop.loop_type == "outer":
                share(loop)


def share(loop):
    """Deal a loop out unless its iterations need one another."""
    with contextlib.suppress(TransformationError):
        GOceanOMPParallelLoopTrans().apply(loop)
