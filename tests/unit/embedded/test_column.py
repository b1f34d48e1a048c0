"""Kernels for columns that Python itself runs, for one column of arrays."""

# ruff: noqa: F403, F405

from __future__ import annotations

import numpy as np
import pytest

from psyclone_storage.lfric import *


@kernel(operates_on=CELL_COLUMN)
def divergence(
    change: field[GH_WRITE, W3], wind: field[GH_READ, W2], div: operator[GH_READ, W3, W2]
):
    for k in layers():
        for df in dofs(W3):
            change[df, k] = 0.0
            for e in dofs(W2):
                change[df, k] += div[df, e, k] * wind[e, k]


@kernel(operates_on=CELL_COLUMN)
def around(new: field[GH_WRITE, W3], old: field[GH_READ, W3, STENCIL(CROSS)]):
    for k in reversed(layers()):
        total = 0.0
        for s in neighbours(old):
            total += old[0, k, s]
        new[0, k] = total - old[0, k]


@kernel(operates_on=CELL_COLUMN, meta_funcs=[func_type(W0, GH_BASIS)], gh_shape=GH_QUADRATURE_XYOZ)
def weigh(x: field[GH_INC, W0], chi: field[2, GH_READ, W0]):
    for p in points_xy():
        x[0, 0] += basis(W0)[0, 0, p, 0] * weights_xy()[p] * chi[1, 0, 0]


def test_an_operator_is_applied() -> None:
    wind, div = np.arange(12.0).reshape(6, 2), np.ones((1, 6, 2))
    found = divergence.at(np.zeros((1, 2)), wind, div)
    np.testing.assert_array_equal(found, [[30.0, 36.0]])


def test_neighbours_stand_in_the_third_dimension() -> None:
    old = np.arange(10.0).reshape(1, 2, 5)
    np.testing.assert_array_equal(around.at(np.zeros((1, 2)), old), [[10.0, 30.0]])


@kernel(operates_on=CELL_COLUMN)
def assemble(
    m: columnwise_operator[GH_WRITE, W3, WTHETA], near: operator[GH_READ, W3, WTHETA, STENCIL(X1D)]
):
    for i in rows(m):
        for b in bands(m):
            m[b, i] = float(band_gamma_m(m) + banded_dofs(WTHETA)[0, i])
        for s in neighbours(near):
            m[0, i] += near[0, 1, i, s]


def test_columns_have_matrices_and_operators_neighbours() -> None:
    given = {"band_gamma_m(m)": -2, "banded_dofs(WTHETA)": np.array([[0, 1, 2]])}
    near = np.ones((1, 2, 3, 4))
    found = assemble.at(np.zeros((2, 3)), near, given=given)
    np.testing.assert_array_equal(found, [[2.0, 3.0, 4.0], [-2.0, -1.0, 0.0]])
    del given["band_gamma_m(m)"]
    found = assemble.at(np.zeros((2, 3)), near, given={**given, "band_gamma_m": 0})
    np.testing.assert_array_equal(found[1], [0.0, 1.0, 2.0])


def test_what_else_is_asked_for_is_given() -> None:
    one = np.ones((1, 1))
    given = {"points_xy": 2, "basis(W0)": np.full((1, 1, 2, 1), 3.0), "weights_xy": np.ones(2)}
    found = weigh.at(one, [one, 2.0 * one], given=given)
    np.testing.assert_array_equal(found, [[13.0]])
    np.testing.assert_array_equal(one, [[1.0]])
    with pytest.raises(KeyError, match="points_xy"):
        weigh.at(one, [one, one])


def test_what_is_only_read_is_not_written() -> None:
    @kernel(operates_on=CELL_COLUMN)
    def wrong(x: field[GH_READ, W3]):
        x[0, 0] = 1.0

    with pytest.raises(TypeError, match="'x' is only read"):
        wrong.at(np.zeros((1, 1)))


def test_words_of_bodies_are_for_bodies() -> None:
    with pytest.raises(RuntimeError, match="bodies of kernels"):
        layers()


def test_a_kernel_without_brackets_is_refused_in_words() -> None:
    with pytest.raises(TypeError, match=r"says in brackets, by keywords.*@kernel\(operates_on"):

        @kernel
        def nothing(change: field[GH_WRITE, W3]):
            change[0, 0] = 0.0
