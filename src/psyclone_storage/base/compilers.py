"""Search for the C and Fortran compilers that compile generated code."""

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
    """Return the C compiler that CC names; if CC is not set, the first one found."""
    return _first_of(os.environ.get(VARIABLE, ""), _COMPILERS)


@cache
def find_fortran_compiler() -> Path | None:
    """Return the Fortran compiler that FC names; if FC is not set, gfortran."""
    return _first_of(os.environ.get(FORTRAN_VARIABLE, ""), _FORTRAN_COMPILERS)


def compiler_options(variable: str) -> tuple[str, ...]:
    """Return the options in the environment variable `variable`, as in `CC="gcc -m64"`."""
    return tuple(os.environ.get(variable, "").split()[1:])


def why_not_found(variable: str) -> str:
    """Return the reason why no compiler was found, as the end of a sentence."""
    wanted = os.environ.get(variable, "").split()[:1]
    return f"{variable} names '{wanted[0]}', which is not found" if wanted else "none is installed"


def _first_of(wanted: str, usual: tuple[str, ...]) -> Path | None:
    for name in wanted.split()[:1] or usual:
        if found := shutil.which(name):
            return Path(found)
    return None
