"""What the run tests build once in a session, or find built by the one before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from building import built_once, shared_folder
from fortran import run
from libraries import GOCEAN_EMULATED, GOCEAN_MPI, LFRIC_EMULATED, LFRIC_MPI, Library
from runtime import gocean_suite, programs
from runtime.generated import builds
from runtime.generated.suite import write_suite
from runtime.summing import Summed, sums_of
from runtime.twins import compiled_in_python, for_numpy, with_known_lengths, write_in_python
from served_commands import served
from two_memories import MEMORY


@pytest.fixture(scope="session", autouse=True)
def _objects(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let all tests of a run share what they compile."""
    os.environ[programs.OBJECTS] = str(shared_folder(tmp_path_factory) / "objects")


@pytest.fixture(scope="module")
def kept_invokes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let the programs in Python of all tests share the invokes that they generate and compile.

    Each rank of each program would do this otherwise.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PSYCLONE_STORAGE_CACHE", str(shared_folder(tmp_path_factory) / "invokes"))
        yield


@pytest.fixture(scope="module")
def quickly(pytestconfig: pytest.Config) -> Iterator[None]:
    """Compile C without optimization, except with `--matrix`: most of the time would go there.

    For tests of values that do not depend on it.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not pytestconfig.getoption("--matrix"):
            patch.setenv("PSYCLONE_STORAGE_CFLAGS", "-O0")
        yield


@pytest.fixture(scope="session")
def library(built: Callable[[Library], Path]) -> Path:
    """Return the folder of the infrastructure for ranks."""
    return built(LFRIC_MPI)


@pytest.fixture(scope="session")
def corpus_in_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of LFRic's corpus in Python, as C and as CUDA; in `without` as NumPy."""

    def build(folder: Path) -> None:
        write_in_python(with_known_lengths(), folder)
        for target in ("c", "cuda"):
            compiled_in_python(folder, target)
        write_in_python(for_numpy(), folder / "without")
        compiled_in_python(folder / "without", "numpy")

    return built_once(shared_folder(tmp_path_factory) / "corpus_in_python", build)


@pytest.fixture(scope="session")
def summed(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Summed:
    """Return what gives the bits of sums, by code generated with options."""
    return sums_of(library, lambda: tmp_path_factory.mktemp("sums"))


@pytest.fixture(scope="session")
def support(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all that the programs share: the kernels and the answers."""
    return built_once(
        shared_folder(tmp_path_factory) / "support",
        lambda folder: programs.build_support(library, folder),
    )


@pytest.fixture(scope="session")
def emulated_parts(
    built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Return the folders of the infrastructure with an emulated device, and of what is shared."""
    library = built(LFRIC_EMULATED)
    support = built_once(
        shared_folder(tmp_path_factory) / "emulated_support",
        lambda folder: programs.build_support(library, folder),
    )
    return library, support


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the generated kernels and algorithms."""
    return built_once(shared_folder(tmp_path_factory) / "suite", write_suite)


@pytest.fixture(scope="session")
def suite_program(
    library: Path, suite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[programs.Mode], Path]:
    """Return what gives the program of the generated suite for a mode."""
    folder = shared_folder(tmp_path_factory)

    def build(mode: programs.Mode, there: Path) -> None:
        support = built_once(
            folder / "suite_support", lambda where: builds.build_support(library, suite, where)
        )
        builds.write_places(builds.generate(mode, suite, there), there)
        builds.build_program(library, support, suite, there)

    def built(mode: programs.Mode) -> Path:
        folder_of_mode = folder / f"suite_{mode.name}"
        return built_once(folder_of_mode, lambda where: build(mode, where)) / "program"

    return built


@pytest.fixture(scope="session")
def gocean_library(built: Callable[[Library], Path]) -> Path:
    """Return the folder of GOcean's infrastructure for ranks."""
    return built(GOCEAN_MPI)


@pytest.fixture(scope="session")
def emulated_gocean(built: Callable[[Library], Path]) -> Path:
    """Return the folder of GOcean's infrastructure with an emulated device."""
    return built(GOCEAN_EMULATED)


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
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with PSyclone as the command `psyclone-storage`."""
    folder = tmp_path_factory.mktemp("peer")
    with served("runtime.peer:answer", forks=True) as command:
        command.write(folder / "psyclone-storage")
        yield folder


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Return the folder of the compiled module `two_memories`."""
    folder = tmp_path_factory.mktemp("memory")
    (folder / "two_memories.f90").write_text(MEMORY, "utf-8")
    run([request.config.getoption("--f90"), "-c", "-J", str(folder), "-o",
         str(folder / "memory.o"), str(folder / "two_memories.f90")])  # fmt: skip
    return folder
