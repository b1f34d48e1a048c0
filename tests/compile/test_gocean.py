"""GOcean's generated code, compiled against our interfaces and run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from psyclone_storage.cli.main import main

pytestmark = pytest.mark.fortran

ROOT = Path(__file__).parents[2]
INFRASTRUCTURE = ROOT / "external" / "gocean_infrastructure"
CORPUS = ROOT / "tests" / "corpus" / "gocean"
EXAMPLE = ROOT / "examples" / "gocean" / "shallow_water"
FLAGS = ("-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror")
LIBRARY = "libgocean_infrastructure.a"

Run = Callable[..., list[str]]


@pytest.fixture(scope="session")
def library(f90: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the infrastructure is, compiled without a warning."""
    folder = tmp_path_factory.mktemp("gocean")
    words = [f"BUILD={folder}", f"FC={' '.join(f90)}", f"FFLAGS={' '.join(FLAGS)}"]
    run(["make", "-s", "-C", str(INFRASTRUCTURE), *words])
    return folder


def run(command: list[str], **more: str) -> str:
    """Run a command, which must succeed, and return what it prints."""
    environment = {**os.environ, "LC_ALL": "C", **more}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("memory", ["-dm", "-nodm"])
def test_the_corpus_compiles_without_a_warning(
    memory: str, library: Path, f90: tuple[str, ...], tmp_path: Path
) -> None:
    algorithms = sorted(CORPUS.glob("*.x90"))
    words = ["-api", "gocean", *map(str, algorithms), "-d", str(CORPUS / "kernels")]
    assert main([*words, memory, "--output-dir", str(tmp_path)]) == 0
    kernels = sorted((CORPUS / "kernels").glob("*.f90"))
    layers = sorted(tmp_path.glob("*_psy.f90"))
    texts = sorted(set(tmp_path.glob("*.f90")) - set(layers))
    assert len(layers) == len(texts) == len(algorithms)
    command = [*f90, *FLAGS, "-fsyntax-only", f"-I{library}", f"-J{tmp_path}"]
    for group in (kernels, layers, texts):
        run([*command, *map(str, group)])


def test_the_infrastructure_refuses_a_halo_that_a_grid_does_not_have(
    library: Path, f90: tuple[str, ...], tmp_path: Path
) -> None:
    source = tmp_path / "deep.f90"
    source.write_text("""program deep
  use field_mod
  use grid_mod
  use kind_params_mod
  implicit none
  type(grid_type), target :: grid
  type(r2d_field) :: field
  grid = grid_type(GO_ARAKAWA_C, [GO_BC_NONE, GO_BC_NONE, GO_BC_NONE], GO_OFFSET_NE)
  call grid%decompose(4, 4, halo_width=2)
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  field = r2d_field(grid, GO_T_POINTS)
  call field%halo_exchange(2)
  print '(8i3)', field%internal%xstart, field%internal%xstop, field%whole%xstart, &
      field%whole%xstop, shape(field%data), size(grid%area_t), grid%tmask(3, 3)
  call field%halo_exchange(3)
end program deep
""")
    binary = tmp_path / "deep"
    run([*f90, f"-I{library}", str(source), str(library / LIBRARY), "-o", str(binary)])
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["3", "6", "2", "7", "9", "9", "81", "1"]
    assert done.returncode != 0
    assert "A halo of this depth does not exist." in done.stderr


@pytest.fixture(scope="session")
def example(library: Path, f90: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return what generates, compiles and runs the example, and gives the lines it prints."""

    def build(*options: str, threads: int = 1) -> list[str]:
        folder = tmp_path_factory.mktemp("shallow_water")
        algorithm, layer = folder / "alg.f90", folder / "psy.f90"
        words = ["-api", "gocean", str(EXAMPLE / "shallow_water.x90"), *options]
        words += ["-d", str(EXAMPLE / "kernels"), "-oalg", str(algorithm), "-opsy", str(layer)]
        assert main(words) == 0
        kernels = sorted((EXAMPLE / "kernels").glob("*.f90"))
        sources = map(str, (*kernels, layer, algorithm, library / LIBRARY))
        command = [*f90, "-O1", "-Wall", "-Werror", "-fopenmp", f"-I{library}", f"-J{folder}"]
        run([*command, *sources, "-o", str(folder / "waves")])
        return run([str(folder / "waves")], OMP_NUM_THREADS=str(threads)).splitlines()

    return build


def test_the_example_conserves_mass_and_keeps_its_energy(example: Run) -> None:
    start, end = ([float(word) for word in line.split()[1:]] for line in example("-nodm"))
    (volume, energy), (volume_at_end, energy_at_end) = start, end
    assert volume > 1.0e9
    assert volume_at_end == pytest.approx(volume, rel=1.0e-13)
    assert energy_at_end == pytest.approx(energy, rel=1.0e-2)
    assert energy_at_end != energy


@pytest.mark.parametrize("memory", ["-dm", "-nodm"])
def test_exchanges_and_threads_do_not_change_the_answer(example: Run, memory: str) -> None:
    threaded = example(memory, "--apply", "fuse; openmp-parallel-do", threads=2)
    assert threaded == example("-nodm")


def test_the_example_runs_with_its_own_command(tmp_path: Path) -> None:
    command = tmp_path / "psyclone-storage"
    command.write_text('#!/bin/sh\nexec "$PYTHON" -m psyclone_storage "$@"\n')
    command.chmod(0o755)
    surroundings = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT / "src"),
    }
    printed = run([str(EXAMPLE / "run"), str(tmp_path / "build")], **surroundings)
    assert "halo(height)@loop3" in printed
    assert printed.splitlines()[-1].startswith("end")
