"""Accesses to dofs that a cell does not have are detected before the kernel runs."""

# ruff: noqa: F403, F405

from __future__ import annotations

from functools import cache

import pytest

from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.lfric import *
from psyclone_storage.runtime.lfric import Field, Mesh, Operator, QuadratureXYoZ
from psyclone_storage.runtime.ranks import SingleRank

pytestmark = pytest.mark.skipif(
    find_fortran_compiler() is None or find_c_compiler() is None, reason="no compilers"
)


@cache
def mesh() -> Mesh:
    return Mesh.planar((3, 3), layers=2, ranks=SingleRank())


def on(name: str, order: int = 0) -> Field:
    return Field(mesh().space(name, order), name.lower(), values=1.0)


@kernel(operates_on=CELL_COLUMN)
def seventh(x: field[GH_WRITE, W3], y: field[GH_READ, W2]):
    for k in layers():
        x[0, k] = y[6, k]


@kernel(operates_on=CELL_COLUMN)
def counted(x: field[GH_WRITE, W3], y: field[GH_READ, W2]):
    for k in layers():
        x[0, k] = 0.0
        for df in range(5, 8):
            x[0, k] += y[df - 1, k]


@kernel(operates_on=CELL_COLUMN)
def chosen(x: field[GH_WRITE, W3], y: field[GH_READ, W2]):
    for k in layers():
        x[0, k] = y[0, k]
        if k == 0 and y[0, k] > 5.0:
            x[0, k] = y[6, k]


@kernel(operates_on=CELL_COLUMN)
def written(x: field[GH_WRITE, W3], y: field[GH_READ, W3, STENCIL(CROSS)]):
    for k in layers():
        for s in neighbours(y):
            x[1, k] = y[0, k, s]


@kernel(operates_on=CELL_COLUMN)
def beside(x: field[GH_WRITE, W3], y: field[GH_READ, W3, STENCIL(CROSS)]):
    for k in layers():
        for s in neighbours(y):
            x[0, k] = y[1, k, s]


@kernel(operates_on=CELL_COLUMN)
def rows(x: field[GH_WRITE, W3], m: operator[GH_READ, W3, W2]):
    for k in layers():
        x[0, k] = m[1, 0, k]


@kernel(operates_on=CELL_COLUMN)
def columns(x: field[GH_WRITE, W3], m: operator[GH_READ, W3, W2]):
    for k in layers():
        x[0, k] = m[0, 6, k]


@kernel(operates_on=CELL_COLUMN, meta_funcs=[func_type(W2, GH_BASIS)], gh_shape=GH_QUADRATURE_XYOZ)
def weighed(x: field[GH_WRITE, W3], y: field[GH_READ, W2]):
    for k in layers():
        for p in points_xy():
            x[0, k] = basis(W2)[0, 6, p, 0] * y[0, k]


REFUSED = [
    (seventh, ("W3", "W2"), "'w2' is on .* a cell has 6 dofs, .* looks at dof 6"),
    (counted, ("W3", "W2"), "'w2' is on .* a cell has 6 dofs, .* looks at dof 6"),
    (chosen, ("W3", "W2"), "'w2' is on .* looks at dof 6"),
    (written, ("W3", "W3", 1), "'w3' is on .* a cell has 1 dofs, .* looks at dof 1"),
    (beside, ("W3", "W3", 1), "'w3' is on .* looks at dof 1"),
    (rows, ("W3", "operator"), "'m' maps to .* a cell has 1 dofs, .* looks at dof 1"),
    (columns, ("W3", "operator"), "'m' maps from .* a cell has 6 dofs, .* looks at dof 6"),
    (weighed, ("W3", "W2", QuadratureXYoZ(2)), "'w2' is on .* looks at dof 6"),
]


@pytest.mark.parametrize(("called", "passed", "says"), REFUSED, ids=lambda one: str(one)[:12])
def test_what_a_cell_has_not_is_refused(called, passed, says) -> None:  # type: ignore[no-untyped-def]
    matrix = Operator(mesh().space("W3"), mesh().space("W2"), "m")
    given = [on(one) if one in ("W2", "W3") else matrix if one == "operator" else one
             for one in passed]  # fmt: skip
    with pytest.raises(ValueError, match=says):
        invoke(called(*given))


@kernel(operates_on=CELL_COLUMN)
def guarded(x: field[GH_WRITE, W3], y: field[GH_READ, W2], n: scalar[GH_INTEGER, GH_READ]):
    for k in layers():
        x[0, k] = y[5, k]
        if len(dofs(W2)) > 6:
            x[0, k] = y[6, k]
        if n == 7:
            x[0, k] = y[7, k]
        for turn in range(n):
            x[0, k] += y[8, k] * turn
        for df in range(6):
            for e in range(2):
                x[0, k] += y[5 - df, k] * e
            for e in range(0):
                x[0, k] += y[9, k] * e
    if len(dofs(W2)) < 7:
        return
    for k in layers():
        x[0, k] = y[6, k]


def test_what_is_for_other_orders_is_not() -> None:
    x = on("W3")
    invoke(guarded(x, on("W2"), 0))
    assert (x.values == 7.0).all()


def test_a_higher_order_has_them() -> None:
    x = Field(mesh().space("W3", 0))
    invoke(seventh(x, on("W2", 1)))
    assert (x.values == 1.0).all()
