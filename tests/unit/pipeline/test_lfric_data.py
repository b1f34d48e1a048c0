"""Data of LFRic that an invoke cannot compute with: refused in words before it writes."""

# ruff: noqa: F403, F405

from __future__ import annotations

from collections.abc import Callable

import pytest

from psyclone_storage.base.compilers import (
    NoCompilerError,
    find_c_compiler,
    find_fortran_compiler,
)
from psyclone_storage.lfric import *
from psyclone_storage.runtime import compiling
from psyclone_storage.runtime.lfric import Field, Mesh, Operator
from psyclone_storage.storage import RDWR
from psyclone_storage.storage.core.errors import PoisonedDataError

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


@kernel(operates_on=CELL_COLUMN)
def around(a: field[GH_WRITE, W3], b: field[GH_READ, W3, STENCIL(CROSS)]):
    for k in layers():
        a[0, k] = 0.0
        for s in neighbours(b):
            a[0, k] += b[0, k, s]


@kernel(operates_on=HALO_CELL_COLUMN)
def deep(a: field[GH_WRITE, W3], m: operator[GH_READ, W3, W3], b: field[GH_READ, W3]):
    for k in layers():
        a[0, k] = m[0, 0, k] * b[0, k]


def test_depths_are_looked_at_before_anything_is_computed() -> None:
    w3 = Mesh.planar((4, 4), layers=2, halo_depth=2).space("W3")
    a, b = Field(w3, "a", halo_depth=2), Field(w3, "b", values=1.0)

    def step(extent: int) -> None:
        invoke(setval_c(a, 7.0), around(a, b, extent))

    for extent, match in ((2, "'b' is 1 deep, not 2"), (-1, "below 0|to the depth -1")):
        with pytest.raises(ValueError, match=match):
            step(extent)
        assert a.values[0] == 0.0
    for extent, found in ((1, 5.0), (0, 1.0), (1, 5.0)):
        step(extent)
        assert a.values[0] == found
    m = Operator(w3, w3, "m")
    for wide, depth, match in (
        (Field(w3, "a", halo_depth=2), 2, "operators have matrices for depth 1 only"),
        (Field(w3, "a"), 2, "'a' is 1 deep|operators have"),
    ):
        with pytest.raises(ValueError, match=match):
            invoke(deep(wide, m, Field(w3, "c", values=3.0, halo_depth=2), depth))
        assert wide.values[0] == 0.0


def test_random_numbers_are_new_at_each_dof_and_in_each_call() -> None:
    mesh = Mesh.planar((6, 4), layers=5)
    a, b = Field(mesh.space("W3"), "a"), Field(mesh.space("W2"), "b")
    total, drawn = Result(), []
    for _ in range(2):
        invoke(setval_random(a), setval_random(b), sum_X(total, a))
        assert total.value == pytest.approx(a.sum(), rel=1e-13)
        drawn += [*a.values, *b.values]
    assert len(set(drawn)) == len(drawn) == 2 * (120 + b.values.size)
    assert 0.0 <= min(drawn) < 0.05
    assert 0.95 < max(drawn) < 1.0
    assert sum(drawn) / len(drawn) == pytest.approx(0.5, abs=0.1)


def test_what_a_failed_call_was_to_write_is_written_anew() -> None:
    w3 = Mesh.planar((4, 4), layers=2).space("W3")
    a, b, several = Field(w3, "a"), Field(w3, "b"), Field(w3.mesh.space("W3", ndata=2), "n")
    for one in (a, b, several):
        with pytest.raises(ZeroDivisionError), one.storage.access(None, RDWR):
            raise ZeroDivisionError
    with pytest.raises(PoisonedDataError):
        invoke(setval_X(a, b))
    with pytest.raises(PoisonedDataError):
        _ = a.values
    with pytest.raises(PoisonedDataError):
        invoke(inc_a_times_X(2.0, a))
    invoke(setval_c(b, 3.0), setval_X(a, b))
    assert a.values[-1] == b.values[-1] == 3.0


def test_without_a_compiler_an_error_shows_the_lines_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @kernel(operates_on=CELL_COLUMN)
    def never_compiled(a: field[GH_WRITE, W3]):
        for k in layers():
            a[0, k] = 0.7315

    a = Field(Mesh.planar((4, 4), layers=2).space("W3"), "a")
    monkeypatch.setattr(compiling, "find_c_compiler", lambda: None)
    with pytest.raises(NoCompilerError, match="Install one, name it in the variable CC") as caught:
        invoke(never_compiled(a))
    assert {frame.path.name for frame in caught.traceback} == {"test_lfric_data.py", "invoke.py"}
