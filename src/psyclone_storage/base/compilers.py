"""The compilers that generated code needs, as compiler and run time look for them."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path

VARIABLE = "CC"
FORTRAN_VARIABLE = "FC"
_COMPILERS = ("gcc", "cc", "clang")
_FORTRAN_COMPILERS = ("gfortran",)


class NoCompilerError(ImportError):
    """No compiler was found, or it did not compile what a program needs."""


@cache
def find_c_compiler() -> Path | None:
    """Return the compiler for C: that of the variable CC, or the first one that there is."""
    return _first_of(os.environ.get(VARIABLE, ""), _COMPILERS)


@cache
def find_fortran_compiler() -> Path | None:
    """Return the compiler for Fortran: that of the variable FC, or gfortran if there is one."""
    return _first_of(os.environ.get(FORTRAN_VARIABLE, ""), _FORTRAN_COMPILERS)


def _first_of(wanted: str, usual: tuple[str, ...]) -> Path | None:
    for name in (*wanted.split()[:1], *usual):
        if found := shutil.which(name):
            return Path(found)
    return None
