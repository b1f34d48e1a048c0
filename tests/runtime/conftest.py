"""What the run tests build once in a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime import gocean_suite
from runtime.programs import build_infrastructure, build_support


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the compiled infrastructure."""
    return build_infrastructure(tmp_path_factory.mktemp("infrastructure"))


@pytest.fixture(scope="session")
def support(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all that the programs share: the kernels and the answers."""
    return build_support(library, tmp_path_factory.mktemp("support"))


@pytest.fixture(scope="session")
def gocean_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the compiled infrastructure of GOcean."""
    return gocean_suite.build_infrastructure(tmp_path_factory.mktemp("gocean"))
