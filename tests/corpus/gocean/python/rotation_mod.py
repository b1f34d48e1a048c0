"""Rotation mod."""

from turn_u_mod import turn_u

from psyclone_storage.gocean import *


def run(u, v, time_step):
    invoke(
        turn_u(u, v, time_step),
    )
