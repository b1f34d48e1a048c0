"""Choice between the C extensions and their pure-Python fallbacks, which behave alike.

`PSYCLONE_STORAGE_CORE` in the environment decides: `python` selects the fallbacks, `compiled`
requires the extensions, and `auto`, the default, uses an extension if it exists. A free-threaded
Python (no global lock) uses the fallbacks.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

VARIABLE = "PSYCLONE_STORAGE_CORE"
_CHOICES = ("auto", "compiled", "python")
FREE_THREADED = "free-threading build" in sys.version
"""Whether this Python has no global lock; `sysconfig` would read a large file for it."""


def is_compiled(name: str, edition: int) -> bool:
    """Return whether to use the compiled module `name`, whose edition must match.

    Raises:
        ValueError: the environment variable has an invalid value.
        ImportError: the environment requires the compiled module, but it does not exist.
    """
    wanted = os.environ.get(VARIABLE) or "auto"
    if wanted not in _CHOICES:
        raise ValueError(f'{VARIABLE} is "{wanted}", but it must be one of {", ".join(_CHOICES)}.')
    if wanted == "python":
        return False
    there = not FREE_THREADED and _edition(name) == edition
    if wanted == "compiled" and not there:
        raise ImportError(
            f'{VARIABLE} is "compiled", but there is no compiled core that fits: install the '
            f"package with a C compiler and the headers of Python at hand, or unset the variable."
        )
    return there


def _edition(name: str) -> int:
    """Return the edition of a compiled module, 0 if it does not exist."""
    try:
        return int(import_module(name).EDITION)
    except ImportError:
        return 0
