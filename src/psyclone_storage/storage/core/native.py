"""Own the names of the innermost part of the runtime, whichever file it is in."""

from __future__ import annotations

from psyclone_storage.storage.core.twin import (
    FRAMES,
    Access,
    Acquirable,
    Block,
    Ledger,
    Replica,
    Sides,
    Sliceable,
    Windows,
    begin,
    register,
)

__all__ = [
    "FRAMES",
    "Access",
    "Acquirable",
    "Block",
    "Ledger",
    "Replica",
    "Sides",
    "Sliceable",
    "Windows",
    "begin",
    "register",
]
