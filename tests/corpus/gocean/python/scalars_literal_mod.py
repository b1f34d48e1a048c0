"""Scalars literal mod."""

from decay_mod import decay
from set_height_mod import set_height
from tide_mod import tide

from psyclone_storage.gocean import *


def run(height):
    invoke(
        set_height(height, 1.5),
        decay(height, -0.5),
        tide(7, height, 1.0e-3),
    )
