"""GOcean metadata that are right; those that are wrong have folders in `errors`."""

from __future__ import annotations

import pytest

from gocean_programs import INNER, READ, WRITE, kernel
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.domains.gocean.arguments import build_gocean_dummies
from psyclone_storage.infrastructures.gocean import FIELD_TYPES, OFFSETS
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    GridPoints,
    GridStencil,
    Iteration,
    Kernel,
    KernelArg,
)
from psyclone_storage.ir.types import Intrinsic


def stencil(rows: str) -> GridStencil | None:
    made = kernel(WRITE, f"go_read, go_ct, go_stencil({rows})").args[1].stencil
    assert made is None or isinstance(made, GridStencil)
    return made


def test_a_kernel_is_read() -> None:
    made = kernel(WRITE, "go_read, go_r_scalar, go_pointwise", "go_read, go_grid_mask_t")
    assert made == Kernel(
        "k",
        "k_mod",
        "k_code",
        Iteration.GRID_POINT,
        (
            KernelArg(ArgKind.FIELD, Intrinsic.REAL, Access.WRITE, "go_ct"),
            KernelArg(ArgKind.SCALAR, Intrinsic.REAL, Access.READ),
            KernelArg(
                ArgKind.GRID_PROPERTY,
                Intrinsic.INTEGER,
                Access.READ,
                rank=2,
                grid_property="go_grid_mask_t",
            ),
        ),
        points=GridPoints("go_internal_pts", "go_offset_ne"),
        implementations=("k_code",),
    )


def test_words_without_a_prefix_mean_the_same() -> None:
    entries = ("write, ct, pointwise", "READ, CU, stencil(000,110,000)", "read, grid_area_t")
    old = kernel(*entries, over="internal_pts", offset="offset_ne", of="arg")
    today = kernel(WRITE, "go_read, go_cu, go_stencil(000,110,000)", "go_read, go_grid_area_t")
    assert old == today


@pytest.mark.parametrize("space", FIELD_TYPES)
def test_every_type_of_point(space: str) -> None:
    assert kernel(f"go_readwrite, {space}, go_pointwise").args[0].space == space


@pytest.mark.parametrize("offset", OFFSETS)
def test_every_offset(offset: str) -> None:
    points = kernel(WRITE, offset=offset).points
    assert points is not None
    assert points.offset == offset


def test_an_integer_scalar() -> None:
    arg = kernel(WRITE, "go_read, go_i_scalar, go_pointwise").args[1]
    assert (arg.kind, arg.intrinsic) == (ArgKind.SCALAR, Intrinsic.INTEGER)


@pytest.mark.parametrize(
    ("rows", "depth"),
    [
        ("000,110,000", 1),
        ("000,011,000", 1),
        ("010,010,000", 1),
        ("100,000,000", 1),
        ("000,010,003", 3),
        ("020,212,090", 9),
    ],
)
def test_a_stencil_is_as_deep_as_its_furthest_neighbour(rows: str, depth: int) -> None:
    made = stencil(rows)
    assert made is not None
    assert (made.depth, made.value) == (depth, rows)


def test_rows_of_a_stencil_go_from_north_to_south_and_from_west_to_east() -> None:
    made = stencil("123,415,678")
    assert made is not None
    north, middle, south = made.rows
    assert (north, middle, south) == ((1, 2, 3), (4, 1, 5), (6, 7, 8))


def test_a_stencil_of_the_point_itself_is_none() -> None:
    assert stencil("000,010,000") is None


def test_points_of_the_settings_have_bounds() -> None:
    assert kernel(WRITE, over="go_inner_pts").points == GridPoints(
        "go_inner_pts", "go_offset_ne", INNER
    )


def test_points_of_the_settings_hold_for_one_type_of_point() -> None:
    with pytest.raises(CompileError, match="M105: No loop bounds are known"):
        kernel("go_write, go_cu, go_pointwise", over="go_inner_pts")


def test_all_problems_of_a_kernel_are_told() -> None:
    with pytest.raises(CompileError) as caught:
        kernel("go_raed, go_ct, go_pointwise", "go_read, go_cx, go_pointwise", over="nowhere")
    codes = [problem.code for problem in caught.value.problems]
    assert sorted(codes) == ["M005", "M101", "M103"]


def test_dummies_follow_the_indices_in_the_order_of_the_metadata() -> None:
    made = kernel(READ, "go_read, go_i_scalar, go_pointwise", "go_read, go_grid_area_t", WRITE)
    found = [(dummy.role, dummy.intent, dummy.rank) for dummy in build_gocean_dummies(made)]
    assert found == [
        (Role.GRID_INDEX_I, "in", 0),
        (Role.GRID_INDEX_J, "in", 0),
        (Role.FIELD, "in", 2),
        (Role.SCALAR, "in", 0),
        (Role.GRID_PROPERTY, "in", 2),
        (Role.FIELD, "inout", 2),
    ]
