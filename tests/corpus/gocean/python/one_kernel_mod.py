"""One kernel mod."""

from copy_height_mod import copy_height

from psyclone_storage.gocean import *


def run(new, old):
    invoke(
        copy_height(new, old),
    )
