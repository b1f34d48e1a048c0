"""How fast generated code is: this tool's and PSyclone's, in one run.

    python benchmarks/generated.py                 serial, and two threads
    python benchmarks/generated.py --cells 32      a mesh that fits into caches

The algorithms and kernels are the same, so are the infrastructure, the compiler and its options.
LFRic: a matrix-vector product on W2, two stencils on W3, five built-ins on W2. GOcean: a step of
the shallow-water example. Each program is run several times, the programs in turn, and the fastest
call of each counts. All programs must print the same numbers, to 12 digits.

The ratio compares the best of ours with the best of PSyclone's, whose scripts do all that its
transformations offer for the case. The triad `z = x + a y` over the dofs of W2 tells what memory
allows; the last column says how much of that ours reaches. PSyclone must be installed beside
this tool. Its fused loops are not run on threads: PSyclone 3.3.1 makes a field that such a loop
first writes private to each thread, so that its values are lost.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from psyclone_storage.cli.main import main as command

ROOT = Path(__file__).resolve().parents[1]
FORTRAN = Path(__file__).resolve().parent / "fortran"
EXTERNAL = ROOT / "external"
FLAGS = ("-O3", "-march=native", "-fopenmp", "-ffree-line-length-none")
ROUNDS = 5
DIGITS = 12


@dataclass(frozen=True)
class Variant:
    """One way to generate the layers. `script` is PSyclone's, `steps` are ours."""

    name: str
    threads: int = 1
    steps: str | None = None
    script: str | None = None
    ours: bool = True


@dataclass(frozen=True)
class Api:
    """The programs of one API: what they are made of, and in which ways.

    `limits` tell how many times the bytes of a triad each case has to move at least.
    """

    name: str
    algorithm: Path
    kernels: Path
    program: Path
    arguments: tuple[str, ...]
    variants: tuple[Variant, ...]
    limits: Mapping[str, float] = field(default_factory=dict)

    @property
    def library(self) -> str:
        """The folder of the infrastructure below `external`."""
        return f"{self.name}_infrastructure"


@dataclass
class Timing:
    """The least milliseconds of each case, and the number that it printed."""

    least: dict[str, float] = field(default_factory=dict)
    value: dict[str, float] = field(default_factory=dict)


def main() -> None:
    """Build all programs, run them in turn and print a table for each API and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cells", type=int, default=96, help="cells of LFRic's mesh each way")
    parser.add_argument("--layers", type=int, default=40, help="layers of LFRic's mesh")
    parser.add_argument("--points", type=int, default=1000, help="points of GOcean's grid each way")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each program")
    given = parser.parse_args()
    if shutil.which("psyclone") is None:
        sys.exit("PSyclone is not installed: 'pip install psyclone'.")
    with tempfile.TemporaryDirectory() as scratch:
        for api in apis(given.cells, given.layers, given.points):
            measure(api, Path(scratch) / api.name, given.rounds)


def apis(cells: int, layers: int, points: int) -> tuple[Api, ...]:
    """Return what is measured."""
    lfric, gocean = FORTRAN / "lfric", FORTRAN / "gocean"
    return (
        Api(
            "lfric",
            lfric / "bench_alg_mod.x90",
            lfric / "kernels",
            lfric / "bench.f90",
            (str(cells), str(layers), "10"),
            (
                Variant("ours"),
                Variant("PSyclone", ours=False),
                Variant("PSyclone, fused", script="psyclone_fused.py", ours=False),
                Variant("ours, auto", 2, steps="auto"),
                Variant("PSyclone, OpenMP", 2, script="psyclone_openmp.py", ours=False),
            ),
            limits(cells, layers),
        ),
        Api(
            "gocean",
            gocean / "bench_alg_mod.x90",
            ROOT / "examples" / "gocean" / "shallow_water" / "kernels",
            gocean / "bench.f90",
            (str(points), "10"),
            (
                Variant("ours"),
                Variant("ours, in place", steps="inline-point-call"),
                Variant("ours, copied", steps="inline-kernel-module"),
                Variant("PSyclone", ours=False),
                Variant("PSyclone, copied", script="psyclone_inline.py", ours=False),
                Variant("ours, auto", 2, steps="auto"),
                Variant("PSyclone, OpenMP", 2, script="psyclone_openmp.py", ours=False),
                Variant("PSyclone, both", 2, script="psyclone_both.py", ours=False),
            ),
        ),
    )


def limits(cells: int, layers: int) -> Mapping[str, float]:
    """Return how many times the triad's 24 bytes for each dof of W2 a case moves at least.

    The product reads a matrix of 6 x 6 for each cell and x, and sets and reads y. A stencil reads a
    field on W3 and writes another. Five built-ins in one loop read four fields and write three.
    """
    columns = cells * cells
    of_w2 = columns * (2 * layers + layers + 1)
    of_w3 = columns * layers
    moved = {
        "matvec": 36 * of_w3 + 3 * of_w2,
        "stencils": 2 * 2 * of_w3,
        "five built-ins": 7 * of_w2,
    }
    return {name: numbers / (3 * of_w2) for name, numbers in moved.items()}


# ---------------------------------------------------------------------------- building


def measure(api: Api, scratch: Path, rounds: int) -> None:
    """Build and run the programs of `api` and print what they took."""
    library = build_library(api, scratch / "library")
    programs = {variant: build(api, variant, library, scratch) for variant in api.variants}
    timings = {variant: Timing() for variant in api.variants}
    for _ in range(rounds):
        for variant, program in programs.items():
            note(timings[variant], run(program, api.arguments, variant.threads))
    check_values(timings)
    print_tables(api, timings)


def build_library(api: Api, folder: Path) -> Path:
    """Compile the infrastructure and return its folder."""
    words = ["make", "--quiet", "-C", str(EXTERNAL / api.library), f"FFLAGS={' '.join(FLAGS)}"]
    call([*words, "FC=gfortran", f"BUILD={folder}"], ROOT)
    return folder


def build(api: Api, variant: Variant, library: Path, scratch: Path) -> Path:
    """Generate the layers of one variant, compile the program and return it."""
    folder = scratch / re.sub(r"\W+", "_", variant.name)
    folder.mkdir(parents=True)
    generate(api, variant, folder)
    generated = [folder / "psy.f90", folder / "algorithm.f90"]
    sources = [*sorted(api.kernels.glob("*.f90")), *generated, api.program]
    words = ["gfortran", *FLAGS, f"-I{library}", *map(str, sources)]
    call([*words, str(library / f"lib{api.library}.a"), "-o", "program"], folder)
    return folder / "program"


def generate(api: Api, variant: Variant, folder: Path) -> None:
    """Write the PSy layer and the algorithm of one variant to `folder`."""
    words = ["-api", api.name, "-nodm", "-d", str(api.kernels), str(api.algorithm)]
    words += ["-oalg", str(folder / "algorithm.f90"), "-opsy", str(folder / "psy.f90")]
    if variant.ours:
        words += ["--apply", variant.steps] if variant.steps else []
        if command([*words, "-okern", str(folder)]) != 0:
            sys.exit(f"'{variant.name}' could not be generated.")
        return
    words += ["-s", str(api.algorithm.parent / variant.script)] if variant.script else []
    call(["psyclone", *words], folder)


def call(words: list[str], folder: Path) -> str:
    """Run a command and return what it prints; stop if it fails."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


# ---------------------------------------------------------------------------- running


def run(program: Path, arguments: tuple[str, ...], threads: int) -> str:
    """Run a program on so many threads and return what it prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=program.parent,
        env=environment,
    )
    return done.stdout


def note(timing: Timing, output: str) -> None:
    """Keep the least time of each case."""
    for name, milliseconds, value in re.findall(r"^(.+):\s*(\S+)\s+(\S+)$", output, re.MULTILINE):
        timing.least[name] = min(timing.least.get(name, float("inf")), float(milliseconds))
        timing.value[name] = float(value)


def check_values(timings: Mapping[Variant, Timing]) -> None:
    """Stop if two variants have computed different things."""
    first, *others = timings.items()
    for variant, timing in others:
        for name, value in timing.value.items():
            expected = first[1].value[name]
            if abs(value - expected) > 10.0**-DIGITS * abs(expected):
                sys.exit(
                    f"'{variant.name}' finds {value} for {name}, '{first[0].name}' {expected}."
                )


# ---------------------------------------------------------------------------- printing


def print_tables(api: Api, timings: Mapping[Variant, Timing]) -> None:
    """Print, for each number of threads, what ours and PSyclone's took."""
    for threads in sorted({variant.threads for variant in timings}):
        chosen = {item: timing for item, timing in timings.items() if item.threads == threads}
        print(f"\n{api.name}, {' x '.join(api.arguments[:-1])}, threads: {threads}")
        heads = "".join(f"{item.name:>20}" for item in chosen)
        print(f"{'':<18}{heads}{'ratio':>9}{'of triad':>10}")
        for name in next(iter(chosen.values())).least:
            print_row(name, chosen, api.limits.get(name))


def print_row(name: str, chosen: Mapping[Variant, Timing], limit: float | None) -> None:
    """Print one case: milliseconds; how many times ours is faster, best against best.

    `limit` is the time that memory allows, in triads; the last column is its share of ours.
    """
    times = {item: timing.least[name] for item, timing in chosen.items()}
    mine = min(time for item, time in times.items() if item.ours)
    peer = min(time for item, time in times.items() if not item.ours)
    line = f"{name:<18}" + "".join(f"{time:>17.3f} ms" for time in times.values())
    if name != "triad":
        line += f"{peer / mine:>9.2f}"
    if limit is not None:
        triad = min(timing.least["triad"] for timing in chosen.values())
        line += f"{limit * triad / mine:>9.0%}"
    print(line)


if __name__ == "__main__":
    main()
