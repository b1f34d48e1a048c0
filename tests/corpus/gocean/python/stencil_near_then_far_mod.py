"""Stencil near then far mod."""

from smooth_far_mod import smooth_far
from smooth_mod import smooth

from psyclone_storage.gocean import *


def run(new, old, height):
    invoke(
        smooth(new, old),
        smooth_far(height, old),
    )
