"""Data of LFRic that an invoke cannot compute with: refused in words before it writes."""

# ruff: noqa: F403, F405

from __future__ import annotations

from collections.abc import Callable

import pytest

from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.lfric import *
from psyclone_storage.runtime.lfric import Field, Mesh, Operator

pytestmark = pytest.mark.skipif(
    find_fortran_compiler() is None or find_c_compiler() is None, reason="no compilers"
)


@kernel(operates_on=CELL_COLUMN)
def product(a: field[GH_WRITE, W3], m: operator[GH_READ, W3, W2], b: field[GH_READ, W2]):
    for k in layers():
        a[0, k] = m[0, 0, k] * b[0, k]


def test_spaces_and_meshes_are_those_of_the_metadata() -> None:
    mesh = Mesh.planar((4, 4), layers=2)
    w3, w2 = mesh.space("W3"), mesh.space("W2")
    a, b, m = Field(w3, "a"), Field(w2, "b", values=2.0), Operator(w3, w2, "m")
    m.storage[...] = 3.0

    def step(a: Field, m: Operator, b: Field) -> None:
        invoke(product(a, m, b), setval_X(a, c))

    c = Field(w3, "c", values=1.0)
    step(a, m, b)
    assert a.values[0] == 1.0
    elsewhere = Mesh.planar((9, 9), layers=2).space("W2")
    refused: list[tuple[Callable[[], None], str]] = [
        (lambda: step(a, m, Field(w3, "x")), "'x' is on the space 'w3' .* W2"),
        (lambda: step(a, Operator(w3, w3, "x"), b), "'x' maps from the space 'w3' .* W2"),
        (lambda: step(a, m, Field(elsewhere, "x")), "'x' is on a mesh .* on one mesh"),
    ]
    for call, match in refused:
        with pytest.raises(ValueError, match=match):
            call()
    c = Field(w2, "c")
    with pytest.raises(ValueError, match=r"'c' is on the space 'w2'.* 'a' .* on one space"):
        step(a, m, b)
    assert a.values[0] == 1.0
