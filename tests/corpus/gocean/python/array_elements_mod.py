"""Array elements mod."""

from copy_height_mod import copy_height
from smooth_mod import smooth

from psyclone_storage.gocean import *


def run(tracers):
    invoke(
        copy_height(tracers[2], tracers[1]),
        smooth(tracers[1], tracers[2]),
    )
