"""GOcean in Python with loops and kernels in CUDA."""

from __future__ import annotations

from functools import partial

from psyclone_storage.backend.grids.native import grids_in_cuda
from psyclone_storage.backend.infrastructure import Infrastructure
from psyclone_storage.backend.native.printer import ON_DEVICE, emit_c_beside, emit_python
from psyclone_storage.config.settings import Settings
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean_settings import grid_ranks, with_split_exchanges
from psyclone_storage.targets.python import heads_of_invokes, python
from psyclone_storage.targets.spec import Target


def _grids(settings: Settings) -> Infrastructure:
    return grids_in_cuda(grid_ranks(settings))


TARGET = Target(
    python(
        GOCEAN_WORDS,
        partial(emit_python, form=ON_DEVICE),
        emit_beside=partial(emit_c_beside, form=ON_DEVICE),
        heads=heads_of_invokes,
    ),
    _grids,
    with_split_exchanges,
)
