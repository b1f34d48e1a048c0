"""Tests that each failure and warning of queued work is reported once.

The warning filters at the time of submission decide what is reported.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage import kokkos
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import PoisonedDataError, ViewIndexError
from psyclone_storage.storage.gdp.binding import LaunchBlock
from psyclone_storage.storage.kokkos import Cuda
from psyclone_storage.storage.memory.queues import DeviceQueue
from psyclone_storage.storage.memory.races import RACES
from unit.storage.core.test_retired_queues import allocation, use

ORDERS = ["late", "eager", "shuffled", "shuffled again", ""]


@pytest.fixture(autouse=True, params=["late"])
def order(request: pytest.FixtureRequest, _emulated: None) -> str:
    """Select emulated devices with the given execution order."""
    use_device("emulated", Emulation(order=request.param))
    return request.param


def field(*values: float) -> Any:
    made = gt.empty((len(values),), device="gpu")
    made[...] = np.array(values)
    return made


def numbers(of: Any) -> Any:
    return of.data_ro.tolist()


def launch(work: Callable[[Any], object], target: Any) -> None:
    block = LaunchBlock({"target": target}, "gpu", ("target",))
    with block as arrays:
        block.start(lambda: work(arrays["target"]), tuple(chain(*block.uses())))


def fail(_: Any) -> None:
    raise ViewIndexError("An index is 9, of a dimension of 3 elements.")


def fail_later() -> Any:
    target = field(0.0, 0.0, 0.0)
    launch(fail, target)
    return target


@pytest.mark.parametrize("fence", [kokkos.fence, Cuda.fence, kokkos.finalize])
@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_a_fence_reports_what_failed_once(fence: Callable[[], None]) -> None:
    target = fail_later()
    with pytest.raises(ViewIndexError, match="An index is 9, of a dimension of 3") as told:
        fence()
    assert any(f"{__file__}:" in note for note in told.value.__notes__)
    fence()
    target[...] = 4.0
    assert numbers(target) == [4.0] * 3


@pytest.mark.parametrize("order", ORDERS, indirect=True)
@pytest.mark.usefixtures("order")
def test_a_fence_does_not_report_what_a_reader_received() -> None:
    target = fail_later()
    for _ in range(2):
        with pytest.raises((ViewIndexError, PoisonedDataError), match="An index is 9"):
            numbers(target)
    kokkos.fence()
    with pytest.raises(PoisonedDataError):
        launch(lambda array: array.__setitem__(0, 4.0), target)
    target[...] = np.array([2.0, 1.0, 0.0])
    launch(lambda array: np.add(array, 1.0, out=array), target)
    assert numbers(target) == [3.0, 2.0, 1.0]


def test_a_fence_waits_for_all_and_reports_all() -> None:
    fail_later()
    target = field(1.0, 0.0)
    with np.errstate(divide="raise"):
        launch(lambda array: np.divide(1.0, array, out=array), target)
    with pytest.raises(ViewIndexError) as told:
        kokkos.fence()
    assert "FloatingPointError" in told.value.__notes__[-1]
    kokkos.fence()


ENDING = """
from itertools import chain
import psyclone_storage.storage as gt
from psyclone_storage.storage import kokkos
from psyclone_storage.storage.gdp.binding import LaunchBlock
gt.use_device("emulated", gt.Emulation(order="late"))
target = gt.zeros((3,), device="gpu")
def fail():
    raise IndexError("An index is 9.")
block = LaunchBlock({"target": target}, "gpu", ("target",))
with block:
    block.start(fail, tuple(chain(*block.uses())))
{then}
del target, block
"""


def ended(then: str) -> subprocess.CompletedProcess[str]:
    """Return the result of a program whose device work fails, and which then executes `then`."""
    words = [sys.executable, "-c", ENDING.replace("{then}", then)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "then",
    ["", "raise SystemExit(0)", "import atexit, sys; atexit.register(print, 'late', flush=True)"],
)
def test_the_end_of_a_program_reports_what_failed(then: str) -> None:
    """The exit status is 120, and other exit handlers are executed."""
    end = ended(then)
    assert "no call has reported it" in end.stderr
    assert "IndexError: An index is 9." in end.stderr
    assert (end.returncode, end.stdout) == (120, "late\n" * ("late" in then))


def test_the_end_of_a_program_reports_nothing_again() -> None:
    end = ended("try:\n    kokkos.fence()\nexcept Exception:\n    print('told')")
    assert (end.returncode, end.stdout, end.stderr) == (0, "told\n", "")


# -- warnings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS, indirect=True)
@pytest.mark.usefixtures("order")
def test_warnings_follow_the_filters_at_submission() -> None:
    def divided(action: str) -> tuple[Any, list[warnings.WarningMessage]]:
        target = field(1.0, 0.0)
        with warnings.catch_warnings(record=True) as early:
            warnings.simplefilter(action)  # type: ignore[arg-type]
            launch(lambda array: np.divide(1.0, array, out=array), target)
        with warnings.catch_warnings(record=True) as late:
            warnings.simplefilter("error" if action == "always" else "always")
            try:
                found = numbers(target)
            except (RuntimeWarning, PoisonedDataError) as error:
                found = error.__cause__ or error
        return found, [*early, *late]

    assert divided("ignore") == ([1.0, np.inf], [])
    found, told = divided("always")
    assert found == [1.0, np.inf]
    (one,) = told
    assert str(one.message) == "divide by zero encountered in divide"
    assert (one.category, one.filename) == (RuntimeWarning, __file__)
    found, told = divided("error")
    assert (repr(found), told) == ("RuntimeWarning('divide by zero encountered in divide')", [])


@pytest.mark.parametrize("order", ["late", "eager"], indirect=True)
@pytest.mark.usefixtures("order")
def test_filters_for_a_text_and_conditions_that_are_logged() -> None:
    target, lines = field(1.0, 0.0), []

    class Log:
        def write(self, text: str) -> None:
            lines.append(text)

    def work(array: Any) -> None:
        np.multiply(1.0 // array, 0.0, out=array)

    with warnings.catch_warnings(), np.errstate(divide="warn", invalid="log", call=Log()):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="divide by zero .* floor_divide")
        launch(work, target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = numbers(target)
    assert found[0] == 0.0
    assert np.isnan(found[1])
    assert lines == ["Warning: invalid value encountered in multiply\n"]


# -- queues that are gone --------------------------------------------------------------------------


def test_a_queue_that_went_with_its_work_gives_its_place_up() -> None:
    agents = len(RACES.agents)
    for _ in range(20):
        queue = DeviceQueue("lost", set())
        queue.put("kernel", (use(allocation(), wrote=True),), lambda: None)
        del queue
    gc.collect()
    last = DeviceQueue("last", set())
    last.put("kernel", (), lambda: None)
    last.finish()
    assert len(RACES.agents) <= agents + 1
    assert not RACES.gone
