"""Several invokes mod."""

from copy_height_mod import copy_height
from smooth_mod import smooth

from psyclone_storage.gocean import *


def run(old, height, new):
    invoke(
        copy_height(old, height),
    )
    invoke(
        smooth(new, old),
        copy_height(old, new),
    )
    invoke(
        copy_height(height, old),
        name="finish",
    )
