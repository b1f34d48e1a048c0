"""Cost of halo exchanges: in Fortran next to MPI_Sendrecv, in Python next to mpi4py by hand.

    python benchmarks/exchange.py                  both tables
    python benchmarks/exchange.py --only python    invokes in Python alone

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

The second table is for invokes in Python (`exchange/in_python.py`) on 1, 2 and 4 ranks, in CPU
microseconds. `invoke` has three kernels with one exchange before each, `loops` is the invoke
without exchanges, `messages` are the bare messages alone, and `by hand` is the same model with
mpi4py. `each` is what an exchange costs beyond loops and messages; the goal is 3 us, or ten times
`np.empty(8)`. Messages alone find their data and code in caches. `placed` is `each` beyond the
messages of the model by hand, which is its time less that of its loops. `own` is the invoke with
MPI calls that do nothing: without waits, which spin if there are fewer cores than ranks. `apart`
and `joint` are three exchanges before the first of three kernels, without and with JOINT_EXCHANGES.

The third table is for target CUDA and an emulated device, with one rank. `closed` is an exchange
that moves nothing, `periodic` one with a kernel that copies the halo, and `kernel` a third of the
invoke without exchanges, which is mostly the time to record the work of a kernel.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "benchmarks" / "exchange"
FLAGS = "-O2"
GOAL = 1.3
EXCHANGES = 3
SIZES = ("16", "256")


def main() -> None:
    """Print both tables, or the requested one."""
    parser = argparse.ArgumentParser(description="Time halo exchanges.")
    parser.add_argument("--only", choices=("fortran", "python"))
    wanted = parser.parse_args().only
    if wanted != "python":
        in_fortran()
    if wanted != "fortran":
        in_python()
        on_device()


def in_python() -> None:
    """Run the models in Python, and print their times and ratios."""
    if not shutil.which("mpirun"):
        print("not measured: mpirun not installed")
        return
    print(
        "Python, CPU us ranks points  invoke   loops messages   each placed    own by hand"
        "  ratio   apart   joint  ratio"
    )
    for ranks in ("1", "2", "4"):
        for line in launched(ranks, sys.executable, str(SOURCES / "in_python.py"), *SIZES):
            points, found = values_of(line)
            invoke, hand, apart = found["apart"], found["by-hand"], found["group"]
            sent = found["messages"] if ranks != "1" else 0.0
            each = (invoke - found["loops"] - sent) / EXCHANGES
            placed = (invoke - found["loops"] - hand + found["hand-loops"]) / EXCHANGES
            own = (found["silent"] - found["loops"]) / EXCHANGES
            print(
                f"{'':14}{ranks:>6}{points:>7}{invoke:8.2f}{found['loops']:8.2f}{sent:9.2f}"
                f"{each:7.2f}{placed:7.2f}{own:7.2f}{hand:8.2f}{invoke / hand:7.2f}{apart:8.2f}"
                f"{found['joint']:8.2f}{found['joint'] / apart:7.2f}"
            )
        print(f"{'':14}np.empty(8) takes {found['np.empty']:.2f} us")


def on_device() -> None:
    """Run the invokes on an emulated device, and print the times of their exchanges."""
    print("Emulated device, CPU us  points  kernel  closed periodic")
    words = [sys.executable, str(SOURCES / "in_python.py"), "device", SIZES[0]]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        points, found = values_of(line)
        each = [(found[name] - found["loops"]) / EXCHANGES for name in ("closed", "periodic")]
        print(f"{'':24}{points:>7}{found['loops'] / EXCHANGES:8.2f}{each[0]:8.2f}{each[1]:9.2f}")
        print(f"{'':24}np.empty(8) takes {found['np.empty']:.2f} us")


def values_of(line: str) -> tuple[str, dict[str, float]]:
    """Return the number of points and the times of a line that `in_python.py` prints."""
    points, *pairs = line.split()
    return points, {name: float(one) for name, one in (pair.split("=") for pair in pairs)}


def in_fortran() -> None:
    """Build and run the programs in Fortran, and print their times and ratios."""
    lacking = [tool for tool in ("make", "mpif90", "mpirun") if not shutil.which(tool)]
    if lacking:
        print(f"not measured: {' and '.join(lacking)} not installed")
        return
    titles = f"{'ours':>8}{'bare':>8}{'ratio':>7}{'and copy':>10}{'ratio':>7}{'apart':>8}"
    print(f"{'2 ranks, microseconds':<32}{'bytes':>7}{titles}")
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("gocean", "lfric"):
            for line in launched("2", str(build(name, Path(scratch) / name))):
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


def launched(ranks: str, *words: str) -> list[str]:
    """Run a program on some ranks and return the lines that it prints."""
    # A machine may run everything as root, which Open MPI refuses unless told twice.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    mpirun = ["mpirun", "--oversubscribe", "-n", ranks, *words]
    environment = {**os.environ, **allowed, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(mpirun, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


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
