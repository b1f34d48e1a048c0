"""Stencil cross mod."""

from smooth_mod import smooth

from psyclone_storage.gocean import *


def run(new, old):
    invoke(
        smooth(new, old),
    )
