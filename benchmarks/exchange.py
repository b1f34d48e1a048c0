"""What a halo exchange costs beside a bare MPI_Sendrecv of the same bytes, in one run.

    python benchmarks/exchange.py

Both infrastructures in `external/` are built with MPI, and the programs in `exchange/` exchange
halos of depth 1 between two ranks. Each measurement times the bare exchange and ours in turn, many
times; the fastest of each counts, because nothing makes an exchange faster than it is.

* Rows of a GOcean grid and of LFRic cells lie together in memory, and so do the bytes of the bare
  exchange. Columns of a GOcean grid do not; they are compared with MPI_Sendrecv of a vector type
  with the same stride.
* Three GOcean fields together have no goal: in the memory of one machine a message costs less
  than the copy that makes one of three. The bare exchange has as many bytes as all three.

The exit status is 0 whatever the times are: they depend on the machine.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "benchmarks" / "exchange"
FLAGS = "-O2"
GOAL = 1.3
WITHOUT_GOAL = "together"


def main() -> None:
    """Build and run the programs, and print their times and ratios."""
    lacking = [tool for tool in ("make", "mpif90", "mpirun") if not shutil.which(tool)]
    if lacking:
        print(f"not measured: {' and '.join(lacking)} not installed")
        return
    print(f"{'exchange of depth 1, 2 ranks':<34}{'bytes':>8}{'ours':>13}{'bare':>13}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("gocean", "lfric"):
            for line in run(build(name, Path(scratch) / name)).splitlines():
                print(verdict(line))


def build(name: str, folder: Path) -> Path:
    """Compile the infrastructure and the program of an API in `folder`; return the program."""
    infrastructure = ROOT / "external" / f"{name}_infrastructure"
    library = folder / "library"
    folder.mkdir()
    words = ["MESSAGES=mpi", f"BUILD={library}", f"FFLAGS={FLAGS}"]
    subprocess.run(["make", "--silent", "-C", str(infrastructure), *words], check=True)
    sources = [SOURCES / "bare.f90", SOURCES / f"{name}.f90", *library.glob("*.a")]
    command = ["mpif90", FLAGS, f"-I{library}", f"-J{folder}", *map(str, sources)]
    subprocess.run([*command, "-o", str(folder / "program")], check=True)
    return folder / "program"


def run(program: Path) -> str:
    """Run a program on two ranks and return what it prints."""
    # A machine may run everything as root, which Open MPI refuses unless told twice.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    mpirun = ["mpirun", "--oversubscribe", "-n", "2", str(program)]
    environment = {**os.environ, **allowed}
    done = subprocess.run(mpirun, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def verdict(line: str) -> str:
    """Return a line of the table from one that a program has printed."""
    *words, size, bare, ours = line.split()
    name = " ".join(words)
    ratio = float(ours) / float(bare)
    judged = f"   goal {GOAL:g}: {'met' if ratio <= GOAL else 'MISSED'}"
    times = f"{float(ours):10.2f} us{float(bare):10.2f} us{ratio:8.2f}"
    return f"{name:<34}{size:>8}{times}{'' if WITHOUT_GOAL in words else judged}"


if __name__ == "__main__":
    main()
