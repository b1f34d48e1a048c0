"""What the run tests build once in a session, or find built by the one before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from building import built_once, shared_folder
from libraries import GOCEAN_MPI, LFRIC_MPI, Library
from runtime import gocean_suite, programs
from runtime.examples import pass_on_to_psyclone


@pytest.fixture(scope="session")
def library(built: Callable[[Library], Path]) -> Path:
    """Return the folder of the infrastructure for ranks."""
    return built(LFRIC_MPI)


@pytest.fixture(scope="session")
def support(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all that the programs share: the kernels and the answers."""
    return built_once(
        shared_folder(tmp_path_factory) / "support",
        lambda folder: programs.build_support(library, folder),
    )


@pytest.fixture(scope="session")
def gocean_library(built: Callable[[Library], Path]) -> Path:
    """Return the folder of GOcean's infrastructure for ranks."""
    return built(GOCEAN_MPI)


@pytest.fixture(scope="session")
def gocean_parts(
    gocean_library: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Return the folders of GOcean's infrastructure and of all that its programs share."""
    support = built_once(
        shared_folder(tmp_path_factory) / "gocean_support",
        lambda folder: gocean_suite.build_support(gocean_library, folder),
    )
    return gocean_library, support


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with PSyclone as the command `psyclone-storage`."""
    folder = tmp_path_factory.mktemp("peer")
    pass_on_to_psyclone(folder)
    return folder
