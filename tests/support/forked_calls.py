"""Calls functions in processes of their own, which may fail, whatever the tests' own has become.

A fork copies the tables of all the memory that a process has. In a worker that has run thousands of
tests that takes a hundred times as long as in one that has just begun: calls are forked from a
process that does nothing else.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from served_commands import running_servers

SECONDS_FOR_A_CALL = 60


def in_child(function: Callable[..., str], *args: object) -> str:
    """Return what a function says in a process of its own, or how that has failed.

    The function is one of a module, which is imported where the calls are made.
    """
    server = _server(function.__module__)
    server.send((function, args))
    answer: str = server.recv()
    return answer


@cache
def _server(module: str) -> Connection:
    """Start what makes the calls of a module's functions; it ends with this process."""
    ours, theirs = Pipe()
    program = (
        f"import sys; sys.path[:] = {sys.path!r}; import {module}, forked_calls; "
        f"forked_calls.serve({theirs.fileno()})"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", program],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    theirs.close()
    running_servers.add(server.pid)
    return ours


def serve(number: int) -> None:
    """Make the calls that come in from a file of this number, until it is closed."""
    with Connection(number) as calls:
        while True:
            try:
                function, args = calls.recv()
            except EOFError:
                return
            calls.send(_forked(function, args))


def _forked(function: Callable[..., str], args: tuple[object, ...]) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(SECONDS_FOR_A_CALL)
        try:
            answer = function(*args)
        except BaseException as failure:  # noqa: BLE001
            answer = f"failed: {failure!r}"
        os.write(writer, answer.encode()[:4000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read().decode()
    _, status = os.waitpid(child, 0)
    return answer if status == 0 else f"failed: signal {status}"
