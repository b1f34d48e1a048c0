"""Names in the storage libraries of `external/` that generated code uses."""

from __future__ import annotations

from psyclone_storage.ir.transfer import Side

WORDS_MODULE = "storage_constants_mod"
SPACES = {Side.HOST: "space_host", Side.DEVICE: "space_device"}
READ, WRITE, READ_WRITE = "access_read", "access_write", "access_read_write"
ACQUIRE, RELEASE, PREFETCH = "acquire", "release", "prefetch"
"""What is bound to what has a storage: `acquire(space, access, values)`, `release(space)`,
`prefetch(space)`."""

RESERVED = frozenset({WORDS_MODULE, *SPACES.values(), READ, WRITE, READ_WRITE})
