from psyclone.psyGen import InvokeSchedule
from psyclone.transformations import LFRicColourTrans, LFRicOMPParallelLoopTrans


def trans(psyir):
    schedules = psyir.walk(InvokeSchedule)
    for schedule in schedules:
        for loop in schedule.loops():
            if loop.field_space.orig_name == "w2":
                LFRicColourTrans().apply(loop)
        for loop in schedule.loops():
            if loop.loop_type != "colours":
                LFRicOMPParallelLoopTrans().apply(loop)
