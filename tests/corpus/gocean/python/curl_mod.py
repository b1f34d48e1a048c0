"""Curl mod."""

from vorticity_mod import vorticity

from psyclone_storage.gocean import *


def run(corner, u, v):
    invoke(
        vorticity(corner, u, v),
    )
