"""The contract between the names of a profiler and the Fortran library that comes with us."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.infrastructures import profiling as abi

LIBRARY = Path(__file__).parents[3] / "external" / "profile"


def library() -> str:
    """Return the Fortran of the library, in lower case, without comments."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in LIBRARY.glob("*.f90"))
    return re.sub(r"!.*", "", text).lower()


@pytest.mark.parametrize(
    "declared",
    [
        *(f"module {module.value}" for module in abi.ProfileModule),
        f"type :: {abi.TYPE.name.lower()}",
        *(f"procedure, public :: {name.value.lower()}" for name in abi.Caliper),
        *(f"subroutine {name.value.lower()}(this" for name in abi.Caliper),
    ],
)
def test_the_library_declares_what_is_called(declared: str) -> None:
    assert declared in library()


def test_the_type_belongs_to_the_module() -> None:
    assert abi.TYPE.module in set(abi.ProfileModule)
