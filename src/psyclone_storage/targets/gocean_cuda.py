"""Target: GOcean in Python with loops and kernels in CUDA."""

from __future__ import annotations

from psyclone_storage.config.settings import Settings
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean_python.native import grids_in_cuda
from psyclone_storage.targets.gocean_settings import properties_of_grids, with_split_exchanges
from psyclone_storage.targets.halo_checks import refuse_halo_checks
from psyclone_storage.targets.native.printer import emit_grids_cuda
from psyclone_storage.targets.python import heads_of_invokes, python
from psyclone_storage.targets.spec import Target


def _grids(settings: Settings) -> Infrastructure:
    refuse_halo_checks(settings.gocean.run_time_checks, "the target 'cuda'")
    exact = settings.reproducible_reductions
    return grids_in_cuda(properties_of_grids(settings), exact_sums=exact)


TARGET = Target(
    python(
        GOCEAN_WORDS,
        emit_native=emit_grids_cuda,
        heads=heads_of_invokes,
    ),
    _grids,
    with_split_exchanges,
)
