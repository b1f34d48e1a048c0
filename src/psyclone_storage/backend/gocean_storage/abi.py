"""The names of fields and grids with storages, in `external/`, that generated code spells.

Fields have what `backend.abi_storage` names; a grid has, for one of its arrays,
`acquire(array, space, values)` and `release(array, space)`.
"""

from __future__ import annotations

from psyclone_storage.backend.abi_storage import RESERVED as OF_STORAGES
from psyclone_storage.backend.gocean.abi import RESERVED as OF_FIELDS

RESERVED = OF_FIELDS | OF_STORAGES
