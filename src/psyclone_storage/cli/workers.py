"""Processes that do the same for many things, each with what it has kept from those before.

A thread of the parent waits for each process, so that whoever is free gets what is next; results
come in the order of what was given. What a process needs is handed to it once, when it starts.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from types import TracebackType
from typing import Generic, TypeVar

from psyclone_storage.base.diagnostic import InternalError

Given = TypeVar("Given")
Made = TypeVar("Made")


class Workers(Generic[Given, Made]):
    """Some processes that apply `work`; a context, at the end of which they are gone."""

    def __init__(self, work: Callable[[Given], Made], number: int) -> None:
        self._work = work
        self._number = number
        self._idle: SimpleQueue[Connection] = SimpleQueue()
        self._processes: list[tuple[BaseProcess, Connection]] = []

    def __enter__(self) -> Workers[Given, Made]:
        """Start the processes, before there are threads."""
        for _ in range(self._number):
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=_serve, args=(theirs, self._work), daemon=True)
            process.start()
            theirs.close()
            self._processes.append((process, ours))
            self._idle.put(ours)
        return self

    def each(self, given: Sequence[Given]) -> Iterator[Made]:
        """Yield what becomes of each of `given`, in their order.

        Raises:
            InternalError: a process has died.
        """
        with ThreadPoolExecutor(self._number) as threads:
            try:
                yield from threads.map(self._handed_on, given)
            except BaseException:
                self._stop()
                raise

    def _handed_on(self, given: Given) -> Made:
        connection = self._idle.get()
        try:
            connection.send((given,))
            made: Made = connection.recv()
        except (EOFError, OSError) as error:
            raise InternalError(f"The process that worked on '{given}' has died.") from error
        finally:
            self._idle.put(connection)
        return made

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes: those that wait when they are told, others at once."""
        if error is not None:
            self._stop()
        for process, connection in self._processes:
            with suppress(OSError):
                connection.send(())
            process.join()
            connection.close()

    def _stop(self) -> None:
        for process, _ in self._processes:
            process.terminate()


def _serve(connection: Connection, work: Callable[[Given], Made]) -> None:
    """Do `work` for each thing that comes, until an empty tuple does.

    Who stops the parent from the keyboard stops this process through the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while received := connection.recv():
        connection.send(work(*received))
