"""Offset south west mod."""

from flux_u_sw_mod import flux_u_sw
from vorticity_sw_mod import vorticity_sw

from psyclone_storage.gocean import *


def run(flux_x, height, u, corner, v):
    invoke(
        flux_u_sw(flux_x, height, u),
        vorticity_sw(corner, u, v),
    )
