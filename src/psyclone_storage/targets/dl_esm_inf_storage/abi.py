"""The names of fields and grids with storages, in `external/`, that generated code spells.

Fields have what `backend.abi_storage` names; a grid has, for one of its arrays,
`acquire(array, space, values)` and `release(array, space)`.
"""

from __future__ import annotations

from psyclone_storage.lowering.runtime_names_storage import RESERVED as OF_STORAGES
from psyclone_storage.targets.dl_esm_inf.abi import RESERVED as OF_FIELDS

RESERVED = OF_FIELDS | OF_STORAGES
