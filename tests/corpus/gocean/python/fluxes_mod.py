"""Fluxes mod."""

from flux_u_mod import flux_u
from flux_v_mod import flux_v

from psyclone_storage.gocean import *


def run(flux_x, height, u, flux_y, v):
    invoke(
        flux_u(flux_x, height, u),
        flux_v(flux_y, height, v),
    )
