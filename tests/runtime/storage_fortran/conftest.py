"""What the tests of the Fortran storage library build once in a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import STORAGE, Library
from psyclone_storage.storage.interop.fortran import FortranLibrary
from runtime.storage_fortran.builds import OPENACC_DOUBLE, SHARED, build_double

Build = Callable[[str], Path]
Load = Callable[[str], FortranLibrary]


@pytest.fixture(scope="session")
def build(
    f90: tuple[str, ...],
    built: Callable[[Library], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Build:
    """Return what gives the shared library for a kind of device."""

    @cache
    def shared(kind: str) -> Path:
        if kind == OPENACC_DOUBLE:
            folder = tmp_path_factory.mktemp("openacc_double")
            return build_double(built(STORAGE["openacc"]), f90, folder)
        return built(STORAGE[kind]) / SHARED

    return shared


@pytest.fixture(scope="session")
def load(build: Build) -> Load:
    """Return what loads the library for a kind of device."""
    return lambda kind: FortranLibrary(build(kind))
