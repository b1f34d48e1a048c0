"""The names of fields with storages, in `external/`, that generated code spells."""

from __future__ import annotations

from psyclone_storage.backend.gocean.abi import RESERVED as OF_FIELDS
from psyclone_storage.ir.transfer import Side

WORDS_MODULE = "storage_words_mod"
SPACES = {Side.HOST: "space_host", Side.DEVICE: "space_device"}
READ, WRITE, READ_WRITE = "access_read", "access_write", "access_read_write"
ACQUIRE, RELEASE, PREFETCH = "acquire", "release", "prefetch"
"""What is bound to a field: `acquire(space, access, values)`, `release(space)`, `prefetch(space)`;
and to a grid, for one of its arrays: `acquire(array, space, values)`, `release(array, space)`."""

RESERVED = OF_FIELDS | {WORDS_MODULE, *SPACES.values(), READ, WRITE, READ_WRITE}
