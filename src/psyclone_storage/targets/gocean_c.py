"""GOcean in Python with loops and kernels in C."""

from __future__ import annotations

from psyclone_storage.backend.grids.native import grids_in_c
from psyclone_storage.backend.infrastructure import Infrastructure
from psyclone_storage.backend.native.printer import emit_c_beside, emit_python
from psyclone_storage.config.settings import Settings
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean_settings import grid_ranks, with_split_exchanges
from psyclone_storage.targets.python import heads_of_invokes, python
from psyclone_storage.targets.spec import Target


def _grids(settings: Settings) -> Infrastructure:
    return grids_in_c(grid_ranks(settings))


TARGET = Target(
    python(GOCEAN_WORDS, emit_python, emit_beside=emit_c_beside, heads=heads_of_invokes),
    _grids,
    with_split_exchanges,
)
