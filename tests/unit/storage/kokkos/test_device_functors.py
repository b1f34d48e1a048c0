"""Tests of functors on devices in each execution order: host values and index types."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from psyclone_storage.storage import kokkos
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.kokkos import KOKKOS_LAMBDA, Cuda, CudaSpace, HostSpace, RangePolicy
from psyclone_storage.storage.kokkos.vectorized_functor import NotTogetherError

ORDERS = ["late", "eager", "shuffled", "shuffled again", ""]


@pytest.fixture(autouse=True, params=["late"])
def order(request: pytest.FixtureRequest, _emulated: None) -> str:
    """Select emulated devices with the given execution order."""
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
