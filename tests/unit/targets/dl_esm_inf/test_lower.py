"""The PSy layer of GOcean, as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gocean_programs import READ, WRITE, kernel, program
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.schedule import (
    DirectiveRegion,
    HaloExchange,
    Loop,
    Over,
    Phase,
    Program,
    Statement,
)
from psyclone_storage.languages.fortran.print.printer import emit_unit
from psyclone_storage.lowering.lowering import lower_program
from psyclone_storage.targets.dl_esm_inf.table import gocean_infrastructure
from psyclone_storage.targets.gocean_settings import read_path

PATHS = {
    name: read_path(known.path) for name, known in default_settings().gocean.grid_properties.items()
}


def lowered(made: Program, paths: Mapping[str, Expr] = PATHS) -> str:
    return emit_unit(lower_program(made, gocean_infrastructure(paths)))


def lines(made: Program) -> list[str]:
    """Return the statements of the only routine, from its first loop or exchange on."""
    text = [line.strip() for line in lowered(made).splitlines()]
    heading = next(at for at, line in enumerate(text) if line.startswith("! "))
    return [line for line in text[heading + 1 : -2] if line and not line.startswith("! ")][:-1]


def one(made: Kernel, passed: str, *, distributed: bool = False) -> Program:
    return program({"k": made}, f"k({passed})", distributed=distributed)


def with_body(made: Program, *body: Statement) -> Program:
    (invoke,) = made.invokes
    schedule = replace(invoke.schedule, body=body)
    return replace(made, invokes=(replace(invoke, schedule=schedule),))


@pytest.mark.parametrize(
    ("space", "over", "rows", "columns"),
    [
        (
            "go_cu",
            "go_internal_pts",
            "a%internal%ystart, a%internal%ystop",
            "a%internal%xstart, a%internal%xstop",
        ),
        ("go_cu", "go_all_pts", "a%whole%ystart, a%whole%ystop", "a%whole%xstart, a%whole%xstop"),
        ("go_every", "go_all_pts", "1, size(a%data, 2)", "1, size(a%data, 1)"),
        ("go_every", "go_internal_pts", "1, size(a%data, 2)", "1, size(a%data, 1)"),
        (
            "go_ct",
            "go_inner_pts",
            "a%grid%subdomain%internal%ystart + 1, a%grid%subdomain%internal%ystop - 1",
            "a%grid%subdomain%internal%xstart, a%grid%subdomain%internal%xstop",
        ),
    ],
)
@pytest.mark.parametrize("distributed", [False, True])
def test_bounds(space: str, over: str, rows: str, columns: str, distributed: bool) -> None:
    made = kernel(f"go_write, {space}, go_pointwise", READ, over=over)
    assert lines(one(made, "a, b", distributed=distributed)) == [
        f"do j = {rows}",
        f"do i = {columns}",
        "call k_code(i, j, a%data, b%data)",
        "end do",
        "end do",
    ]


def test_bounds_come_from_the_first_field_that_is_written() -> None:
    made = kernel(READ, "go_readwrite, go_cv, go_pointwise", WRITE)
    assert lines(one(made, "a, b, c"))[0] == "do j = b%internal%ystart, b%internal%ystop"


def test_rows_and_columns_may_change_places() -> None:
    made = one(kernel(WRITE), "a")
    (outer,) = made.invokes[0].schedule.body
    assert isinstance(outer, Loop)
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    swapped = replace(inner, body=(replace(outer, body=inner.body),))
    assert lines(with_body(made, swapped))[:3] == [
        "do i = a%internal%xstart, a%internal%xstop",
        "do j = a%internal%ystart, a%internal%ystop",
        "call k_code(i, j, a%data)",
    ]


def test_grid_properties_are_passed_where_the_metadata_name_them() -> None:
    made = kernel("go_read, go_grid_area_t", WRITE, "go_read, go_grid_dx_const", READ)
    call = "call k_code(i, j, b%grid%area_t, a%data, b%grid%dx, b%data)"
    assert lines(one(made, "a, b"))[2] == call


def test_paths_to_properties_are_those_of_the_settings() -> None:
    made = one(kernel(WRITE, "go_read, go_grid_area_t"), "a")
    paths = {**PATHS, "go_grid_area_t": read_path("get_area({0}%mesh)")}
    assert "call k_code(i, j, a%data, get_area(a%mesh))" in lowered(made, paths)


def test_a_path_that_computes_is_a_value_of_its_own() -> None:
    made = one(kernel("go_write, go_ct, go_pointwise", READ, over="go_inner_pts"), "a, b")
    paths = {**PATHS, "go_grid_ystop": read_path("{0}%first + {0}%rows")}
    assert "do j = a%grid%subdomain%internal%ystart + 1, a%first + a%rows - 1" in lowered(
        made, paths
    )


def test_a_constant_scalar_brings_its_kind() -> None:
    text = lowered(one(kernel(WRITE, "go_read, go_r_scalar, go_pointwise"), "a, 0.5_go_wp"))
    assert "use kind_params_mod, only: go_wp" in text
    assert "call k_code(i, j, a%data, 0.5_go_wp)" in text


def test_an_expression_is_evaluated_once() -> None:
    text = lowered(one(kernel(WRITE, "go_read, go_r_scalar, go_pointwise"), "a, 2.0 * x"))
    assert "real(kind=go_wp), intent(in) :: arg_2_0_x" in text
    assert "call k_code(i, j, a%data, arg_2_0_x)" in text


def test_only_fields_that_change_may_be_changed() -> None:
    read = "go_read, go_ct, go_stencil(000,110,000)"
    made = one(kernel(WRITE, READ, read), "a, b, c", distributed=True)
    text = lowered(made)
    assert "type(r2d_field), intent(inout) :: a" in text
    assert "type(r2d_field), intent(in) :: b" in text
    assert "type(r2d_field), intent(inout) :: c" in text


def test_an_exchange_is_as_deep_as_the_stencil_and_says_why() -> None:
    made = one(kernel(WRITE, "go_read, go_ct, go_stencil(000,310,000)"), "a, b", distributed=True)
    assert lines(made)[0] == "call b%halo_exchange(3)"
    assert "! b is read by k with a stencil that reaches 3 points far" in lowered(made)


def test_fields_may_be_called_like_the_variables_of_loops() -> None:
    assert lines(one(kernel(WRITE, READ), "i, j"))[2] == "call k_code(i, j, i_1%data, j_1%data)"


def test_threads_have_variables_of_their_own() -> None:
    made = one(kernel(WRITE), "a")
    region = DirectiveRegion("region", Directive.OMP_PARALLEL_DO, made.invokes[0].schedule.body)
    assert lines(with_body(made, region)) == [
        "!$omp parallel do default(shared), private(j, i)",
        "do j = a%internal%ystart, a%internal%ystop",
        "do i = a%internal%xstart, a%internal%xstop",
        "call k_code(i, j, a%data)",
        "end do",
        "end do",
        "!$omp end parallel do",
    ]


@pytest.mark.parametrize(("phase", "half"), [(Phase.START, "start"), (Phase.FINISH, "finish")])
def test_a_half_of_an_exchange_is_a_call(phase: Phase, half: str) -> None:
    made = one(kernel(WRITE, "go_read, go_ct, go_stencil(000,110,000)"), "a, b", distributed=True)
    exchange, loop = made.invokes[0].schedule.body
    assert isinstance(exchange, HaloExchange)
    body = with_body(made, replace(exchange, phase=phase), loop)
    assert f"call b%halo_exchange_{half}(1)" in lowered(body)


def test_cells_are_not_points_of_a_grid() -> None:
    made = one(kernel(WRITE), "a")
    (outer,) = made.invokes[0].schedule.body
    assert isinstance(outer, Loop)
    cells = with_body(made, replace(outer, over=Over.CELLS))
    with pytest.raises(InternalError, match="which grids do not have"):
        lowered(cells)
