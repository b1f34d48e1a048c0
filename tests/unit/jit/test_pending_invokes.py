"""The callable `invoke` and the queue of deferred invokes, compiled and in Python."""

from __future__ import annotations

import _thread
import atexit
import copy
import gc
import inspect
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    complete_invokes,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.jit import _pure, deferred, native
from psyclone_storage.runtime.gocean import Field, Grid

QUEUES: list[Any] = [_pure]
if native.COMPILED:
    from psyclone_storage.jit import _compiled

    QUEUES.append(_compiled)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def scale(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * new[0, 0]


@pytest.fixture(autouse=True)
def _usual() -> Iterator[None]:
    configure(target="numpy", defer=True)
    yield
    configure()


def made(count: int = 2, kind: type[Field] = Field) -> list[Field]:
    grid = Grid((4, 3))
    return [kind(grid, values=1.0) for _ in range(count)]


def pending() -> int:
    return sum(len(one.pending) for one in PROGRAM._deferred)


class Datum:
    """An argument that waits for pending invokes."""

    waiting: Any = None


class Sequence(dict[Any, Any]):
    """A node of the tree of sequences."""


# ---------------------------------------------------------------- the queue


@pytest.mark.parametrize("module", QUEUES)
def test_a_record_is_appended_only_in_the_state_that_was_read(module: Any) -> None:
    root, second = Sequence(), Sequence()
    queue = module.Pending(root)
    node, epoch = queue.state()
    assert node is root
    assert queue.append(node, epoch, second, ("first", (1, 2), ()))
    assert not queue.append(node, epoch, second, ("first", (1, 2), ()))
    assert queue.state()[0] is second
    assert queue.append(second, epoch, root, ("second", (3,), ()))
    assert [one[0] for one in queue.records] == ["first", "second"]
    assert (queue.values(1), queue.values(2)) == ([1, 2], [1, 2, 3])
    with queue as before:
        assert before is root
        assert queue.is_running()
        assert queue.state()[0] is None
        assert not queue.append(before, epoch, second, ("third", (), ()))
        queue.open(root)
        assert queue.state()[0] is None
        queue.records.clear()
    assert not queue.is_running()
    assert queue.state()[0] is root
    assert not queue.append(root, epoch, second, ("third", (), ()))


@pytest.mark.parametrize("module", QUEUES)
def test_an_error_that_changes_no_record_leaves_the_queue_open(module: Any) -> None:
    root, second = Sequence(), Sequence()
    queue = module.Pending(root)
    queue.append(*queue.state(), second, ("first", (), ()))
    with pytest.raises(ZeroDivisionError), queue:
        assert 1 / 0
    assert queue.state()[0] is second
    queue.append(*queue.state(), root, ("second", (), ()))
    with queue:
        del queue.records[:1]
    assert queue.state()[0] is None
    queue.open(root)
    assert queue.state()[0] is None
    queue.records.clear()
    queue.open(second)
    assert queue.state()[0] is second


@pytest.mark.parametrize("module", QUEUES)
def test_a_record_that_a_running_invoke_adds_does_not_take_the_place_of_another(
    module: Any,
) -> None:
    """Otherwise the routine of the first sequence would run with the arguments of another one."""
    root, second = Sequence(), Sequence()
    queue = module.Pending(root)
    queue.append(*queue.state(), second, ("first", (), ()))
    with queue:
        queue.records.clear()
        assert queue.append(*queue.state(), None, ("other", (), ()))
    assert queue.state()[0] is None
    assert [one[0] for one in queue.records] == ["other"]


@pytest.mark.parametrize("module", QUEUES)
def test_no_datum_waits_after_the_last_invoke(module: Any) -> None:
    queue, data = module.Pending(Sequence()), [Datum(), Datum()]
    for one in data:
        one.waiting = queue
    queue.append(*queue.state(), Sequence(), ("first", tuple(data), ()))
    values = queue.values(1)
    assert not queue.finish(values, (0, 1), 2)
    assert data[0].waiting is queue
    assert queue.finish(values, (1,), 1)
    assert (data[0].waiting, data[1].waiting, len(queue)) == (queue, None, 0)


@pytest.mark.skipif(not native.COMPILED, reason="the C extension")
def test_a_known_sequence_is_added_without_the_general_path() -> None:
    calls: list[Any] = []
    second, third = Sequence(), Sequence()
    root = Sequence(one=second)
    second["two"] = third
    queue, datum = _compiled.Pending(root), Datum()

    def add(*given: Any) -> None:
        calls.append(given)

    def begin() -> None:
        calls.append("begin")

    one = _compiled.deferral(queue, "one", ((0,), (1,)), "queue", begin, None, add)
    two = _compiled.deferral(queue, "two", ((), ()), "queue", begin, lambda: (["number"],), add)
    one(datum, 2)
    two(datum)
    assert calls == ["begin"]
    assert datum.waiting == "queue"
    assert queue.records == [("one", (datum, 2), ()), ("two", (datum,), (["number"],))]
    one(datum, 2)
    assert calls[1:] == [("one", (datum, 2))]
    queue.records.clear()
    queue.open(root)
    with queue:
        pass
    one(datum, 2**31)
    one(datum, -(2**40))
    one(datum, 2**100)
    assert calls[2:] == [("one", (datum, number)) for number in (2**31, -(2**40), 2**100)]
    with queue:
        two(datum)
    assert calls[5:] == [("two", (datum,))]


@pytest.mark.skipif(not native.COMPILED, reason="the C extension")
@pytest.mark.parametrize("at", ["begin", "read", "waiting"])
def test_an_invoke_that_another_thread_overtakes_is_added_by_the_general_path(at: str) -> None:
    """Code in Python runs before the record is appended, and the queue may run meanwhile."""
    root = Sequence(one=Sequence())
    queue, calls = _compiled.Pending(root), []

    def overtaken(where: str) -> None:
        if where == at:
            with queue:
                queue.records.clear()

    class Slow(Datum):
        def __setattr__(self, name: str, value: object) -> None:
            overtaken("waiting")
            super().__setattr__(name, value)

    one = _compiled.deferral(
        queue, "one", ((0,), ()), "queue", lambda: overtaken("begin"),
        lambda: overtaken("read") or (), lambda *given: calls.append(given),
    )  # fmt: skip
    datum = Slow()
    one(datum)
    assert calls == [("one", (datum,))]
    assert len(queue) == 0


@pytest.mark.skipif(not native.COMPILED, reason="the C extension")
def test_what_does_not_fit_is_refused() -> None:
    queue = _compiled.Pending({})
    for wrong in (
        lambda: _compiled.Pending([]),
        lambda: _compiled.Pending(root={}),
        lambda: queue.append({}, 0, [], ("one", (), ())),
        lambda: queue.append({}, 0, {}, ["one"]),
        lambda: queue.open([]),
        lambda: queue.values(1),
        lambda: queue.values(-1),
        lambda: queue.finish([], (0,), 0),
        lambda: _compiled.deferral([], "one", ((), ()), None, None, None, None),
        lambda: _compiled.deferral(queue, "one", ((), ()), None, None, None, None)(one=1),
        _compiled.quick_invoke,
    ):
        with pytest.raises((TypeError, IndexError, ValueError)):
            wrong()  # type: ignore[no-untyped-call]


# ---------------------------------------------------------------- deferred invokes


def test_an_invoke_within_a_pending_one_runs_later() -> None:
    """Neither it nor those that are pending are lost, and each runs once."""
    seen: list[int] = []

    class Watched(Field):
        def set_dirty(self) -> None:
            super().set_dirty()
            if not seen:
                seen.append(1)
                invoke(scale(other, 7.0))
                invoke(scale(self, 5.0))

    (one,), (other,) = made(1, Watched), made(1)
    for _ in range(3):
        seen.clear()
        one.fill(1.0)
        other.fill(1.0)
        seen.clear()
        invoke(scale(one, 2.0))
        complete_invokes()
        complete_invokes()
        assert (one.values.max(), other.values.max()) == (10.0, 7.0)
        assert pending() == 0


def test_a_number_that_has_changed_leaves_the_queue_open(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = made()
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    for _ in range(3):
        invoke(by_factor(one))
        complete_invokes()
    invoke(by_factor(one))
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    with pytest.raises(RuntimeError, match="'FACTOR', which"):
        complete_invokes()
    invoke(scale(two, 4.0))
    assert pending() == 2
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    assert (one.values.max(), two.values.max()) == (16.0, 4.0)


FACTOR = 2.0


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def by_factor(new: field[GO_READWRITE, GO_CT]):
    new[0, 0] = FACTOR * new[0, 0]


def test_the_end_of_the_program_has_one_handler_of_the_queue() -> None:
    """A handler for each time step would take longer and longer to replace."""
    (one,) = made(1)
    counts = []
    for _ in range(5):
        invoke(scale(one, 2.0))
        complete_invokes()
        counts.append(atexit._ncallbacks())
    assert len(set(counts)) == 1


def test_functions_that_were_registered_earlier_see_the_values(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import atexit\n"
        "from psyclone_storage.gocean import *\n"
        "from psyclone_storage.runtime.gocean import Field, Grid\n\n\n"
        "@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def double(new: field[GO_READWRITE, GO_CT]):\n"
        "    new[0, 0] = 2.0 * new[0, 0]\n\n\n"
        "configure(target='numpy', defer=True)\n"
        "height = Field(Grid((4, 3)), values=1.0)\n"
        "for number in range(3):\n"
        "    atexit.register(lambda: print(float(height._storage.data_ro.max())))\n"
        "    invoke(double(height))\n"
        "    if number < 2:\n"
        "        complete_invokes()\n"
    )
    done = subprocess.run(
        [sys.executable, "model.py"], check=True, capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert set(done.stdout.split()) == {"8.0"}


def test_threads_that_add_and_read_lose_no_invoke() -> None:
    """Some fields are freed meanwhile, and others get their addresses."""
    configure(distributed=False, defer=True)
    fields = made(3)
    counts, problems = [0, 0, 0], []

    def steps(at: int) -> None:
        try:
            one = fields[at]
            for _ in range(60):
                other = Field(one.grid, values=1.0)
                invoke(scale(one, 2.0))
                invoke(scale(other, 3.0))
                invoke(scale(one, 0.5))
                invoke(scale(one, -1.0))
                counts[at] += 1
                if counts[at] % 3 == 0:
                    assert other.values.max() == 3.0
                if counts[at] % 5 == 0:
                    assert one.values.max() == (-1.0) ** counts[at]
        except BaseException as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=steps, args=(at,)) for at in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120.0)
    assert not problems
    assert counts == [60, 60, 60]
    for one, count in zip(fields, counts, strict=True):
        assert one.values.max() == (-1.0) ** count


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers")
def test_signals_at_any_time_change_no_value() -> None:
    """Signals arrive between instructions of the queue, not only between lines."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals arrive in the main thread")
    configure(distributed=False, defer=True)
    one, two = made()
    chosen, outcomes = random.Random(1), Counter[str]()
    is_within, done = False, 0

    def interrupt(_: int, frame: FrameType | None) -> None:
        nonlocal is_within
        if is_within and frame is not None:
            is_within = False
            outcomes[Path(frame.f_code.co_filename).name] += 1
            raise KeyboardInterrupt

    def step() -> None:
        nonlocal done
        invoke(scale(one, 2.0))
        done = 1
        invoke(scale(two, 2.0))
        done = 2
        complete_invokes()
        done = 3

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(4000):
            one.fill(1.0)
            two.fill(1.0)
            is_within, done = number > 3, 0
            try:
                signal.setitimer(signal.ITIMER_REAL, chosen.uniform(1e-6, 6e-5))
                step()
                is_within = False
            except KeyboardInterrupt:
                pass
            is_within = False
            found = [float(one.values.max()), float(two.values.max())]
            known = [[1.0, 1.0], [2.0, 1.0], [2.0, 2.0]][min(done, 2) :]
            assert found in known[:2], (done, found)
    finally:
        is_within = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert outcomes["deferred.py"] > 20


# ---------------------------------------------------------------- the callable


def test_it_looks_like_a_function() -> None:
    assert invoke.__name__ == "invoke"
    assert "Run kernels in order" in str(invoke.__doc__)
    assert [*inspect.signature(invoke).parameters] == ["calls", "name"]
    assert copy.deepcopy({"does": invoke})["does"] is invoke
    if native.COMPILED:
        assert pickle.loads(pickle.dumps(invoke)) is invoke
    with pytest.raises(TypeError, match="unexpected keyword"):
        invoke(scale(*made(1), 2.0), label="x")  # type: ignore[call-arg]


@pytest.mark.parametrize("defer", [False, True])
def test_names_and_callers_are_those_of_the_call(defer: bool) -> None:
    configure(target="numpy", defer=defer)
    (one,) = made(1)
    for _ in range(3):
        for name in ("first", "second"):
            invoke(scale(one, 2.0), name=name)
        invoke(*[scale(one, 0.5), scale(one, 0.5)], name="third")
        before = one.values.max()
        _thread.start_new_thread(invoke, (scale(one, 3.0),))  # without a caller
        end = time.monotonic() + 60.0
        while one.values.max() == before and time.monotonic() < end:
            time.sleep(0.001)
        assert list(map(invoke, [scale(one, 1.0 / 3.0)])) == [None]
    np.testing.assert_allclose(one.values, 1.0)
    with pytest.raises(ValueError, match="cannot name an invoke"):
        invoke(scale(one, 2.0), name="1")


def test_sequences_that_alternate_have_their_own_values() -> None:
    """The queue guesses the next invoke, at the same site and with other arguments as well."""
    configure(distributed=False, defer=True)
    one, two, three = made(3)
    expected = [1.0, 1.0, 1.0]

    def step(at: int, field: Field, by: float) -> None:
        invoke(scale(field, by))
        expected[at] *= by
        if by > 1.0:
            invoke(scale(three, 2.0), name="doubled")
            expected[2] *= 2.0
        invoke(scale(field, 0.5))
        expected[at] *= 0.5

    chosen = random.Random(2)
    for number in range(300):
        at = chosen.randrange(2)
        step(at, (one, two)[at], chosen.choice([0.5, 2.0, 4.0]))
        if chosen.random() < 0.3:
            assert [one.values.max(), two.values.max()] == expected[:2]
        if chosen.random() < 0.05:
            three.fill(1.0)
            expected[2] = 1.0
        if number % 100 == 50:
            one = Field(one.grid, values=expected[0])
        if number % 10 == 0:
            for index, each in enumerate((one, two)):
                each.fill(1.0)
                expected[index] = 1.0
    assert [each.values.max() for each in (one, two, three)] == expected


def test_a_new_tree_replaces_one_with_many_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "_MOST_NODES", 3)
    one, two = made()
    roots = set()
    for number in range(12):
        invoke(scale(one, 2.0))
        if number % 2:
            invoke(scale(two, 2.0))
        invoke(scale(one, 0.5))
        if number % 3 == 0:
            invoke(scale(two, 0.5))
        complete_invokes()
        (queue,) = PROGRAM._deferred
        roots.add(id(queue._root))
        assert queue.pending.state()[0] is queue._root
    assert len(roots) > 1
    assert (one.values.max(), two.values.max()) == (1.0, 4.0)


def test_an_error_of_a_cached_invoke_has_its_notes() -> None:
    configure(target="numpy")
    (one,) = made(1)

    def step() -> None:
        invoke(scale(one, 2.0))

    for _ in range(3):
        step()
    one.start_exchange()
    with pytest.raises(RuntimeError, match="has not been finished"):
        step()
    one.finish_exchange()
    step()
    assert one.values.max() == 16.0


def test_other_options_are_used_from_the_next_call_on() -> None:
    (one,) = made(1)

    def step() -> None:
        invoke(scale(one, 2.0))

    for defer in (True, False, True, False):
        configure(target="numpy", defer=defer)
        for _ in range(3):
            step()
        assert pending() == int(defer)


def test_a_program_and_its_fields_are_collected() -> None:
    (one,) = made(1)
    for _ in range(3):
        invoke(scale(one, 2.0))
    complete_invokes()
    seen = weakref.ref(one)
    del one
    gc.collect()
    assert seen() is None
