"""Any type of point mod."""

from copy_any_mod import copy_any

from psyclone_storage.gocean import *


def run(new, old):
    invoke(
        copy_any(new, old),
    )
