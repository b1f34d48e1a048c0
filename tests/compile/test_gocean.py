"""GOcean's generated code, compiled against our interfaces and run."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compile.conftest import CORPORA
from fortran import check_sources, run
from libraries import linked_with
from psyclone_storage.cli.main import main

pytestmark = pytest.mark.fortran

CORPUS = CORPORA / "gocean"

Run = Callable[..., list[str]]


@pytest.mark.parametrize("memory", ["-dm", "-nodm"])
def test_the_corpus_compiles_without_a_warning(
    memory: str, gocean_library: Path, f90: tuple[str, ...], tmp_path: Path
) -> None:
    algorithms = sorted(CORPUS.glob("*.x90"))
    words = ["-api", "gocean", *map(str, algorithms), "-d", str(CORPUS / "kernels")]
    assert main([*words, memory, "--output-dir", str(tmp_path)]) == 0
    kernels = sorted((CORPUS / "kernels").glob("*.f90"))
    layers = sorted(tmp_path.glob("*_psy.f90"))
    texts = sorted(set(tmp_path.glob("*.f90")) - set(layers))
    assert len(layers) == len(texts) == len(algorithms)
    check_sources(f90, [*kernels, *layers, *texts], tmp_path, f"-I{gocean_library}")


def test_the_infrastructure_refuses_a_halo_that_a_grid_does_not_have(
    gocean_library: Path, f90: tuple[str, ...], tmp_path: Path
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
    run([*f90, str(source), *linked_with(gocean_library), "-o", str(binary)])
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["3", "6", "2", "7", "9", "9", "81", "1"]
    assert done.returncode != 0
    assert "A halo of this depth does not exist." in done.stderr


def test_the_example_conserves_mass_and_keeps_its_energy(waves: Run) -> None:
    start, end = ([float(word) for word in line.split()[1:]] for line in waves("-nodm"))
    (volume, energy), (volume_at_end, energy_at_end) = start, end
    assert volume > 1.0e9
    assert volume_at_end == pytest.approx(volume, rel=1.0e-13)
    assert energy_at_end == pytest.approx(energy, rel=1.0e-2)
    assert energy_at_end != energy


@pytest.mark.parametrize("memory", ["-dm", "-nodm"])
def test_exchanges_and_threads_do_not_change_the_answer(waves: Run, memory: str) -> None:
    threaded = waves(memory, "--apply", "fuse; openmp-parallel-do", threads=2)
    assert threaded == waves("-nodm")
