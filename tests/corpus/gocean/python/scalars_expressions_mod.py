"""Scalars expressions mod."""

from decay_mod import decay
from set_height_mod import set_height
from tide_mod import tide

from psyclone_storage.gocean import *


def run(height, time_step, step):
    invoke(
        set_height(height, 2.0 * time_step),
        decay(height, time_step / 3.0 + 1.0),
        tide(step + 1, height, -time_step),
    )
