"""GOcean's wave example: generated, compiled and run."""

from __future__ import annotations

from pathlib import Path

from fortran import run
from libraries import STRICT, linked_with
from psyclone_storage.cli.main import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "gocean" / "shallow_water"


def build_waves(
    library: Path,
    f90: tuple[str, ...],
    folder: Path,
    *options: str,
    flag: str = "-fopenmp",
    source: Path = EXAMPLE / "kernels",
) -> Path:
    """Generate the example with `options`, compile it in `folder`, return the program.

    Its kernels are in `source`. Kernels that steps have changed are in `changed/`.
    """
    algorithm, layer, changed = folder / "alg.f90", folder / "psy.f90", folder / "changed"
    words = ["-api", "gocean", str(EXAMPLE / "shallow_water.x90"), *options]
    words += ["-d", str(source), "-oalg", str(algorithm), "-opsy", str(layer)]
    assert main([*words, "-okern", str(changed)]) == 0
    kernels = [*sorted(source.glob("*.f90")), *sorted(changed.glob("*.f90"))]
    sources = [*map(str, (*kernels, layer, algorithm)), *linked_with(library)]
    command = [*f90, "-O1", *STRICT, flag, f"-J{folder}", *sources]
    run([*command, "-o", str(folder / "waves")])
    return folder / "waves"


def run_waves(program: Path, threads: int = 1) -> list[str]:
    """Return the lines that the example prints, with so many threads."""
    return run([str(program)], OMP_NUM_THREADS=str(threads)).splitlines()
