"""PSyclone's way to what a compiler can count with: copies of the kernels, with constants.

Loops of kernels are put in another order, too: the sums over columns of a matrix go innermost. That
changes sums by rounding, and PSyclone 3.3.1 does not ask.
"""

from psyclone.domain.common.transformations import KernelModuleInlineTrans
from psyclone.psyGen import InvokeSchedule
from psyclone.psyir.nodes import Loop
from psyclone.psyir.transformations import LoopSwapTrans
from psyclone.transformations import LFRicKernelConstTrans


def trans(psyir):
    """Copy each kernel once, set its sizes and reorder the loops of products."""
    done = set()
    for schedule in psyir.walk(InvokeSchedule):
        for kernel in schedule.coded_kernels():
            KernelModuleInlineTrans().apply(kernel)
            if kernel.name in done:
                continue
            done.add(kernel.name)
            order = {"element_order_h": 0, "element_order_v": 0}
            LFRicKernelConstTrans().apply(kernel, order)
            for routine in kernel.get_callees():
                sum_innermost(routine)


def sum_innermost(routine):
    """Make columns, rows, layers rows, layers, columns."""
    names = [loop.variable.name for loop in routine.walk(Loop)]
    for place in (0, 1) if names == ["column", "row", "k"] else ():
        LoopSwapTrans().apply(routine.walk(Loop)[place])
