"""Functors that a device does later come to the same in all orders of its queues.

Results, errors and warnings are those of when the functor was given, and no error is lost.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage import kokkos
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import PoisonedDataError, ViewIndexError
from psyclone_storage.storage.kokkos import KOKKOS_LAMBDA, Cuda, CudaSpace, HostSpace, RangePolicy
from psyclone_storage.storage.kokkos.view_kernel import NotTogetherError
from psyclone_storage.storage.memory.queues import DeviceQueue
from psyclone_storage.storage.memory.races import RACES
from unit.storage.core.test_retired_queues import allocation, use

ORDERS = ["late", "eager", "shuffled", "shuffled again", ""]


@pytest.fixture(autouse=True, params=["late"])
def order(request: pytest.FixtureRequest, _emulated: None) -> str:
    """Put devices in place whose queues work in an order."""
    use_device("emulated", Emulation(order=request.param))
    return request.param


def view(values: Any, kind: str = "double") -> Any:
    array = np.asarray(values)
    found = kokkos.View[kind + "*" * array.ndim, CudaSpace]("v", *array.shape)
    kokkos.deep_copy(found, array.astype(found.dtype))
    return found


def numbers(of: Any) -> Any:
    return np.asarray(kokkos.create_mirror_view_and_copy(HostSpace, of)).tolist()


def over(count: int, body: Callable[..., None]) -> None:
    kokkos.parallel_for(RangePolicy[Cuda](0, count), KOKKOS_LAMBDA(body))


# -- what a functor has of the host ----------------------------------------------------------------


def an_array_for_each_index(held: Any) -> Any:
    target = view([0.0] * 4)
    with pytest.raises(NotTogetherError, match="more numbers than places"):
        over(4, lambda i: target.__setitem__(i, held))
    return numbers(target)


def an_array_that_is_added_up(held: Any) -> Any:
    bins = kokkos.View["double*", CudaSpace, kokkos.Atomic]("bins", 4)

    def body(i: Any) -> None:
        bins[i] += held

    with pytest.raises(NotTogetherError, match="more numbers than places"):
        over(4, body)
    return numbers(bins)


def one_number_of_an_array(held: Any) -> Any:
    target = view([0.0] * 4)
    over(4, lambda i: target.__setitem__(i, held[1] * i + np.asarray(held[2])))
    return target


def an_array_without_dimensions(held: Any) -> Any:
    target, one = view([0.0] * 4), held[1:2].reshape(())
    over(4, lambda i: target.__setitem__(i, target(i) + one))
    return target


def an_object_that_computes(held: Any) -> Any:
    target, part = view([0.0] * 4), Fraction(int(held[3]), 8)
    over(4, lambda i: target.__setitem__(i, target(i) + i * float(part)))
    return target


HELD: list[tuple[Callable[..., Any], list[float]]] = [
    (an_array_for_each_index, [0.0] * 4),
    (an_array_that_is_added_up, [0.0] * 4),
    (one_number_of_an_array, [3.0, 5.0, 7.0, 9.0]),
    (an_array_without_dimensions, [2.0] * 4),
    (an_object_that_computes, [0.0, 0.5, 1.0, 1.5]),
]


@pytest.mark.parametrize("kind", ["double", "int32"])
@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_what_a_functor_has_of_the_host_is_as_it_was_then(kind: str) -> None:
    for body, expected in HELD:
        held = np.array([1, 2, 3, 4], kind)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = body(held)
            held[:] = 100
            assert (found if isinstance(found, list) else numbers(found)) == expected


@pytest.mark.parametrize("at_once", [False, True])
def test_places_do_not_wrap_in_the_type_of_an_index(at_once: bool) -> None:
    where, table = view([0, 20, 40], "short"), view(np.arange(64_000.0).reshape(64, 1000))
    target = view([0.0] * 3)

    def body(i: Any) -> None:
        target[i] = table(where(i), 5)

    if at_once:
        where, table, target = (
            kokkos.create_mirror_view_and_copy(HostSpace, one) for one in (where, table, target)
        )
        kokkos.parallel_for(3, KOKKOS_LAMBDA(body))
    else:
        over(3, body)
    assert numbers(target) == [5.0, 20005.0, 40005.0]


# -- what fails ------------------------------------------------------------------------------------


def fail_later() -> Any:
    where, target = view([0, 1, 9], "int"), view([0.0] * 3)
    over(3, lambda i: target.__setitem__(where(i), i + 1.0))
    return target


@pytest.mark.parametrize("fence", [kokkos.fence, Cuda.fence, kokkos.finalize])
@pytest.mark.parametrize("order", ORDERS, indirect=True)
def test_a_fence_tells_what_failed_once(fence: Callable[[], None]) -> None:
    target = fail_later()
    with pytest.raises(ViewIndexError, match="An index is 9, of a dimension of 3") as told:
        fence()
    assert any(f"{__file__}:" in note for note in told.value.__notes__)
    fence()
    over(3, lambda i: target.__setitem__(i, 4.0))
    assert numbers(target) == [4.0] * 3


@pytest.mark.parametrize("order", ORDERS, indirect=True)
@pytest.mark.usefixtures("order")
def test_what_a_reader_was_told_of_is_no_news_to_a_fence() -> None:
    target = fail_later()
    for _ in range(2):
        with pytest.raises((ViewIndexError, PoisonedDataError), match="An index is 9"):
            numbers(target)
    kokkos.fence()
    with pytest.raises(PoisonedDataError):
        over(2, lambda i: target.__setitem__(i, 4.0))
    over(3, lambda i: target.__setitem__(2 - i, 1.0 * i))
    assert numbers(target) == [2.0, 1.0, 0.0]
    over(3, lambda i: target.__setitem__(i, target(i) + 1.0))
    assert numbers(target) == [3.0, 2.0, 1.0]


def test_a_functor_that_writes_less_mends_nothing() -> None:
    for body in (
        lambda t, _: t.__setitem__(0, 1.0),
        lambda t, i: t.__setitem__(i, t(i) * 0),
        lambda t, i: t.__setitem__(i % 2, 0.0),
    ):
        target = fail_later()
        over(3, lambda i, t=target, body=body: body(t, i))
        with pytest.raises(ViewIndexError):
            numbers(target)


def test_a_fence_waits_for_all_and_tells_all() -> None:
    fail_later()
    target = view([1.0, 0.0])
    with np.errstate(divide="raise"):
        over(2, lambda i: target.__setitem__(i, 1.0 / target(i)))
    with pytest.raises(ViewIndexError) as told:
        kokkos.fence()
    assert "FloatingPointError" in told.value.__notes__[-1]
    kokkos.fence()


ENDING = """
import psyclone_storage.storage as gt
from psyclone_storage.storage import kokkos
from psyclone_storage.storage.kokkos import KOKKOS_LAMBDA, Cuda, CudaSpace, RangePolicy
gt.use_device("emulated", gt.Emulation(order="late"))
where, target = (kokkos.View["int*", CudaSpace](label, 3) for label in ("where", "target"))
kokkos.deep_copy(where, 9)
@KOKKOS_LAMBDA
def body(i):
    target[where(i)] = i
kokkos.parallel_for(RangePolicy[Cuda](0, 3), body)
{then}
del target, where, body
"""


def ended(then: str) -> subprocess.CompletedProcess[str]:
    """Return how a program ends whose work on a device fails, and which then does something."""
    words = [sys.executable, "-c", ENDING.replace("{then}", then)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    "then",
    ["", "raise SystemExit(0)", "import atexit, sys; atexit.register(print, 'late', flush=True)"],
)
def test_the_end_of_a_program_tells_what_failed(then: str) -> None:
    """Its exit status says so, and what else is to be done at the end is done."""
    end = ended(then)
    assert "nobody was told" in end.stderr
    assert "ViewIndexError: An index is 9, of a dimension of 3" in end.stderr
    assert (end.returncode, end.stdout) == (120, "late\n" * ("late" in then))


def test_the_end_of_a_program_says_nothing_again() -> None:
    end = ended("try:\n    kokkos.fence()\nexcept Exception:\n    print('told')")
    assert (end.returncode, end.stdout, end.stderr) == (0, "told\n", "")


# -- what is warned of -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS, indirect=True)
@pytest.mark.usefixtures("order")
def test_warnings_are_those_that_were_wanted_then() -> None:
    line = 0

    def divided(action: str) -> tuple[Any, list[warnings.WarningMessage]]:
        nonlocal line
        target = view([1.0, 0.0])
        with warnings.catch_warnings(record=True) as early:
            warnings.simplefilter(action)  # type: ignore[arg-type]
            line = sys._getframe().f_lineno + 1
            kokkos.parallel_for(RangePolicy[Cuda](0, 2), KOKKOS_LAMBDA(lambda i: body(target, i)))
        with warnings.catch_warnings(record=True) as late:
            warnings.simplefilter("error" if action == "always" else "always")
            try:
                found = numbers(target)
            except (RuntimeWarning, PoisonedDataError) as error:
                found = error.__cause__ or error
        return found, [*early, *late]

    def body(target: Any, i: Any) -> None:
        target[i] = 1.0 / target(i)

    assert divided("ignore") == ([1.0, np.inf], [])
    found, told = divided("always")
    assert found == [1.0, np.inf]
    (one,) = told
    assert str(one.message) == "divide by zero encountered in divide"
    assert (one.category, one.filename, one.lineno) == (RuntimeWarning, __file__, line)
    found, told = divided("error")
    assert (repr(found), told) == ("RuntimeWarning('divide by zero encountered in divide')", [])


@pytest.mark.parametrize("order", ["late", "eager"], indirect=True)
@pytest.mark.usefixtures("order")
def test_filters_for_a_text_and_conditions_that_are_logged() -> None:
    target, lines = view([1.0, 0.0]), []

    class Log:
        def write(self, text: str) -> None:
            lines.append(text)

    with warnings.catch_warnings(), np.errstate(divide="warn", invalid="log", call=Log()):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="divide by zero .* floor_divide")
        over(2, lambda i: target.__setitem__(i, (1.0 // target(i)) * 0.0))
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
