"""PSyclone's way to threads: `omp parallel do` on every outer loop."""

from psyclone.psyGen import InvokeSchedule
from psyclone.psyir.nodes import Loop
from psyclone.transformations import GOceanOMPParallelLoopTrans


def trans(psyir):
    """Deal all outer loops out to threads."""
    for schedule in psyir.walk(InvokeSchedule):
        for loop in schedule.walk(Loop):
            if loop.loop_type == "outer":
                GOceanOMPParallelLoopTrans().apply(loop)
