"""Target: GOcean in Python with kernels in NumPy."""

from __future__ import annotations

from psyclone_storage.config.settings import Settings
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean_python.table import grids_in_python
from psyclone_storage.targets.gocean_settings import (
    grid_ranks,
    with_grid_halo_checks,
    with_split_exchanges,
)
from psyclone_storage.targets.numpy.kernel import emit_box_function
from psyclone_storage.targets.numpy.printer import emit_numpy_module
from psyclone_storage.targets.python import python
from psyclone_storage.targets.spec import Target


def _grids(settings: Settings) -> Infrastructure:
    exact = settings.reproducible_reductions
    return with_grid_halo_checks(grids_in_python(grid_ranks(settings), exact_sums=exact), settings)


TARGET = Target(
    python(GOCEAN_WORDS, emit_numpy_module, emit_code=emit_box_function),
    _grids,
    with_split_exchanges,
)
