"""GOcean's infrastructure compiled, and the wave example generated, compiled and run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from psyclone_storage.cli.main import main

ROOT = Path(__file__).parents[1]
INFRASTRUCTURE = ROOT / "external" / "gocean_infrastructure"
EXAMPLE = ROOT / "examples" / "gocean" / "shallow_water"
FLAGS = ("-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror")
LIBRARY = "libgocean_infrastructure.a"


def run(command: list[str], **more: str) -> str:
    """Run a command, which must succeed, and return what it prints."""
    environment = {**os.environ, "LC_ALL": "C", **more}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build_library(folder: Path, f90: tuple[str, ...]) -> Path:
    """Compile the infrastructure, without a warning, in `folder` and return that."""
    words = [f"BUILD={folder}", f"FC={' '.join(f90)}", f"FFLAGS={' '.join(FLAGS)}"]
    run(["make", "-s", "-C", str(INFRASTRUCTURE), *words])
    return folder


def build_waves(folder: Path, library: Path, f90: tuple[str, ...], *options: str) -> Path:
    """Generate the wave example with `options`, compile it in `folder`, return the program."""
    algorithm, layer = folder / "alg.f90", folder / "psy.f90"
    words = ["-api", "gocean", str(EXAMPLE / "shallow_water.x90"), *options]
    words += ["-d", str(EXAMPLE / "kernels"), "-oalg", str(algorithm), "-opsy", str(layer)]
    words += ["-okern", str(folder)]
    assert main(words) == 0
    kernels = sorted((EXAMPLE / "kernels").glob("*.f90"))
    changed = sorted(folder.glob("*_mod.f90"))
    sources = map(str, (*kernels, *changed, layer, algorithm, library / LIBRARY))
    command = [*f90, "-O1", "-Wall", "-Werror", "-fopenmp", f"-I{library}", f"-J{folder}"]
    run([*command, *sources, "-o", str(folder / "waves")])
    return folder / "waves"


def run_waves(program: Path, threads: int) -> list[str]:
    """Return the lines that the wave example prints, with so many threads."""
    return run([str(program)], OMP_NUM_THREADS=str(threads)).splitlines()
