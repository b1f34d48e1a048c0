"""Which tests take the most processor time, that of the processes that they start included.

Wall-clock time says little on a machine that does other things as well, nor where a test waits.
What is built once for several tests counts for the first of them.
"""

from __future__ import annotations

import os
import resource
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

from served_commands import running_servers

KEY = "processor seconds"
TICKS = os.sysconf("SC_CLK_TCK")


class CpuTimes:
    """Adds up what the phases of tests take, and lists those that take most.

    Attributes:
        most: how many files, and how many tests, are listed.
        before: what this process and its children had taken when the phase began.
        files: the seconds of each file.
        tests: the seconds of each test.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.before = taken()
        self.files: dict[str, float] = defaultdict(float)
        self.tests: dict[str, float] = defaultdict(float)

    def pytest_collection_finish(self) -> None:
        self.before = taken()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what a phase has taken in its report, which workers send."""
        report = yield
        now = taken()
        report.user_properties = [*report.user_properties, (KEY, now - self.before)]
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for key, value in report.user_properties:
            if key == KEY and isinstance(value, float):
                self.tests[report.nodeid] += value
                self.files[report.nodeid.partition("::")[0]] += value

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for counted in (self.files, self.tests):
            terminalreporter.section(f"{KEY}, {sum(counted.values()):.0f} in all")
            for name in sorted(counted, key=counted.__getitem__, reverse=True)[: self.most]:
                terminalreporter.line(f"{counted[name]:8.1f} {name}")


def taken() -> float:
    """Return the seconds of CPU time of this process, its ended children and its servers.

    The system adds the time of a process to that of its parent when it ends. Servers
    (`served_commands.py`) end last, so their time is read while they run.
    """
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ended = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    return ended + sum(map(taken_by_running, running_servers))


def taken_by_running(process: int) -> float:
    """Return the seconds of CPU time of a running process and of its ended children.

    Systems without Linux's `/proc` give 0, so that the last test of a run counts the servers.
    """
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return sum(map(int, text.rpartition(")")[2].split()[11:15])) / TICKS
