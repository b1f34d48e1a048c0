"""PSyclone's way to copies of kernels and to loops that share what they fetch."""

import psyclone_inline
from psyclone.domain.gocean.transformations import GOceanLoopFuseTrans
from psyclone.psyGen import InvokeSchedule
from psyclone.psyir.nodes import Loop
from psyclone.psyir.transformations import TransformationError


def trans(psyir):
    """Copy all kernels, then fuse neighbouring loops over rows and, in them, those over columns."""
    psyclone_inline.trans(psyir)
    for schedule in psyir.walk(InvokeSchedule):
        fuse(schedule)
        for loop in schedule.walk(Loop):
            if loop.loop_type == "outer":
                fuse(loop.loop_body)


def fuse(block):
    """Fuse the loops of a block, each with the next one where that is possible."""
    position = 0
    while position + 1 < len(block.children):
        first, second = block.children[position : position + 2]
        try:
            GOceanLoopFuseTrans().apply(first, second)
        except TransformationError:
            position += 1
