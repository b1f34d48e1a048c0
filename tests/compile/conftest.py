"""What the tests of GOcean's generated code build once in a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from gocean_runs import build_library, build_waves, run_waves


@pytest.fixture(scope="session")
def gocean_library(f90: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the infrastructure is, compiled without a warning."""
    return build_library(tmp_path_factory.mktemp("gocean"), f90)


@pytest.fixture(scope="session")
def waves(
    gocean_library: Path, f90: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., list[str]]:
    """Return what generates, compiles and runs the example, and gives the lines it prints."""

    @cache
    def built(*options: str) -> Path:
        folder = tmp_path_factory.mktemp("shallow_water")
        return build_waves(folder, gocean_library, f90, *options)

    return lambda *options, threads=1: run_waves(built(*options), threads)
