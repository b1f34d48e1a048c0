"""Deferred invokes that are repeated: the queue recognizes them, and values are those of no queue.

From the second time step on, an invoke is found by the cache of its call site. Each test changes
something then.
"""

from __future__ import annotations

import gc
import linecache
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
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
    GO_STENCIL,
    GO_WRITE,
    Result,
    complete_invokes,
    configure,
    field,
    invoke,
    kernel,
    scalar,
    sum_X,
)
from psyclone_storage.jit import _pure, deferrable, deferred, native
from psyclone_storage.runtime.gocean import Field, Grid

FACTOR = 2.0
Step = Callable[[list[Field], int], None]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def spread(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")]):
    new[0, 0] = 0.2 * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1] + old[0, 0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def scale(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * new[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def times_factor(new: field[GO_READWRITE, GO_CT]):
    new[0, 0] = FACTOR * new[0, 0]


def halved(x):  # type: ignore[no-untyped-def]
    return 0.5 * x


def doubled(x):  # type: ignore[no-untyped-def]
    return 2.0 * x


changed = halved


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def by_a_function(new: field[GO_READWRITE, GO_CT]):
    new[0, 0] = changed(new[0, 0])


@pytest.fixture(autouse=True)
def _usual() -> Iterator[None]:
    yield
    configure()


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets an item for each invoke that the queue did not know."""
    found: list[int] = []
    original = deferred.invoke_of

    def invoke_of(*given: Any) -> Any:
        found.append(1)
        return original(*given)

    monkeypatch.setattr(deferred, "invoke_of", invoke_of)
    return found


def made(count: int = 4) -> list[Field]:
    grid = Grid((7, 5), periodic=(True, True))
    values = np.random.default_rng(3).random((count, 7, 5))
    return [Field(grid, values=one) for one in values]


def pending() -> int:
    return sum(len(one.pending) for one in PROGRAM._deferred)


def computed(step: Step, *, defer: bool, target: str) -> list[bytes]:
    """Return the values of all fields after eight time steps."""
    configure(target=target, defer=defer)
    fields = made()
    for number in range(8):
        step(fields, number)
    return [one.values.tobytes() for one in fields]


def other_field(f: list[Field], number: int) -> None:
    invoke(spread(f[1], f[0]))
    invoke(scale(f[3] if number == 5 else f[1], 1.25))
    invoke(spread(f[0], f[1]))


def other_number(f: list[Field], number: int) -> None:
    invoke(scale(f[0], 1.0 + number / 4.0))
    invoke(spread(f[1], f[0]), scale(f[1], 0.5 if number < 6 else 0.75))
    invoke(scale(f[0], 2 if number == 4 else 2.0))


def numbers_that_were_equal(f: list[Field], number: int) -> None:
    by = 1.5
    invoke(scale(f[0], by))
    if number > 4:
        by = 0.75
    invoke(scale(f[1], by))


def other_last_call(f: list[Field], number: int) -> None:
    invoke(spread(f[1], f[0]))
    invoke(scale(f[1], 1.25))
    if number == 5:
        invoke(scale(f[0], 0.5))
    else:
        invoke(spread(f[0], f[1]))


def fewer_calls(f: list[Field], number: int) -> None:
    invoke(spread(f[1], f[0]))
    if number % 3:
        invoke(scale(f[1], 1.25))
    invoke(spread(f[0], f[1]))
    if number == 6:
        f[0].fill(0.25)


def time_levels(f: list[Field], _: int) -> None:
    invoke(spread(f[1], f[0]))
    invoke(scale(f[1], 1.25), spread(f[2], f[1]))
    f[0], f[1], f[2] = f[2], f[0], f[1]


def a_value_in_between(f: list[Field], number: int) -> None:
    total = Result()
    invoke(spread(f[1], f[0]))
    invoke(sum_X(total, f[1]))
    if number in (3, 6):
        f[2].fill(float(total))
    invoke(scale(f[1], 1.25))
    invoke(spread(f[0], f[1]))


def an_exception(f: list[Field], number: int) -> None:
    try:
        invoke(spread(f[1], f[0]))
        assert 1 / (number - 5)
        invoke(scale(f[1], 1.25))
    except ZeroDivisionError:
        invoke(scale(f[1], 0.5))
    invoke(spread(f[0], f[1]))


def other_options(f: list[Field], number: int) -> None:
    invoke(spread(f[1], f[0]))
    if number == 5:
        target, defers = PROGRAM.options["target"], PROGRAM.defers
        configure(target=target, defer=False)
        invoke(scale(f[1], 1.25))
        configure(target=target, defer=defers)
    invoke(scale(f[1], 1.25))
    invoke(spread(f[0], f[1]))


STEPS = (other_field, other_number, numbers_that_were_equal, other_last_call, fewer_calls,
         time_levels, a_value_in_between, an_exception, other_options)  # fmt: skip


@pytest.mark.parametrize("target", ["numpy", "c"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_values_are_those_of_invokes_that_run_at_once(
    step: Step, target: str, learned: list[int]
) -> None:
    found = computed(step, defer=True, target=target)
    assert 0 < len(learned) < 21
    assert found == computed(step, defer=False, target=target)


def test_a_changed_number_of_a_module_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may change between time steps, but not while an invoke that reads it is pending."""
    configure(target="numpy", defer=True)
    one, *_ = made()
    before = one.values.copy()
    for factor in (2.0, 2.0, 2.0, 4.0, 4.0, 0.5):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        invoke(times_factor(one))
        complete_invokes()
    np.testing.assert_array_equal(one.values, 64.0 * before)
    invoke(times_factor(one))
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    with pytest.raises(deferrable.DeferredInvokeError, match="'FACTOR', which"):
        one.sum()
    monkeypatch.setitem(globals(), "FACTOR", 0.5)
    np.testing.assert_array_equal(one.values, 32.0 * before)


def test_a_changed_function_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(target="numpy", defer=True)
    one, *_ = made()
    before = one.values.copy()
    for function in (halved, halved, halved, doubled, doubled, halved):
        monkeypatch.setitem(globals(), "changed", function)
        invoke(by_a_function(one))
        complete_invokes()
    np.testing.assert_array_equal(one.values, 0.25 * before)


def test_an_error_of_a_repeated_sequence_loses_no_earlier_invoke() -> None:
    """A field is in use when the sequence runs: nothing has run then, and the first one can."""
    configure(target="numpy", defer=True)
    one, two, *_ = made()
    first, second = one.values.copy(), two.values.copy()
    for _ in range(3):
        invoke(scale(one, 2.0))
        invoke(scale(two, 2.0))
        complete_invokes()

    def step() -> None:
        invoke(scale(one, 2.0))
        invoke(scale(two, 2.0))

    for _ in range(3):
        step()
        complete_invokes()
    known = two.under_way
    two.check_idle = _refuse  # type: ignore[method-assign]
    two.under_way = (0, (), 0)  # type: ignore[assignment]
    step()
    with pytest.raises(ArithmeticError, match="in use") as caught:
        complete_invokes()
    two.under_way = known
    assert "deferred invoke at" in "".join(caught.value.__notes__)
    assert pending() == 0
    np.testing.assert_array_equal(one.values, first * 2.0**7)
    np.testing.assert_array_equal(two.values, second * 2.0**6)


def _refuse() -> None:
    raise ArithmeticError("in use")


def test_an_interrupt_at_any_line_of_the_queue_changes_no_value() -> None:
    """The interrupted statement has its whole effect or none, and each other invoke runs once."""
    configure(distributed=False, defer=True)
    grid = Grid((4, 3), (1.0, 1.0))
    one, other = Field(grid, values=np.ones((4, 3))), Field(grid, values=np.ones((4, 3)))
    sources = {deferred.__file__, deferrable.__file__, _pure.__file__}
    effects: list[int] = []

    def step(at: int) -> bool:
        """Do a time step, which is interrupted at a line; return whether there is such a line."""
        count = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal count
            if frame.f_code.co_filename not in sources:
                return None if event == "call" else trace
            # CPython handles no signal in lines that only take or release a lock.
            text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
            is_point = event == "line" and not text.startswith(("with ", "try:"))
            count += is_point
            if is_point and count == at:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        values, done = [1.0], 0
        invoke(scale(one, 1.0))
        complete_invokes()
        one.fill(1.0)
        other.fill(1.0)
        sys.settrace(trace)
        try:
            invoke(scale(one, 2.0))
            done = 1
            invoke(scale(other, 3.0))
            done = 2
            invoke(scale(one, 5.0))
            done = 3
            one.values  # noqa: B018  # pylint: disable=pointless-statement
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        values = [float(one.values[1, 1]), float(other.values[1, 1])]
        effects.append(done)
        expected = [[1.0, 1.0], [2.0, 1.0], [2.0, 3.0], [10.0, 3.0]]
        assert values in expected[done : done + 2], (at, done, values)
        return count >= at > 0

    for _ in range(3):
        step(0)
    at = 1
    while step(at):
        at += 1
    assert at > 30
    # In C, an invoke of a known sequence executes no lines, except the first one.
    assert set(effects) >= ({0, 3} if native.COMPILED else {0, 1, 2, 3})


def test_a_field_that_the_program_deletes_is_collected() -> None:
    configure(target="numpy", defer=True)
    one, two, *_ = made()
    for _ in range(4):
        invoke(scale(two, 2.0))
        invoke(spread(one, two))
    complete_invokes()
    watched = weakref.ref(two)
    del two, _
    gc.collect()
    assert watched() is None
    before = one.values.copy()
    for _ in range(40):  # some get the address of a field that is gone
        two = Field(one.grid, values=1.0)
        invoke(scale(two, 2.0))
        invoke(spread(one, two))
        del two
    assert not np.array_equal(one.values, before)
    np.testing.assert_allclose(one.values, 2.0)


def test_two_threads_repeat_a_sequence() -> None:
    configure(target="c", defer=True)
    fields = made(2)
    before = [one.values.copy() for one in fields]
    problems: list[BaseException] = []

    def steps(one: Field) -> None:
        try:
            for number in range(200):
                invoke(scale(one, 2.0))
                invoke(scale(one, 0.5))
                if number % 7 == 0:
                    one.sum()
        except BaseException as error:  # noqa: BLE001
            problems.append(error)

    threads = [threading.Thread(target=steps, args=(one,)) for one in fields]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120.0)
    assert not problems
    for one, values in zip(fields, before, strict=True):
        np.testing.assert_array_equal(one.values, values)
