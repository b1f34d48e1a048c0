"""Same field read twice mod."""

from add_heights_mod import add_heights

from psyclone_storage.gocean import *


def run(height, old):
    invoke(
        add_heights(height, old, old),
    )
