"""Arrays on emulated devices do what was asked for, as it was asked for, whenever it is done."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.memory import queues

ORDERS = ["late", "eager", "shuffled", "shuffled again"]


@pytest.fixture(autouse=True, params=ORDERS)
def order(request: pytest.FixtureRequest, _emulated: None) -> Iterator[str]:
    """Put devices in place whose queues work in an order."""
    use_device("emulated", Emulation(order=request.param))
    yield request.param
    queues.finish_all()


def assert_device_holds(array: Any, *values: float) -> None:
    assert array.get().tolist() == list(values)


def test_operands_of_the_host_are_as_they_were() -> None:
    array = gt.storage(np.ones(2), device="gpu").to_cupy()
    scalar, values, other = np.array(2.0), [2.0, 3.0], array.copy()
    array += scalar
    product = array * values
    difference = scalar - array
    nested = array * (scalar, values[1])
    other[...] = (product[0], product[1])
    array **= values
    scalar[...] = 100.0
    values[0] = 100.0
    assert_device_holds(array, 9.0, 27.0)
    assert_device_holds(product, 6.0, 9.0)
    assert_device_holds(difference, -1.0, -1.0)
    assert_device_holds(nested, 6.0, 9.0)
    assert_device_holds(other, 6.0, 9.0)


def test_errors_of_numbers_are_treated_as_the_asking_thread_wants() -> None:
    array, none = (gt.storage(np.full(2, v), device="gpu").to_cupy() for v in (1.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(all="ignore"):
            quotient = array / none
            array /= 0.0
        assert_device_holds(array, np.inf, np.inf)
        assert_device_holds(quotient, np.inf, np.inf)
        with np.errstate(all="raise"):
            refused = none / 0.0
        with pytest.raises(FloatingPointError):
            refused.get()


def test_powers_are_raised_in_place() -> None:
    field = gt.storage(np.full((2, 2), 3, "i4"), device="gpu")
    array = kept = field.to_cupy()
    array **= 2
    assert array is kept
    part = array[0]
    part **= array[1] - 8
    assert field.to_numpy().tolist() == [[9, 9], [9, 9]]
    with pytest.raises(TypeError):
        array **= 0.5
    assert field.to_numpy().tolist() == [[9, 9], [9, 9]]
