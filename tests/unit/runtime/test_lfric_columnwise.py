"""Columnwise operators of LFRic in Python: how dofs of columns are numbered, bands, pickles."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.base.compilers import find_fortran_compiler
from psyclone_storage.runtime.lfric import Band, ColumnwiseOperator, Field, Mesh, held
from psyclone_storage.runtime.lfric.meant import check_meant
from psyclone_storage.runtime.ranks import SingleRank

pytestmark = pytest.mark.skipif(find_fortran_compiler() is None, reason="no compiler for Fortran")

PAIRS = (
    ("w3", "wtheta", 0, 0),
    ("wtheta", "w3", 0, 0),
    ("wtheta", "wtheta", 0, 0),
    ("w3", "w3", 1, 1),
    ("w2v", "w3", 1, 1),
    ("wtheta", "w3", 1, 0),
    ("w2broken", "w3", 0, 0),
)


def plane(**options: Any) -> Mesh:
    return Mesh.planar((5, 4), **{"layers": 3, "ranks": SingleRank(), **options})


def operator(to: str, source: str, orders: tuple[int, int] = (0, 0), **options: Any) -> Any:
    mesh = options.pop("mesh", None) or plane()
    return ColumnwiseOperator(mesh.space(to, orders[0]), mesh.space(source, orders[1]), **options)


@pytest.mark.parametrize(("to", "source", "order_to", "order_from"), PAIRS)
def test_all_that_assembly_couples_is_in_the_band(
    to: str, source: str, order_to: int, order_from: int
) -> None:
    made = operator(to, source, (order_to, order_from))
    assert made.storage.shape == (made.bandwidth, made.nrow, 20)
    assert made.dtype == np.float32
    assert made.storage.strides[0] == 4
    widest = 0
    for layer in range(3):
        for i in made.banded_dofmap_to[:, layer]:
            for j in made.banded_dofmap_from[:, layer]:
                assert -made.gamma_m <= made.alpha * i - made.beta * j <= made.gamma_p
                place = int(j) - math.ceil((made.alpha * int(i) - made.gamma_p) / made.beta)
                assert 0 <= place < made.bandwidth
                widest = max(widest, place + 1)
    if order_to == order_from and to != "w2broken":
        assert widest == made.bandwidth, "the band is wider than need be"


@pytest.mark.parametrize(("name", "order"), [("w3", 0), ("wtheta", 1), ("w2broken", 0)])
def test_rows_are_the_dofs_of_a_column_by_height(name: str, order: int) -> None:
    made = operator(name, "w3", (order, 0))
    space = made.to_space
    rows = made.banded_dofmap_to
    assert sorted(set(rows.ravel())) == list(range(1, made.nrow + 1))
    for cell in (0, 7, 19):
        first = space.dofmap[:, cell].min()
        for layer in range(3):
            there = made.indirection_dofmap_to[rows[:, layer] - 1] + first - 1
            np.testing.assert_array_equal(there, space.dofmap[:, cell] + layer)


def test_bands_are_given_and_combined() -> None:
    mesh = plane()
    one = operator("w3", "wtheta", mesh=mesh, band=(4, 2, 2, 6))
    assert one.band == Band(2, 1, 1, 3)
    assert operator("w3", "w3", band=one.band).band == one.band
    assert one.bandwidth == 1 + 4
    other = operator("wtheta", "w3", mesh=mesh)
    assert other.band == Band(1, 1, 0, 1)
    product = ColumnwiseOperator.for_product(one, other, "both")
    assert product.band == Band(2, 1, 1 * 1 + 1 * 0, 1 * 3 + 1 * 1)
    assert (product.to_space, product.from_space) == (one.to_space, other.from_space)
    assert product.storage.label == "both"
    assert not np.asarray(product.storage.data_ro).any()
    wider = operator("w3", "wtheta", mesh=mesh, band=(2, 1, 0, 7))
    assert ColumnwiseOperator.for_sum(one, wider).band == Band(2, 1, 1, 7)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: operator("w2", "w3"), "shares dofs between columns"),
        (lambda: operator("w3", "w0"), "shares dofs between columns"),
        (lambda: operator("w3", "w3", band=(0, 1, 1, 1)), "no such band"),
        (lambda: operator("w3", "w3", band=(1, 0, 1, 1)), "no such band"),
        (lambda: operator("w3", "w3", band=(1, 1, 1, -2)), "no such band"),
        (lambda: operator("w3", "w3", band=(1, 1, 2**30, 2**30)), "more entries"),
        (lambda: operator("w3", "w3", band=(1, 1, 2**31 - 1, 2**31 - 1)), "more entries"),
        (lambda: operator("w3", "w3", band=(1, 1, 2**31, 0)), "32 bits"),
        (lambda: ColumnwiseOperator(plane().space("w3"), plane().space("w3")), "two meshes"),
        (
            lambda: ColumnwiseOperator(plane().space("w3"), plane().space("w3", ndata=2)),
            "two meshes",
        ),
        (lambda: ColumnwiseOperator(*[plane().space("w3", ndata=2)] * 2), "more than one value"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_bands_that_do_not_fit_are_refused() -> None:
    mesh = plane()
    one, other = operator("w3", "wtheta", mesh=mesh, label="a"), operator("w3", "w3", mesh=mesh)
    with pytest.raises(ValueError, match=r"no product of the columnwise operator 'a' and a column"):
        ColumnwiseOperator.for_product(one, other)
    with pytest.raises(ValueError, match="map between different spaces"):
        ColumnwiseOperator.for_sum(one, other)
    steep = operator("w3", "wtheta", mesh=mesh, band=(2, 1, 0, 3))
    with pytest.raises(ValueError, match="run in different directions"):
        ColumnwiseOperator.for_sum(one, steep)
    huge = operator("w3", "w3", mesh=mesh, band=(2**20, 2**20 + 1, 1, 1))
    with pytest.raises(ValueError, match="numbers of the band"):
        ColumnwiseOperator.for_product(huge, huge)
    with pytest.raises(TypeError, match="four numbers"):
        operator("w3", "w3", band=(1, 1, 1))
    with pytest.raises(TypeError, match="of two columnwise operators"):
        ColumnwiseOperator.for_product(one, mesh)  # type: ignore[arg-type]


@pytest.mark.parametrize("device", [None, "gpu"])
def test_pickles_hold_bands_and_matrices(device: str | None) -> None:
    gt.use_device("emulated")
    try:
        made = operator("w3", "wtheta", mesh=Mesh.planar((5, 4), layers=3, device=device),
                        label="a", band=(1, 1, 2, 2))  # fmt: skip
        made.storage[...] = np.arange(made.storage.size).reshape(made.storage.shape)
        read = pickle.loads(pickle.dumps(made))
        assert (read.band, read.label) == (made.band, "a")
        assert read.storage.device == device
        assert read.storage.strides == made.storage.strides
        np.testing.assert_array_equal(read.storage.data_ro, made.storage.data_ro)
        np.testing.assert_array_equal(read.banded_dofmap_from, made.banded_dofmap_from)
    finally:
        gt.use_device("auto")


def test_one_kind_of_operator_is_not_the_other() -> None:
    made = operator("w3", "w3", label="a")
    with pytest.raises(TypeError, match="'a' is passed where the invoke takes an operator"):
        check_meant([made], ["operator mesh=1 to_space=1 from_space=1"])
    field = Field(plane().space("w3"), "p")
    with pytest.raises(TypeError, match="'p' is passed where the invoke takes a columnwise operat"):
        check_meant([field], ["columnwise_operator mesh=1 to_space=1 from_space=1"])
    with held(read=[made]) as (matrices,):
        assert matrices.shape == made.storage.shape
