"""What a halo exchange costs beside a bare MPI_Sendrecv of the same bytes, in one run.

    python benchmarks/exchange.py

Both infrastructures in `external/` are built with MPI, and the programs in `exchange/` exchange
halos between two ranks: of one field, and of several together. Each measurement times ours and what
it is compared with in turn, many times; the fastest of each counts, because nothing makes an
exchange faster than it is.

* `bare` is MPI_Sendrecv from one buffer to another, which nobody writes or reads in between.
* `and copy` copies the same values from their places to the buffer before it, and from the other
  buffer to their places after it: what an exchange costs that packs and unpacks by itself. Where
  values lie together, as those of W3 or of rows do, no exchange needs to.
* `apart` are exchanges of the same fields one by one.

The goal is 1.3 times the bare message, or, for values that do not lie together, the one with
copies. The exit status is 0 whatever the times are: they depend on the machine. More than two ranks
are not measured, as they would wait for cores rather than for messages.
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


def main() -> None:
    """Build and run the programs, and print their times and ratios."""
    lacking = [tool for tool in ("make", "mpif90", "mpirun") if not shutil.which(tool)]
    if lacking:
        print(f"not measured: {' and '.join(lacking)} not installed")
        return
    titles = f"{'ours':>8}{'bare':>8}{'ratio':>7}{'and copy':>10}{'ratio':>7}{'apart':>8}"
    print(f"{'2 ranks, microseconds':<32}{'bytes':>7}{titles}")
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
    *words, size, ours, bare, copied, apart = line.split()
    name = " ".join(words)
    to_bare, to_copied = (float(ours) / float(peer) for peer in (bare, copied))
    peers = f"{float(bare):8.2f}{to_bare:7.2f}{float(copied):10.2f}{to_copied:7.2f}"
    others = f"{float(apart):8.2f}" if float(apart) else f"{'':8}"
    judged = "met" if to_bare <= GOAL else "met, with copies" if to_copied <= GOAL else "MISSED"
    return f"{name:<32}{size:>7}{float(ours):8.2f}{peers}{others}   {judged}"


if __name__ == "__main__":
    main()
