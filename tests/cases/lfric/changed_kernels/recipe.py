"""Give the first call constant sizes, and put the kernel of the second into the PSy layer."""

from psyclone.transformations import (
    ACCRoutineTrans,
    KernelModuleInlineTrans,
    LFRicKernelConstTrans,
)


def trans(psy):
    schedule = psy.invokes.invoke_list[0].schedule
    first, second = schedule.coded_kernels()
    LFRicKernelConstTrans().apply(first, number_of_layers=20, element_order=0)
    ACCRoutineTrans().apply(schedule)
    KernelModuleInlineTrans().apply(second)
    KernelModuleInlineTrans().apply(second)
