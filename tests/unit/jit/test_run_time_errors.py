"""Errors of invokes at run time: they name the kernel, the argument and the place of the invoke."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.compilers import find_fortran_compiler
from psyclone_storage.gocean import (
    GO_CT,
    GO_GRID_MASK_T,
    GO_I_SCALAR,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_STENCIL,
    GO_WRITE,
    complete_invokes,
    configure,
    field,
    grid_property,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.lfric import CELL_COLUMN, GH_READ, GH_WRITE, W2, W3
from psyclone_storage.lfric import field as lfric_field
from psyclone_storage.lfric import invoke as invoke_columns
from psyclone_storage.lfric import kernel as column_kernel
from psyclone_storage.runtime.gocean import Field, Grid, Points

SHAPE = (6, 5)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def spread(
    new: field[GO_WRITE, GO_CT],
    mask: grid_property[GO_GRID_MASK_T],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")],
    times: scalar[GO_READ, GO_I_SCALAR],
):
    new[0, 0] = times * mask[0, 0] * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def copy(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = old[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def pick(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT], at: scalar[GO_READ, GO_I_SCALAR]):
    w = [1.0, 2.0]
    if old[0, 0] < 0.0:
        new[0, 0] = 3.0
    elif w[at] > 0.5:
        new[0, 0] = 4.0


@column_kernel(operates_on=CELL_COLUMN)
def fill(height: lfric_field[GH_WRITE, W3], wind: lfric_field[GH_READ, W2]):
    height[0, 0] = wind[0, 0]


@pytest.fixture(autouse=True)
def usual_options() -> Iterator[None]:
    yield
    configure()


def grid(**options: Any) -> Grid:
    return Grid(SHAPE, **({"periodic": (True, True)} | options))


def wrong_points() -> None:
    one = grid()
    first, second = Field(one), Field(one)
    invoke(copy(first, second), spread(first, Field(one, Points.U), 1), name="two")


def wrong_type() -> None:
    one = grid()
    invoke(spread(Field(one), Field(one, dtype=np.float32), 1))


def other_grid() -> None:
    first = Field(grid())
    invoke(copy(first, Field(grid())))


def large_number() -> None:
    one = grid()
    invoke(spread(Field(one), Field(one), 2**40))


def no_integer() -> None:
    one = grid()
    invoke(spread(Field(one), Field(one), 1.5))


def no_field() -> None:
    invoke(copy(Field(grid()), np.zeros(SHAPE)))


def completed(mistake: Callable[[], None]) -> None:
    mistake()
    complete_invokes()


CASES: list[tuple[Callable[[], None], str, str]] = [
    (wrong_points, "spread", "old"),
    (wrong_type, "spread", "old"),
    (other_grid, "copy", "old"),
    (large_number, "spread", "times"),
    (no_integer, "spread", "times"),
    (no_field, "copy", "old"),
]


@pytest.mark.parametrize("defer", [False, True])
@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize(("mistake", "called", "argument"), CASES)
def test_an_error_names_the_kernel_the_argument_and_the_place(
    mistake: Callable[[], None], called: str, argument: str, target: str, defer: bool
) -> None:
    if (mistake, target) == (large_number, "numpy"):
        return  # NumPy computes with integers of Python
    configure(target=target, defer=defer)
    with pytest.raises((TypeError, ValueError, OverflowError)) as found:
        completed(mistake)
    notes = "\n".join(found.value.__notes__)
    if (mistake, target) != (other_grid, "numpy"):
        assert f"argument '{argument}' of the kernel '{called}'" in notes
    (line,) = {int(one) for one in re.findall(rf"{re.escape(__file__)}:(\d+)", notes)}
    assert 0 < line - mistake.__code__.co_firstlineno <= 3
    assert ("the invoke 'two'" in notes) is (mistake is wrong_points and not defer)


@pytest.mark.skipif(find_fortran_compiler() is None, reason="no compiler")
def test_an_error_of_columns_names_the_kernel_and_the_argument() -> None:
    from psyclone_storage.runtime.lfric import Field as ColumnField  # noqa: PLC0415
    from psyclone_storage.runtime.lfric import Mesh  # noqa: PLC0415
    from psyclone_storage.runtime.ranks import SingleRank  # noqa: PLC0415

    mesh = Mesh.planar((3, 3), layers=3, ranks=SingleRank())
    height, wrong = ColumnField(mesh.space("W3"), "h"), ColumnField(mesh.space("W3"), "w")
    with pytest.raises(ValueError, match="W2") as found:
        invoke_columns(fill(height, wrong), name="columns")
    (note,) = found.value.__notes__
    assert "the argument 'wind' of the kernel 'fill', in the invoke 'columns' at " in note


@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize("boundaries", ["closed", "periodic"])
def test_invokes_without_exchanges_do_not_read_stale_halos(boundaries: str, target: str) -> None:
    configure(target=target, distributed=False)
    one = Grid(SHAPE, boundaries=boundaries)
    new, old = Field(one, values=2.0), Field(one, values=1.0)
    with pytest.raises(ValueError, match="without halo exchanges") as found:
        invoke(spread(new, old, 1))
    assert "argument 'old'" in found.value.__notes__[0]
    assert (new.values == 2.0).all()
    invoke(copy(new, old))
    assert (new.values == 1.0).all()
    there = Grid(SHAPE, boundaries=("open", "prescribed"))
    invoke(spread(Field(there), Field(there), 1))


def test_a_grid_that_is_open_by_default_warns_at_the_first_exchange() -> None:
    rim = np.ones([extent + 2 for extent in SHAPE], int)
    basin = np.zeros(SHAPE, int)
    basin[1:-1, 1:-1] = 1
    nearly = basin.copy()
    nearly[0, 2] = 1
    silently = {"boundaries": "open"}, {"periodic": (False, False)}, {"mask": rim}, {"mask": basin}
    for options in silently:
        silent = Field(Grid(SHAPE, **options))  # type: ignore[arg-type]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            invoke(spread(Field(silent.grid), silent, 1))
        assert not found, options
    for options in ({}, {"mask": np.ones(SHAPE, int)}, {"mask": nearly}):
        one = Grid(SHAPE, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            invoke(copy(Field(one), Field(one)))
        with pytest.warns(UserWarning, match="boundaries='closed'") as found:
            invoke(spread(Field(one), Field(one), 1))
        assert [one.filename for one in found] == [__file__]


def test_the_warning_never_interrupts_an_exchange() -> None:
    """A filter that makes it an error must not poison fields; it is shown once per grid."""
    grid = Grid(SHAPE)
    old, new = Field(grid, values=1.0), Field(grid, values=2.0)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("error")
        invoke(spread(new, old, 1))
        old.exchange(1)
    assert [one.category for one in found] == [UserWarning]
    assert (old.values == 1.0).all()
    assert new.values[2, 2] == 4.0


def test_arrays_that_are_passed_for_fields_get_the_usual_error() -> None:
    """Arrays are compared by identity, in lists, too."""
    old = Field(Grid(SHAPE, boundaries="open"))
    with pytest.raises(TypeError, match="takes a field, not a") as found:
        invoke(copy(np.zeros(SHAPE), [old, old]))
    assert "copy" in found.value.__notes__[-1]


def test_an_error_does_not_carry_the_argument_to_another_process() -> None:
    grid = Grid((400, 400), boundaries="open")
    wrong = Field(grid, dtype=np.float32)
    with pytest.raises(TypeError, match="float32") as found:
        invoke(copy(Field(grid), wrong))
    assert "argument 'old'" in found.value.__notes__[-1]
    assert len(pickle.dumps(found.value)) < 10_000


def test_one_number_for_two_arguments_names_both_as_possible() -> None:
    number = object()
    old = Field(Grid(SHAPE, boundaries="open"))
    with pytest.raises(TypeError) as found:
        invoke(spread(old, number, number))
    assert " and " not in found.value.__notes__[-1]


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_an_index_in_a_condition_has_the_line_of_that_condition(target: str) -> None:
    configure(target=target)
    old = Field(Grid(SHAPE, boundaries="open"), Points.T, values=1.0)
    new = Field(old.grid, Points.T)
    with pytest.raises(IndexError, match=r"line \d+: elif w\[at\] > 0.5: 'w': index 5 is out"):
        invoke(pick(new, old, 5))
