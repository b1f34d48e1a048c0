"""Builds the Fortran programs of the run tests and runs them on any number of ranks.

Owns the command lines and the reading of what the programs write as lines; `answers.py` reads what
those of LFRic write otherwise. It knows nothing of what the answers should be.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fortran import join
from libraries import archive_in
from psyclone_storage.cli.main import main
from runtime.objects import compile_once

HERE = Path(__file__).parent
SOURCES = HERE / "lfric"
FLAGS = ("-O0", "-fcheck=all", "-fopenmp", "-ffree-line-length-none", "-fno-pie", "-no-pie")
"""How all else is compiled. A program that can be at any address takes 6 % longer to compile."""
FAST = "-O2"
"""How the part is compiled that makes fields and looks at all answers: most of a run is there."""
SUPPORT = (
    "mutation_mod.f90",
    "at_once_mod.f90",
    "stages_mod.f90",
    "world_mod.f90",
    "away_mod.f90",
    "misleading_mod.f90",
)
SECONDS_FOR_A_COMMAND = 300
OBJECTS = "FOLDER_OF_TEST_OBJECTS"
"""The variable that names the folder where all that is compiled in a test run is kept."""

Answers = Mapping[tuple[str, str], str]
"""The value of every (field, point), as GOcean's programs have written it."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to generate the PSy layers, and to run them.

    Attributes:
        name: the word that tells the program which dofs the layers keep valid.
        options: the command line options that ask for it.
        threads: the number of OpenMP threads of each rank.
    """

    name: str
    options: tuple[str, ...]
    threads: int = 1


SERIAL = Mode("serial", ("-nodm",))
OWNED = Mode("owned", ("-dm", "--config-opts", "COMPUTE_ANNEXED_DOFS=false"))
ANNEXED = Mode("annexed", ("-dm", "--config-opts", "COMPUTE_ANNEXED_DOFS=true"))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What halo exchanges cost one rank."""

    exchanges: int
    messages: int
    size: int


@dataclass(frozen=True, slots=True)
class Run:
    """What a program has written.

    Attributes:
        answers: the lines of the files of answers, by rank.
        statistics: what each rank says of its exchanges, by rank.
        values: the values of fields, by rank, where a program does not write them as lines.
    """

    answers: tuple[tuple[str, ...], ...]
    statistics: tuple[Statistics, ...]
    values: tuple[bytes, ...] = ()


def build_support(library: Path, folder: Path) -> Path:
    """Compile in `folder` what does not depend on generated code and return the folder."""
    compile_sources([SOURCES / name for name in SUPPORT], folder, (library,), FAST)
    kernels = join(sorted(SOURCES.glob("kernels/*.f90")), folder / "joined_kernels")
    compile_sources([kernels], folder, (library,))
    return folder


def generate(mode: Mode, folder: Path, *, by_halves: bool = False) -> list[Path]:
    """Generate the PSy layers of all algorithms in `folder` and return their files.

    `by_halves`: half of them with `FILL_BEFORE_INCREMENT`, as `is_filled` says.
    """
    algorithms = sorted(SOURCES.glob("*.x90"))
    kernels = ("-d", str(SOURCES / "kernels"), "--output-dir", str(folder))
    if by_halves:
        generate_by_halves(mode, algorithms, kernels)
    else:
        assert main([*map(str, algorithms), *kernels, *mode.options]) == 0
    return sorted(folder.glob("*_psy.f90"))


def generate_by_halves(mode: Mode, algorithms: list[Path], words: tuple[str, ...]) -> None:
    """Generate the layers of algorithms, those that are not filled in a call of their own."""
    for filled in (True, False):
        some = [path for path in algorithms if is_filled(path, mode.name == ANNEXED.name) is filled]
        options = mode.options if filled else without_filling(mode.options)
        assert main([*map(str, some), *words, *options]) == 0


def is_filled(algorithm: Path, annexed: bool) -> bool:
    """Return whether dofs that may be new are filled in an algorithm before something is added.

    That changes no answer, but bounds of loops, and hides what is stale behind a 0. So all that is
    mutated is generated with it for half of the algorithms, and for the other half where annexed
    dofs are computed: each algorithm comes both ways.
    """
    return (zlib.crc32(algorithm.stem.encode()) % 2 == 1) is not annexed


def without_filling(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return options that ask for no filling besides."""
    at = options.index("--config-opts") + 1
    return (*options[:at], f"{options[at]} FILL_BEFORE_INCREMENT=false", *options[at + 1 :])


def build_program(
    library: Path,
    support: Path,
    folder: Path,
    *flags: str,
    suite: Path = SOURCES / "suite_mod.f90",
) -> Path:
    """Compile and link the generated layers and algorithms in `folder` and return the program.

    `suite` lists the algorithms. `flags` are those of the main program, such as
    `-ffpe-trap=invalid`, which hold for all of it.
    """
    layers = sorted(folder.glob("*_psy.f90"))
    algorithms = sorted(folder.glob("*_alg_mod.f90"))
    joined = [join(layers, folder / "joined_psy"), join(algorithms, folder / "joined_algorithms")]
    compile_sources([*joined, suite], folder, (library, support))
    compile_sources([SOURCES / "main.f90"], folder, (library, support), *flags)
    objects = sorted(str(path) for path in (*support.glob("*.o"), *folder.glob("*.o")))
    command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", "program"], folder)
    return folder / "program"


def compile_sources(
    sources: list[Path], folder: Path, modules: tuple[Path, ...], *flags: str
) -> None:
    """Compile `sources` in their order to objects and modules in `folder`."""
    kept = Path(os.environ[OBJECTS])
    for source in sources:
        words = ("mpif90", *FLAGS, *flags)
        compile_once(kept, words, source, (folder, *modules), command)


def run_program(program: Path, mode: Mode, ranks: int, folder: Path, *words: str) -> Run:
    """Run `program` in `folder`, which is made anew, on this many ranks."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mpirun = [
        "mpirun",
        "--oversubscribe",
        "--bind-to",
        "none",
        "-n",
        str(ranks),
        str(program),
        mode.name,
        *words,
    ]
    threads = ["env", f"OMP_NUM_THREADS={mode.threads}"]
    output = command([*threads, *mpirun], folder)
    files = [folder / f"answers.{rank}" for rank in range(ranks)]
    lines = tuple(tuple(path.read_text(encoding="utf-8").splitlines()) for path in files)
    found = re.findall(r"^statistics (\d+) (\d+) (\d+) (\d+)$", output, re.MULTILINE)
    numbers = sorted(tuple(map(int, match)) for match in found)
    assert [rank for rank, *_ in numbers] == list(range(ranks)), output
    values = [folder / f"values.{rank}" for rank in range(ranks)]
    written = tuple(path.read_bytes() for path in values if path.exists())
    assert len(written) in (0, ranks)
    return Run(lines, tuple(Statistics(*rest) for _, *rest in numbers), written)


def command(words: list[str], folder: Path) -> str:
    """Run a command in `folder` and return what it prints; a failure fails the test."""
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},  # a thread that waits takes no core
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_FOR_A_COMMAND,
    )
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def merge_answers(run: Run) -> Answers:
    """Return the answers of all ranks; every dof must have been written by exactly one rank."""
    merged: dict[tuple[str, str], str] = {}
    expected: dict[str, int] = {}
    for name, place, value in answer_lines(run):
        match place:
            case "dofs":
                assert expected.setdefault(name, int(value)) == int(value)
            case "scalar":
                assert merged.setdefault((name, place), value) == value, f"ranks differ: {name}"
            case _:
                assert (name, place) not in merged, f"two ranks own dof {place} of {name}"
                merged[name, place] = value
    counted = Counter(name for name, place in merged if place != "scalar")
    assert counted == expected, "some dofs are owned by no rank"
    return merged


def answer_lines(run: Run) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of all ranks, which have three words each."""
    for lines in run.answers:
        for line in lines:
            name, place, value = line.split()
            yield name, place, value
