"""The storage core: compiled, or its Python fallback (`base/extension.py` decides)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psyclone_storage.base.extension import is_compiled

EDITION = 10
"""The version of the interface between Python code and the compiled core."""

COMPILED = is_compiled(f"{__name__.rpartition('.')[0]}._compiled", EDITION)
"""Whether the compiled core is in use."""

if TYPE_CHECKING or not COMPILED:
    from psyclone_storage.storage.core.fallback import (
        FRAMES,
        AccessFields,
        Acquirable,
        BindingBlock,
        Blocks,
        Hold,
        Lane,
        Lease,
        Ledger,
        Piece,
        Replica,
        Sides,
        Sliceable,
        Tallies,
        Windows,
        begin,
        end_queued,
        register,
        setting,
        short,
    )
else:
    from psyclone_storage.storage.core._compiled import (
        FRAMES,
        AccessFields,
        Acquirable,
        BindingBlock,
        Blocks,
        Hold,
        Lane,
        Lease,
        Ledger,
        Piece,
        Replica,
        Sides,
        Sliceable,
        Tallies,
        Windows,
        begin,
        end_queued,
        register,
        setting,
        short,
    )

__all__ = [
    "COMPILED",
    "FRAMES",
    "AccessFields",
    "Acquirable",
    "BindingBlock",
    "Blocks",
    "Hold",
    "Lane",
    "Lease",
    "Ledger",
    "Piece",
    "Replica",
    "Sides",
    "Sliceable",
    "Tallies",
    "Windows",
    "begin",
    "end_queued",
    "register",
    "setting",
    "short",
]
