"""Names in the storage registry of `external/storage` that generated code uses."""

from __future__ import annotations

from psyclone_storage.ir.types import DerivedType

MODULE = "wrapped_arrays_mod"
STORAGE = DerivedType("wrapped_array_type", MODULE)
"""The storage of an array, with what `backend.abi_storage` names bound to it."""

STORAGE_OF = "storage_of"
"""The function that finds the storage of an array, or makes it."""

MAY_SHARE = "may_share"
"""The last argument of `acquire`, for an array that may be acquired already by another name."""

STAY = "stay"
"""The last argument of `release` and `end_exchange`, for values that the routine uses again: nobody
else looks at them before that."""

BEGIN_EXCHANGE, END_EXCHANGE = "begin_exchange", "end_exchange"
"""What stands around an exchange in the memory of the host: `begin_exchange([inner,] [depth])` and
`end_exchange()`."""

NEEDED = "needed"
"""The last argument of `begin_exchange`, false if the exchange skips an array with a clean halo."""

HALO_IS_DIRTY = "halo_is_dirty"
"""The function `halo_is_dirty(storage, depth)` of a storage that records whether the halo is
clean."""

RESERVED = frozenset({MODULE, STORAGE.name, STORAGE_OF, HALO_IS_DIRTY})
