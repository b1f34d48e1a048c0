"""Worker processes: the order of results, cached state, and workers or parents that die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.stopping import StoppedError
from psyclone_storage.cli.main_guard import EXHAUSTED
from psyclone_storage.cli.workers import Workers

SOURCE = Path(__file__).parents[3] / "src"


def slow_first(number: int) -> tuple[int, int]:
    time.sleep(0.2 if number == 0 else 0.01)
    return number, os.getpid()


def counting() -> Callable[[int], int]:
    seen: list[int] = []

    def count(number: int) -> int:
        seen.append(number)
        return len(seen)

    return count


def dies(number: int) -> int:
    if number % 3 == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 4:
        os._exit(7)
    return number


def is_stopped_twice(file: Path) -> None:
    """Send SIGTERM to this process, and again while it handles the first one."""
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10.0)
    except StoppedError as first:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
        except StoppedError:
            file.touch()
        raise first from None


def never_lost(given: object, status: int) -> object:
    raise AssertionError(f"{given} {status}")


def first_fails(workers: Workers[int, tuple[int, int]]) -> None:
    with workers:
        for number, _ in workers.each(range(50)):
            assert 1 // number


def test_results_come_in_order_and_whoever_is_free_works() -> None:
    with Workers(slow_first, 2, never_lost) as workers:
        found = list(workers.each(range(10)))
    assert [number for number, _ in found] == list(range(10))
    processes = {process for _, process in found}
    assert len(processes) == 2
    assert os.getpid() not in processes
    assert len({process for number, process in found if number in (1, 2, 3, 4)}) == 1


def test_a_process_keeps_what_it_has() -> None:
    with Workers(counting(), 1, never_lost) as workers:
        assert list(workers.each([5, 6, 7])) == [1, 2, 3]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_the_input_of_a_dead_process_is_lost_and_all_others_are_not(number: int) -> None:
    def lost(given: int, status: int) -> tuple[int, int]:
        return given, status

    with Workers(dies, number, lost) as workers:
        found = list(workers.each(range(8)))
    assert found == [0, 1, (2, -9), 3, (4, 7), (5, -9), 6, 7]


def test_a_process_handles_one_signal(tmp_path: Path) -> None:
    """The kernel sends it to all processes of a terminal, and the parent sends it again."""
    file = tmp_path / "handled"
    with Workers(is_stopped_twice, 1, lambda _, status: status) as workers:
        assert list(workers.each([file])) == [-signal.SIGTERM]
    assert not file.exists()


def test_a_process_that_dies_while_it_is_idle_is_replaced() -> None:
    with Workers(slow_first, 2, never_lost) as workers:
        assert len(list(workers.each(range(4)))) == 4
        for process in workers._processes.values():
            process.kill()
            process.join()
        assert [number for number, _ in workers.each(range(4))] == [0, 1, 2, 3]


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="patches processes")
def test_processes_that_cannot_start_lose_their_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each input has a result, also if the replacement of a process dies."""

    def fails(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fails)
    with Workers(slow_first, 2, lambda given, status: (given, status)) as workers:
        for process in workers._processes.values():
            process.join()
        assert list(workers.each(range(5))) == [(number, EXHAUSTED) for number in range(5)]


@pytest.mark.parametrize("given", ["raises", "cannot be pickled"])
def test_an_exception_of_a_process_reaches_the_parent(
    given: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def work(given: str) -> object:
        return 1 // 0 if given == "raises" else (lambda: given)

    with pytest.raises(InternalError, match="Error: "), Workers(work, 2, never_lost) as workers:
        list(workers.each([given]))
    assert "Traceback" not in capfd.readouterr().err


def test_who_stops_in_the_middle_leaves_no_process() -> None:
    workers = Workers(slow_first, 3, never_lost)
    with pytest.raises(ZeroDivisionError):
        first_fails(workers)
    assert [one for one in workers._processes.values() if one.is_alive()] == []


ORPHANS = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored
from functools import partial
from pathlib import Path
from psyclone_storage.cli.main_guard import EXHAUSTED
from psyclone_storage.cli.workers import Workers

def work(number):
    Path(f"begun-{number}").touch()
    if sys.argv[1] == "asleep":
        time.sleep(1000)
    while sys.argv[1] == "busy":
        pass
    return number

def stopped():
    Path(f"stopped-{os.getpid()}").touch()

with Workers(work, 3, None, stopped) as workers:
    print(*(process.pid for process in workers._processes.values()), flush=True)
    for number in workers.each(range(3)):
        pass
    time.sleep(1000)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("state", ["busy", "asleep", "idle"])
def test_processes_end_with_a_parent_that_is_killed(
    state: str, number: signal.Signals, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS, state],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        workers = parent.stdout.readline().split()
        deadline = time.monotonic() + 60
        while len(list(tmp_path.glob("begun-*"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        parent.send_signal(number)
        # The end of its output arrives only when no process holds the pipe any more.
        _, said = parent.communicate(timeout=120)
    assert parent.returncode == -number
    assert said == b""
    assert {path.name for path in tmp_path.glob("stopped-*")} == {
        f"stopped-{one.decode()}" for one in workers
    }
