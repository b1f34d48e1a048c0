"""What the run tests build once in a session, or find built by the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from building import built_once, fingerprint
from runtime import gocean_suite
from runtime.programs import FLAGS, INFRASTRUCTURE, build_infrastructure, build_support, command


@pytest.fixture(scope="session")
def library(pytestconfig: pytest.Config) -> Path:
    """Return the folder of the compiled infrastructure."""
    return built_once(kept_folder(pytestconfig, INFRASTRUCTURE), build_infrastructure)


@pytest.fixture(scope="session")
def support(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all that the programs share: the kernels and the answers."""
    return build_support(library, tmp_path_factory.mktemp("support"))


@pytest.fixture(scope="session")
def gocean_library(pytestconfig: pytest.Config) -> Path:
    """Return the folder of the compiled infrastructure of GOcean."""
    folder = kept_folder(pytestconfig, gocean_suite.INFRASTRUCTURE)
    return built_once(folder, gocean_suite.build_infrastructure)


def kept_folder(config: pytest.Config, sources: Path) -> Path:
    """Return where a library stays between test runs: elsewhere for other sources or flags."""
    cache = config.cache
    assert cache is not None
    made_by = command(["mpif90", "--version"], sources)
    return cache.mkdir(sources.name) / fingerprint(sources, "*.f90", made_by, *FLAGS)
