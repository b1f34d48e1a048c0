"""Own the choice between the compiled core and its twin in Python, which do the same.

`PSYCLONE_STORAGE_CORE` in the environment decides: `python` takes the twin, `compiled` demands the
compiled core, and `auto`, as without the variable, takes the compiled core where there is one. On
a Python without a global lock (free threading) that is the twin.
"""

from __future__ import annotations

import os
import sysconfig
from importlib import import_module
from typing import TYPE_CHECKING

from psyclone_storage.storage.core.words import EDITION

VARIABLE = "PSYCLONE_STORAGE_CORE"
_CHOICES = ("auto", "compiled", "python")


def _is_compiled() -> bool:
    wanted = os.environ.get(VARIABLE) or "auto"
    if wanted not in _CHOICES:
        raise ValueError(f'{VARIABLE} is "{wanted}", but it must be one of {", ".join(_CHOICES)}.')
    if wanted == "python":
        return False
    there = not sysconfig.get_config_var("Py_GIL_DISABLED") and _edition() == EDITION
    if wanted == "compiled" and not there:
        raise ImportError(
            f'{VARIABLE} is "compiled", but there is no compiled core that fits: install the '
            f"package with a C compiler and the headers of Python at hand, or unset the variable."
        )
    return there


def _edition() -> int:
    """Return the edition of the compiled core, which may be older than this file; 0 for none."""
    try:
        return int(import_module(_NAME).EDITION)
    except ImportError:
        return 0


_NAME = f"{__name__.rpartition('.')[0]}._compiled"

COMPILED = _is_compiled()
"""Whether the compiled core is in use."""

if TYPE_CHECKING or not COMPILED:
    from psyclone_storage.storage.core.twin import (
        FRAMES,
        AccessFields,
        Acquirable,
        Ledger,
        Replica,
        Sliceable,
        begin,
        end_queued,
    )
    from psyclone_storage.storage.core.twin_block import BindingBlock, short
    from psyclone_storage.storage.core.twin_pages import Blocks, Hold, Lease, Piece, setting
    from psyclone_storage.storage.core.twin_records import Sides, Tallies, Windows
    from psyclone_storage.storage.core.words import register
else:
    from psyclone_storage.storage.core._compiled import (
        FRAMES,
        AccessFields,
        Acquirable,
        BindingBlock,
        Blocks,
        Hold,
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
    "VARIABLE",
    "AccessFields",
    "Acquirable",
    "BindingBlock",
    "Blocks",
    "Hold",
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
