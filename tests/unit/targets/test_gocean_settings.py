"""Paths to grid properties, as a settings file gives them."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir.expr import spell
from psyclone_storage.targets.gocean_settings import parse_loop_bound, read_path


@pytest.mark.parametrize(
    ("path", "spelt"),
    [
        ("{0}%grid%dx", "%grid%dx"),
        ("{0}%grid%subdomain%internal%xstop", "%grid%subdomain%internal%xstop"),
        ("{0}%grid%nx - 1", "%grid%nx - 1"),
        ("max({0}%grid%nx, 1)", "%grid%nx, 1)"),
    ],
)
def test_a_path_is_an_expression_of_the_field(path: str, spelt: str) -> None:
    assert spell(read_path(path)).endswith(spelt)


@pytest.mark.parametrize("bound", ["{start}+", "{stop} {start}", "max(1,", "{stop}-1)"])
def test_a_bound_that_is_no_fortran_is_a_mistake_of_the_settings(bound: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse_loop_bound(bound)
    (problem,) = caught.value.problems
    assert problem.code == "C004"
    assert bound in problem.message


@pytest.mark.parametrize(
    "path", ["{0}%grid%(dx", "{0}%grid%2dx", "{0}%a%", '{0}%"x', "{0}%\u00e9", "{0}%a=3"]
)
def test_a_path_that_is_no_fortran_is_a_mistake_of_the_settings(path: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_path(path)
    (problem,) = caught.value.problems
    assert problem.code == "C004"
    assert path in problem.message
