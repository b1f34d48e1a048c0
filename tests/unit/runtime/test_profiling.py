"""The profiler of Python programs, and profile regions in generated modules."""

from __future__ import annotations

import io
import re
import threading

import numpy as np
import pytest

from psyclone_storage.embedded.invoke import configure
from psyclone_storage.runtime.profiling import Profiler
from psyclone_storage.runtime.ranks import Requests, _bytes_of


@pytest.fixture
def profiler(monkeypatch: pytest.MonkeyPatch) -> Profiler:
    monkeypatch.setattr("atexit.register", lambda *_: None)
    monkeypatch.setattr(Requests, "start", Requests.start)
    return Profiler()


class _Mpi:
    """MPI calls without effect."""

    class Prequest:
        @staticmethod
        def Startall(_requests: object) -> None:  # noqa: N802
            pass

    class Request:
        @staticmethod
        def Waitall(_requests: object) -> None:  # noqa: N802
            pass

    @staticmethod
    def Is_finalized() -> bool:  # noqa: N802
        return True


def send() -> None:
    """Start two messages that go nowhere."""
    Requests([], _Mpi, (2, 640)).start()


def test_bytes_of_messages_include_layers() -> None:
    box = (slice(0, 2), slice(1, 4))
    assert _bytes_of([np.zeros((5, 6)), np.zeros((5, 6, 4), np.float32)], [box]) == 48 + 96


def test_regions_count_calls_and_messages(profiler: Profiler) -> None:
    for _ in range(3):
        profiler.start("model", "outer")
        profiler.start("model", "inner")
        send()
        profiler.stop("model", "inner")
        profiler.stop("model", "outer")
    send()
    inner, outer = profiler.regions["model:inner"], profiler.regions["model:outer"]
    for one in (inner, outer):
        assert (one.calls, one.exchanges, one.messages, one.sent_bytes) == (3, 3, 6, 1920)
    assert 0.0 < inner.seconds < outer.seconds
    assert inner.longest <= inner.seconds


def test_a_region_that_an_exception_left_is_dropped(profiler: Profiler) -> None:
    profiler.start("model", "outer")
    profiler.start("model", "failed")
    profiler.stop("model", "outer")
    assert list(profiler.regions) == ["model:outer"]
    profiler.stop("model", "outer")
    assert profiler.regions["model:outer"].calls == 1


def test_threads_have_own_regions(profiler: Profiler) -> None:
    def run() -> None:
        profiler.start("model", "thread")
        send()
        profiler.stop("model", "thread")

    profiler.start("model", "main")
    one = threading.Thread(target=run)
    one.start()
    one.join()
    profiler.stop("model", "main")
    assert profiler.regions["model:thread"].messages == 2
    assert profiler.regions["model:main"].messages == 0


def test_the_table_has_a_line_for_each_region(profiler: Profiler) -> None:
    profiler.start("model", "one")
    profiler.stop("model", "one")
    said = io.StringIO()
    profiler.report(said)
    head, line = said.getvalue().splitlines()
    assert head.split()[:5] == ["calls", "seconds", "least", "most", "per"]
    assert re.fullmatch(r" +1( +\d+\.\d{6}){4} +0 +0 +0  model:one", line)


def test_nothing_is_counted_before_the_first_region() -> None:
    before = Requests.start
    Profiler()
    assert Requests.start is before


def test_other_grains_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'invokes' or 'kernels', not \['routines'\]"):
        configure(profile="routines")
