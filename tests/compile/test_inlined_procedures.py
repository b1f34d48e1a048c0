"""Programs whose kernels call procedures of other files: inlining preserves results bit for bit."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from fortran import run
from gocean_runs import EXAMPLE
from libraries import STRICT, linked_with
from psyclone_storage.cli.main import main

pytestmark = pytest.mark.fortran
MODEL = Path(__file__).parent / "procedures"


@cache
def printed(library: Path, f90: tuple[str, ...], folder: Path, steps: str, threads: int) -> str:
    """Return what the program prints that is generated with `steps`."""
    folder.mkdir()
    algorithm, layer, changed = folder / "alg.f90", folder / "psy.f90", folder / "changed"
    words = ["-api", "gocean", "-nodm", str(MODEL / "model.x90"), "-d", str(MODEL / "kernels")]
    words += ["-d", str(EXAMPLE / "kernels"), "-oalg", str(algorithm), "-opsy", str(layer)]
    assert main([*words, "-okern", str(changed), *(["--apply", steps] if steps else [])]) == 0
    kernels = [EXAMPLE / "kernels" / "basin_mod.f90", MODEL / "kernels" / "flux_mod.f90"]
    kernels += [MODEL / "kernels" / "advect_mod.f90", *sorted(changed.glob("*.f90"))]
    sources = [*map(str, (*kernels, layer, algorithm)), *linked_with(library)]
    run([*f90, "-O2", *STRICT, "-fopenmp", f"-J{folder}", *sources, "-o", str(folder / "model")])
    return run([str(folder / "model")], OMP_NUM_THREADS=str(threads))


@pytest.mark.parametrize(
    ("steps", "threads"),
    [
        ("inline-procedures", 1),
        ("inline-procedures; inline-kernel-module", 1),
        ("inline-call", 1),
        ("auto", 2),
    ],
)
def test_answers_stay(
    steps: str, threads: int, gocean_library: Path, f90: tuple[str, ...], tmp_path: Path
) -> None:
    found = printed(gocean_library, f90, tmp_path / "with", steps, threads)
    assert found == printed(gocean_library, f90, tmp_path / "without", "", 1)
    layer = (tmp_path / "with" / "psy.f90").read_text()
    changed = "".join(path.read_text() for path in (tmp_path / "with" / "changed").glob("*"))
    assert "call add_flux" not in layer + changed
    assert "! limited" in layer + changed
