"""Tests of elements and arithmetic of `LArray`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from psyclone_storage.storage.hmemo import (
    Context,
    DispatchedKernel,
    HArray,
    LArray,
    ReadAccess,
    WriteAccess,
)
from psyclone_storage.storage.hmemo.larray import MULTIPLY, _outside

CUDA = "node:0:device:0"


def places(array: HArray) -> list[str]:
    return [d.memory.space.tag for d in array.incarnations() if d.valid]


@pytest.mark.spec("HM-87")
def test_an_larray_is_an_harray(host: Context, cuda: Context) -> None:
    array = LArray(4, host, 1.0)
    assert isinstance(array, HArray)
    assert set(HArray.__slots__) == set(LArray.__slots__)
    with WriteAccess(array, cuda, 6) as access:
        access.get()[:] = 2.0
    assert np.asarray(array).tolist() == [2.0] * 6


@pytest.mark.spec("HM-88")
@pytest.mark.parametrize("dtype", ["f4", "i8", "c16", "f8"])
def test_values_are_converted_where_they_are(dtype: str, cuda: Context) -> None:
    source = HArray([1.25, -2.75, 3.0], cuda)
    converted = LArray(source, dtype=dtype)
    assert converted.dtype == np.dtype(dtype)
    assert places(converted) == [CUDA]
    assert source.buffer.stats.count == converted.buffer.stats.count == 0
    expected = np.array([1.25, -2.75, 3.0]).astype(dtype)
    np.testing.assert_array_equal(np.asarray(converted), expected)


@pytest.mark.spec("HM-89", "HM-90")
def test_elements_are_read_and_written_without_moving_the_array(cuda: Context) -> None:
    array = LArray([1.0, 2.0, 3.0, 4.0], cuda)
    x = array[0]
    assert (x, array[-1]) == (1.0, 4.0)
    array[1] = x * 2.5
    array[2] = array[1]
    assert array.buffer.stats.count == 0
    assert places(array) == [CUDA]
    assert np.asarray(array).tolist() == [1.0, 2.5, 2.5, 4.0]
    array[-1] = 9
    assert list(array) == [1.0, 2.5, 2.5, 9.0]


@pytest.mark.spec("HM-89", "HM-90")
def test_elements_of_records(host: Context) -> None:
    array = LArray(3, host, (1, 0.5), dtype=[("cell", "i4"), ("height", "f8")])
    kept = array[1]
    array[1] = (7, 2.5)
    assert (kept.item(), array[1].item()) == ((1, 0.5), (7, 2.5))


@pytest.mark.parametrize("index", [4, -5])
def test_an_element_that_is_not_there(index: int) -> None:
    array = LArray(4, 1.0, label="short")
    with pytest.raises(IndexError, match=f'element {index} in "short", 4 elements'):
        array[index]
    with pytest.raises(IndexError, match="no element"):
        array[index] = 0.0


@pytest.mark.spec("HM-92")
@pytest.mark.parametrize("make", [LArray, np.array, list], ids=["LArray", "numpy", "list"])
def test_gather(make: Callable[[list[int]], Any], cuda: Context) -> None:
    source = LArray(np.arange(10.0) * 10, cuda)
    gathered = source[make([3, 0, 3, -1])]
    assert isinstance(gathered, LArray)
    assert places(gathered) == [CUDA]
    assert source.buffer.stats.count == 0
    assert np.asarray(gathered).tolist() == [30.0, 0.0, 30.0, 90.0]


@pytest.mark.spec("HM-91")
@pytest.mark.parametrize("values", [LArray, np.array, list], ids=["LArray", "numpy", "list"])
def test_scatter(values: Callable[[list[float]], Any], cuda: Context) -> None:
    target = LArray(6, cuda, 1.0)
    target[LArray([4, 0])] = values([5.0, 6.0])
    target[[2]] = 0.0
    assert places(target) == [CUDA]
    assert np.asarray(target).tolist() == [6.0, 1.0, 0.0, 1.0, 5.0, 1.0]


@pytest.mark.spec("HM-91", "HM-92")
def test_indices_that_do_not_fit_change_nothing() -> None:
    array = LArray([1.0, 2.0, 3.0])
    for wrong in ([3], [-4], [0, 7]):
        with pytest.raises(IndexError, match="outside"):
            array[wrong]
        with pytest.raises(IndexError, match="outside"):
            array[wrong] = 0.0
    with pytest.raises(TypeError, match="float64"):
        array[[0.5]]
    with pytest.raises(TypeError, match="bool"):
        array[[True, False, True]] = 1.0
    with pytest.raises(ValueError, match="2 values cannot be scattered to 1"):
        array[[0]] = [1.0, 2.0]
    assert list(array) == [1.0, 2.0, 3.0]


@pytest.mark.spec("HM-93", "HM-94", "HM-95")
def test_arithmetic_stays_where_the_values_are(cuda: Context) -> None:
    b = LArray([1.0, 2.0, 3.0], cuda)
    a = 2.0 * b
    a = a * b
    assert places(a) == places(b) == [CUDA]
    assert a.buffer.stats.count == b.buffer.stats.count == 0
    assert np.asarray(a).tolist() == [2.0, 8.0, 18.0]


@pytest.mark.spec("HM-95", "HM-12")
def test_a_scope_moves_the_work(host: Context, cuda: Context) -> None:
    a = LArray([1.0, 2.0], host)
    with cuda:
        b = a + 1
    assert places(b) == [CUDA]
    assert np.asarray(b).tolist() == [2.0, 3.0]
    with host:
        assert places(b * 2) == ["node:0"]


@pytest.mark.spec("HM-95")
def test_operators_run_the_kernel_of_the_context(
    monkeypatch: pytest.MonkeyPatch, host: Context, cuda: Context
) -> None:
    seen: list[str] = []

    def note(name: str) -> Callable[..., None]:
        def work(out: Any, *operands: Any) -> None:
            seen.append(name)
            np.multiply(*operands, out=out)

        return work

    for kind, name in ((Context.Host, "host"), (Context.CUDA, "cuda")):
        monkeypatch.setitem(MULTIPLY._works, kind, note(name))
    a, b = LArray([3.0], host), LArray([4.0], cuda)
    assert (a * 2)[0] == 6.0
    assert (b * 2)[0] == 8.0
    assert (b * a)[0] == 12.0
    assert seen == ["host", "cuda", "cuda"]


@pytest.mark.spec("HM-95")
def test_a_kernel_is_called_by_context(host: Context, cuda: Context) -> None:
    scale = DispatchedKernel("scale")
    scale.register(Context.Host, lambda values, n: values.__imul__(n))
    scale.register(Context.CUDA, lambda values, n: values.__imul__(10 * n))
    array = HArray(2, 1.0)
    for ctx in (host, cuda):
        with WriteAccess(array, ctx) as access:
            scale[ctx](access.get(), 3)
    with ReadAccess(array, host) as access:
        assert access.get().tolist() == [90.0] * 2
    assert repr(scale) == '<DispatchedKernel "scale">'


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv]
VALUES = st.lists(st.integers(1, 100), min_size=1, max_size=5)
RELAXED = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.spec("HM-93", "HM-94")
@RELAXED
@given(
    values=VALUES,
    scalar=st.sampled_from([2, 0.5, np.float32(3), 1j]),
    types=st.tuples(*[st.sampled_from(["i4", "i8", "f4", "f8", "c16"])] * 2),
    work=st.sampled_from(OPERATORS),
    where=st.sampled_from([Context.Host, Context.CUDA]),
)
def test_arithmetic_is_that_of_numpy(
    values: list[int], scalar: Any, types: tuple[str, str], work: Any, where: Any
) -> None:
    ctx = Context.getContextPtr(where, 0)
    left, right = np.array(values, types[0]), np.array(values[::-1], types[1])
    a, b = LArray(left, ctx), LArray(right, ctx)
    for ours, expected in (
        (work(a, b), work(left, right)),
        (work(a, scalar), work(left, scalar)),
        (work(scalar, a), work(scalar, left)),
        (-a, -left),
    ):
        assert ours.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(ours), expected, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(a), left)


@pytest.mark.spec("HM-94")
@pytest.mark.parametrize("work", IN_PLACE)
def test_arithmetic_in_place_also_with_itself(work: Any, cuda: Context) -> None:
    values = np.array([1.0, 2.0, 4.0])
    a, b = LArray(values, cuda), LArray(values + 1, cuda)
    same = a
    a = work(a, b)
    assert a is same
    np.testing.assert_array_equal(np.asarray(a), work(values.copy(), values + 1))
    np.testing.assert_array_equal(np.asarray(work(b, b)), work(values + 1, values + 1))


@pytest.mark.spec("HM-95")
def test_reductions(host: Context, cuda: Context) -> None:
    for ctx in (host, cuda):
        array = LArray([1.0, 2.0, 4.0], ctx)
        assert (array.sum(), array.min(), array.max()) == (7.0, 1.0, 4.0)
        assert array.dotProduct(array) == 21.0
        assert array.buffer.stats.count == 0


def test_operands_that_do_not_fit() -> None:
    array = LArray([1.0, 2.0])
    with pytest.raises(ValueError, match="2 and 3 elements"):
        array + LArray([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="2 and 3 elements"):
        array += LArray([1.0, 2.0, 3.0])
    with pytest.raises(TypeError):
        array + "2"  # type: ignore[operator]
    with pytest.raises(TypeError):
        array -= None
    with pytest.raises(ValueError, match="copy"):
        np.array(array, copy=False)
    assert list(array) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("indices", "outside"), [([-3, 2], False), ([-4], True), ([3], True), ([], False)]
)
def test_indices_count_from_either_end(indices: list[int], outside: bool) -> None:
    assert _outside(np.array(indices, int), 3) is outside
