"""Names of fields and grids with storages (`external/`) in generated code.

Fields have the procedures in `runtime_names_storage`. A grid has `acquire(array, space, values)`
and `release(array, space)` for its arrays.
"""

from __future__ import annotations

from psyclone_storage.lowering.runtime_names_storage import RESERVED as OF_STORAGES
from psyclone_storage.targets.dl_esm_inf.abi import RESERVED as OF_FIELDS

RESERVED = OF_FIELDS | OF_STORAGES
