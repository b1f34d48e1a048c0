"""Members mod."""

from copy_height_mod import copy_height
from smooth_mod import smooth

from psyclone_storage.gocean import *


def run(state):
    invoke(
        smooth(state.new, state.old),
        copy_height(state.old, state.new),
    )
