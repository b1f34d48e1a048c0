"""Invokes of LFRic that are compiled where they stand: what they take, and what they become."""

# ruff: noqa: F403, F405

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.jit.invokes import compiled_invoke
from psyclone_storage.jit.session import JitSession
from psyclone_storage.lfric import *

NLAYERS, GRAVITY, DOUBLED, undf_w3, gravity = 5, 9.0, True, 0.5, 10.0


class Datum:
    """Something that is no number: what it has to be is for the runtime to say."""


@kernel(operates_on=CELL_COLUMN)
def cap(
    wind: field[GH_INC, W2],
    chi: field[3, GH_READ, W0],
    most: scalar[GH_REAL, GH_READ],
    count: scalar[GH_LOGICAL, GH_READ],
):
    if count:
        wind[0, 0] = min(wind[0, 0], most) + chi[0, 0, 0]


@kernel(operates_on=CELL_COLUMN)
def double(wind: field[GH_INC, W2], parts: field[2, GH_READ, W2]):
    wind[0, 0] = parts[0, 0, 0] + parts[1, 0, 0]


@kernel(operates_on=CELL_COLUMN)
def fall(height: field[GH_WRITE, W3]):
    """Use numbers of the module, some of which have names of arguments that are passed besides."""
    for k in layers():
        height[0, k] = GRAVITY * NLAYERS + undf_w3
        if DOUBLED:
            height[0, k] = 2.0 * height[0, k]


@kernel(operates_on=CELL_COLUMN)
def rise(height: field[GH_WRITE, W3]):
    height[0, 0] = gravity


def fall_by(rate: float) -> Any:
    @kernel(operates_on=CELL_COLUMN)
    def fall_at_rate(height: field[GH_WRITE, W3]):
        height[0, 0] = rate

    return fall_at_rate


def data_of(*calls: Any) -> list[str]:
    frame, session = sys._getframe(1), JitSession()
    made = compiled_invoke(session, calls, "", frame, session.options(api="lfric"))
    return [datum.name for datum in made.build.program.invokes[0].schedule.data]


def test_one_object_has_one_name() -> None:
    u, v, total = Datum(), Datum(), Result()
    same = u
    assert data_of(setval_c(u, 0.0), inc_X_plus_Y(v, same), sum_X(total, v)) == ["u", "v", "total"]


def test_parts_of_sequences_are_objects_of_their_own() -> None:
    parts = [Datum(), Datum()]
    names = data_of(setval_X(parts[0], parts[1]))
    assert len(set(names)) == 2
    assert all(name.isidentifier() for name in names)


def test_parts_of_a_vector_that_is_passed_are_parts_of_it() -> None:
    wind: Any = Datum()
    chi: Any = [Datum(), Datum(), Datum()]

    def names(one: Datum) -> list[str]:
        return data_of(setval_c(one, 20.0), cap(wind, chi, 0.5, True))

    assert names(chi[1]) == ["chi", "wind"]
    assert names(Datum()) == ["one", "wind", "chi"], "it is compiled again for others"
    assert data_of(cap(wind, chi, 0.5, True), setval_c(chi[2], 1.0)) == ["wind", "chi"]
    for several in (chi[:2], [*chi, wind], wind):
        chi = several
        with pytest.raises(TypeError, match="vector of 3 fields"):
            names(wind)


def test_a_vector_is_written_where_it_is_passed() -> None:
    wind, x, y, z = Datum(), Datum(), Datum(), [Datum()]
    assert len(data_of(cap(wind, [x, y, z[0]], 0.5, True))) == 2
    made = data_of(
        cap(
            wind,
            [
                x,  # of one kind
                y,
                z[0],
            ],
            0.5,
            True,
        )
    )
    assert len(made) == 2


def test_what_has_to_be_called_has_a_place() -> None:
    """One argument that is no expression takes from no other its name and its place."""
    total, wind = Result(), Datum()
    assert data_of(setval_c(wind, float("2")), sum_X(total, wind))[::2] == ["wind", "total"]
    with pytest.raises(CompileError) as caught:
        data_of(setval_c(wind, float("2")), inc_X_plus_bY(wind, total, wind))
    (problem,) = caught.value.problems
    assert (problem.code, "'wind' is passed" in problem.message) == ("S102", True)
    assert problem.span is not None
    assert problem.span.text == "wind"
    with pytest.raises(CompileError) as caught:
        data_of(*[inc_X_plus_Y(wind, wind)])
    (problem,) = caught.value.problems
    assert "'inc_X_plus_Y_1_1' is passed" in problem.message


def test_vectors_and_conditions() -> None:
    wind, chi = Datum(), [Datum(), Datum(), Datum()]
    assert data_of(cap(wind, chi, 0.5, True)) == ["wind", "chi"]
    with pytest.raises(TypeError, match="vector of 3 fields"):
        data_of(cap(wind, chi[:2], 0.5, True))
    with pytest.raises(TypeError, match="takes a field, not a call of 'setval_c'"):
        data_of(setval_X(wind, setval_c(wind, 1.0)))
    with pytest.raises(TypeError, match="takes a field, not a call of 'setval_X'"):
        data_of(double(wind, setval_X(wind, wind)))
    with pytest.raises(TypeError, match="takes a field, not a SimpleNamespace"):
        data_of(setval_X(wind, SimpleNamespace(kernel="a", args=())))
    with pytest.raises(TypeError, match=r"True or False, not 1\.0"):
        data_of(cap(wind, chi, 0.5, 1.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (setval_c(1.0, 0.0), "takes a field, not a float"),
        (setval_c(Datum(), "text"), "takes a number, not a str"),
        (setval_c(Datum(), True), "takes a number, not a bool"),
        (setval_c(Datum()), "takes 2 arguments"),
        (sum_X(1.0, Datum()), r"into its argument 1, which has to be a Result\(\), not 1.0"),
        (inc_X_powint_n(Datum(), 2.5), "takes an integer, not 2.5, as its argument 2"),
        (inc_X_powint_n(Datum(), Result(2.0)), r"no real number as its argument 2, .* Result\(2.0"),
    ],
)
def test_what_is_not_taken(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        data_of(call)


@pytest.mark.skipif(
    find_fortran_compiler() is None or find_c_compiler() is None, reason="no compilers"
)
def test_numbers_of_the_module_are_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from psyclone_storage.runtime.lfric import Field, Mesh  # noqa: PLC0415

    height = Field(Mesh.planar((3, 3), layers=2).space("W3"))
    for factor, layers_, doubled in ((9.0, 5, True), (8.0, 4, False)):
        monkeypatch.setattr(sys.modules[__name__], "GRAVITY", factor)
        monkeypatch.setattr(sys.modules[__name__], "NLAYERS", layers_)
        monkeypatch.setattr(sys.modules[__name__], "DOUBLED", doubled)
        invoke(fall(height))
        wanted = (factor * layers_ + undf_w3) * (2.0 if doubled else 1.0)
        assert (height.min(), height.max()) == (wanted, wanted)


def test_numbers_of_the_function_around_a_kernel_are_refused() -> None:
    with pytest.raises(CompileError, match="P053: 'rate' is a variable of the function") as caught:
        data_of(fall_by(2.0)(Datum()))
    (problem,) = caught.value.problems
    assert problem.span is not None
    assert problem.span.text == "rate"
    assert problem.span.line == fall_by.__code__.co_firstlineno + 3


def test_numbers_of_two_kernels_that_differ_in_case_alone_are_refused() -> None:
    with pytest.raises(
        CompileError, match="P052: Kernels of an invoke use 'GRAVITY' and 'gravity'"
    ):
        data_of(fall(Datum()), rise(Datum()))
