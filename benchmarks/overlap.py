"""What exchanges that overlap with loops save: the LFRic shallow-water example on two ranks.

    python benchmarks/overlap.py              48 x 48 cells
    python benchmarks/overlap.py --cells 192  a larger plane

The example is generated three times: as it is, with the step `overlap`, and with `overlap` and
messages that several fields share (JOINT_EXCHANGES). A profiler times every invoke; the sum over
all invokes on the slower rank counts, the fastest of several runs in turn.

On one machine there is little to save. A message between two ranks is a copy that a rank has to
make itself, in MPI's calls: while it computes, nothing moves. What is saved is waiting for a rank
that is late. So ratios near 1 are what to expect here, and a ratio says nothing of a machine with
a network of its own. The exit status is 0 whatever the times are.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from psyclone_storage.cli.main import main as command

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "lfric" / "shallow_water"
LIBRARIES = ("profile", "lfric_infrastructure")
FLAGS = ("-O3", "-march=native")
VARIANTS = {
    "as planned": (),
    "overlap": ("--apply", "overlap"),
    "overlap, joint": ("--apply", "overlap", "--config-opts", "JOINT_EXCHANGES=true"),
}
ROUNDS = 7
ROW = re.compile(r"^ *\d+ +(\d+\.\d+) +\S+ +\S+ +\S+:\S+$", re.MULTILINE)


def main() -> None:
    """Build all variants, run them in turn and print their times and ratios."""
    parser = argparse.ArgumentParser(description="Time overlapped halo exchanges on two ranks.")
    parser.add_argument("--cells", type=int, default=48, help="cells along each side of the plane")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each variant")
    asked = parser.parse_args()
    lacking = [tool for tool in ("make", "mpif90", "mpirun") if not shutil.which(tool)]
    if lacking:
        print(f"not measured: {' and '.join(lacking)} not installed")
        return
    with tempfile.TemporaryDirectory() as scratch:
        programs = build_all(Path(scratch), asked.cells)
        times: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(asked.rounds):
            for name, program in programs.items():
                times[name].append(run(program))
    print(f"{asked.cells} x {asked.cells} cells, 2 ranks, {os.cpu_count()} cores")
    base = min(times["as planned"])
    for name, measured in times.items():
        least, most = min(measured), max(measured)
        print(f"{name:<16}{least:9.4f} s (to {most:.4f} s)   ratio {least / base:5.3f}")


def build_all(scratch: Path, cells: int) -> dict[str, Path]:
    """Compile the libraries and every variant of the example; return the programs."""
    for name in LIBRARIES:
        words = ["make", "--silent", "-C", str(ROOT / "external" / name), f"BUILD={scratch / name}"]
        subprocess.run([*words, "MESSAGES=mpi", "FC=mpif90", f"FFLAGS={FLAGS[0]}"], check=True)
    source = timed((EXAMPLE / "waves.f90").read_text(encoding="utf-8"), cells)
    return {
        name: build(scratch, scratch / str(number), source, words)
        for number, (name, words) in enumerate(VARIANTS.items())
    }


def timed(source: str, cells: int) -> str:
    """Return the example on a plane of another size, with a profile at its end."""
    source, sizes = re.subn(r"cells = \d+", f"cells = {cells}", source, count=1)
    source, ends = re.subn(
        r"(?m)^( *)(call print_statistics\(\))$", r"\1call profile_PSyDataShutdown()\n\1\2", source
    )
    use = "  use profile_psy_data_mod, only: profile_PSyDataShutdown\n\n  implicit none\n"
    if (sizes, ends) != (1, 1):
        sys.exit("The example has changed: there is no size or no end to be found.")
    return source.replace("\n  implicit none\n", f"\n{use}", 1)


def build(scratch: Path, folder: Path, source: str, words: tuple[str, ...]) -> Path:
    """Generate and compile one variant in `folder`."""
    folder.mkdir()
    (folder / "waves.f90").write_text(source, encoding="utf-8")
    algorithm = [str(EXAMPLE / "waves_alg_mod.x90"), "-d", str(EXAMPLE / "kernels"), "-dm"]
    if command([*algorithm, "--profile", "invokes", "--output-dir", str(folder), *words]) != 0:
        sys.exit("The example could not be generated.")
    generated = [folder / "waves_alg_mod_psy.f90", folder / "waves_alg_mod.f90"]
    sources = [*sorted((EXAMPLE / "kernels").glob("*.f90")), *generated, folder / "waves.f90"]
    archives = [str(scratch / name / f"lib{name}.a") for name in LIBRARIES]
    modules = [f"-I{scratch / name}" for name in LIBRARIES]
    compiler = ["mpif90", *FLAGS, *modules, f"-J{folder}", *map(str, sources), *archives]
    subprocess.run([*compiler, "-o", str(folder / "waves")], check=True)
    return folder / "waves"


def run(program: Path) -> float:
    """Return how many seconds all invokes took on the slower of two ranks."""
    # A machine may run everything as root, which Open MPI refuses unless told twice.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "--tag-output", "-n", "2", str(program)],
        cwd=program.parent,
        env={**os.environ, **allowed},
        capture_output=True,
        text=True,
        check=True,
    )
    by_rank: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        tag, _, text = line.partition(">:")
        by_rank.setdefault(tag, []).append(text.rstrip())
    sums = [
        sum(float(seconds) for seconds in ROW.findall("\n".join(lines)))
        for lines in by_rank.values()
    ]
    return max(sums)


if __name__ == "__main__":
    main()
