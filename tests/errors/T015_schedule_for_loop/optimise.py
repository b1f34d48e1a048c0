from psyclone.psyGen import InvokeSchedule
from psyclone.transformations import LFRicOMPParallelLoopTrans


def trans(psyir):
    for schedule in psyir.walk(InvokeSchedule):
        LFRicOMPParallelLoopTrans().apply(schedule)
