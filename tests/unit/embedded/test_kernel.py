"""Kernels that a program keeps: one point at a time, and calls for an invoke."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from psyclone_storage import gocean
from psyclone_storage.gocean import (
    GO_CT,
    GO_GRID_DX_CONST,
    GO_GRID_MASK_T,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    GO_WRITE,
    field,
    grid_property,
    kernel,
    scalar,
)
from psyclone_storage.infrastructures import gocean_words as table
from psyclone_storage.languages.python.parse.closure import FunctionReader
from psyclone_storage.languages.python.parse.live_source import live_kernel_source
from psyclone_storage.targets.dialects import GOCEAN_WORDS


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def mean(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    weight: scalar[GO_READ, GO_R_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
    dx: grid_property[GO_GRID_DX_CONST],
):
    if mask[0, 0] == 1:
        new[0, 0] = weight * (old[0, 0] + old[1, 0]) / dx


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def swap(first: field[GO_READWRITE, GO_CT], second: field[GO_READWRITE, GO_CT]):
    kept = first[0, 0]
    first[0, 0] = second[0, 0]
    second[0, 0] = kept


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def wrong(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT], where: scalar[GO_READ]):
    if where == 1:
        new[1, 0] = 0.0
    old[0, 0] = 1.0


def test_a_point_from_numbers_mappings_and_functions() -> None:
    assert mean.at(0.0, {(0, 0): 1.0, (1, 0): 3.0}, 0.5, 1, 2.0) == 1.0
    assert mean.at(new=7.0, old=2.0, weight=0.5, mask=0, dx=1.0) == 7.0
    assert mean.at(0.0, lambda i, j: 10.0 * i + j, 1.0, {(0, 0): 1}, dx=5.0) == 2.0


def test_several_fields_that_are_written_come_by_name() -> None:
    assert swap.at(1.0, 2.0) == {"first": 2.0, "second": 1.0}


def test_a_point_that_was_not_given_is_named() -> None:
    with pytest.raises(KeyError, match=r"'old' has no value at \(1, 0\)"):
        mean.at(0.0, {(0, 0): 1.0}, 0.5, 1, 2.0)
    with pytest.raises(TypeError, match="missing a required argument"):
        mean.at(0.0)


def test_what_a_kernel_may_not_write_is_refused() -> None:
    with pytest.raises(TypeError, match="'old' is only read"):
        wrong.at(0.0, 0.0, 0)
    with pytest.raises(IndexError, match="off its own point"):
        wrong.at(0.0, 0.0, 1)


def test_a_call_is_for_an_invoke() -> None:
    call = mean(1, 2, 3)
    assert call.kernel is mean
    assert call.args == (1, 2, 3)
    with pytest.raises(TypeError, match=r"'mean' takes 3 arguments \(new, old, weight\)"):
        mean(1, 2, 3, 4)
    with pytest.raises(TypeError, match=r"'mean' takes its arguments in their order.*: weight"):
        mean(1, 2, weight=3)


def test_what_is_not_annotated_is_passed_and_refused_by_the_compiler() -> None:
    @kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
    def plain(new, old: field[GO_READ, GO_CT]):
        new[0, 0] = old[0, 0]

    assert plain(1, 2).args == (1, 2)


@pytest.mark.parametrize("text", ["height", "(", "1 / 0", "field.no_such_name"])
def test_an_annotation_without_a_value_is_refused_by_the_compiler(text: str) -> None:
    def plain(new: field[GO_WRITE, GO_CT], old):
        new[0, 0] = old

    plain.__annotations__["old"] = text
    call = kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)(plain)
    assert call(1, 2).args == (1, 2)


def test_words_are_those_of_the_table() -> None:
    assert {word.upper() for word in table.WORDS} <= set(gocean.__all__)
    for word in table.WORDS:
        assert repr(getattr(gocean, word.upper())) == word.upper()
    assert repr(gocean.GO_GRID_OF_THE_SETTINGS) == "GO_GRID_OF_THE_SETTINGS"
    assert repr(GO_STENCIL("000")) == "GO_STENCIL('000')"
    assert repr(field[GO_READ, GO_CT]) == "field[GO_READ, GO_CT]"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = gocean.nothing


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("gocean", ("numpy", "subprocess", "psyclone_storage.ir.kernel")),
        ("runtime.gocean", ("psyclone_storage.jit", "psyclone_storage.ir.kernel")),
    ],
)
def test_programs_import_no_part_of_the_compiler(module: str, absent: tuple[str, ...]) -> None:
    code = f"import psyclone_storage.{module}, sys; print([*sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = ast.literal_eval(done.stdout)
    assert f"psyclone_storage.{module}" in names
    assert not {*absent} & {*names}


def test_a_name_of_the_program_is_no_function_of_python() -> None:
    def max(a: float, b: float) -> float:  # noqa: A001  # pylint: disable=redefined-builtin
        return a + b

    @kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
    def work(new: field[GO_WRITE, GO_CT], rate: scalar[GO_READ, GO_R_SCALAR]):
        new[0, 0] = max(rate, min(rate, 2.0))

    assert work.at(new=0.0, rate=1.0) == 2.0
    resolved = FunctionReader().resolve(work.function, GOCEAN_WORDS.module)
    text = live_kernel_source(GOCEAN_WORDS, "work", resolved).text
    assert "max = None" in text
    assert "min = None" not in text
