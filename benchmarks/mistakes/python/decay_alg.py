from decay_mod import decay, flux

from psyclone_storage.gocean import *


def advance(flow, height, speed):
    invoke(
        flux(flow, height, speed),
        decay(height, 0.5),
        name="advance",
    )
