"""Stencil after write mod."""

from smooth_mod import smooth

from psyclone_storage.gocean import *


def run(new, old, height):
    invoke(
        smooth(new, old),
        smooth(height, new),
    )
