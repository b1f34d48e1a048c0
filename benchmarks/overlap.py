"""What exchanges that overlap with loops save: both shallow-water examples on two ranks.

    python benchmarks/overlap.py                       48 x 48 cells, 256 x 256 points
    python benchmarks/overlap.py --cells 192           a larger plane
    python benchmarks/overlap.py --delays 0 200 1000   microseconds that messages are under way

Each example is generated as it is, with the step `overlap`, and with `split-interior` before that;
Adjacent exchanges also share messages or start together (JOINT_EXCHANGES). A profiler times every
invoke; the sum over all invokes on the slower rank counts, the fastest of several runs in turn.

On one machine there is little to save. A message between two ranks is a copy that a rank has to
make itself, in MPI's calls: while it computes, nothing moves. What is saved is waiting for a rank
that is late. So ratios near 1 are what to expect without a delay, and more for `split-interior`,
whose loops are shorter. What a network would do is acted: `overlap/late_messages.c` lets a
receive be complete no earlier than some time after it was posted, and who waits sleeps. That is a
stand-in for time in which a message needs no processor, and no more. The exit status is 0 whatever
the times are.
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
from dataclasses import dataclass
from pathlib import Path

from psyclone_storage.cli.main import main as command

ROOT = Path(__file__).resolve().parents[1]
LATE = Path(__file__).resolve().parent / "overlap" / "late_messages.c"
FLAGS = ("-O3", "-march=native")
ROUNDS = 7
DELAYS = (0, 200, 1000)
LATE_MESSAGES = re.compile(r"^ *late messages: (\d+)$", re.MULTILINE)
ROW = re.compile(r"^ *\d+ +(\d+\.\d+) +\S+ +\S+ +\S+:\S+$", re.MULTILINE)
PLANNED = "as planned"


@dataclass(frozen=True)
class Example:
    """A program to time: its files, the statement that says how large it is, and what to apply.

    `drivers` are sources that are compiled as they are. The profile is printed before the line
    `end`, in the file `changed`, where the line `size` is replaced.
    """

    name: str
    folder: Path
    words: tuple[str, ...]
    algorithm: str
    drivers: tuple[str, ...]
    changed: str
    size: str
    end: str
    library: str
    variants: Mapping[str, tuple[str, ...]]


LFRIC = Example(
    "LFRic", ROOT / "examples" / "lfric" / "shallow_water", ("-api", "lfric"), "waves_alg_mod.x90",
    ("waves.f90",), "waves.f90", r"cells = \d+", r"call print_statistics\(\)",
    "lfric_infrastructure",
    {
        PLANNED: (),
        "joint": ("--config-opts", "JOINT_EXCHANGES=true"),
        "started together": ("--config-opts", "JOINT_EXCHANGES=overlapped"),
        "overlap": ("--apply", "overlap"),
        "overlap, joint": ("--apply", "overlap", "--config-opts", "JOINT_EXCHANGES=true"),
        "interiors": ("--apply", "split-interior; overlap"),
    },
)  # fmt: skip
GOCEAN = Example(
    "GOcean", ROOT / "examples" / "gocean" / "shallow_water", ("-api", "gocean"),
    "shallow_water.x90", (), "shallow_water.x90", r"points = \d+", r"call gocean_finalise\(\)",
    "gocean_infrastructure",
    {
        PLANNED: ("--apply", "inline-point-call"),
        "joint": ("--apply", "inline-point-call", "--config-opts", "JOINT_EXCHANGES=true"),
        "started together": (
            "--apply", "inline-point-call", "--config-opts", "JOINT_EXCHANGES=overlapped",
        ),
        "overlap": ("--apply", "inline-point-call; overlap"),
        "interiors": ("--apply", "inline-point-call; split-interior; overlap"),
    },
)  # fmt: skip


def main() -> None:
    """Build all variants, run them in turn and print their times and ratios."""
    parser = argparse.ArgumentParser(description="Time overlapped halo exchanges on two ranks.")
    parser.add_argument("--cells", type=int, default=48, help="cells along each side of the plane")
    parser.add_argument("--points", type=int, default=256, help="points along each side")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each variant")
    parser.add_argument(
        "--delays", type=int, nargs="+", default=DELAYS, help="of messages, in microseconds"
    )
    asked = parser.parse_args()
    lacking = [tool for tool in ("make", "mpif90", "mpicc", "mpirun") if not shutil.which(tool)]
    if lacking:
        print(f"not measured: {' and '.join(lacking)} not installed")
        return
    for example, size in ((LFRIC, asked.cells), (GOCEAN, asked.points)):
        with tempfile.TemporaryDirectory() as scratch:
            programs = build_all(example, Path(scratch), size)
            print(f"{example.name}: {size} x {size}, 2 ranks, {os.cpu_count()} cores")
            for delay in asked.delays:
                times: dict[str, list[float]] = {name: [] for name in programs}
                for _ in range(asked.rounds):
                    for name, program in programs.items():
                        times[name].append(run(program, delay))
                report(delay, times)


def report(delay: int, times: Mapping[str, list[float]]) -> None:
    """Print the times with one delay, beside those of the first variant."""
    print(f"messages {delay} microseconds under way" if delay else "messages as they are")
    base = min(times[PLANNED])
    for name, measured in times.items():
        least, most = min(measured), max(measured)
        print(f"  {name:<16}{least:9.4f} s (to {most:.4f} s)   ratio {least / base:5.3f}")


def build_all(example: Example, scratch: Path, size: int) -> dict[str, Path]:
    """Compile the libraries and every variant of an example; return the programs."""
    for name in ("profile", example.library):
        words = ["make", "--silent", "-C", str(ROOT / "external" / name), f"BUILD={scratch / name}"]
        subprocess.run([*words, "MESSAGES=mpi", "FC=mpif90", f"FFLAGS={FLAGS[0]}"], check=True)
    late = scratch / "late_messages.o"
    subprocess.run(["mpicc", "-O2", "-c", str(LATE), "-o", str(late)], check=True)
    text = (example.folder / example.changed).read_text(encoding="utf-8")
    source = timed(example, text, size)
    return {
        name: build(example, scratch, scratch / str(number), source, words)
        for number, (name, words) in enumerate(example.variants.items())
    }


def timed(example: Example, source: str, size: int) -> str:
    """Return the file of an example with another size, and with a profile at its end."""
    number = example.size.replace(r"\d+", str(size))
    source, sizes = re.subn(example.size, number, source, count=1)
    source, ends = re.subn(
        rf"(?m)^( *)({example.end})$", r"\1call profile_PSyDataShutdown()\n\1\2", source
    )
    use = "  use profile_psy_data_mod, only: profile_PSyDataShutdown\n\n  implicit none\n"
    if (sizes, ends) != (1, 1):
        sys.exit("The example has changed: there is no size or no end to be found.")
    return source.replace("\n  implicit none\n", f"\n{use}", 1)


def build(
    example: Example, scratch: Path, folder: Path, source: str, words: tuple[str, ...]
) -> Path:
    """Generate and compile one variant in `folder`."""
    folder.mkdir()
    kernels = example.folder / "kernels"
    for name in {example.algorithm, *example.drivers} - {example.changed}:
        shutil.copy(example.folder / name, folder)
    (folder / example.changed).write_text(source, encoding="utf-8")
    algorithm = [*example.words, str(folder / example.algorithm), "-d", str(kernels), "-dm"]
    options = ["--profile", "invokes", "--output-dir", str(folder), *words]
    if example is GOCEAN and "--config-opts" not in words:
        options += ["--config-opts", "SPLIT_EXCHANGES=true"]
    if command([*algorithm, *options]) != 0:
        sys.exit("The example could not be generated.")
    stem = example.algorithm.removesuffix(".x90")
    generated = [folder / f"{stem}_psy.f90", folder / f"{stem}.f90"]
    drivers = [folder / name for name in example.drivers]
    sources = [*sorted(kernels.glob("*.f90")), *generated, *drivers, scratch / "late_messages.o"]
    archives = [str(scratch / one / f"lib{one}.a") for one in ("profile", example.library)]
    modules = [f"-I{scratch / one}" for one in ("profile", example.library)]
    compiler = ["mpif90", *FLAGS, *modules, f"-J{folder}", *map(str, sources), *archives]
    subprocess.run([*compiler, "-o", str(folder / "program")], check=True)
    return folder / "program"


def run(program: Path, delay: int) -> float:
    """Return how many seconds all invokes took on the slower of two ranks."""
    # A machine may run everything as root, which Open MPI refuses unless told twice.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "--tag-output", "-n", "2", str(program)],
        cwd=program.parent,
        env={**os.environ, **allowed, "MESSAGE_DELAY": str(delay)},
        capture_output=True,
        text=True,
        check=True,
    )
    by_rank: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        tag, _, text = line.partition(">:")
        by_rank.setdefault(tag, []).append(text.rstrip())
    late = [int(number) for number in LATE_MESSAGES.findall(done.stdout.replace(">:", "\n"))]
    if delay and (len(late) != len(by_rank) or min(late) == 0):
        sys.exit(f"No messages of some rank were late: {late}")
    sums = [
        sum(float(seconds) for seconds in ROW.findall("\n".join(lines)))
        for lines in by_rank.values()
    ]
    return max(sums)


if __name__ == "__main__":
    main()
