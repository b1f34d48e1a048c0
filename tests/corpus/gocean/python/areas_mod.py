"""Areas mod."""

from measure_v_mod import measure_v

from psyclone_storage.gocean import *


def run(v):
    invoke(
        measure_v(v),
    )
