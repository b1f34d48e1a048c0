"""The compiler for C that generated code needs, as compiler and run time look for it."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path

VARIABLE = "CC"
_COMPILERS = ("gcc", "cc", "clang")


class NoCompilerError(ImportError):
    """No compiler for C was found, or it did not compile what was generated."""


@cache
def find_c_compiler() -> Path | None:
    """Return the compiler for C: that of the variable CC, or the first one that there is."""
    wanted = os.environ.get(VARIABLE, "").split()[:1]
    for name in (*wanted, *_COMPILERS):
        if found := shutil.which(name):
            return Path(found)
    return None
