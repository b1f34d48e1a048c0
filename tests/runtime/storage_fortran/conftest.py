"""What the tests of the Fortran storage library build once in a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from psyclone_storage.storage.interop.fortran import FortranLibrary
from runtime.storage_fortran.builds import build_library

Build = Callable[[str], Path]
Load = Callable[[str], FortranLibrary]


@pytest.fixture(scope="session")
def build(f90: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return what builds the library for a kind of device, once, and gives the shared library."""

    @cache
    def built(kind: str) -> Path:
        return build_library(kind, f90[0], tmp_path_factory.mktemp(kind.replace(" ", "_")))

    return built


@pytest.fixture(scope="session")
def load(build: Build) -> Load:
    """Return what loads the library for a kind of device."""
    return lambda kind: FortranLibrary(build(kind))
