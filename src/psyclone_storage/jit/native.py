"""The fast path of invokes: compiled, or its Python fallback (`base/extension.py` decides)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psyclone_storage.base.extension import is_compiled
from psyclone_storage.jit._pure import EDITION

COMPILED = is_compiled(f"{__name__.rpartition('.')[0]}._compiled", EDITION)
"""Whether the C extension is in use."""

if TYPE_CHECKING or not COMPILED:
    from psyclone_storage.jit._pure import (
        CachedCall,
        Pending,
        deferral,
        find_call,
        quick_invoke,
        restarts_calls,
    )
else:
    from psyclone_storage.jit._compiled import (
        CachedCall,
        Pending,
        deferral,
        find_call,
        quick_invoke,
        restarts_calls,
    )

__all__ = ("COMPILED", "CachedCall", "Pending", "deferral", "find_call", "quick_invoke",
           "restarts_calls")  # fmt: skip
