"""Boundaries mod."""

from tide_mod import tide
from wall_u_mod import wall_u

from psyclone_storage.gocean import *


def run(u, step, height):
    invoke(
        wall_u(u),
        tide(step, height, 0.2),
    )
