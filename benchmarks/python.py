"""What programs in Python cost: an invoke beyond its loops, its first use, and the loops.

    python benchmarks/python.py                all of it
    python benchmarks/python.py --points 2048  a larger grid
    python benchmarks/python.py --before DIR   compare first uses with those of another checkout

Invokes of 5 and of 25 fields are called on a grid of 8 x 8 points, as a module that was compiled
ahead and where they stand; the bare call is that of the function in C with tables that are ready.
On a device that is emulated a bare call is a launch: the function is put into the queue of the
device, with what it uses, and is done later. What a launch takes beyond the function is the
emulation's own, its queues and its detector of races, which no GPU has. What an invoke takes beyond
its launches is coherence; once more with launches that do nothing, so that caches are its own.
First uses happen in processes of their own, with and without caches. Loops are those of
kernels that Numba compiles as well (`python_peers.py`), of two kernels on a large grid
(`python_loops.py`), and LFRic's matrix-vector product (`product.py`). Times
are CPU time of this thread, the least of several runs that take turns; first uses add that of the
compiler.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_NE,
    GO_R_SCALAR,
    GO_READ,
    GO_STENCIL,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.storage import use_device
from psyclone_storage.storage.core.native import COMPILED
from psyclone_storage.storage.core.spaces import device_space
from psyclone_storage.storage.memory.fp_errors import NativeCall
from psyclone_storage.storage.memory.registry import memory_of

GOALS = {"5 fields": 5.0, "25 fields and 13 kernels": 40.0}
FIRST = """
import resource, sys
import numpy
def used():
    found = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in found)
begin = used()
import psyclone_storage.gocean, psyclone_storage.runtime.gocean
imported = used()
sys.path.insert(0, {folder!r})
import python as benchmark
fields = benchmark.made_fields(8)
start = used()
benchmark.flow(*fields)
print(imported - begin, used() - start)
"""
PROCESSES = 8
"""How often each first use is measured; checkouts take turns."""
CALLS, ROUNDS = 500, 60


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def continuity(  # noqa: PLR0913, PLR0917 - what it computes with
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT],
    u: field[GO_READ, GO_CT, GO_STENCIL("000,110,000")],
    v: field[GO_READ, GO_CT, GO_STENCIL("000,010,010")],
    depth: field[GO_READ, GO_CT],
    step: scalar[GO_READ, GO_R_SCALAR],
):
    """Change a height by what flows in and out."""
    new[0, 0] = old[0, 0] - step * depth[0, 0] * (u[0, 0] - u[-1, 0] + v[0, 0] - v[0, -1])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def move(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    """Copy a value."""
    new[0, 0] = old[0, 0]


def made_fields(points: int, count: int = 5, device: str | None = None) -> list[Field]:
    """Return some fields, with values."""
    random = np.random.default_rng(1)
    grid = Grid((points, points), boundaries="open", device=device)
    return [Field(grid, values=random.random((points, points))) for _ in range(count)]


def flow(new: Field, old: Field, u: Field, v: Field, depth: Field) -> None:
    """Do the invoke."""
    step = 0.1
    invoke(continuity(new, old, u, v, depth, step), name="flow")


def moves(f: list[Field]) -> None:
    """Do an invoke of 13 kernels and 25 fields."""
    invoke(
        move(f[0], f[1]), move(f[2], f[3]), move(f[4], f[5]), move(f[6], f[7]), move(f[8], f[9]),
        move(f[10], f[11]), move(f[12], f[13]), move(f[14], f[15]), move(f[16], f[17]),
        move(f[18], f[19]), move(f[20], f[21]), move(f[22], f[23]), move(f[24], f[23]),
        name="moves",
    )  # fmt: skip


def costs() -> None:
    """Print what an invoke costs beyond its bare call."""
    configure(distributed=False)
    few, many = made_fields(8), made_fields(8, 25)
    use_device("emulated")
    cost_of("5 fields", "FLOW", (*few, 0.1), lambda: flow(*few))
    cost_of("25 fields and 13 kernels", "MOVES", tuple(many), lambda: moves(many))
    configure(distributed=False, target="cuda")
    few, many = made_fields(8, 5, "gpu"), made_fields(8, 25, "gpu")
    cost_of("5 fields", "FLOW", (*few, 0.1), lambda: flow(*few), on_device=True)
    cost_of("25 fields and 13 kernels", "MOVES", tuple(many), lambda: moves(many), on_device=True)
    configure()


def cost_of(
    what: str,
    name: str,
    passed: tuple[Any, ...],
    where_it_stands: Any,
    *,
    on_device: bool = False,
) -> None:
    """Print what one invoke costs beyond its bare calls."""
    from psyclone_storage.embedded.invoke import PROGRAM  # noqa: PLC0415

    where_it_stands()
    where_it_stands()  # with data that are there
    ahead = list(PROGRAM.session.compiled.values())[-1].routine
    known = next(iter(ahead.__globals__[f"_INVOKE_{name}"]._known.values()))  # noqa: SLF001
    (run,) = known.free
    numbers = [one for one in passed if isinstance(one, float)]
    memory = memory_of(device_space())

    def functions() -> None:
        for function in known.functions:
            function(*run.tables, *numbers)

    def launches() -> None:
        for one in run._launches:  # noqa: SLF001
            memory.start(NativeCall(one.function, *run.tables, *numbers), one.uses)

    bare = launches if on_device else functions
    ways = {"compiled ahead": lambda: ahead(*passed), "where it stands": where_it_stands}
    found = least_in_turn({"functions": functions, "bare": bare, **ways}, CALLS // len(passed))
    place = ", on an emulated device" if on_device else ""
    print(
        f"an invoke of {what}{place}, in us ({'compiled core' if COMPILED else 'core in Python'})"
    )
    print(f"  {'functions':18}{found['functions']:8.2f}")
    if on_device:
        print(f"  {'emulation':18}{found['bare'] - found['functions']:8.2f} more, for launches")
    asked = GOALS[what] * (1 if COMPILED else 4) * (2 if on_device else 1)
    for way in ways:
        print(f"  {way:18}{found[way] - found['bare']:8.2f} more, asked {asked:g}")
    if on_device:
        with patch.object(type(memory), "start", lambda *_: None):
            found = least_in_turn(ways, CALLS)
        for way in ways:
            print(f"  {way:18}{found[way]:8.2f} where launches do nothing")


def least_in_turn(calls: Mapping[str, Callable[[], object]], number: int) -> dict[str, float]:
    """Return the least CPU time of each call, in microseconds; they take turns, so many each."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            took = timeit.timeit(call, number=number, timer=time.thread_time)
            found[name] = min(found[name], took / number * 1e6)
    return found


def first_uses(checkouts: Mapping[str, Path]) -> None:
    """Print the CPU time of the import and of the first use of an invoke, without and with caches.

    The import is that after the import of NumPy. Checkouts take turns.
    """
    found: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(PROCESSES + 1):
            for name, checkout in checkouts.items():
                for state, folder in (("cold", f"{number}"), ("cached", "kept")):
                    imported, used = _first_use(checkout, Path(scratch, name), folder)
                    if number:  # the first process compiles modules and fills the caches
                        for what, took in (("import", imported), (f"{state} first use", used)):
                            found[what, name] = min(found.get((what, name), took), took)
    print("import, and first use in a process: CPU ms, with the C compiler")
    for what in ("import", "cold first use", "cached first use"):
        times = [found[what, name] * 1e3 for name in checkouts]
        ratio = f"   ratio {times[0] / times[-1]:.2f}" if len(times) > 1 else ""
        print(f"  {what:18}" + "".join(f"{took:8.1f}" for took in times) + ratio)


def _first_use(checkout: Path, scratch: Path, caches: str) -> tuple[float, float]:
    """Return the CPU seconds of the import and of the first use in a process."""
    folders = {
        "PYTHONPATH": str(checkout / "src"),
        "PYTHONPYCACHEPREFIX": str(scratch / "bytecode"),
        "PSYCLONE_STORAGE_LIBRARIES": str(scratch / caches / "so"),
        "PSYCLONE_STORAGE_CACHE": str(scratch / caches / "results"),
    }
    surroundings = {**os.environ, **folders}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    text = FIRST.format(folder=str(checkout / "benchmarks"))
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, env=surroundings
    )
    imported, used = map(float, done.stdout.split())
    return imported, used


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(description="Time invokes in Python.")
    parser.add_argument("--points", type=int, default=1024, help="points along each side")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="compare the first use")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # others share loops among threads, of which one is timed
    costs()
    before = {} if given.before is None else {"before": given.before.resolve()}
    first_uses({"now": Path(__file__).resolve().parents[1], **before})
    import product  # noqa: PLC0415 - first uses import what they need
    import python_loops  # noqa: PLC0415
    import python_peers  # noqa: PLC0415

    python_peers.compare(256, 32, 40)
    for points in (8, 64, 128, 256, 512):
        python_peers.compare_deferred(points, 40)
    for problem in python_loops.PROBLEMS:
        python_loops.compare(problem, given.points)
    for cells in (16, 32):
        product.compare(cells, 40)


if __name__ == "__main__":
    main()
