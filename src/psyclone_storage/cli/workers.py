"""Worker processes that apply one function to many inputs, each with its own caches.

The parent process sends the next input to the first idle worker and returns results in input order.
A worker ends when its parent dies, because it watches a pipe that only the parent holds open. A
worker that dies is replaced, and the caller provides the result for its input.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from types import TracebackType
from typing import Generic, TypeVar

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.stopping import StoppedError, deferred, stop_by_parent
from psyclone_storage.cli.main_guard import EXHAUSTED

Given = TypeVar("Given")
TaskResult = TypeVar("TaskResult")

_GRACE = 5.0  # seconds in which a worker cleans up before it is killed


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class _Failure:
    """Text of an exception that a worker sends instead of a result."""

    text: str


class Workers(Generic[Given, TaskResult]):
    """Worker processes that apply `work`; the context manager ends them.

    - `lost`: returns the result for an input whose worker died, given its exit status, which is a
      negative number for a signal.

    - `stopped`: called by a worker that is stopped or whose parent has died.
    """

    def __init__(
        self,
        work: Callable[[Given], TaskResult],
        number: int,
        lost: Callable[[Given, int], TaskResult],
        stopped: Callable[[], object] = _nothing,
    ) -> None:
        self._work = work
        self._number = number
        self._lost = lost
        self._stopped = stopped
        self._processes: dict[Connection, BaseProcess] = {}
        self._watched, self._alive = multiprocessing.Pipe(duplex=False)

    def __enter__(self) -> Workers[Given, TaskResult]:
        """Start the processes."""
        try:
            for _ in range(self._number):
                self._start()
        except BaseException:
            self._end(at_once=True)
            raise
        return self

    def _start(self) -> Connection:
        # Signals are deferred so that every process that exists is known and can be ended.
        with deferred():
            ours, theirs = multiprocessing.Pipe()
            is_forked = multiprocessing.get_start_method() == "fork"
            inherited = (self._alive, ours, *self._processes) if is_forked else ()
            process = multiprocessing.Process(
                target=_serve,
                args=(theirs, self._watched, inherited, self._work, self._stopped),
                daemon=True,
            )
            process.start()
            theirs.close()
            self._processes[ours] = process
        return ours

    def each(self, given: Sequence[Given]) -> Iterator[TaskResult]:
        """Yield the results for all inputs in order.

        Raises:
            InternalError: `work` raised an exception.
        """
        idle = list(self._processes)
        busy: dict[Connection, int] = {}
        made: dict[int, TaskResult] = {}
        waiting = iter(range(len(given)))
        for place in range(len(given)):
            while place not in made:
                for one in idle.copy():
                    if (following := next(waiting, None)) is not None:
                        idle.remove(one)
                        busy[self._sent(one, given[following])] = following
                for ready in wait(list(busy)):
                    assert isinstance(ready, Connection)
                    done = busy.pop(ready)
                    made[done], again = self._received(ready, given[done])
                    idle.append(again)
            yield made.pop(place)

    def _sent(self, connection: Connection, given: Given) -> Connection:
        """Send an input to an idle worker, or to its replacement if it died.

        Return the connection. If the replacement dies, too, receiving its result fails.
        """
        try:
            connection.send((given,))
        except OSError:
            self._ended(connection)
            connection = self._start()
            with suppress(OSError):
                connection.send((given,))
        return connection

    def _ended(self, connection: Connection) -> int:
        """Remove a worker that has died; return its exit status."""
        process = self._processes.pop(connection)
        connection.close()
        process.join()
        return process.exitcode or 0

    def _received(self, connection: Connection, given: Given) -> tuple[TaskResult, Connection]:
        """Return the available result, and the connection of an idle worker."""
        try:
            received = connection.recv()
        except (EOFError, OSError):
            return self._lost(given, self._ended(connection)), self._start()
        if isinstance(received, _Failure):
            raise InternalError(received.text)
        return received, connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes: idle ones by a message, all of them by a signal after an error."""
        self._end(at_once=error is not None)

    def _end(self, *, at_once: bool) -> None:
        with deferred():
            for connection, process in self._processes.items():
                if at_once:
                    process.terminate()
                with suppress(OSError):
                    connection.send(())
            deadline = time.monotonic() + _GRACE
            for connection, process in self._processes.items():
                process.join(max(0.0, deadline - time.monotonic()))
                if process.is_alive():
                    process.kill()
                    process.join()
                connection.close()
            self._alive.close()
            self._watched.close()


def _serve(
    connection: Connection,
    watched: Connection,
    inherited: Sequence[Connection],
    work: Callable[[Given], TaskResult],
    stopped: Callable[[], object],
) -> None:
    """Apply `work` to each received input until an empty tuple arrives or the parent dies."""
    for end in inherited:
        end.close()
    try:
        try:
            threading.Thread(target=_stop_with_parent, args=(watched,), daemon=True).start()
            stop_by_parent()
            while received := connection.recv():
                connection.send_bytes(_answer(work, received[0]))
        except (EOFError, OSError):
            # The parent has died, so that a signal may arrive at any moment from here.
            with deferred():
                stopped()
                os._exit(1)
        except (MemoryError, RuntimeError):
            # There is no memory for a thread or a result; the parent reports the lost input.
            with deferred():
                stopped()
                os._exit(EXHAUSTED)
    except StoppedError as error:
        with deferred():
            stopped()
            signal.signal(error.number, signal.SIG_DFL)
            os.kill(os.getpid(), error.number)


def _answer(work: Callable[[Given], TaskResult], given: Given) -> bytes:
    """Return the pickled result, or the pickled exception."""
    try:
        return bytes(ForkingPickler.dumps(work(given)))
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        return bytes(ForkingPickler.dumps(_Failure(f"{type(error).__name__}: {error}")))


def _stop_with_parent(watched: Connection) -> None:
    """Stop this process when the parent dies, which closes the other end of `watched`."""
    with suppress(EOFError, OSError):
        watched.recv_bytes()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE)
    os._exit(1)
