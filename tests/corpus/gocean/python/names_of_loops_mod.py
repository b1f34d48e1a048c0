"""Names of loops mod."""

from copy_height_mod import copy_height

from psyclone_storage.gocean import *


def run(i, j):
    invoke(
        copy_height(i, j),
    )
