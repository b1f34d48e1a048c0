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
    """No compiler was found, or the compilation of a required program failed."""


@cache
def find_c_compiler() -> Path | None:
    """Return the compiler for C that CC names; the first one that is found if CC is not set."""
    return _first_of(os.environ.get(VARIABLE, ""), _COMPILERS)


@cache
def find_fortran_compiler() -> Path | None:
    """Return the compiler for Fortran that FC names; gfortran if FC is not set."""
    return _first_of(os.environ.get(FORTRAN_VARIABLE, ""), _FORTRAN_COMPILERS)


def compiler_options(variable: str) -> tuple[str, ...]:
    """Return the words after the compiler in `variable`, as in `CC="gcc -m64"`."""
    return tuple(os.environ.get(variable, "").split()[1:])


def why_not_found(variable: str) -> str:
    """Return why a search for the compiler of `variable` failed, as the end of a sentence."""
    wanted = os.environ.get(variable, "").split()[:1]
    return f"{variable} names '{wanted[0]}', which is not found" if wanted else "none is installed"


def _first_of(wanted: str, usual: tuple[str, ...]) -> Path | None:
    for name in wanted.split()[:1] or usual:
        if found := shutil.which(name):
            return Path(found)
    return None
