"""Syntax trees are built by one thread at a time."""

from __future__ import annotations

import ast
import gc
import os
import sys
import threading
from collections.abc import Iterator

import pytest

from psyclone_storage.languages.python.parse.thread_safe_ast import parse_python

TEXT = "x = " + "+".join(f"f({number}, (a, [b, c]))" for number in range(40))


@pytest.fixture
def _many_switches() -> Iterator[None]:
    """Let threads change places often, and the collector run while trees are built."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


class Slow:
    """Garbage in a cycle, whose finalizer lets other threads run."""

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        for _ in range(200):
            pass


@pytest.mark.usefixtures("_many_switches")
def test_threads_parse_at_once() -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(60):
                Slow()
                assert isinstance(parse_python(TEXT), ast.Module)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failures == []


def test_a_child_of_a_fork_can_parse() -> None:
    busy = threading.Event()
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            parse_python(TEXT)
            busy.set()

    thread = threading.Thread(target=work)
    thread.start()
    busy.wait()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if parse_python("1", "eval").body.value == 1 else 1)  # type: ignore[attr-defined]
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        over.set()
        thread.join()
