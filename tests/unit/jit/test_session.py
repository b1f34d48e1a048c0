"""The session of run-time compilation: threads, interrupts, and sessions next to each other."""

from __future__ import annotations

import gc
import linecache
import os
import subprocess
import sys
import threading
from collections import UserDict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import psyclone_storage
from psyclone_storage.embedded.invoke import GRIDS, RunningProgram, make_invoke
from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_POINTWISE,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    GO_WRITE,
    field,
    kernel,
    scalar,
)
from psyclone_storage.jit import invokes
from psyclone_storage.jit.invokes import builds_of
from psyclone_storage.jit.session import JitSession
from psyclone_storage.languages.python.parse.closure import FunctionReader
from psyclone_storage.runtime import compiling
from psyclone_storage.runtime.gocean import Field, Grid

Invoke = Callable[..., None]
PACKAGE = str(Path(psyclone_storage.__file__).parent)


def factor(by: float) -> float:
    return 2.0 * by


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def grow(new: field[GO_READWRITE, GO_CT, GO_POINTWISE], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = new[0, 0] * factor(by)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def copy(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_POINTWISE]):
    new[0, 0] = old[0, 0] + 1.0


@pytest.fixture(autouse=True)
def _without_disk_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", "")


def begin(**options: Any) -> tuple[RunningProgram, Invoke]:
    """Return a program without compiled invokes, and its `invoke`."""
    program = RunningProgram()
    program.configure({"distributed": False, "target": "numpy", **options})
    return program, make_invoke(GRIDS, program, "invoke")


def fields() -> tuple[Field, Field]:
    grid = Grid((4, 3))
    return Field(grid, values=np.ones((4, 3))), Field(grid, values=np.full((4, 3), 3.0))


def run_grow(invoke: Invoke) -> float:
    new, _ = fields()
    invoke(grow(new, 4.0))
    return float(new.values[1, 1])


def run_copy(invoke: Invoke) -> float:
    new, old = fields()
    invoke(copy(new, old), grow(old, 1.5))
    return float(new.values[1, 1] + 100.0 * old.values[1, 1])


EXPECTED = {run_grow: 8.0, run_copy: 904.0}


def texts(program: RunningProgram) -> set[str]:
    return {one.psy_text for one in builds_of(program.session)}


# ---------------------------------------------------------------- sessions


def test_two_sessions_share_nothing() -> None:
    (one, first), (other, second) = begin(), begin(target="c")
    assert run_grow(first) == 8.0
    assert len(one.session.compiled) == 1
    assert not other.session.compiled
    assert run_grow(second) == 8.0
    assert run_copy(second) == 904.0
    assert [len(program.session.compiled) for program in (one, other)] == [1, 2]
    assert len(one.session.calls) == 1
    assert texts(one).isdisjoint(texts(other))
    ours, theirs = one.session, other.session
    assert ours.options(api="gocean") is ours.options(api="gocean")
    assert ours.options(api="gocean") is not theirs.options(api="gocean")


def test_options_of_one_program_are_not_those_of_another(tmp_path: Path) -> None:
    settings = tmp_path / "own.cfg"
    settings.write_text("[DEFAULT]\nDISTRIBUTED_MEMORY = true\n", encoding="utf-8")
    found = []
    for value in ("true", "false"):
        settings.write_text(f"[DEFAULT]\nDISTRIBUTED_MEMORY = {value}\n", encoding="utf-8")
        program, invoke = begin(distributed=None, config=str(settings))
        assert run_grow(invoke) == 8.0
        (build,) = builds_of(program.session)
        found.append(build.program.invokes[0].schedule.distributed)
    assert found == [True, False]


def test_a_session_has_the_lines_of_its_first_reading() -> None:
    def lines(value: int) -> str:
        return f"def helper(x):\n    return x + {value}\n"

    def enter(text: str) -> None:
        linecache.cache["<session>"] = (len(text), None, text.splitlines(True), "<session>")

    names: dict[str, Any] = {"__name__": "elsewhere"}
    exec(compile(lines(1), "<session>", "exec"), names)
    enter(lines(1))
    early, late = FunctionReader(), FunctionReader()
    before = early.resolve(names["helper"], "psyclone_storage.gocean")
    enter(lines(2))
    assert early.resolve(names["helper"], "psyclone_storage.gocean") is before
    after = late.resolve(names["helper"], "psyclone_storage.gocean")
    assert (before[0].text.text, after[0].text.text) == (lines(1), lines(2))


# ---------------------------------------------------------------- threads


@pytest.fixture
def _many_switches() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def in_threads(*works: Callable[[], Any]) -> list[Any]:
    """Return the results of functions that begin at the same time, or raise what one raises."""
    barrier, results = threading.Barrier(len(works)), [None] * len(works)

    def run(number: int) -> None:
        barrier.wait(60)
        try:
            results[number] = works[number]()
        except BaseException as error:  # noqa: BLE001
            results[number] = error  # type: ignore[call-overload]

    threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a thread waits for another one"
    return results


@pytest.mark.usefixtures("_many_switches")
def test_threads_compile_in_opposite_order() -> None:
    orders = (run_grow, run_copy), (run_copy, run_grow)
    seen = set()
    for _ in range(6):
        program, invoke = begin()

        def both(order: tuple[Any, ...], invoke: Invoke = invoke) -> list[float]:
            return [work(invoke) for _ in range(2) for work in order]

        results = in_threads(*(lambda order=order: both(order) for order in orders))  # type: ignore[misc]
        assert results == [[EXPECTED[work] for work in order] * 2 for order in orders]
        assert len(program.session.compiled) == 2
        seen.add(frozenset(texts(program)))
    assert len(seen) == 1
    assert len(*seen) == 2


@pytest.mark.usefixtures("_many_switches")
def test_threads_that_compute_at_once_get_one_result() -> None:
    session, inside = JitSession(), threading.Barrier(3)

    def compute(_key: str) -> object:
        inside.wait(60)
        return object()

    results = in_threads(*[lambda: session.once(compute, "key")] * 3)
    assert len({id(one) for one in results}) == 1
    assert session.once(compute, "key") is results[0]


def test_an_exception_is_not_cached() -> None:
    session, calls = JitSession(), list[int]()

    def compute(number: int) -> int:
        calls.append(number)
        if len(calls) == 1:
            raise KeyError(number)
        return number

    with pytest.raises(KeyError):
        session.once(compute, 7)
    assert [session.once(compute, 7), session.once(compute, 7)] == [7, 7]
    assert calls == [7, 7]


def test_options_that_change_during_a_start_are_those_of_the_next_invoke() -> None:
    program, invoke = begin()

    class Changing(UserDict[str, Any]):
        """Options that another thread replaces while they are read."""

        def keys(self) -> Any:
            program.configure({"distributed": False, "target": "c"})
            return super().keys()

    program.configure(Changing(distributed=False, target="numpy"))  # type: ignore[arg-type]
    assert run_grow(invoke) == 8.0
    assert run_grow(invoke) == 8.0
    targets = {key[-1].target for key in program.session.compiled}  # type: ignore[index]
    assert targets == {"numpy", "c"}


# ---------------------------------------------------------------- interrupts


class Interrupt:
    """Raises KeyboardInterrupt at call number `at` of a function of the package."""

    def __init__(self, at: int = -1) -> None:
        self.at, self.count = at, 0

    def __call__(self, frame: FrameType, event: str, _arg: Any) -> None:
        code = frame.f_code
        # A generator expression that is only closed would not pass the exception on.
        is_call = event == "call" and code.co_name != "<genexpr>"
        if is_call and code.co_filename.startswith(PACKAGE):
            self.count += 1
            if self.count == self.at:
                sys.settrace(None)
                raise KeyboardInterrupt

    def run(self, work: Callable[[], Any]) -> Any:
        """Return what `work` returns while calls are counted."""
        usual = sys.gettrace()
        sys.settrace(self)
        try:
            return work()
        finally:
            sys.settrace(usual)


def test_an_interrupted_compilation_leaves_nothing_half_made() -> None:
    program, invoke = begin()
    assert run_copy(invoke) == 904.0  # imports are done
    whole, (program, invoke) = Interrupt(), begin()
    assert whole.run(lambda: run_copy(invoke)) == 904.0
    meant = texts(program)
    assert whole.count > 1000
    interrupted = 0
    for part in range(1, 25):
        program, invoke = begin()
        try:
            Interrupt(whole.count * part // 25).run(lambda: run_copy(invoke))  # noqa: B023
        except KeyboardInterrupt:
            interrupted += 1
        for entry in program.session.compiled.values():
            assert entry.build is not None
            assert entry.build.psy_text in meant
        assert run_copy(invoke) == 904.0
        assert run_grow(invoke) == 8.0
        assert meant < texts(program)
    assert interrupted > 20


# ---------------------------------------------------------------- NumPy instead of C


def test_numpy_computes_without_the_compiler_of_cc(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CC", "/nonexistent/gcc")
    monkeypatch.setenv("PSYCLONE_STORAGE_LIBRARIES", str(tmp_path))
    monkeypatch.setattr(compiling, "find_c_compiler", compiling.find_c_compiler.__wrapped__)
    monkeypatch.setattr(compiling, "_identity", compiling._identity.__wrapped__)
    program, invoke = begin(target="")

    def run() -> None:
        assert [run_copy(invoke) for _ in range(2)] == [904.0, 904.0]

    with pytest.warns(UserWarning, match="NumPy, .*CC names '/nonexistent/gcc'") as said:
        run()
    assert [one.filename for one in said] == [__file__]
    assert "held" in builds_of(program.session)[-1].psy_text


MODEL = """
from copy_mod import copy
from psyclone_storage.gocean import *
from psyclone_storage.runtime import compiling
from psyclone_storage.runtime.gocean import Field, Grid

grid = Grid((4, 3))
new, old = Field(grid), Field(grid, values=2.5)
invoke(copy(new, old))
print(new.sum())
"""
COPY = """
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def copy(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0]
"""


def test_a_cached_library_needs_no_compiler(tmp_path: Path) -> None:
    """Compute nodes without a compiler use the library that another node compiled."""
    if compiling.find_c_compiler() is None:
        pytest.skip("no compiler for C")
    (tmp_path / "copy_mod.py").write_text(COPY)
    (tmp_path / "model.py").write_text(MODEL)
    known = {
        **{key: value for key, value in os.environ.items() if key != "CC"},
        **dict.fromkeys(
            ("PSYCLONE_STORAGE_CACHE", "PSYCLONE_STORAGE_LIBRARIES"), str(tmp_path / "cache")
        ),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    for path in (os.environ["PATH"], "/nonexistent"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "model.py"], check=False, capture_output=True,
            text=True, cwd=tmp_path, env={**known, "PATH": path},
        )  # fmt: skip
        assert (done.stdout, done.stderr) == ("30.0\n", "")


@pytest.mark.parametrize("freezes", [False, True])
def test_the_collector_traverses_no_records_after_a_compilation(
    monkeypatch: pytest.MonkeyPatch, freezes: bool
) -> None:
    """The records of the compiler are in the oldest generation, and frozen objects stay frozen."""
    monkeypatch.setattr(invokes, "_frozen_objects", invokes._frozen_objects.__wrapped__)
    (program, invoke), was_frozen = begin(), gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.collect()
    if freezes:
        gc.freeze()
    try:
        assert run_grow(invoke) == 8.0
        assert len(program.session.compiled) == 1
        young = len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1))
        assert gc.isenabled()
        assert (gc.get_freeze_count() > 0) is freezes
        assert freezes or young < 1000
    finally:
        gc.unfreeze()
        if was_frozen:
            gc.freeze()


def test_frozen_objects_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count takes as long as a traversal of all frozen objects."""
    counts = [0, 0, 5]
    count_until_some = cache(invokes._frozen_objects.__wrapped__)
    monkeypatch.setattr(invokes, "_frozen_objects", count_until_some)
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counts.pop(0))
    assert [invokes._has_frozen_objects() for _ in range(5)] == [False, False, True, True, True]


def test_later_compilations_do_not_delay_the_collection_of_cycles() -> None:
    """A program that compiles again and again must not keep its unreachable objects."""
    session = JitSession()
    for number in range(invokes._FIRST):
        session.compiled[number] = None  # type: ignore[assignment]
    gc.collect()
    with invokes._without_collector(session):
        made = [[] for _ in range(50)]
    assert gc.isenabled()
    assert any(one is made[0] for one in gc.get_objects(generation=0))
