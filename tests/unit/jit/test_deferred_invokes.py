"""Deferred invokes: the values are those of invokes that run at once, whatever a program does."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import random
import re
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.results import UnsetResultError
from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import (
    GO_CT,
    GO_CU,
    GO_I_SCALAR,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    GO_WRITE,
    Result,
    complete_invokes,
    configure,
    field,
    invoke,
    kernel,
    maxval_X,
    scalar,
    sum_X,
)
from psyclone_storage.jit import deferrable, deferred, invokes
from psyclone_storage.runtime import profiling
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.storage.core.errors import PoisonedDataError

FACTOR = 2.0
TABLE = (1.0, 2.0, 3.0)
LATER: Any = None
SHAPE = (7, 5)
NESTED: tuple[float, list[float]] = (1.0, [2.0, 3.0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def spread(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")]):
    new[0, 0] = 0.2 * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1] + old[0, 0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def scale(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * new[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def nested(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = NESTED[1][0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def times_factor(new: field[GO_READWRITE, GO_CT]):
    new[0, 0] = FACTOR * new[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def times_later(new: field[GO_READWRITE, GO_CT]):
    new[0, 0] = LATER * new[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def on_u(new: field[GO_READWRITE, GO_CU]):
    new[0, 0] = 1.0


def lower(value):
    return value - 5.0


def higher(value):
    return value + 5.0


shifted = lower


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def shift(new: field[GO_READWRITE, GO_CT]):
    new[0, 0] = shifted(new[0, 0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def pick(new: field[GO_READWRITE, GO_CT], at: scalar[GO_READ, GO_I_SCALAR]):
    new[0, 0] = new[0, 0] + TABLE[at]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def add(new: field[GO_READWRITE, GO_CT], number: scalar[GO_READ, GO_I_SCALAR]):
    new[0, 0] = new[0, 0] + number


@pytest.fixture(autouse=True)
def _usual() -> Iterator[None]:
    configure(target="numpy", defer=True)
    yield
    configure()


def made(count: int = 3, **keywords: Any) -> list[Field]:
    grid = Grid(SHAPE, periodic=(True, True), **keywords)
    values = np.random.default_rng(3).random((count, *SHAPE))
    return [Field(grid, values=one) for one in values]


def pending() -> int:
    """Return the number of pending invokes."""
    return sum(len(one.pending) for one in PROGRAM._deferred)


# ruff: noqa: ARG005
ACTIONS: tuple[Callable[[list[Field], list[Result], random.Random], Any], ...] = (
    lambda f, r, c: invoke(spread(*c.sample(f, 2))),
    lambda f, r, c: invoke(spread(f[0], f[1]), scale(f[0], 1.5)),
    lambda f, r, c: invoke(spread(f[1], f[0]), sum_X(r[0], f[1])),
    lambda f, r, c: invoke(scale(c.choice(f), c.choice([0.5, 1.25, 1.25]))),
    lambda f, r, c: invoke(scale(c.choice(f), r[0])),
    lambda f, r, c: invoke(maxval_X(r[1], c.choice(f))),
    lambda f, r, c: [invoke(spread(f[one], f[one - 1])) for one in (0, 1, 2)],
    lambda f, r, c: c.choice(f).sum(),
    lambda f, r, c: c.choice(f)[1, 2],
    lambda f, r, c: c.choice(f).storage.data_ro[2, 2],
    lambda f, r, c: c.choice(f).__setitem__((1, slice(None)), 0.5),
    lambda f, r, c: c.choice(f).storage.__setitem__(..., 0.25),
    lambda f, r, c: c.choice(f).fill(0.75),
    lambda f, r, c: c.choice(f).exchange(1),
    lambda f, r, c: c.choice(f).is_dirty(),
    lambda f, r, c: float(r[0]),
    lambda f, r, c: setattr(r[0], "value", 0.9),
    lambda f, r, c: pickle.loads(pickle.dumps(c.choice(f))).sum(),
    lambda f, r, c: np.asarray(c.choice(f)).sum(),
    lambda f, r, c: f.reverse(),
    lambda f, r, c: f.__setitem__(0, Field(f[1].grid, values=copy.copy(f[1].values))),
    lambda f, r, c: complete_invokes(),
)  # fmt: skip


def run(seed: int, *, defer: bool, target: str) -> list[Any]:
    """Run a random program, and return all values that it reads and those at the end."""
    configure(target=target, defer=defer)
    chosen, fields, results = random.Random(seed), made(), [Result(1.0), Result(1.0)]
    found: list[Any] = []
    for _ in range(40):
        try:
            value = chosen.choice(ACTIONS)(fields, results, chosen)
        except CompileError as error:
            value = str(error)  # a field that is written is passed twice
        if isinstance(value, float | np.floating):
            found.append(float(value).hex())
    return [*found, *(one.storage.data_ro.tobytes() for one in fields), results[1].value]


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_have_the_same_values(seed: int) -> None:
    assert run(seed, defer=True, target="numpy") == run(seed, defer=False, target="numpy")


def test_a_random_program_in_c_has_the_same_values() -> None:
    assert run(100, defer=True, target="c") == run(100, defer=False, target="c")


def test_a_variable_with_the_name_of_a_local_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = made()
    for step in range(3):
        monkeypatch.setitem(globals(), "by", 1000 * step)
        invoke(scale(fields[0], 0.5))
        invoke(spread(fields[1], fields[0]))
    assert pending() == 2
    assert np.isfinite(fields[1].sum())


def test_time_steps_have_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the second time step on, nothing is compiled or looked up by text."""
    one, two, three = made()
    total, runs = Result(), []
    known = invokes.run_invoke
    monkeypatch.setattr(
        deferred, "run_invoke", lambda *given: runs.append(len(given[1])) or known(*given)
    )
    for _ in range(6):
        invoke(spread(two, one))
        invoke(scale(two, 1.01))
        invoke(spread(three, two))
        invoke(sum_X(total, three))
        invoke(spread(one, three))
        assert pending() == 5
    complete_invokes()
    assert runs == [5]
    assert pending() == 0


def test_an_exception_after_an_invoke_keeps_it_pending() -> None:
    one, two, _ = made()
    before = two.values.copy()

    def step() -> None:
        invoke(scale(two, 3.0))
        invoke(spread(one, two))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        step()
    assert pending() == 2
    np.testing.assert_array_equal(two.values, 3.0 * before)


def test_the_invokes_before_one_with_an_error_run() -> None:
    """The error has the place of the invoke; later ones remain pending."""
    one, two, _ = made()
    first, second = one.values.copy(), two.values.copy()
    invoke(scale(one, 3.0))
    invoke(on_u(one))
    invoke(scale(two, 3.0))
    with pytest.raises((ValueError, CompileError)) as caught:
        one.sum()
    notes = "".join(caught.value.__notes__)
    assert "deferred invoke at " in notes
    assert re.search(
        r"Later invokes are still pending: at \S+test_deferred_invokes.py:\d+\.", notes
    )
    assert pending() == 1
    np.testing.assert_array_equal(one.values, 3.0 * first)
    np.testing.assert_array_equal(two.values, 3.0 * second)
    assert pending() == 0


def test_a_wrong_number_is_an_error_at_its_invoke(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if earlier invokes at this site had other numbers, and if a variable has it."""
    configure(target="c", defer=True)
    grid = Grid(SHAPE, periodic=(True, True))
    one, two, three = (Field(grid, values=1.0) for _ in range(3))
    monkeypatch.setitem(globals(), "FACTOR", 2)
    for number in (1, 2, 2**40, 1):
        invoke(scale(one, 2.0))
        if number == 2**40:
            with pytest.raises(OverflowError, match="32-bit integers"):
                invoke(add(two, number))
        else:
            invoke(add(two, number))
        monkeypatch.setitem(globals(), "FACTOR", 2 if number < 2**40 else number)
        if number == 2**40:
            with pytest.raises(OverflowError, match="32-bit integers"):
                invoke(times_factor(three))
        else:
            invoke(times_factor(three))
    with pytest.raises(TypeError, match="takes a number, not a str"):
        invoke(scale(one, "x"))
    assert [field.values[0, 0] for field in (one, two, three)] == [16.0, 5.0, 8.0]


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_data_of_invokes_that_fail_together_have_no_values(target: str) -> None:
    configure(target=target, defer=True)
    grid = Grid(SHAPE, periodic=(True, True))
    one, two, three = (Field(grid, values=1.0) for _ in range(3))
    total = Result(5.0)
    invoke(scale(one, 2.0))
    invoke(sum_X(total, one))
    invoke(pick(two, 7))
    invoke(scale(three, 2.0))
    with pytest.raises(IndexError, match="'TABLE': index 7 is out of bounds"):
        one.sum()
    for one_of_them in (one, two, three):
        with pytest.raises(PoisonedDataError, match="'TABLE': index 7 is out of bounds"):
            one_of_them.sum()
    with pytest.raises(UnsetResultError, match="'TABLE': index 7 is out of bounds"):
        float(total)
    assert repr(total) == "Result()"


def test_a_wrong_call_is_an_error_where_it_is() -> None:
    one, two, _ = made()
    invoke(scale(one, 2.0))
    with pytest.raises(TypeError, match="takes 2 arguments"):
        invoke(scale(two))
    with pytest.raises(ValueError, match="calls nothing"):
        invoke()
    assert pending() == 1


@pytest.mark.parametrize("sequence", [1, 3])
def test_a_result_without_a_value_concerns_only_its_invoke(sequence: int) -> None:
    """Other invokes run, also if the same ones have been merged before."""
    configure(target="c", defer=True)
    grid = Grid(SHAPE, periodic=(True, True))
    one, two, three = (Field(grid, values=1.0) for _ in range(3))
    for number in range(sequence):
        given, total = Result(2.0) if number < sequence - 1 else Result(), Result()
        invoke(scale(one, 2.0))
        invoke(spread(two, one))
        invoke(scale(three, given))
        invoke(sum_X(total, two))
        invoke(scale(two, total))
        if not given.is_set:
            with pytest.raises(UnsetResultError):
                one.sum()
    assert one[0, 0] == 2.0**sequence
    assert three[0, 0] == 2.0 ** (sequence - 1)
    assert total.value == pytest.approx(2.0**sequence * 35)


def test_a_changed_number_of_a_kernel_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    one, *_ = made()
    before = one.values.copy()
    invoke(times_factor(one))
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    with pytest.raises(deferrable.DeferredInvokeError, match=r"'FACTOR', which .*times_factor"):
        one.sum()
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    np.testing.assert_array_equal(one.values, 2.0 * before)


@pytest.mark.parametrize("rounds", [1, 2])
def test_pending_invokes_of_a_function_with_a_new_definition_are_discarded(
    rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values are those before the invokes, and later invokes use the new function."""
    one, two, _ = made()
    wanted, total = one.values.copy(), Result(-1.0)
    for _ in range(rounds):
        monkeypatch.setitem(globals(), "shifted", lower)
        invoke(scale(two, 3.0))
        two.sum()
        invoke(scale(one, 3.0))
        invoke(shift(one))
        invoke(sum_X(total, one))
        monkeypatch.setitem(globals(), "shifted", higher)
        with pytest.raises(deferrable.DeferredInvokeError, match=r"discard=True"):
            one.sum()
        assert pending() == 3
        complete_invokes(discard=True)
        assert pending() == 0
        assert total.value == -1.0
        np.testing.assert_array_equal(one.values, wanted)
    invoke(shift(one))
    np.testing.assert_array_equal(one.values, wanted + 5.0)


@pytest.mark.parametrize("name", ["FACTOR", "TABLE"])
@pytest.mark.parametrize("rounds", [1, 3])
def test_two_values_of_a_variable_are_an_error_at_the_second_invoke(
    name: str, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The invokes that were pending run after the program has set the first value again."""
    one, two, _ = made()
    wanted = one.values.copy()
    values = {"FACTOR": (2.0, 5.0), "TABLE": ((1.0, 2.0, 3.0), (7.0, 8.0, 9.0))}[name]

    def step(factor: float, added: float, field: Field) -> None:
        invoke(times_factor(field), pick(field, 1))
        wanted[...] = wanted * factor + added

    for value in values * (rounds - 1):  # both values are known
        monkeypatch.setitem(globals(), name, value)
        step(FACTOR, TABLE[1], one)
        complete_invokes()
    monkeypatch.setitem(globals(), name, values[0])
    step(FACTOR, TABLE[1], one)
    monkeypatch.setitem(globals(), name, values[1])
    with pytest.raises(deferrable.DeferredInvokeError, match=rf"'{name}', which .* set it back"):
        invoke(times_factor(two), pick(two, 1))
    assert pending() == 1
    monkeypatch.setitem(globals(), name, values[0])
    complete_invokes()
    monkeypatch.setitem(globals(), name, values[1])
    step(FACTOR, TABLE[1], one)
    np.testing.assert_array_equal(one.values, wanted)


def test_an_equal_number_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    one, *_ = made()
    wanted = one.values.copy()
    for _ in range(3):
        monkeypatch.setitem(globals(), "FACTOR", float("2.0"))
        monkeypatch.setitem(globals(), "TABLE", tuple(map(float, "123")))
        invoke(times_factor(one), pick(one, 1))
        wanted = wanted * 2.0 + 2.0
        monkeypatch.setitem(globals(), "FACTOR", float("2.0"))
        monkeypatch.setitem(globals(), "TABLE", tuple(map(float, "123")))
    np.testing.assert_array_equal(one.values, wanted)
    invoke(times_factor(one))
    monkeypatch.setitem(globals(), "FACTOR", 2)
    with pytest.raises(deferrable.DeferredInvokeError, match="'FACTOR'"):
        one.sum()
    monkeypatch.setitem(globals(), "FACTOR", 2.0)


def test_an_interrupt_before_anything_runs_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one, *_ = made()
    before = one.values.copy()
    invoke(scale(one, 3.0))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(deferred, "run_invoke", interrupted)
        with pytest.raises(KeyboardInterrupt):
            one.sum()
    np.testing.assert_array_equal(one.values, 3.0 * before)


def test_two_grids_are_not_merged() -> None:
    (one, *_), (other, *_) = made(), made()
    first, second = one.values.copy(), other.values.copy()
    invoke(scale(one, 3.0))
    invoke(scale(other, 3.0))
    assert pending() == 1
    np.testing.assert_array_equal(other.values, 3.0 * second)
    np.testing.assert_array_equal(one.values, 3.0 * first)


def test_a_field_that_the_program_deletes_is_collected_afterwards() -> None:
    one, two, _ = made()
    watched = weakref.ref(two)
    invoke(scale(two, 2.0))
    invoke(spread(one, two))
    wanted = None
    del two, _
    gc.collect()
    assert one.sum() != wanted
    gc.collect()
    assert pending() == 0
    assert watched() is None


def test_another_thread_gets_the_values() -> None:
    one, two, _ = made()
    wanted = 3.0 * two.values
    invoke(scale(two, 3.0))
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(two.values.copy()))
    thread.start()
    thread.join(60.0)
    np.testing.assert_array_equal(found[0], wanted)
    for _ in range(3):
        threads = [threading.Thread(target=lambda: invoke(scale(one, 1.0))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60.0)
    assert np.isfinite(one.sum())


def test_the_queue_has_a_limit() -> None:
    one, *_ = made()
    before = one.values.copy()
    text = "\n".join(f"invoke(scale(one, {1.0 + number % 2}))" for number in range(100))
    exec(text, {"invoke": invoke, "scale": scale, "one": one})
    assert 0 < pending() <= deferrable.MOST
    np.testing.assert_array_equal(one.values, before * 2.0**50)


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "1 / 0", "os.fork() or os._exit(7)"])
def test_pending_invokes_run_at_the_end_of_the_program(end: str, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import os\n"
        "from psyclone_storage.gocean import *\n"
        "from psyclone_storage.runtime.gocean import Field, Grid\n\n\n"
        "class Shown(Field):\n"
        "    def set_dirty(self):\n"
        "        super().set_dirty()\n"
        "        print('ran', os.getpid() == parent, flush=True)\n\n\n"
        "@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def double(new: field[GO_READWRITE, GO_CT]):\n"
        "    new[0, 0] = 2.0 * new[0, 0]\n\n\n"
        "parent = os.getpid()\n"
        "configure(target='numpy', defer=True)\n"
        "height = Shown(Grid((4, 3)), values=1.0)\n"
        "invoke(double(height))\n"
        f"print('pending', flush=True)\n{end}\n"
    )
    paths = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "model.py"], check=False, capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    lines = done.stdout.split("\n")
    assert lines[lines.index("pending") + 1] == "ran True", done.stderr
    assert done.stdout.count("ran") == 1


def test_other_options_apply_to_later_invokes() -> None:
    one, *_ = made()
    invoke(scale(one, 2.0))
    configure(target="numpy")
    assert pending() == 0
    invoke(scale(one, 2.0))
    assert pending() == 0


def test_kernels_in_fortran_and_numbers_of_modules_are_seen() -> None:
    module = ModuleType("numbers_of_model")
    module.step = 2.0  # type: ignore[attr-defined]
    names = {"module": module, "array": np.zeros(3), "FACTOR": 1.0, "text": "x"}
    function = eval("lambda: module.step + FACTOR + array[0]", names)
    found = {
        name for _, name in deferrable.variables_in(function, "module.step + FACTOR + array[0]")
    }
    assert found == {"step", "FACTOR"}


def test_merged_invokes_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    (first, second, _), others = made(), made()
    configure(target="numpy", defer=True, explain=True)
    for _ in range(3):
        invoke(spread(second, first), name="east")
        invoke(scale(second, 0.5))
    invoke(spread(others[0], others[1]))
    second.sum()
    others[0].sum()
    configure(target="numpy", explain=True)
    invoke(spread(second, first), name="alone")
    said = capsys.readouterr().err
    heads = [line for line in said.splitlines() if "deferred invoke" in line]
    file = Path(__file__).name
    assert len(heads) == 2
    assert heads[0].startswith("2 deferred invokes were merged; the next ones were not, because")
    assert f"{file}:" in heads[0]
    assert heads[0].endswith("was pending already:")
    assert heads[1].startswith("One deferred invoke was not merged with others, because")
    assert f"the program needs a value at {__file__}:" in heads[1]
    assert re.search(rf"{file}:\d+  east: spread\n  \S*{file}:\d+  scale\n", said)
    assert "invoke_east: 1 halo exchange" in said
    assert re.search(rf"The invoke at \S*{file}:\d+:\ninvoke_alone: ", said)


def test_profiles_name_the_lines_of_merged_invokes(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = profiling.Profiler()
    monkeypatch.setattr(profiling, "profiler", counted)
    monkeypatch.setattr("atexit.register", lambda *_: None)
    monkeypatch.setattr(profiling.Requests, "start", profiling.Requests.start)
    configure(target="numpy", profile="invokes", defer=True)
    values = Field(Grid(SHAPE, boundaries="closed"), values=1.0)
    line = sys._getframe().f_lineno
    invoke(scale(values, 2.0))
    invoke(scale(values, 3.0), scale(values, 4.0))
    assert values.max() == 24.0
    for _ in range(2):
        invoke(scale(values, 0.5), name="half")
        invoke(scale(values, 2.0), name="half")
    assert values.max() == 24.0
    configure()
    module = "test_deferred_invokes_psy:invoke"
    assert list(counted.regions) == [
        f"{module}_lines_{line + 1}_{line + 2}-r0",
        f"{module}_half_half_lines_{line + 5}_{line + 6}-r0",
    ]


def test_a_changed_list_in_a_tuple_is_noticed() -> None:
    values = Field(Grid(SHAPE, boundaries="closed"), values=1.0)
    configure(target="numpy")
    for defer in (False, True):
        configure(target="numpy", defer=defer)
        for number in (5.0, 7.0):
            NESTED[1][0] = number
            invoke(nested(values))
            assert values[0, 0] == number


def test_a_number_may_replace_what_no_kernel_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    values = Field(Grid(SHAPE, boundaries="closed"), values=1.0)
    configure(target="numpy")
    for _ in range(2):
        with pytest.raises(CompileError, match="A kernel cannot read 'LATER': it is None"):
            invoke(times_later(values))
    monkeypatch.setitem(globals(), "LATER", 3.0)
    invoke(times_later(values))
    assert values[0, 0] == 3.0
