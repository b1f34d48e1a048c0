"""Tests of the example program of the View page: c(i, j) = a(i) * b(j)."""

from __future__ import annotations

import numpy as np
import pytest

from psyclone_storage.storage.kokkos import (
    CudaSpace,
    LayoutLeft,
    View,
    create_mirror_view_and_copy,
)


@pytest.mark.spec("VIEW-103")
def test_the_outer_product_element_by_element() -> None:
    a, b = View["double*"]("A", 3), View["double*"]("B", 4)
    for i in range(a.extent(0)):
        a[i] = i
    for i in range(b.extent(0)):
        b[i] = i
    c = View["double**", LayoutLeft]("C", a.extent(0), b.extent(0))
    const_a, const_b = View["const double*"](a), View["const double*"](b)
    for i in range(3):
        for j in range(4):
            c[i, j] = const_a(i) * const_b(j)
    assert np.asarray(c).tolist() == np.outer(np.arange(3.0), np.arange(4.0)).tolist()
    assert (c.stride(0), c.stride(1)) == (1, 3)


@pytest.mark.spec("VIEW-103")
@pytest.mark.usefixtures("device")
def test_the_outer_product_on_a_device() -> None:
    a, b = View["double*", CudaSpace]("A", 3), View["double*", CudaSpace]("B", 4)
    for view in (a, b):
        with view.opened() as array:
            array[...] = 2.0
            array[1] = 3.0
    c = View["double**", LayoutLeft, CudaSpace]("C", 3, 4)
    const_a, const_b = View["const double*", CudaSpace](a), View["const double*", CudaSpace](b)
    with const_a.opened() as left, const_b.opened() as right, c.opened() as product:
        product[...] = left[:, None] * right
    expected = np.outer([2.0, 3.0, 2.0], [2.0, 3.0, 2.0, 2.0])
    assert np.asarray(create_mirror_view_and_copy(c)).tolist() == expected.tolist()
