"""Read between mod."""

from add_heights_mod import add_heights
from smooth_corners_mod import smooth_corners
from smooth_mod import smooth

from psyclone_storage.gocean import *


def run(new, old, height):
    invoke(
        smooth(new, old),
        add_heights(height, old, old),
        smooth_corners(new, old),
    )
