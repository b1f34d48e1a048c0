from psyclone.domain.lfric.transformations import LFRicExtractTrans
from psyclone.psyGen import InvokeSchedule


def trans(psyir):
    for schedule in psyir.walk(InvokeSchedule):
        LFRicExtractTrans().apply(schedule.loops())
