"""Stencil corners mod."""

from smooth_corners_mod import smooth_corners

from psyclone_storage.gocean import *


def run(new, old):
    invoke(
        smooth_corners(new, old),
    )
