"""Stencil far mod."""

from smooth_far_mod import smooth_far

from psyclone_storage.gocean import *


def run(new, old):
    invoke(
        smooth_far(new, old),
    )
