"""Time Python invokes with exchanges and the same model written by hand with mpi4py.

    mpirun -n 2 python in_python.py 16 256
    python in_python.py device 16 256

Each rank has as many points along each side as the arguments say. The model smooths three fields
in turn, with one exchange before each loop. By hand, loops are the same C, called by `ctypes`, and
messages are persistent requests of MPI datatypes to the four neighbours, without packing. The first
rank prints one line for each size: CPU microseconds, the least of many rounds in which all variants
take turns; the slowest rank counts.

A rank that waits for a message spins, which costs CPU time if there are more ranks than cores. The
variant `silent` is the invoke with exchanges whose MPI calls do nothing: all that the package adds
to the messages, without any waiting.

With `device`, invokes of target CUDA run on an emulated device, with one rank. Nothing is moved
between closed boundaries; between periodic ones, a kernel copies the halo. An emulated device needs
tens of microseconds to record the work of any kernel.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from mpi4py import MPI

from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_NE,
    GO_READ,
    GO_STENCIL,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
)
from psyclone_storage.runtime.compiling import load_library
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.runtime.ranks import Requests, checked_ranks
from psyclone_storage.storage import use_device

EXCHANGES, ROUNDS, CALLS = 3, 40, 10
SMOOTH = """
void smooth(const double *restrict old, double *restrict new, long columns, long rows, long row)
{
    for (long j = 1; j <= rows; ++j)
        for (long i = 1; i <= columns; ++i) {
            const long at = j * row + i;
            new[at] = 0.25 * (old[at - 1] + old[at + 1] + old[at - row] + old[at + row]);
        }
}
"""


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("010,101,010")]):
    """Average the neighbours."""
    new[0, 0] = 0.25 * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1])


def loops(a: Field, b: Field, c: Field) -> None:
    """Smooth without exchanges."""
    invoke(smooth(b, a), smooth(c, b), smooth(a, c), name="loops")


def apart(a: Field, b: Field, c: Field) -> None:
    """Smooth with one exchange before each loop."""
    invoke(smooth(b, a), smooth(c, b), smooth(a, c), name="apart")


def do_nothing(_: Requests) -> None:
    """Start or finish no message."""


Variants = dict[str, tuple[Callable[[], Any], str, bool]]
"""Calls by name, each with its settings and whether it is distributed."""

NO_MPI: dict[str, Any] = {"start": do_nothing, "finish": do_nothing}


def group(f: list[Field]) -> None:
    """Smooth three fields, whose exchanges precede the first loop."""
    invoke(smooth(f[3], f[0]), smooth(f[4], f[1]), smooth(f[5], f[2]), name="group")


def joint(f: list[Field]) -> None:
    """Do the same with joint exchanges."""
    invoke(smooth(f[3], f[0]), smooth(f[4], f[1]), smooth(f[5], f[2]), name="joint")


class ByHand:
    """The model as a user of mpi4py writes it."""

    def __init__(self, points: int, parts: tuple[int, int], fields: list[Any]) -> None:
        self.ranks = MPI.COMM_WORLD.Create_cart(parts[::-1], periods=(False, False))
        self.points, self.row = points, points + 2
        self.arrays = [np.zeros((points + 2, points + 2)) for _ in fields]
        for array, values in zip(self.arrays, fields, strict=True):
            array[1:-1, 1:-1] = values.T
        self.requests = [self.prepared(array) for array in self.arrays]
        self.places = [array.ctypes.data for array in self.arrays]
        self.function = load_library(SMOOTH).smooth
        self.function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_long,) * 3)

    def prepared(self, array: Any) -> list[Any]:
        """Return the messages of one array."""
        made, full, last = [], list(array.shape), self.points
        for axis in (0, 1):
            below, above = self.ranks.Shift(axis, 1)
            for rank, sent, received in ((below, 1, 0), (above, last, last + 1)):
                for init, at in ((self.ranks.Recv_init, received), (self.ranks.Send_init, sent)):
                    start, extent = [1, 1], [last, last]
                    start[axis], extent[axis] = at, 1
                    strip = MPI.DOUBLE.Create_subarray(full, extent, start).Commit()
                    if rank != MPI.PROC_NULL:
                        made.append(init([array, 1, strip], rank))
        return made

    def exchange(self, at: int) -> None:
        """Exchange the halo of one array."""
        MPI.Prequest.Startall(self.requests[at])
        MPI.Prequest.Waitall(self.requests[at])

    def messages(self) -> None:
        """Exchange the halos of three arrays."""
        for at in range(EXCHANGES):
            self.exchange(at)

    def step(self, exchanges: bool = True) -> None:
        """Smooth three arrays in turn."""
        for old, new in ((0, 1), (1, 2), (2, 0)):
            if exchanges:
                self.exchange(old)
            places = self.places[old], self.places[new]
            self.function(*places, self.points, self.points, self.row)


def measured(points: int) -> dict[str, float]:
    """Return the least CPU time of each variant in microseconds."""
    ranks = checked_ranks(MPI.COMM_WORLD)
    parts = {1: (1, 1), 2: (1, 2), 4: (2, 2)}[ranks.size]
    grid = Grid((points * parts[0], points * parts[1]), boundaries="open", parts=parts, ranks=ranks)
    random = np.random.default_rng(1)
    values = [random.random(grid.points) for _ in range(6)]
    fields = [Field(grid, values=one) for one in values]
    hand = ByHand(points, parts, [one.values for one in fields])
    variants: Variants = {
        "loops": (lambda: loops(*fields[:3]), "", False),
        "apart": (lambda: apart(*fields[:3]), "", True),
        "silent": (lambda: apart(*fields[:3]), "", True),
        "by hand": (hand.step, "", True),
        "hand loops": (lambda: hand.step(False), "", True),
        "messages": (hand.messages, "", True),
        "group": (lambda: group(fields), "", True),
        "joint": (lambda: joint(fields), "JOINT_EXCHANGES=true", True),
        "np.empty": (lambda: np.empty(8), "", True),
    }
    apart(*fields[:3])
    check(ranks, fields, hand)
    least = timed(variants, "c", ranks.wait_for_all)
    return {name: ranks.greatest(one) for name, one in least.items()}


def timed(variants: Variants, target: str, wait: Callable[[], Any]) -> dict[str, float]:
    """Return the least CPU time of each variant in microseconds; `wait` precedes each one."""
    least = dict.fromkeys(variants, np.inf)
    for _ in range(ROUNDS):
        for name, (call, options, distributed) in variants.items():
            configure(distributed=distributed, target=target, config_opts=options)
            call()
            wait()
            with patch.multiple(Requests, **NO_MPI) if name == "silent" else nullcontext():
                begin = time.thread_time()
                for _ in range(CALLS):
                    call()
                least[name] = min(least[name], (time.thread_time() - begin) / CALLS * 1e6)
    return least


def on_device(points: int) -> dict[str, float]:
    """Return the least CPU times on an emulated device, in microseconds."""
    use_device("emulated")
    found: dict[str, float] = {}
    for name in ("closed", "periodic"):
        grid = Grid((points, points), periodic=(name == "periodic",) * 2, device="gpu")
        fields = [Field(grid, values=np.full((points, points), one)) for one in (1.0, 2.0, 3.0)]
        variants: Variants = {
            "loops": (partial(loops, *fields), "", False),
            name: (partial(apart, *fields), "", True),
            "np.empty": (lambda: np.empty(8), "", True),
        }
        found |= timed(variants, "cuda", fields[0].storage.synchronize)
    return found


def check(ranks: Any, fields: list[Field], hand: ByHand) -> None:
    """Stop unless both programs compute the same."""
    hand.step()
    pairs = zip(fields, hand.arrays, strict=False)
    equal = all(np.array_equal(one.values, array[1:-1, 1:-1].T) for one, array in pairs)
    if ranks.least(int(equal)) == 0:
        sys.exit("The programs compute different values.")


def main() -> None:
    """Print the times of each size."""
    device = sys.argv[1] == "device"
    for points in map(int, sys.argv[1 + device :]):
        found = on_device(points) if device else measured(points)
        if MPI.COMM_WORLD.rank == 0:
            print(points, *(f"{name.replace(' ', '-')}={one:.3f}" for name, one in found.items()))


if __name__ == "__main__":
    main()
