"""Profiler of Python programs: calls, time and messages of regions, summed over ranks.

Generated modules with profile regions import `profiler`. Other modules, and exchanges in programs
that do not import it, contain no profiling code: the first region that starts replaces the method
that starts messages.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.ranks import Requests, world


@dataclass(slots=True)
class RegionTotals:
    """Calls, seconds, exchanges, messages and bytes of a region on one rank.

    `exchanges` counts starts of messages to all neighbours, if there are any; `messages` and
    `sent_bytes` are those that this rank sends.
    """

    calls: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    exchanges: int = 0
    messages: int = 0
    sent_bytes: int = 0


class _Open(threading.local):
    """The regions that a thread has started, and counters of its messages."""

    def __init__(self) -> None:
        self.regions: list[tuple[str, float, tuple[int, int, int]]] = []
        self.sent = (0, 0, 0)


class Profiler:
    """Totals of regions, by name in the form `module:region`."""

    def __init__(self) -> None:
        self.regions: dict[str, RegionTotals] = {}
        self._open = _Open()
        self._lock = threading.Lock()
        self._is_counting = False

    def start(self, module: str, region: str) -> None:
        """Start a region in this thread."""
        if not self._is_counting:
            self._count()
        self._open.regions.append((f"{module}:{region}", time.perf_counter(), self._open.sent))

    def stop(self, module: str, region: str) -> None:
        """Stop a region; regions inside it that an exception left open are dropped."""
        end, name = time.perf_counter(), f"{module}:{region}"
        while self._open.regions:
            found, begin, before = self._open.regions.pop()
            if found == name:
                self._add(name, end - begin, before)
                return

    def report(self, file: Any = None) -> None:
        """Print the totals of all ranks on rank 0, to `sys.stderr` by default.

        This is called automatically at the end of the program.

        Collective: all ranks must call it.
        """
        parts = world().sent_to(0, self.regions)
        if parts is not None:
            print("\n".join(_lines(parts)), file=sys.stderr if file is None else file)

    def _add(self, name: str, seconds: float, before: tuple[int, int, int]) -> None:
        exchanges, messages, sent = (
            now - then for now, then in zip(self._open.sent, before, strict=True)
        )
        with self._lock:
            found = self.regions.setdefault(name, RegionTotals())
            found.calls += 1
            found.seconds += seconds
            found.longest = max(found.longest, seconds)
            found.exchanges += exchanges
            found.messages += messages
            found.sent_bytes += sent

    def _count(self) -> None:
        """Count messages from now on, and report at program exit."""
        with self._lock:
            if self._is_counting:
                return
            # Exit functions registered after the one of MPI run before it.
            world()
            self._is_counting = True
            atexit.register(self.report)
            start, opened = Requests.start, self._open

            def counted(requests: Requests) -> None:
                exchanges, messages, sent = opened.sent
                more, size = requests.sent
                opened.sent = exchanges + (more > 0), messages + more, sent + size
                start(requests)

            setattr(Requests, "start", counted)  # noqa: B010 - the type of a method is fixed


def _lines(parts: list[dict[str, RegionTotals]]) -> Iterator[str]:
    """Yield the lines of a table with one line for each region, the longest first."""
    names = dict.fromkeys(name for part in parts for name in part)
    found = {name: [part[name] for part in parts if name in part] for name in names}
    yield (
        f"{'calls':>10} {'seconds':>10} {'least':>10} {'most':>10} {'per call':>10} "
        f"{'exchanges':>10} {'messages':>10} {'bytes':>14}  region ({len(parts)} ranks)"
    )
    for name, each in sorted(found.items(), key=lambda item: -max(one.seconds for one in item[1])):
        seconds = [one.seconds for one in each]
        mean, calls = sum(seconds) / len(each), max(one.calls for one in each)
        exchanges = max(one.exchanges for one in each)
        messages, sent = (sum(getattr(one, of) for one in each) for of in _SUMMED)
        yield (
            f"{calls:10} {mean:10.6f} {min(seconds):10.6f} {max(seconds):10.6f} "
            f"{mean / max(calls, 1):10.6f} {exchanges:10} {messages:10} {sent:14}  {name}"
        )


_SUMMED = ("messages", "sent_bytes")
profiler = Profiler()
"""The profiler of this program."""
