"""Renamed kernel mod."""

from copy_height_mod import copy_height as move

from psyclone_storage.gocean import *


def run(new, old):
    invoke(
        move(new, old),
    )
