"""What the tests of generated code compile once in a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest

from building import built_once, shared_folder
from fortran import Compiler, check_sources
from gocean_runs import build_waves, run_waves
from libraries import GOCEAN, LFRIC, LFRIC_UNIFORM, Library

CORPORA = Path(__file__).parents[1] / "corpus"


@pytest.fixture(scope="session", params=[LFRIC, LFRIC_UNIFORM], ids=["mixed", "uniform"])
def compiler(
    request: pytest.FixtureRequest, f90: tuple[str, ...], built: Callable[[Library], Path]
) -> Compiler:
    """Return a compiler that sees LFRic's infrastructure, of each set of precisions."""
    return Compiler(f90, built(request.param))


@pytest.fixture(scope="session")
def modules(
    f90: tuple[str, ...], built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], list[str]]:
    """Return what gives the words that name the modules of a corpus and of the infrastructure."""

    def of(corpus: str) -> list[str]:
        infrastructure = f"-I{built(LFRIC)}"
        kernels = sorted((CORPORA / corpus / "kernels").glob("*.f90"))
        folder = built_once(
            shared_folder(tmp_path_factory) / f"{corpus}_kernels",
            lambda folder: check_sources(f90, kernels, folder, infrastructure),
        )
        return [f"-I{folder}", infrastructure]

    return of


@pytest.fixture(scope="session")
def gocean_library(built: Callable[[Library], Path]) -> Path:
    """Return the folder of GOcean's infrastructure."""
    return built(GOCEAN)


@pytest.fixture(scope="session")
def waves_in(gocean_library: Path, f90: tuple[str, ...]) -> Callable[..., Path]:
    """Return what generates the example with options, and compiles it in a folder."""
    return partial(build_waves, gocean_library, f90)


@pytest.fixture(scope="session")
def waves(
    waves_in: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., list[str]]:
    """Return what generates, compiles and runs the example, and gives the lines it prints."""

    @cache
    def program(*options: str, flag: str) -> Path:
        return waves_in(tmp_path_factory.mktemp("shallow_water"), *options, flag=flag)

    return lambda *options, threads=1, flag="-fopenmp": run_waves(
        program(*options, flag=flag), threads
    )
