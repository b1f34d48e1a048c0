"""The arguments of a call become data, constants and parts of vectors."""

from __future__ import annotations

import pytest

from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.schedule import Actual, DatumRole
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from unit.domains.small import bound, codes, data_names


def args(invoke: str, declarations: str = "") -> tuple[Actual, ...]:
    found = bound(invoke, declarations)
    assert found.problems == ()
    return found.calls[0].args


def test_variables_become_data_under_their_own_names() -> None:
    first, second = args("drag_type(self%drag, winds(level))")
    assert (first.datum, second.datum) == ("self_drag", "winds_level")


@pytest.mark.parametrize("text", ["2.0_r_def", "-1.5", "1.0/3.0", "(2.0 + 1.0)*4.0"])
def test_constants_stay_where_they_are(text: str) -> None:
    scalar = args(f"scale_type(drag, {text}, 3)")[1]
    assert scalar.datum is None
    assert spell(scalar.value).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("text", ["2.0*dt", "-dt", "real(steps, r_def)", "alpha + beta*dt"])
def test_an_expression_with_variables_is_passed_as_one_value(text: str) -> None:
    """PSyclone 3.3.1 refuses these; for what is only read they are as good as a variable."""
    found = bound(f"scale_type(drag, {text}, 3)")
    assert codes(found) == []
    datum = found.data.in_order()[1]
    assert spell(datum.actual).replace(" ", "") == text.replace(" ", "")
    assert datum.type == ScalarType(Intrinsic.REAL, "r_def")


def test_an_expression_is_no_place_for_a_result() -> None:
    assert codes(bound("sum_X(2.0*total, wind)")) == ["S103"]


def test_a_stencil_takes_its_extent_and_direction() -> None:
    source = args("advect_type(drag, wind, depth, x_direction)")[1]
    assert (spell(source.extent), spell(source.direction)) == ("depth", "x_direction")  # type: ignore[arg-type]
    source = args("smooth_type(drag, wind, 2)")[1]
    assert spell(source.extent) == "2"  # type: ignore[arg-type]
    assert source.direction is None


@pytest.mark.parametrize(
    "extent", ["depth", "depth + 1", "2*3", "levels(2)", "self%depth", "2_i_def"]
)
def test_an_extent_is_any_positive_integer(extent: str) -> None:
    declarations = "integer :: depth, levels(3)"
    assert codes(bound(f"smooth_type(drag, wind, {extent})", declarations)) == []


@pytest.mark.parametrize("extent", ["0", "-1", "1.0", "width", "levels"])
def test_an_extent_is_nothing_else(extent: str) -> None:
    declarations = "integer :: levels(3)\nreal :: width"
    assert codes(bound(f"smooth_type(drag, wind, {extent})", declarations)) == ["S108"]


def test_each_quadrature_shape_takes_an_object_and_an_evaluator_none() -> None:
    found = bound("project_type(drag, wind, rule, self%edges)")
    assert codes(found) == []
    (call,) = found.calls
    assert [actual.datum for actual in call.quadratures] == ["rule", "self_edges"]
    types = [datum.type for datum in found.data.in_order()[2:]]
    assert types == [DerivedType("quadrature_xyoz_type"), DerivedType("quadrature_edge_type")]


def test_a_halo_kernel_takes_a_depth_last() -> None:
    (call,) = bound("fill_type(wind, depth)").calls
    assert spell(call.halo_depth) == "depth"  # type: ignore[arg-type]
    (call,) = bound("fill_type(wind, 2)").calls
    assert spell(call.halo_depth) == "2"  # type: ignore[arg-type]


def test_dummies_come_by_their_role() -> None:
    found = bound(
        "advect_type(drag, wind, depth, way), project_type(mass, wind, rule, edges), "
        "fill_type(wind, level), scale_type(drag, dt, steps)"
    )
    assert data_names(found) == [
        "drag", "wind", "mass", "dt", "steps", "depth", "way", "rule", "edges", "level",
    ]  # fmt: skip


def test_an_extent_that_is_a_scalar_argument_too_is_one_dummy() -> None:
    found = bound("smooth_type(drag, wind, steps), scale_type(drag, 1.0, steps)")
    assert data_names(found) == ["drag", "wind", "steps"]
    assert found.data.in_order()[2].role is DatumRole.ARGUMENT


def test_a_part_of_a_vector_that_is_used_whole_is_a_part() -> None:
    found = bound("setval_c(chi(2), 0.0), metric_type(volume, chi), setval_c(chi(i), 1.0)")
    first, second, third = found.calls
    assert (first.args[0].datum, first.args[0].component) == ("chi", 2)
    assert (second.args[1].datum, second.args[1].component) == ("chi", None)
    assert (third.args[0].datum, third.args[0].component) == ("chi_i", None)
    chi = found.data.in_order()[0]
    assert (chi.vector, chi.may_alias) == (3, ("chi_i",))


def test_an_element_of_an_array_that_is_not_used_whole_is_a_field() -> None:
    found = bound("setval_c(chi(2), 0.0), setval_c(chi(3), 0.0)")
    assert data_names(found) == ["chi_2", "chi_3"]
    assert all(call.args[0].component is None for call in found.calls)


@pytest.mark.parametrize(
    ("declaration", "wanted"),
    [
        ("type(field_type) :: f", DerivedType("field_type")),
        ("type(r_solver_field_type) :: f", DerivedType("r_solver_field_type")),
        ("class(r_tran_field_type) :: f", DerivedType("r_tran_field_type")),
        ("type(our_field_type) :: f", DerivedType("field_type")),
        ("", DerivedType("field_type")),
    ],
)
def test_the_declaration_decides_the_precision(declaration: str, wanted: DerivedType) -> None:
    assert bound("setval_c(f, 0.0)", declaration).data.in_order()[0].type == wanted


def test_scalars_keep_their_declared_kind() -> None:
    found = bound("scale_type(f, dt, steps)", "real(r_um) :: dt\ninteger(i_um) :: steps")
    kinds = [datum.type for datum in found.data.in_order()[1:]]
    assert kinds == [ScalarType(Intrinsic.REAL, "r_um"), ScalarType(Intrinsic.INTEGER, "i_um")]


def test_a_vector_is_as_long_as_its_longest_use() -> None:
    found = bound("setval_c(chi(5), 0.0), metric_type(volume, chi)")
    assert codes(found) == []
    assert found.data.in_order()[0].vector == 5


@pytest.mark.parametrize(
    "calls",
    [
        "setval_c(x, 0.0), apply_type(f, x)",
        "setval_c(x, 0.0), metric_type(f, x)",
        "scale_type(f, x, 1), table_type(f, x)",
        "scale_type(f, x, 1), scale_type(f, 1.0, x)",
    ],
)
def test_what_is_not_declared_is_one_thing(calls: str) -> None:
    assert codes(bound(calls)) == ["S112"]


@pytest.mark.parametrize("text", ["-dt", "0.5*dt", "2*(dt + 1)", "steps*dt", "dts(steps)/2"])
def test_an_expression_has_the_kind_of_its_operands(text: str) -> None:
    declarations = "real(r_solver) :: dt, dts(3)\ninteger :: steps"
    found = bound(f"scale_type(f, {text}, 1)", declarations)
    assert found.data.in_order()[1].type == ScalarType(Intrinsic.REAL, "r_solver")
