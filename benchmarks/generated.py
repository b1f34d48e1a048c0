"""How fast generated code is: this tool's and PSyclone's, in one run.

    python benchmarks/generated.py                   one thread, and two
    python benchmarks/generated.py --cells 32        a mesh that fits into caches
    python benchmarks/generated.py --sizes 2 4 8     one thread, and how cost grows with the work
    python benchmarks/generated.py --ranks 1 2 4     distributed, one thread on each rank
    python benchmarks/generated.py --nemolite2d P    NEMOLite2D alone, from PSycloneBench
    python benchmarks/generated.py --lfric-core CORE                    LFRic with lfric_core itself
    python benchmarks/generated.py --nemolite2d P --dl-esm-inf LIBRARY  and with dl_esm_inf itself

The algorithms and kernels are the same, so are the infrastructure, the compiler and its options.
LFRic: a matrix-vector product on W2, two stencils on W3, five built-ins on W2. GOcean: a step of
the shallow-water example. All programs must print the same numbers, to 12 digits. CORE is a
checkout of lfric_core, LIBRARY `finite_difference/src` of one of dl_esm_inf: nothing of them is
changed, all is built in a temporary folder, and one table is printed for both numbers of threads.

Other programs on a machine disturb what a clock shows. So the programs run in turn, many times,
and the least time of a call counts; on one thread it is processor time. `spread` is by how much the
least time of the middle one of all runs is larger. `instructions` is how many one thread executes
for each cell and layer, or point, as valgrind counts them on a small mesh, without AVX-512.

`of triad` compares with what memory allows: the bytes that a case has to move at least, each number
once, by the speed of a triad `z = x + a y` on as many bytes as the case works on, in the same runs.
`speed` is the best time of PSyclone, with any of its scripts, by the time of the row.

With `--ranks` all layers exchange halos, by MPI, and the time of the slowest rank counts, by the
clock. P is `benchmarks/nemo/nemolite2d` of a checkout of https://github.com/stfc/PSycloneBench.
`hand-written` is what a person makes of a case for one thread who knows its mesh; for NEMOLite2D
it is the step in `manual_versions/psykal_serial` there.

PSyclone must be installed. Its fused loops are not run on threads: PSyclone 3.3.1 makes a field
that such a loop first writes private to each thread, so that its values are lost.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeVar

import dl_esm_inf
import lfric_core
from nemolite2d import CONSTANTS, HERE, step_by_hand, step_of
from nemolite2d import KERNELS as OF_NEMOLITE2D

ROOT = Path(__file__).resolve().parents[1]
FORTRAN = Path(__file__).resolve().parent / "fortran"
EXTERNAL = ROOT / "external"
FLAGS = ("-O3", "-march=native", "-fopenmp", "-ffree-line-length-none")
COUNTED_FLAGS = ("-O3", "-march=x86-64-v3", "-fopenmp", "-ffree-line-length-none")
BAY = HERE / "bay_mod.f90"
ROUNDS = 9
DIGITS = 12
SMALL_MESH, SMALL_GRID = 16, 200
ROWS_OF_TILES = 8

Item = TypeVar("Item")
Result = TypeVar("Result")

KERNELS = (
    "kernel-constants{element_order=0}; kernel-swap{loop=1 sums=true};"
    "kernel-jam{call=multiply_type@loop2 loop=2 factor=6};"
    "kernel-jam{call=blur_type@loop1 loop=2}; kernel-jam{call=blur_type@loop2 loop=2};"
    "inline-kernel-module"
)
"""What a user may do to the kernels of LFRic's cases."""

WITH_CONSTANTS = "kernel-constants{element_order=0}; auto"
COPIED = "inline-point-kernel; fuse; openmp-do; openmp-parallel"


@dataclass(frozen=True)
class Variant:
    """One way to generate the layers: by `script` of PSyclone's, or `steps`, `options`, `target`.

    `by_hand` is a file that a person has written in the place of the algorithm and its layer.
    """

    name: str
    threads: int = 1
    steps: str | None = None
    script: str | None = None
    ours: bool = True
    options: str | None = None
    by_hand: str | None = None
    target: str | None = None

    @property
    def is_peer(self) -> bool:
        """Whether PSyclone generates the layers."""
        return not self.ours and self.by_hand is None


@dataclass(frozen=True)
class Case:
    """An invoke that is timed: its routine, and how many bytes it has to move at least."""

    name: str
    routine: str
    bytes_moved: int


Flags = tuple[str, ...]
Library = Callable[[Flags, Path], tuple[list[str], list[str]]]
"""Compiles an infrastructure in a folder; returns options for modules, and what is linked."""


@dataclass(frozen=True)
class Api:
    """The programs of one API: what they are made of, and in which ways.

    Sources `before` the kernels are what these use, those `around` are what the program uses.
    Instructions are counted with the arguments `small`, on so many `points`. The infrastructure is
    that of this project below `external`, or `library` compiles another one.
    """

    name: str
    algorithm: Path
    kernels: Path
    program: Path
    arguments: tuple[str, ...]
    small: tuple[str, ...]
    points: int
    cases: tuple[Case, ...]
    variants: tuple[Variant, ...]
    before: tuple[Path, ...] = ()
    around: tuple[Path, ...] = ()
    library: Library | None = None


@dataclass
class Timing:
    """What the runs of a program took, by case, and what its cases have printed.

    `milliseconds` has one number for each run, the least of all calls; `instructions` are those of
    a call, for each point.
    """

    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    value: dict[str, float] = field(default_factory=dict)
    instructions: dict[str, float] = field(default_factory=dict)

    def least(self, case: str) -> float:
        """Return the least time of a call."""
        return min(self.milliseconds[case])

    def middle(self, case: str) -> float:
        """Return the median of all runs, each with its least time of a call."""
        return statistics.median(self.milliseconds[case])

    def spread(self, case: str) -> float:
        """Return by how much the middle run took longer than the fastest, as a share of it."""
        return self.middle(case) / self.least(case) - 1


Timings = Mapping[Variant, Timing]


def main() -> None:
    """Build all programs, run them in turn and print a table for each API and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cells", type=int, default=96, help="cells of LFRic's mesh each way")
    parser.add_argument("--layers", type=int, default=40, help="layers of LFRic's mesh")
    parser.add_argument("--points", type=int, default=1000, help="points of GOcean's grid each way")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each program")
    sizes = "one thread, and then with so many times the work"
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help=sizes)
    ranks = "distributed to so many ranks, one thread on each"
    parser.add_argument("--ranks", type=int, nargs="+", default=[], help=ranks)
    for option, words in {
        "--nemolite2d": "NEMOLite2D alone, whose folder in PSycloneBench this is",
        "--lfric-core": "LFRic alone, with this checkout of lfric_core",
        "--dl-esm-inf": "GOcean alone, with dl_esm_inf itself, whose folder of sources this is",
    }.items():
        parser.add_argument(option, type=Path, metavar="PATH", help=words)
    given = parser.parse_args()
    if shutil.which("psyclone") is None:
        sys.exit("PSyclone is not installed: 'pip install psyclone'.")
    with tempfile.TemporaryDirectory() as scratch:
        apis = [lfric(given.cells, given.layers), gocean(given.points)]
        if given.nemolite2d:
            apis = [nemolite2d(given.nemolite2d, given.points, Path(scratch) / "sources")]
        if given.lfric_core:
            apis = [with_lfric_core(apis[0], given.lfric_core)]
        if given.dl_esm_inf:
            build = partial(dl_esm_inf.library_for, given.dl_esm_inf)
            apis = [replace(apis[-1], library=build)]
        for api in apis:
            if given.ranks:
                measure_ranks(api, Path(scratch) / api.name, given.rounds, given.ranks)
            else:
                measure(api, Path(scratch) / api.name, given.rounds, given.sizes)


def lfric(cells: int, layers: int) -> Api:
    """Return what is measured of LFRic.

    The product reads a matrix of 6 x 6 for each cell and x, and writes y. A stencil reads a field
    on W3 and writes another. Five built-ins in one loop read four fields and write three.
    """
    of_w3 = cells * cells * layers
    of_w2 = 3 * of_w3 + cells * cells
    folder = FORTRAN / "lfric"
    return Api(
        "lfric",
        folder / "bench_alg_mod.x90",
        folder / "kernels",
        folder / "bench.f90",
        (str(cells), str(layers), "5"),
        (str(SMALL_MESH), str(layers), "1"),
        SMALL_MESH**2 * layers,
        (
            Case("matvec", "invoke_matvec", 8 * (36 * of_w3 + 2 * of_w2)),
            Case("stencils", "invoke_stencils", 8 * 2 * 2 * of_w3),
            Case("five built-ins", "invoke_five_built_ins", 8 * 7 * of_w2),
        ),
        (
            Variant("ours"),
            Variant("ours, `auto`", steps="auto"),
            Variant("ours, kernels changed", steps=KERNELS),
            Variant("ours, constants, `auto`", steps=WITH_CONSTANTS),
            Variant("PSyclone", ours=False),
            Variant("PSyclone, fused", script="psyclone_fused.py", ours=False),
            Variant("PSyclone, fused, kernels changed", script="psyclone_best.py", ours=False),
            Variant("hand-written", ours=False, by_hand="by_hand.f90"),
            Variant("ours, `auto`", 2, steps="auto"),
            Variant("ours, constants, `auto`", 2, steps=WITH_CONSTANTS),
            Variant("PSyclone, OpenMP", 2, script="psyclone_openmp.py", ours=False),
            Variant("PSyclone, kernels changed, tiles", 2, script="psyclone_tiles.py", ours=False),
        ),
        around=(folder / "bench_mesh_mod.f90",),
    )


def with_lfric_core(api: Api, core: Path) -> Api:
    """Return what is measured of LFRic, with the infrastructure of a checkout of lfric_core."""
    also = (api.algorithm, api.algorithm.parent / "by_hand.f90", *api.kernels.glob("*.f90"))
    build = partial(lfric_core.library_for, core, api.program, also)
    return replace(api, around=(), library=build)


def gocean(points: int) -> Api:
    """Return what is measured of GOcean.

    A step reads five fields, four arrays of the grid, one of them of short integers, and writes
    five fields.
    """
    folder = FORTRAN / "gocean"
    return Api(
        "gocean",
        folder / "bench_alg_mod.x90",
        ROOT / "examples" / "gocean" / "shallow_water" / "kernels",
        folder / "bench.f90",
        (str(points), "4"),
        (str(SMALL_GRID), "1"),
        SMALL_GRID**2,
        (Case("shallow water", "invoke_advance", (8 * 13 + 4) * points * points),),
        (
            Variant("ours"),
            Variant("ours, `auto`", steps="auto"),
            Variant("ours, copied", steps="inline-kernel-module"),
            Variant("ours, in place, fused, outlined", steps="inline-point-call; fuse; outline"),
            Variant("PSyclone", ours=False),
            Variant("PSyclone, copied", script="psyclone_inline.py", ours=False),
            Variant("PSyclone, copied, fused", script="psyclone_fused.py", ours=False),
            Variant("hand-written", ours=False, by_hand="by_hand.f90"),
            Variant("ours, `auto`", 2, steps="auto"),
            Variant("ours, copied, fused, OpenMP", 2, steps=COPIED),
            Variant("PSyclone, OpenMP", 2, script="psyclone_openmp.py", ours=False),
            Variant("PSyclone, copied, OpenMP", 2, script="psyclone_both.py", ours=False),
        ),
    )


def nemolite2d(path: Path, points: int, scratch: Path) -> Api:
    """Return what is measured of NEMOLite2D, whose algorithm is written to `scratch`.

    A step reads eight fields and twelve arrays of the grid, one of them of short integers, and
    writes ten fields.
    """
    scratch.mkdir()
    (scratch / "step.x90").write_text(step_of(path), encoding="utf-8")
    (scratch / "by_hand.f90").write_text(step_by_hand(path), encoding="utf-8")
    for script in (FORTRAN / "gocean").glob("psyclone_*.py"):
        shutil.copy(script, scratch)
    return replace(
        gocean(points),
        algorithm=scratch / "step.x90",
        kernels=path / OF_NEMOLITE2D,
        program=HERE / "bench.f90",
        cases=(Case("NEMOLite2D", "invoke_0", (8 * (8 + 11 + 10) + 4) * points * points),),
        before=(*[HERE / f"{one}.f90" for one in ("dl_timer", "model_mod")], path / CONSTANTS, BAY),
    )


# ---------------------------------------------------------------------------- building


def measure(api: Api, scratch: Path, rounds: int, sizes: list[int]) -> None:
    """Build and run the programs of `api` and print what they took."""
    variants = [one for one in api.variants if one.threads == 1 or not sizes]
    in_parallel(lambda variant: generate(api, variant, folder_of(variant, scratch)), variants)
    programs = build_all(api, scratch, FLAGS, variants)
    timings = run_all(programs, api.arguments, rounds)
    if sizes:
        grown = {1: timings}
        for times in sizes:
            grown[times] = run_all(programs, larger(api.arguments, times), rounds, times=times)
        print("\n".join(growth(api, grown)), flush=True)
        return
    if api.library:
        print("\n".join(summary(api, timings)), flush=True)
        return
    if shutil.which("valgrind") and os.uname().machine == "x86_64":
        count_all(api, scratch, timings)
    for threads in sorted({variant.threads for variant in timings}):
        chosen = {item: timing for item, timing in timings.items() if item.threads == threads}
        print("\n".join(table(api, threads, chosen)), flush=True)


def measure_ranks(api: Api, scratch: Path, rounds: int, numbers: list[int]) -> None:
    """Build the programs of `api` for many ranks and print what they took on each number."""
    variants = [one for one in api.variants if one.threads == 1 and one.by_hand is None]
    in_parallel(lambda one: generate(api, one, folder_of(one, scratch), "-dm"), variants)
    programs = build_all(api, scratch, FLAGS, variants, "mpi")
    for ranks in numbers:
        timings = run_all(programs, api.arguments, rounds, ranks)
        print("\n".join(table(api, 1, timings, ranks)), flush=True)


def run_all(
    programs: Mapping[Variant, Path],
    arguments: tuple[str, ...],
    rounds: int,
    ranks: int = 0,
    times: int = 1,
) -> dict[Variant, Timing]:
    """Run all programs in turn, so many rounds; stop if they compute different things.

    With ranks they are started by MPI, and their clock counts. `arguments` ask for so many `times`
    the work.
    """
    timings = {variant: Timing() for variant in programs}
    for _ in range(rounds):
        for variant, program in programs.items():
            said = run(program, arguments, variant.threads, ranks)
            note(timings[variant], said, by_clock=variant.threads > 1 or ranks > 0)
    check_values(timings, times)
    return timings


def larger(arguments: tuple[str, ...], times: int) -> tuple[str, ...]:
    """Return the arguments for so many times the work, in whole tiles."""
    size = round(int(arguments[0]) * times**0.5 / ROWS_OF_TILES) * ROWS_OF_TILES
    return (str(size), *arguments[1:])


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return what `work` makes of the items, several at a time."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(work, items))


def folder_of(variant: Variant, scratch: Path) -> Path:
    """Return the folder of a variant, which is made if it is not there."""
    folder = scratch / re.sub(r"\W+", "_", variant.name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def generate(api: Api, variant: Variant, folder: Path, memory: str = "-nodm") -> None:
    """Write the layer and the algorithm of one variant to `folder`; `memory` is an option."""
    if variant.by_hand:
        return
    words = ["-api", api.name, memory, "-d", str(api.kernels), str(api.algorithm)]
    words += ["-oalg", str(folder / "algorithm.f90"), "-opsy", str(folder / "psy.f90")]
    words += ["-okern", str(folder)]
    words += ["--apply", variant.steps] if variant.steps else []
    words += ["--config-opts", variant.options] if variant.options else []
    words += ["--target", variant.target] if variant.target else []
    words += [word for path in api.before for word in ("-d", str(path.parent))]
    words += ["-s", str(api.algorithm.parent / variant.script)] if variant.script else []
    tool = [sys.executable, "-m", "psyclone_storage"] if variant.ours else ["psyclone"]
    call([*tool, *words], folder)


def build_all(
    api: Api,
    scratch: Path,
    flags: tuple[str, ...],
    variants: Iterable[Variant],
    messages: str = "serial",
) -> dict[Variant, Path]:
    """Compile the infrastructure and programs, and return these; messages are `serial` or `mpi`."""
    name = re.sub(r"\W+", "_", " ".join((messages, *flags)))
    command = "mpif90" if messages == "mpi" or api.library else "gfortran"
    folder_of_library = scratch / f"library{name}"
    if api.library:
        modules, linked = api.library(flags, folder_of_library)
    else:
        modules, linked = own_library(api, flags, folder_of_library, command, messages)

    def build(variant: Variant) -> tuple[Variant, Path]:
        folder = folder_of(variant, scratch)
        program = folder / f"program{name}"
        generated = [folder / "psy.f90", folder / "algorithm.f90"]
        if variant.by_hand:
            generated = [api.algorithm.parent / variant.by_hand]
        kernels = [*sorted(api.kernels.glob("*.f90")), *sorted(folder.glob("*_mod.f90"))]
        around = [FORTRAN / "timing_mod.f90", *api.around]
        sources = [*around, *api.before, *kernels, *generated, api.program]
        call([command, *flags, *modules, *map(str, sources), *linked, "-o", str(program)], folder)
        return variant, program

    return dict(in_parallel(build, variants))


def own_library(
    api: Api, flags: Flags, folder: Path, command: str, messages: str
) -> tuple[list[str], list[str]]:
    """Compile the infrastructure of this project; return options, and what is linked."""
    name = f"{api.name}_infrastructure"
    words = ["make", "--quiet", f"-j{os.cpu_count()}", "-C", str(EXTERNAL / name), f"FC={command}"]
    words += [f"MESSAGES={messages}", f"FFLAGS={' '.join(flags)}", f"BUILD={folder}"]
    call(words, ROOT)
    return [f"-I{folder}"], [str(folder / f"lib{name}.a")]


def call(words: list[str], folder: Path, threads: int = 1) -> str:
    """Run a command on so many threads and return what it prints; stop if it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


# ---------------------------------------------------------------------------- running


def run(program: Path, arguments: tuple[str, ...], threads: int, ranks: int = 0) -> str:
    """Run a program on so many threads, or ranks, and return what it prints."""
    # Open MPI does not let root run anything unless told twice.
    words = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun"]
    words += ["--oversubscribe", "-n", str(ranks)]
    return call([*(words if ranks else []), str(program), *arguments], program.parent, threads)


def count_all(api: Api, scratch: Path, timings: Timings) -> None:
    """Count the instructions of all programs for one thread."""
    chosen = [variant for variant in timings if variant.threads == 1]
    programs = build_all(api, scratch, COUNTED_FLAGS, chosen)
    pairs = [(variant, case) for variant in chosen for case in api.cases]

    def counted(pair: tuple[Variant, Case]) -> float:
        variant, case = pair
        return count(programs[variant], api.small, case.routine) / api.points

    for (variant, case), number in zip(pairs, in_parallel(counted, pairs), strict=True):
        timings[variant].instructions[case.name] = number


def count(program: Path, arguments: tuple[str, ...], routine: str) -> int:
    """Return how many instructions one call of a routine executes on one thread."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    words = [*tool, f"--toggle-collect=*_MOD_{routine}", str(program), *arguments]
    found = re.search(r"Collected : (\d+)", call(words, program.parent))
    assert found is not None, "valgrind says how many instructions it has collected"
    return int(found[1])


def note(timing: Timing, output: str, by_clock: bool) -> None:
    """Keep what a run took in each case, by the clock or of the processor; of the slowest rank."""
    taken: dict[str, float] = {}
    for name, *numbers in re.findall(r"^(.+):\s*(\S+)\s+(\S+)\s+(\S+)$", output, re.MULTILINE):
        clock, processor, value = map(float, numbers)
        taken[name] = max(taken.get(name, 0.0), clock if by_clock else processor)
        timing.value[name] = value
    for name, milliseconds in taken.items():
        timing.milliseconds.setdefault(name, []).append(milliseconds)


def check_values(timings: Timings, times: int = 1) -> None:
    """Stop if two variants have computed different things.

    With so many `times` the work a sum may be rounded so many times as often.
    """
    first, *others = timings.items()
    for variant, timing in others:
        for name, value in timing.value.items():
            expected = first[1].value[name]
            if abs(value - expected) > times * 10.0**-DIGITS * abs(expected):
                sys.exit(
                    f"'{variant.name}' finds {value} for {name}, '{first[0].name}' {expected}."
                )


# ---------------------------------------------------------------------------- printing


def table(api: Api, threads: int, timings: Timings, ranks: int = 0) -> Iterator[str]:
    """Yield the lines of a table: a row for each case and variant."""
    work = f"ranks: {ranks}" if ranks else f"threads: {threads}"
    yield f"\n{api.name}, {' x '.join(api.arguments[:-1])}, {work}\n"
    yield "| case | code | ms | spread | instructions | of triad | speed |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for case in api.cases:
        yield from rows(case, timings, max(1, ranks))


COLUMNS: Mapping[str, Callable[[Variant], object]] = {
    "default": lambda one: one.ours and not one.steps,
    "`auto`": lambda one: one.ours and one.steps == "auto",
    "best recipe": lambda one: one.ours and one.steps,
    "PSyclone's best": lambda one: one.is_peer,
    "hand-written": lambda one: one.by_hand,
}
"""The columns of the summary: the fastest of these variants."""


def summary(api: Api, timings: Timings) -> Iterator[str]:
    """Yield the lines of one table, with medians of the runs; share and spread are `auto`'s."""
    yield f"\n{api.name} with its own infrastructure, {' x '.join(api.arguments[:-1])}, ms\n"
    yield f"| case | threads | {' | '.join(COLUMNS)} | of triad | spread |"
    yield f"|---|--:|{'--:|' * len(COLUMNS)}--:|--:|"
    for case, threads in product(api.cases, sorted({one.threads for one in timings})):
        chosen = {item: one for item, one in timings.items() if item.threads == threads}
        words = []
        for fits in COLUMNS.values():
            found = [one.middle(case.name) for item, one in chosen.items() if fits(item)]
            words.append(f"{min(found):.3g}" if found else "")
        auto = next(one for item, one in chosen.items() if item.steps == "auto")
        words.append(f"{at_best(case, chosen) / auto.least(case.name):.0%}")
        words.append(f"{auto.spread(case.name):.0%}")
        yield f"| {case.name} | {threads} | {' | '.join(words)} |"


def growth(api: Api, grown: Mapping[int, Timings]) -> Iterator[str]:
    """Yield the lines of a table: what cases take with more and more work, relative to the work."""
    yield f"\n{api.name}, {' x '.join(api.arguments[:-1])} and more, threads: 1\n"
    titles = [f"{name}, {times} x" for name in ("ms / work", "of triad") for times in grown]
    yield f"| case | code | {' | '.join(titles)} |"
    yield f"|---|---|{'--:|' * len(titles)}"
    for case in api.cases:
        for variant in grown[1]:
            taken, shares = [], []
            for times, timings in grown.items():
                size = int(larger(api.arguments, times)[0]) if times > 1 else int(api.arguments[0])
                work = (size / int(api.arguments[0])) ** 2
                least = timings[variant].least(case.name)
                taken.append(f"{least / work:.3g}")
                shares.append(f"{work * at_best(case, timings) / least:.0%}")
            yield f"| {case.name} | {variant.name} | {' | '.join(taken + shares)} |"


def at_best(case: Case, timings: Timings) -> float:
    """Return the milliseconds for what a case has to move at least, at the speed of the triad."""
    triad = f"triad of {case.name}"
    return min(
        timing.least(triad) * case.bytes_moved / timing.value[triad] for timing in timings.values()
    )


def rows(case: Case, timings: Timings, ranks: int) -> Iterator[str]:
    """Yield the rows of one case, whose work is shared by so many ranks."""
    limit = at_best(case, timings) / ranks
    peer = min(timing.least(case.name) for item, timing in timings.items() if item.is_peer)
    for variant, timing in timings.items():
        least = timing.least(case.name)
        counted = timing.instructions.get(case.name)
        words = (
            case.name,
            variant.name,
            f"{least:.3g}",
            f"{timing.spread(case.name):.0%}",
            "" if counted is None else f"{counted:.1f}",
            f"{limit / least:.0%}",
            f"{peer / least:.2f}",
        )
        yield f"| {' | '.join(words)} |"


if __name__ == "__main__":
    main()
