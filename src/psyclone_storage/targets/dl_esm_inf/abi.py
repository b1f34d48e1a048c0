"""Names of dl_esm_inf (spec 4.4) in generated code.

Paths to regions and grid properties are settings (`grid-properties`).
"""

from __future__ import annotations

from enum import StrEnum

from psyclone_storage.infrastructures.gocean import WORKING_PRECISION
from psyclone_storage.ir.types import DerivedType


class GOceanModule(StrEnum):
    """Modules that generated code uses."""

    C_BINDING = "iso_c_binding"
    FIELD = "field_mod"
    KINDS = "kind_params_mod"


FIELD = DerivedType("r2d_field", GOceanModule.FIELD)
EXCHANGE = "halo_exchange"
"""The exchange of a field's halo, bound to the field: `halo_exchange(depth)`."""

EXCHANGE_SEVERAL = "exchange_several"
FIELD_REFERENCE = "field_reference_type"
ONLY_DIRTY = "only_dirty"
"""The exchange of several fields together and the type of what it takes, which dl_esm_inf lacks:
`exchange_several([field_reference_type(u), ...], depths, only_dirty)`."""

SET_DIRTY = "set_dirty"
IS_DIRTY = "is_dirty"
"""The flags of a field's halo, `set_dirty()` and `is_dirty(depth)`, which dl_esm_inf lacks."""

GRID = "grid"
"""The grid of a field."""

OWNED = (GRID, "subdomain", "internal")
"""The way from a field to the region of points that its rank owns."""

EDGES = ("xstart", "xstop", "ystart", "ystop")
"""The first and the last point of a region in each direction."""

EXCHANGE_START, EXCHANGE_FINISH = "halo_exchange_start", "halo_exchange_finish"
"""The two halves of an exchange, each with its depth, which dl_esm_inf lacks."""

ON_DEVICE = "data_on_device"
"""Whether a device has the values of a field, which the infrastructure's own routines ask, too."""

READ_FROM_DEVICE = "read_from_device"
WRITE_TO_DEVICE = "write_to_device"
"""What generated modules call the procedures that move values of a field to and from a device."""

MEMBER_OF = {READ_FROM_DEVICE: "read_from_device_f", WRITE_TO_DEVICE: "write_to_device_f"}
"""The members of a field by which the infrastructure calls these procedures. They take an array of
the host and the address of the device's, in the order of the move, then
`(startx, starty, nx, ny, blocking)`."""

RESERVED = frozenset(
    {
        *GOceanModule,
        FIELD.name,
        EXCHANGE_SEVERAL,
        FIELD_REFERENCE,
        READ_FROM_DEVICE,
        WRITE_TO_DEVICE,
        WORKING_PRECISION,
        "halo_check_type",
        "halo_check_mod",
        "size",
        "min",
    }
)
