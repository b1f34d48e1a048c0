"""Rectangular grids of the GOcean API, and fields on them."""

from psyclone_storage.runtime.computing import (
    checked_index,
    greater,
    layer_or_zeros,
    lesser,
    module_value,
    pick,
    power,
    put,
    quotient,
)
from psyclone_storage.runtime.gocean.compiled import (
    CompiledRoutine,
    check_within,
)
from psyclone_storage.runtime.gocean.device import DeviceLibrary
from psyclone_storage.runtime.gocean.field import Field, exchange
from psyclone_storage.runtime.gocean.grid import Grid
from psyclone_storage.runtime.gocean.halo_levels import halo_checks
from psyclone_storage.runtime.gocean.held import held, points
from psyclone_storage.runtime.gocean.points import Offset, Points
from psyclone_storage.runtime.gocean.reductions import (
    reduced_on_rank,
    reduced_over_ranks,
    rounded_part,
)
from psyclone_storage.runtime.native import CompiledLibrary

__all__ = [
    "CompiledLibrary",
    "CompiledRoutine",
    "DeviceLibrary",
    "Field",
    "Grid",
    "Offset",
    "Points",
    "check_within",
    "checked_index",
    "exchange",
    "greater",
    "halo_checks",
    "held",
    "layer_or_zeros",
    "lesser",
    "module_value",
    "pick",
    "points",
    "power",
    "put",
    "quotient",
    "reduced_on_rank",
    "reduced_over_ranks",
    "rounded_part",
]
