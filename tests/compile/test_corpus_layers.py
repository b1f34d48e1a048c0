"""Every algorithm of the corpora, compiled by us and then by a Fortran compiler with its kernels.

A warning is a failure. The infrastructure is built once in a session, the kernels once for it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from psyclone_storage.cli.main import main
from psyclone_storage.config.locate import shared_file

pytestmark = pytest.mark.fortran

CORPORA = Path(__file__).parents[1] / "corpus"
FLAGS = ("-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror", "-fsyntax-only")
INFRASTRUCTURE = "external/lfric_infrastructure"

MODES = {
    "distributed": ["-dm"],
    "annexed": ["-dm", "--config-opts", "COMPUTE_ANNEXED_DOFS=true RUN_TIME_CHECKS=warn"],
    "serial": ["-nodm"],
    "inlined": ["-dm", "--apply", "intrinsics-to-code; arrays-to-loops; inline-call"],
}


@pytest.fixture(scope="session")
def modules(
    f90: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Return where the modules of the infrastructure and of a corpus' kernels are."""
    built: dict[str, Path] = {}
    folder = tmp_path_factory.mktemp("infrastructure")
    root = shared_file(INFRASTRUCTURE)
    names = (root / "files.txt").read_text(encoding="utf-8").split()
    compile_all(f90, [root / name for name in names], folder, ())

    def of(corpus: str) -> Path:
        if corpus not in built:
            built[corpus] = tmp_path_factory.mktemp(corpus)
            kernels = sorted((CORPORA / corpus / "kernels").glob("*.f90"))
            compile_all(f90, kernels, built[corpus], (f"-I{folder}",))
            for module in folder.glob("*.mod"):
                shutil.copy(module, built[corpus])
        return built[corpus]

    return of


def compile_all(
    f90: tuple[str, ...], sources: list[Path], folder: Path, flags: tuple[str, ...]
) -> None:
    """Compile `sources` in their order and leave their modules in `folder`."""
    command = [*f90, *FLAGS, *flags, f"-J{folder}", *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("corpus", ["lfric", "lfric_2019"])
def test_the_layers_of_a_corpus_compile_without_a_warning(
    corpus: str, mode: str, modules: Callable[[str], Path], f90: tuple[str, ...], tmp_path: Path
) -> None:
    algorithms = sorted((CORPORA / corpus).glob("*.x90"))
    kernels = CORPORA / corpus / "kernels"
    changed = tmp_path / "kernels"
    words = ["-api", "lfric", *map(str, algorithms), "-d", str(kernels), "-okern", str(changed)]
    assert main([*words, *MODES[mode], "--output-dir", str(tmp_path)]) == 0
    layers = sorted(tmp_path.glob("*_psy.f90"))
    assert len(layers) == len(algorithms)
    # Kernels of several subroutines are changed by the steps, and not inlined.
    texts = sorted(changed.glob("*.f90"))
    compile_all(f90, [*texts, *layers], tmp_path, (f"-I{modules(corpus)}",))
