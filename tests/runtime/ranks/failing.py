"""A program in which one rank, or all, fails before a collective call."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import TracebackType

from psyclone_storage.base import uncaught
from psyclone_storage.gocean import (
    GO_CT,
    GO_I_SCALAR,
    GO_INTERNAL_PTS,
    GO_LAYERS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_WRITE,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid

if "own MPI" in sys.argv:
    from mpi4py import MPI  # noqa: F401  (imported before a grid is made)


def previous_hook(
    _kind: type[BaseException], error: BaseException, _trace: TracebackType | None
) -> None:
    sys.stderr.write(f"previous hook: {error}\n")
    if "broken hook" in sys.argv:
        raise RuntimeError("broken")


class NoStream:
    """A stream that cannot be flushed, as programs replace `sys.stdout`."""

    def write(self, text: str) -> None:
        """Write to the stream of the process."""
        os.write(1, text.encode())


if "no stream" in sys.argv:
    sys.stdout = NoStream()  # type: ignore[assignment]
if "all" in sys.argv:
    uncaught.HEAD_START = 30.0  # however busy the machine is
if {"hooked", "broken hook"} & set(sys.argv):
    sys.excepthook = previous_hook


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def copy(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def wrong(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[1, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def undefined(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = missing  # noqa: F821


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def outside(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_LAYERS],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    new[0, 0] = old[0, 0, n]


grid = Grid((16, 16))
old, new = Field(grid, values=1.0), Field(grid)


def fail() -> None:
    raise ValueError("deliberate")


def in_thread() -> None:
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


def in_child() -> None:
    if not (child := os.fork()):
        sys.excepthook(ValueError, ValueError("of a child"), None)
        os._exit(0)
    os.waitpid(child, 0)


def exit_of_thread() -> None:
    thread = threading.Thread(target=sys.exit, args=(1,))
    thread.start()
    thread.join()


WAYS: dict[str, Callable[[], object]] = {
    "before a collective call": fail,
    "in an invoke": lambda: invoke(copy(new, 1.0)),
    "index": lambda: invoke(outside(new, Field(grid, layers=3), 10**9)),
    "compile error": lambda: invoke(wrong(new, old)),
    "error of a kernel": lambda: invoke(undefined(new)),
    "in a thread": in_thread,
    "interrupt": lambda: signal.raise_signal(signal.SIGINT),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "in a child": in_child,
    "exit of a thread": exit_of_thread,
}
way, rank = sys.argv[1:3]
if rank == "all" or grid.ranks.rank == int(rank):
    WAYS[way]()
sys.stdout.write(f"the greatest is {old.max()}\n")
