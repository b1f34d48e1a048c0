"""Commands that a long-running process executes, for tests that start hundreds of commands.

Contains the client program that replaces such a command, and the server process. Starting Python
and importing the modules of a command takes several times as long as most commands. Here a command
is a fork of a process that has done both, with the folder, arguments, environment and streams of
its caller, and it exits in the same way. Two things differ from a fresh start: the seed of hashes
is that of the process, and modules are already imported. Tests of either start the command itself.
"""

from __future__ import annotations

import array
import gc
import importlib
import os
import select
import shlex
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
STREAMS = 3
FAILED = 1
LISTENS = b"listens\n"

running_servers: set[int] = set()
"""The process identifiers of the servers that this process has started."""


@dataclass(frozen=True)
class Call:
    """How a command has been called.

    Attributes:
        words: those behind the name of the command.
        folder: the one that it was called in.
        environment: that of the caller.
        streams: the numbers of its input, its output and its errors, in the process that serves.
    """

    words: list[str]
    folder: str
    environment: dict[str, str]
    streams: tuple[int, int, int]


Answer = Callable[[Call], int]
"""Carries a command out and returns its exit status."""


@dataclass(frozen=True)
class Served:
    """A command that programs call.

    Attributes:
        name: the function that carries it out.
        caller: the words that start what hands it over; those that start Python without a server.
    """

    name: str
    caller: tuple[str, ...]

    def write(self, program: Path, *words: str) -> None:
        """Write a program that calls the command with `words` and its own."""
        given = shlex.join((*self.caller, *words))
        program.write_text(f'#!/bin/sh\nexec {given} "$@"\n', encoding="utf-8")
        program.chmod(0o755)


@contextmanager
def served(name: str, *, forks: bool) -> Iterator[Served]:
    """Serve a command, which the function `module:function` carries out.

    Each call has a process of its own if `forks`, otherwise a thread. Without a C compiler nothing
    is served: each call starts Python.
    """
    with tempfile.TemporaryDirectory() as folder:
        client, place = Path(folder) / "client", str(Path(folder) / "socket")
        compiler = shutil.which("cc") or shutil.which("gcc")
        words = [str(compiler), "-O1", str(SOURCE), "-o", str(client)]
        if not compiler or subprocess.run(words, check=False).returncode:
            yield Served(name, (sys.executable, "-c", _program(f"carry_out({name!r})")))
            return
        program = _program(f"serve({place!r}, {name!r}, forks={forks})")
        with subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            assert server.stdout.readline() == LISTENS
            running_servers.add(server.pid)
            yield Served(name, (str(client), place))
            server.stdin.close()
        running_servers.discard(server.pid)


def _program(call: str) -> str:
    return f"import sys; sys.path[:] = {sys.path!r}; import served_commands; served_commands.{call}"


def carry_out(name: str) -> None:
    """Carry out the command of this process, which is a function, and end as it does."""
    call = Call(sys.argv[1:], str(Path.cwd()), dict(os.environ), (0, 1, 2))
    sys.exit(_carried_out_by(name)(call))


def _carried_out_by(name: str) -> Answer:
    module, _, function = name.partition(":")
    found: Answer = getattr(importlib.import_module(module), function)
    return found


def serve(place: str, name: str, *, forks: bool) -> None:
    """Carry out what is called at a socket until the input of this process ends."""
    answer = _carried_out_by(name)
    kind = _InProcesses if forks else _InThreads
    gc.freeze()
    with kind(place, _handler(answer, forks=forks)) as server:
        os.write(1, LISTENS)
        server.serve_forever(poll_interval=0.2)


class _Ending(socketserver.BaseServer):
    """A server that ends with whoever has started it."""

    request_queue_size = 64

    def service_actions(self) -> None:
        super().service_actions()
        if select.select([0], [], [], 0)[0]:
            self.server_close()
            os._exit(0)


class _InProcesses(_Ending, socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    pass


class _InThreads(_Ending, socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def _handler(answer: Answer, *, forks: bool) -> type[socketserver.BaseRequestHandler]:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            call = received(self.request)
            status = FAILED
            try:
                status = _inside(answer, call) if forks else answer(call)
            finally:
                for stream in call.streams:
                    os.close(stream)
                self.request.sendall(bytes([status & 0xFF]))

    return Handler


def _inside(answer: Answer, call: Call) -> int:
    """Carry a command out in this process, which is its own."""
    for number, stream in enumerate(call.streams):
        os.dup2(stream, number)
    # What they were knows other files.
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.chdir(call.folder)
    os.environ.clear()
    os.environ.update(call.environment)
    sys.path[:0] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    try:
        return answer(call)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        return FAILED
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def received(connection: socket.socket) -> Call:
    """Return the call that comes in from `served_commands.c`."""
    streams = array.array("i")
    size = socket.CMSG_SPACE(STREAMS * streams.itemsize)
    _, ((_, _, data),), _, _ = connection.recvmsg(1, size)
    streams.frombytes(data)
    with connection.makefile("rb") as file:
        texts = [os.fsdecode(text) for text in file.read().split(b"\0")[:-1]]
    count, folder, *rest = texts
    words, variables = rest[: int(count)], rest[int(count) :]
    environment = dict(variable.split("=", 1) for variable in variables)
    return Call(words, folder, environment, (streams[0], streams[1], streams[2]))
