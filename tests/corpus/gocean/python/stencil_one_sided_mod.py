"""Stencil one sided mod."""

from advect_west_mod import advect_west

from psyclone_storage.gocean import *


def run(new, old):
    invoke(
        advect_west(new, old, 0.2),
    )
