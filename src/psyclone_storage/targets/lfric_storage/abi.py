"""Names of LFRic fields with storages (`external/`) in generated code."""

from __future__ import annotations

from psyclone_storage.lowering.runtime_names_storage import RESERVED as OF_STORAGES
from psyclone_storage.targets.lfric_fortran.abi import RESERVED as OF_FIELDS

MAY_SHARE = "may_share"
"""The last argument of `acquire`, for a field that may be acquired already by another name."""
BY_PARTS = "by_parts"
"""The last argument of a start of an exchange, for who moves what is sent and received alone: loops
meanwhile acquire what they read."""
SET_HALO_DIRTY = "set_halo_dirty"
"""Marks a halo, and says nothing of where values are new, as LFRic's `set_dirty` does."""
TABLES_MODULE = "storage_tables_mod"
ACQUIRE_TABLE, RELEASE_TABLE, FORGET_TABLE = "acquire_table", "release_table", "forget_table"
"""For arrays that are only read: `acquire_table(array, space, values)`, `release_table(array,
space)`, and `forget_table(array)` before an array is gone."""
UNLESS_TOLD = "unless_told"
"""The last argument of `forget_table`, for an array that stays if the program tells of its end."""
ALIKE = "alike"
"""The last argument of the first two, for an array that is made anew with the same values: a copy
stands for all of them, which nobody has to forget."""

RESERVED = OF_FIELDS | OF_STORAGES | {TABLES_MODULE, ACQUIRE_TABLE, RELEASE_TABLE, FORGET_TABLE}
