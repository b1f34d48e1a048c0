"""One kernel twice mod."""

from copy_height_mod import copy_height

from psyclone_storage.gocean import *


def run(new, old, height):
    invoke(
        copy_height(new, old),
        copy_height(height, new),
    )
