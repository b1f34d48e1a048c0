"""The ranks of a parallel program; the only module that imports mpi4py.

Other modules use `Ranks`: the rank of this process, the number of ranks, messages, and collective
operations. A program with a single process needs no MPI and uses `SingleRank`. `CheckedRanks`
compare their collective calls and report which rank waits for which.
"""

from __future__ import annotations

import atexit
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from psyclone_storage.base.results import QUEUES, complete_queues
from psyclone_storage.base.uncaught import (
    UserError,
    abort_on_uncaught,
    hide_package_frames,
    user_location,
)
from psyclone_storage.runtime.launchers import is_launched, missing_mpi, warn_of_single_rank
from psyclone_storage.runtime.native import address_of

Array = np.ndarray[Any, Any]
Box = tuple[slice, ...]
Message = tuple[int, Sequence[Array], Sequence[Box]]
"""The other rank, and arrays with the boxes to transfer in each, or one whole array."""
T = TypeVar("T")
Scalar = TypeVar("Scalar", bound=Any)


class PersistentExchange(Protocol):
    """Messages between fixed memory locations, prepared once and exchanged repeatedly."""

    def start(self) -> None:
        """Start all sends and receives."""

    def finish(self) -> None:
        """Wait until all messages have been sent and received."""


class Ranks(Protocol):
    """The processes of a parallel program; the first one has the rank 0."""

    @property
    def rank(self) -> int:
        """The rank of this process."""

    @property
    def size(self) -> int:
        """The number of processes."""

    def prepare(
        self,
        received: Sequence[Message],
        sent: Sequence[Message],
    ) -> PersistentExchange:
        """Return an exchange of messages between arrays that do not move in memory."""

    def gathered(self, value: T) -> list[T]:
        """Return on every rank the values of all ranks, in rank order."""

    def sent_to(self, root: int, value: T) -> list[T] | None:
        """Return the values of all ranks on rank `root`, None on the others."""

    def swapped(self, parts: Sequence[Array]) -> list[Array]:
        """Send a one-dimensional array to each rank; return the arrays received from them."""

    def total(self, value: Scalar) -> Scalar:
        """Return the sum of a number over all ranks, in its own type."""

    def least(self, value: Scalar) -> Scalar:
        """Return the minimum of a number over all ranks."""

    def greatest(self, value: Scalar) -> Scalar:
        """Return the maximum of a number over all ranks."""

    def agreed(self, count: int) -> int:
        """Return the minimum of a count over all ranks; report ranks that wait for long."""

    def wait_for_all(self) -> None:
        """Wait until every rank has called this method (barrier)."""


class _NoMessages:
    """The exchange of a single process, without messages."""

    def start(self) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""


class SingleRank:
    """The ranks of a program with a single process."""

    rank = 0
    size = 1

    def prepare(
        self,
        received: Sequence[Message],
        sent: Sequence[Message],
    ) -> PersistentExchange:
        """Return an exchange without messages.

        Raises:
            ValueError: there are messages, although there is no other rank.
        """
        if received or sent:
            raise ValueError("A rank that is alone has nobody to exchange messages with.")
        return _NoMessages()

    def gathered(self, value: T) -> list[T]:
        """Return a list of the value."""
        return [value]

    def sent_to(self, root: int, value: T) -> list[T] | None:
        """Return a list of the value."""
        return [value]

    def swapped(self, parts: Sequence[Array]) -> list[Array]:
        """Return the array that this rank sends to itself."""
        return list(parts)

    def total(self, value: Scalar) -> Scalar:
        """Return the number."""
        return value

    def least(self, value: Scalar) -> Scalar:
        """Return the number."""
        return value

    def greatest(self, value: Scalar) -> Scalar:
        """Return the number."""
        return value

    def agreed(self, count: int) -> int:
        """Return the count."""
        return count

    def wait_for_all(self) -> None:
        """Return immediately."""


class Requests:
    """Persistent MPI requests; `sent` contains the number of sent messages and their bytes."""

    def __init__(self, requests: list[Any], mpi: Any, sent: tuple[int, int]) -> None:
        self.sent = sent
        self._requests = requests
        self._mpi = mpi
        self._start_all, self._wait_for_all = mpi.Prequest.Startall, mpi.Request.Waitall
        self._active = False

    def is_finished(self) -> bool:
        """Return whether all messages have been sent and received."""
        return not self._active or bool(self._mpi.Request.Testall(self._requests))

    def start(self) -> None:
        """Start all requests, receives first; first finish requests left by an interrupt."""
        if QUEUES:
            complete_queues()
        if self._active:
            self.finish()
        self._active = True
        self._start_all(self._requests)

    def finish(self) -> None:
        """Wait for all started requests."""
        if self._active:
            self._wait_for_all(self._requests)
            self._active = False

    def __del__(self) -> None:
        """Free the requests, unless MPI is finalised."""
        if not self._mpi.Is_finalized():
            for request in self._requests:
                if request != self._mpi.REQUEST_NULL:
                    request.Free()


class MpiRanks:
    """The ranks of an mpi4py communicator.

    Messages use a duplicated communicator, so that they never match other messages.
    """

    def __init__(self, communicator: Any) -> None:
        """Use the ranks of `communicator`; collective over all of them.

        Raises:
            TypeError: it is not a valid intracommunicator of mpi4py.
        """
        from mpi4py import MPI  # noqa: PLC0415 - the deferral that the house allows
        from mpi4py.util import dtlib  # noqa: PLC0415

        if not _is_communicator(communicator, MPI):
            raise TypeError(f"MpiRanks takes an intracommunicator of mpi4py, not {communicator!r}.")
        complete_queues()
        self._mpi = MPI
        self._util = dtlib
        self._own = communicator.Dup()
        self.rank: int = self._own.Get_rank()
        self.size: int = self._own.Get_size()

    def prepare(
        self,
        received: Sequence[Message],
        sent: Sequence[Message],
    ) -> PersistentExchange:
        """Return an exchange by persistent requests, without packing."""
        return self.persistent_requests(received, sent)

    def persistent_requests(self, received: Sequence[Message], sent: Sequence[Message]) -> Requests:
        """Return persistent requests for messages."""
        requests = []
        for init, messages in ((self._own.Recv_init, received), (self._own.Send_init, sent)):
            for rank, arrays, boxes in messages:
                if not boxes:
                    requests.append(init(self._whole(*arrays), rank))
                    continue
                layout = self._layout(arrays, boxes)
                requests.append(init([self._mpi.BOTTOM, 1, layout], rank))
                layout.Free()  # requests keep a reference to it
        size = sum(_bytes_of(arrays, boxes) for _, arrays, boxes in sent)
        return Requests(requests, self._mpi, (len(sent), size))

    def gathered(self, value: T) -> list[T]:
        """Return on every rank the values of all ranks, in rank order."""
        complete_queues()
        found: list[T] = self._own.allgather(value)
        return found

    def sent_to(self, root: int, value: T) -> list[T] | None:
        """Return the values of all ranks on rank `root`, None on the others."""
        complete_queues()
        found: list[T] | None = self._own.gather(value, root)
        return found

    def swapped(self, parts: Sequence[Array]) -> list[Array]:
        """Send a one-dimensional array to each rank; return the arrays received from them."""
        complete_queues()
        found: list[Array] = self._own.alltoall(list(parts))
        return found

    def total(self, value: Scalar) -> Scalar:
        """Return the sum of a number over all ranks, computed by MPI in its type."""
        return self._reduced(value, self._mpi.SUM)

    def least(self, value: Scalar) -> Scalar:
        """Return the minimum of a number over all ranks."""
        return self._reduced(value, self._mpi.MIN)

    def greatest(self, value: Scalar) -> Scalar:
        """Return the maximum of a number over all ranks."""
        return self._reduced(value, self._mpi.MAX)

    def wait_for_all(self) -> None:
        """Wait until every rank has called this method (barrier)."""
        complete_queues()
        self._own.Barrier()

    def agreed(self, count: int) -> int:
        """Return the minimum of a count over all ranks; report ranks that wait for long."""
        own, found = np.array([count]), np.empty(1, int)
        request = self._own.Iallreduce(own, found, self._mpi.MIN)
        start = time.monotonic()
        patience = PATIENCE
        while not request.Test():
            waited = time.monotonic() - start
            time.sleep(0.0 if waited < _PAUSE else _PAUSE)
            if waited > patience:
                patience += PATIENCE
                sys.stderr.write(
                    f"Rank {self.rank} needs a value of a deferred invoke at {user_location()}, and"
                    f" has waited {waited:.0f} s for the other ranks: call complete_invokes() on"
                    " all ranks first.\n"
                )
                sys.stderr.flush()
        return int(found[0])

    def _reduced(self, value: Scalar, operation: Any) -> Scalar:
        complete_queues()
        own, found = np.array([value]), np.empty(1, np.asarray(value).dtype)
        self._own.Allreduce(own, found, operation)
        made: Scalar = found[0]
        return made

    def _whole(self, array: Array) -> Any:
        """Return a contiguous array, possibly on a device, as an MPI buffer with a basic type.

        Derived data types of MPI are slow for device memory.
        """
        memory = self._mpi.memory if hasattr(self._mpi, "memory") else self._mpi.buffer
        return [
            memory.fromaddress(address_of(array), array.nbytes),
            array.size,
            self._util.from_numpy_dtype(array.dtype),
        ]

    def _layout(self, arrays: Sequence[Array], boxes: Sequence[Box]) -> Any:
        """Return the MPI data type of the same boxes in some arrays, at absolute addresses.

        A box contains all indices of the trailing dimensions that it omits.
        """
        pairs = [
            (array, (*box, *(slice(0, extent) for extent in array.shape[len(box) :])))
            for array in arrays
            for box in boxes
        ]
        parts = [self._box(array, box) for array, box in pairs]
        places = [
            address_of(array)
            + sum(one.start * step for one, step in zip(box, array.strides, strict=True))
            for array, box in pairs
        ]
        whole = self._mpi.Datatype.Create_struct([1] * len(parts), places, parts)
        whole.Commit()
        for part in parts:
            part.Free()
        return whole

    def _box(self, array: Array, box: Box) -> Any:
        """Return the MPI data type of the elements in a box, in memory order."""
        extents = [one.stop - one.start for one in box]
        length, count = array.dtype.itemsize, 1
        steps: list[tuple[int, int]] = []
        for step, extent in sorted(zip(array.strides, extents, strict=True)):
            if step == length and not steps:
                length, count = length * extent, count * extent
            elif extent > 1:
                steps.append((step, extent))
        made = self._util.from_numpy_dtype(array.dtype).Create_contiguous(count)
        for step, extent in steps:
            made = made.Create_hvector(extent, 1, step)
        return made


def _bytes_of(arrays: Sequence[Array], boxes: Sequence[Box]) -> int:
    """Return the size of a message in bytes."""
    if not boxes:
        return sum(array.nbytes for array in arrays)
    points = sum(math.prod(max(0, part.stop - part.start) for part in box) for box in boxes)
    # A box contains all indices of the trailing dimensions that it omits.
    named = len(boxes[0])
    return sum(points * math.prod(array.shape[named:]) * array.itemsize for array in arrays)


CHECK_VARIABLE = "PSYCLONE_STORAGE_CHECK_RANKS"
"""The variable with the waiting time in seconds after which a rank reports a wait."""
PATIENCE = 10.0
"""Seconds after which a rank reports that it waits for other ranks to run deferred invokes."""
_PAUSE = 0.001
_END = "the end of the program"


class CollectiveCallError(UserError, RuntimeError):
    """Error: the ranks make different collective calls."""


class _Record(NamedTuple):
    """A collective call: its name, the position in the user's program, and its numbers."""

    call: str
    place: str
    numbers: str = ""

    def __str__(self) -> str:
        return f"{self.call} at {self.place}" if self.place else self.call


def seconds_to_report() -> float | None:
    """Return the value of the variable `CHECK_VARIABLE` in seconds, None if it is not set.

    Raises:
        ValueError: it is not a positive number.
    """
    text = os.environ.get(CHECK_VARIABLE, "")
    if text in ("", "0"):
        return None
    seconds = float(text)
    if math.isnan(seconds) or seconds <= 0.0:
        raise ValueError(f"{CHECK_VARIABLE} is a number of seconds, not {text!r}.")
    return seconds


class CheckedRanks(MpiRanks):
    """Ranks of a communicator that compare their collective calls.

    Before each collective call, each rank sends a record to the others: the name of the call, its
    position and its numbers. If records differ, all ranks raise the same error. A rank that
    receives no record for some seconds reports the latest calls of the ranks for which it waits,
    and continues to wait.
    """

    def __init__(self, communicator: Any, seconds: float) -> None:
        super().__init__(communicator)
        self._records = communicator.Dup()
        self._seconds = seconds
        self._latest = [_Record("the start of the program", "")] * self.size
        self._sent: list[Any] = []
        atexit.register(self._send, _Record(_END, ""))

    def compare(self, call: str, numbers: str = "") -> None:
        """Compare a collective call with those of the other ranks.

        Raises:
            CollectiveCallError: on all ranks, the calls differ.
        """
        own = _Record(call, user_location(), numbers)
        self._send(own)
        found = [own if rank == self.rank else None for rank in range(self.size)]
        deadline = time.monotonic() + self._seconds
        while None in found:
            for rank in (rank for rank, one in enumerate(found) if one is None):
                if self._records.iprobe(source=rank):
                    found[rank] = self._records.recv(source=rank)
            if None in found:
                deadline = self._wait(own, [rank for rank, one in enumerate(found) if not one],
                                      deadline)  # fmt: skip
        records = [one for one in found if one is not None]
        self._latest = records
        self._check(records)

    def prepare(self, received: Sequence[Message], sent: Sequence[Message]) -> PersistentExchange:
        """Return an exchange that reports the ranks for which it waits."""
        made = self.persistent_requests(received, sent)
        others = sorted({rank for rank, _, _ in (*received, *sent)})
        return _WatchedExchange(made, lambda place, at: self._wait(place, others, at),
                                self._seconds)  # fmt: skip

    def gathered(self, value: T) -> list[T]:
        """Return on every rank the values of all ranks, in rank order."""
        self.compare("a reduction or a gather")
        return super().gathered(value)

    def sent_to(self, root: int, value: T) -> list[T] | None:
        """Return the values of all ranks on rank `root`, None on the others."""
        self.compare(f"a gather on rank {root}")
        return super().sent_to(root, value)

    def swapped(self, parts: Sequence[Array]) -> list[Array]:
        """Send a one-dimensional array to each rank; return the arrays received from them."""
        self.compare("an exchange with all ranks")
        return super().swapped(parts)

    def total(self, value: Scalar) -> Scalar:
        """Return the sum of a number over all ranks, computed by MPI in its type."""
        self.compare("a sum")
        return super().total(value)

    def least(self, value: Scalar) -> Scalar:
        """Return the minimum of a number over all ranks."""
        self.compare("a minimum")
        return super().least(value)

    def greatest(self, value: Scalar) -> Scalar:
        """Return the maximum of a number over all ranks."""
        self.compare("a maximum")
        return super().greatest(value)

    def wait_for_all(self) -> None:
        """Wait until every rank has called this method (barrier)."""
        self.compare("a barrier")
        super().wait_for_all()

    def _send(self, own: _Record) -> None:
        if self._mpi.Is_finalized():
            return
        self._sent = [one for one in self._sent if not one.test()[0]]
        others = (rank for rank in range(self.size) if rank != self.rank)
        self._sent += [self._records.isend(own, rank) for rank in others]

    def _wait(self, own: object, missing: list[int], deadline: float) -> float:
        """Report a wait that exceeds the deadline; return the next deadline."""
        time.sleep(_PAUSE)
        now = time.monotonic()
        if now < deadline:
            return deadline
        latest = "; ".join(f"rank {one}, last seen in {self._latest[one]}" for one in missing)
        sys.stderr.write(f"Rank {self.rank} waits in {own} for {latest}.\n")
        sys.stderr.flush()
        return now + self._seconds

    def _check(self, records: list[_Record]) -> None:
        calls = dict.fromkeys((one.call, one.place) for one in records)
        if len(calls) > 1:
            each = "; ".join(f"rank {rank}: {one}" for rank, one in enumerate(records))
            raise CollectiveCallError(f"The ranks make different collective calls: {each}.")
        if len({one.numbers for one in records}) > 1:
            each = "; ".join(f"rank {rank}: {one.numbers}" for rank, one in enumerate(records))
            raise CollectiveCallError(f"The ranks pass different numbers to {records[0]}: {each}.")


class _WatchedExchange:
    """An exchange that reports if its messages do not arrive."""

    def __init__(
        self, made: Requests, wait: Callable[[object, float], float], seconds: float
    ) -> None:
        self._made, self._wait, self._seconds = made, wait, seconds

    def start(self) -> None:
        """Start all sends and receives."""
        self._made.start()

    def finish(self) -> None:
        """Wait until all messages have been sent and received."""
        deadline = time.monotonic() + self._seconds
        while not self._made.is_finished():
            deadline = self._wait(f"an exchange of halos at {user_location()}", deadline)
        self._made.finish()


def world() -> Ranks:
    """Return all ranks of this program: those of `MPI.COMM_WORLD`, or a single one.

    The result is always the same object, so that all its users have one communicator. mpi4py is
    imported if the program was started by a launcher such as `mpirun`, or has imported it itself.
    If this function imports it, an uncaught exception on one of several ranks aborts all of them.

    Collective on the first call.

    Raises:
        MissingMpiError: the program was started on several ranks, and mpi4py or its MPI library
            cannot be loaded.
    """
    if "mpi4py.MPI" not in sys.modules and not is_launched():
        warn_of_single_rank()
        return SingleRank()
    return _mpi_world()


def checked_ranks(given: Any) -> Ranks:
    """Return the ranks for an argument `ranks=`: those of the program, or of a communicator.

    An mpi4py communicator is duplicated, unless it is `MPI.COMM_WORLD`. Collective.

    Raises:
        TypeError: `given` is neither None nor ranks nor a communicator of mpi4py.
    """
    if given is None:
        return world()
    if hasattr(given, "gathered") and not isinstance(given, type):
        ranks: Ranks = given
        return ranks
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is not None and _is_communicator(given, mpi):
        return _mpi_world() if given == mpi.COMM_WORLD else _ranks_of(given)
    raise TypeError(
        f"'ranks' is an intracommunicator of mpi4py, MpiRanks(communicator) or None, not {given!r}."
    )


def _is_communicator(given: Any, mpi: Any) -> bool:
    """Return whether `given` is a valid intracommunicator."""
    return isinstance(given, mpi.Intracomm) and given != mpi.COMM_NULL


def _ranks_of(communicator: Any) -> MpiRanks:
    """Return the ranks of a communicator; they compare their calls if a variable requests it."""
    seconds = seconds_to_report()
    return MpiRanks(communicator) if seconds is None else CheckedRanks(communicator, seconds)


@cache
def _mpi_world() -> MpiRanks:
    is_ours = "mpi4py.MPI" not in sys.modules
    try:
        from mpi4py import MPI  # noqa: PLC0415 - the deferral that the house allows
    except (ImportError, RuntimeError) as error:
        hide_package_frames()
        raise missing_mpi(error) from None
    made = _ranks_of(MPI.COMM_WORLD)
    if made.size == 1:
        warn_of_single_rank(MPI.Get_library_version().splitlines()[0].partition(", ")[0])
    if is_ours and made.size > 1:
        abort_on_uncaught(made.rank, made.size, lambda: _abort(MPI))
    return made


def _abort(mpi: Any) -> None:
    """Abort all ranks, unless MPI is already finalised on this one."""
    if not mpi.Is_finalized():
        mpi.COMM_WORLD.Abort(1)
