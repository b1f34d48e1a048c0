"""Named mod."""

from decay_mod import decay

from psyclone_storage.gocean import *


def run(height):
    invoke(
        decay(height, 0.1),
        name="fade",
    )
