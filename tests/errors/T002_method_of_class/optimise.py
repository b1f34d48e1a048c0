from psyclone.psyGen import InvokeSchedule
from psyclone.transformations import LFRicColourTrans


def trans(psyir):
    for schedule in psyir.walk(InvokeSchedule):
        for loop in schedule.loops():
            LFRicColourTrans.apply(loop)
