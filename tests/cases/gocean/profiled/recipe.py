"""Profile the two fluxes as one, and the divergence without the exchanges before it."""

from psyclone.psyir.nodes import Loop
from psyclone.psyir.transformations import ProfileTrans
from psyclone.transformations import GOceanOMPParallelLoopTrans


def trans(psyir):
    for schedule in psyir.children:
        fluxes = [loop for loop in schedule.walk(Loop) if loop.loop_type == "outer"]
        for loop in fluxes:
            GOceanOMPParallelLoopTrans().apply(loop)
        first, second, third = (loop.parent for loop in fluxes)
        ProfileTrans().apply([first, second], options={"region_name": ("continuity", "fluxes")})
        ProfileTrans().apply(third)
