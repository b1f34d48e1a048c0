"""PSyclone's way to loops that share what they fetch: built-ins are fused where it does not refuse.

Kernels are left apart: PSyclone 3.3.1 fuses the two stencils, too, and then finds other values.
"""

from psyclone.domain.lfric.transformations import LFRicLoopFuseTrans
from psyclone.psyGen import InvokeSchedule
from psyclone.psyir.nodes import Loop
from psyclone.psyir.transformations import TransformationError


def trans(psyir):
    """Fuse neighbouring loops, with the word that they are on the same space."""
    for schedule in psyir.walk(InvokeSchedule):
        position = 0
        while position + 1 < len(schedule.children):
            first, second = schedule.children[position : position + 2]
            if not (over_dofs(first) and over_dofs(second) and fused(first, second)):
                position += 1


def over_dofs(node):
    """Return whether a node is the loop of a built-in."""
    return isinstance(node, Loop) and node.loop_type == "dof"


def fused(first, second):
    """Fuse two loops and return whether that was possible."""
    for options in ({"same_space": True}, {}):
        try:
            LFRicLoopFuseTrans().apply(first, second, options)
        except TransformationError:
            continue
        return True
    return False
