"""What is passed for each role of a dummy argument, and how it is obtained."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lfric_schedules import (
    body_of,
    call,
    called,
    cell_program,
    component,
    field,
    field_arg,
    kernel,
    loop,
    lowered,
    operator,
    operator_arg,
    passed,
    scalar,
    scalar_arg,
)
from psyclone_storage.ir.expr import Literal, Name, Unary
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    BasisOperation,
    BasisShape,
    CmaKind,
    Generation,
    Iteration,
    KernelArg,
    MeshRole,
    SpaceFunctions,
    StencilShape,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import Datum, DatumRole, Extent, Over, Reach
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType

READ, WRITE, READWRITE, INC = Access.READ, Access.WRITE, Access.READWRITE, Access.INC
INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")


def test_a_field_and_its_space() -> None:
    text = cell_program((field("f1"),), call(kernel(field_arg("w3", WRITE)), "f1"))
    assert called(text) == "nlayers_f1, f1_data, ndf_w3, undf_w3, map_w3(:, cell)"
    assert body_of(text) == [
        "f1_proxy = f1%get_proxy()",
        "f1_data => f1_proxy%data",
        "nlayers_f1 = f1_proxy%vspace%get_nlayers()",
        "mesh => f1_proxy%vspace%get_mesh()",
        "map_w3 => f1_proxy%vspace%get_whole_dofmap()",
        "ndf_w3 = f1_proxy%vspace%get_ndf()",
        "undf_w3 = f1_proxy%vspace%get_undf()",
        "loop1_start = 1",
        "loop1_stop = mesh%get_last_edge_cell()",
        "do cell = loop1_start, loop1_stop",
        "call work_code(nlayers_f1, f1_data, ndf_w3, undf_w3, map_w3(:, cell))",
        "end do",
        "end subroutine invoke_test",
        "end module alg_psy",
    ]


def test_a_named_space_is_taken_from_the_first_argument_on_it() -> None:
    made = kernel(field_arg("w3", WRITE), field_arg("w3"))
    text = cell_program((field("f1"), field("f2")), call(made, "f1", "f2"))
    assert called(text) == "nlayers_f1, f1_data, f2_data, ndf_w3, undf_w3, map_w3(:, cell)"
    assert text.count("get_ndf()") == 1


@pytest.mark.parametrize("space", ["any_space_1", "any_discontinuous_space_3", "any_w2"])
def test_a_wildcard_is_shared_by_calls_that_pass_the_same_field_only(space: str) -> None:
    made = kernel(field_arg(space, WRITE))
    calls = (call(made, name) for name in ("f1", "f2", "f1"))
    loops = [loop(item, uid=f"loop{at}") for at, item in enumerate(calls)]
    text = lowered((field("f1"), field("f2")), *loops)
    assert "ndf_f1 = f1_proxy%vspace%get_ndf()" in text
    assert "ndf_f2 = f2_proxy%vspace%get_ndf()" in text
    assert text.count("%get_ndf()") == 2


def test_a_field_vector_has_a_proxy_and_a_pointer_per_component() -> None:
    made = kernel(field_arg("w0", WRITE, vector=3))
    text = cell_program((field("chi", vector=3),), call(made, "chi"))
    assert called(text).startswith("nlayers_chi, chi_1_data, chi_2_data, chi_3_data, ndf_w0")
    assert "type(field_type), target, intent(in) :: chi(3)" in text
    assert "type(field_proxy_type) :: chi_proxy(3)" in text
    assert "chi_proxy(2) = chi(2)%get_proxy()" in body_of(text)
    assert "chi_2_data => chi_proxy(2)%data" in body_of(text)
    assert "ndf_w0 = chi_proxy(1)%vspace%get_ndf()" in body_of(text)


def test_one_component_of_a_vector_needs_nothing_of_the_others() -> None:
    made = kernel(field_arg("w0", WRITE))
    text = cell_program((field("chi", vector=3),), call(made, component("chi", 2)))
    assert "chi_2_data => chi_proxy(2)%data" in body_of(text)
    assert "chi_3_data" not in text


def test_scalars_are_passed_by_name_and_constants_as_written() -> None:
    made = kernel(field_arg("w3", WRITE), scalar_arg(), scalar_arg(), scalar_arg())
    half = Literal("0.5_r_tran", Intrinsic.REAL, "r_tran")
    minus = Unary(Operator.MINUS, Literal("1.0", Intrinsic.REAL))
    text = cell_program((field("f1"), scalar("a")), call(made, "f1", "a", half, minus))
    assert called(text).startswith("nlayers_f1, f1_data, a, 0.5_r_tran, -1.0, ndf_w3")
    assert "use constants_mod, only: i_def, r_def, r_tran" in text
    assert "real(kind=r_def), intent(in) :: a" in text


def test_an_array_of_scalars_comes_with_its_shape() -> None:
    array = KernelArg(ArgKind.SCALAR_ARRAY, Intrinsic.INTEGER, READ, rank=2)
    datum = Datum("table", Name("table"), INTEGER, kind=ArgKind.SCALAR_ARRAY, rank=2)
    made = kernel(field_arg("w3", WRITE), array)
    text = cell_program((field("f1"), datum), call(made, "f1", "table"))
    assert called(text).startswith("nlayers_f1, f1_data, dims_table, table, ndf_w3")
    assert "integer(kind=i_def), contiguous, intent(in) :: table(:, :)" in text
    assert "dims_table = shape(table)" in body_of(text)
    assert "dims_table(2)" in text


def test_an_operator_is_asked_for_its_size_once() -> None:
    made = kernel(operator_arg("w2", "w3", WRITE))
    calls = [loop(call(made, "op"), uid=f"loop{at}") for at in (1, 2)]
    text = lowered((operator("op"),), *calls)
    assert (
        "call work_code(cell, nlayers_op, op_ncell_3d, op_local_stencil, ndf_w2, ndf_w3)"
        in body_of(text)
    )
    assert text.count("op_ncell_3d = op_proxy%ncell_3d") == 1
    assert "ndf_w2 = op_proxy%fs_to%get_ndf()" in body_of(text)
    assert "ndf_w3 = op_proxy%fs_from%get_ndf()" in body_of(text)


@pytest.mark.parametrize(
    ("type_name", "module", "kind"),
    [
        ("r_solver_field_type", "r_solver_field_mod", "real(kind=r_solver)"),
        ("r_tran_field_type", "r_tran_field_mod", "real(kind=r_tran)"),
        ("r_bl_field_type", "r_bl_field_mod", "real(kind=r_bl)"),
        ("integer_field_type", "integer_field_mod", "integer(kind=i_def)"),
        ("field_real32_type", "field_real32_mod", "real(kind=real32)"),
    ],
)
def test_the_declared_type_decides_the_precision(type_name: str, module: str, kind: str) -> None:
    made = kernel(field_arg("w3", WRITE))
    text = cell_program((field("f1", type_name),), call(made, "f1"))
    proxy = type_name.replace("_type", "_proxy_type")
    assert f"use {module}, only: {proxy}, {type_name}" in text
    assert f"{kind}, pointer, contiguous :: f1_data(:)" in text


def test_a_kind_of_the_language_is_imported_from_the_language() -> None:
    made = kernel(field_arg("w3", WRITE))
    text = cell_program((field("f1", "field_real32_type"),), call(made, "f1"))
    assert "use, intrinsic :: iso_fortran_env, only: real32" in text


# ---------------------------------------------------------------------------- stencils


def around_text(shape: StencilShape, *, distributed: bool = True, **more: object) -> str:
    matrices = replace(operator_arg("w2", "w3"), stencil=shape)
    made = kernel(field_arg("w3", WRITE), matrices)
    one = call(made, "f1", passed("op", **more))
    return cell_program((field("f1"), operator("op")), one, distributed=distributed)


def test_the_stencil_of_an_operator_names_cells() -> None:
    text = around_text(StencilShape.CROSS, extent=Literal("1", Intrinsic.INTEGER))
    assert "op_local_stencil, cell_stencil_sizes(cell), stencil_cells(:, cell)," in called(text)
    body = body_of(text)
    start = body.index("space_of_cells => function_space_collection%get_fs(mesh, 0, 0, W3)")
    assert body[start + 1] == (
        "cell_stencil_map => space_of_cells%get_stencil_dofmap(STENCIL_CROSS, 1)"
    )
    assert "cell_of_dof(map_cells(1, stencil_cell)) = stencil_cell" in body
    assert "deallocate(stencil_cells, cell_of_dof)" in body


def test_branches_of_cells_are_passed_apart() -> None:
    text = around_text(StencilShape.CROSS2D, extent=Literal("1", Intrinsic.INTEGER))
    assert "cell_stencil_sizes(:, cell), cell_max_branch_length, stencil_cells(:, :, cell)," in (
        called(text)
    )


def test_code_stops_where_a_stencil_leaves_the_cells_that_operators_have() -> None:
    stop = "if (reach > 1) then"
    known = Literal("1", Intrinsic.INTEGER)
    assert body_of(around_text(StencilShape.CROSS, extent=Name("reach"))).count(stop) == 1
    assert stop not in around_text(StencilShape.CROSS, extent=known)
    assert stop not in around_text(StencilShape.CROSS, extent=Name("reach"), distributed=False)


EXTENT = Datum("depth", Name("depth"), INTEGER, DatumRole.EXTENT)
DIRECTION = Datum("way", Name("way"), INTEGER, DatumRole.DIRECTION)


def stencil_text(shape: StencilShape, **more: object) -> str:
    made = kernel(field_arg("w3", WRITE), field_arg("w2", stencil=shape))
    item = call(made, "f1", passed("f2", **more))
    return cell_program((field("f1"), field("f2"), EXTENT, DIRECTION), item)


@pytest.mark.parametrize(
    ("shape", "constant"),
    [
        (StencilShape.X1D, "STENCIL_1DX"),
        (StencilShape.Y1D, "STENCIL_1DY"),
        (StencilShape.CROSS, "STENCIL_CROSS"),
        (StencilShape.REGION, "STENCIL_REGION"),
    ],
)
def test_a_stencil_gives_its_size_and_map_of_the_cell(shape: StencilShape, constant: str) -> None:
    text = stencil_text(shape, extent=Literal("2", Intrinsic.INTEGER))
    assert "f2_data, f2_stencil_sizes(cell), f2_stencil_dofmap(:, :, cell)," in called(text)
    assert f"f2_stencil_map => f2_proxy%vspace%get_stencil_dofmap({constant}, 2)" in body_of(text)
    assert "f2_stencil_sizes => f2_stencil_map%get_stencil_sizes()" in body_of(text)


def test_branches_of_a_stencil_are_passed_apart() -> None:
    text = stencil_text(StencilShape.CROSS2D, extent=Name("depth"))
    assert (
        "f2_stencil_sizes(:, cell), f2_max_branch_length, f2_stencil_dofmap(:, :, :, cell),"
        in called(text)
    )
    assert "type(stencil_2D_dofmap_type), pointer :: f2_stencil_map" in text
    assert "f2_max_branch_length = depth + 1" in body_of(text)


def test_a_direction_known_at_run_time_chooses_the_map() -> None:
    text = stencil_text(StencilShape.XORY1D, extent=Name("depth"), direction=Name("way"))
    assert "f2_stencil_sizes(cell), way, f2_stencil_dofmap(:, :, cell)," in called(text)
    body = body_of(text)
    start = body.index("if (way == x_direction) then")
    assert body[start - 1] == "f2_stencil_map => null()"
    assert body[start + 1 : start + 5] == [
        "f2_stencil_map => f2_proxy%vspace%get_stencil_dofmap(STENCIL_1DX, depth)",
        "else if (way == y_direction) then",
        "f2_stencil_map => f2_proxy%vspace%get_stencil_dofmap(STENCIL_1DY, depth)",
        "else",
    ]
    assert "LOG_LEVEL_ERROR" in body[start + 5]


def test_a_direction_known_now_needs_no_choice() -> None:
    text = stencil_text(StencilShape.XORY1D, extent=Name("depth"), direction=Name("y_direction"))
    assert "y_direction, f2_stencil_dofmap(:, :, cell)" in called(text)
    assert "use flux_direction_mod, only: y_direction" in text
    assert "STENCIL_1DX" not in text


def test_equal_stencils_share_a_map_and_others_do_not() -> None:
    made = kernel(field_arg("w3", WRITE), field_arg("w2", stencil=StencilShape.CROSS))
    extents = [Name("depth"), Name("DEPTH"), Literal("2", Intrinsic.INTEGER)]
    loops = [
        loop(call(made, "f1", passed("f2", extent=extent)), uid=f"loop{at}")
        for at, extent in enumerate(extents)
    ]
    text = lowered((field("f1"), field("f2"), EXTENT), *loops)
    assert text.count("get_stencil_dofmap(") == 2
    assert "f2_stencil_map_1 => f2_proxy%vspace%get_stencil_dofmap(STENCIL_CROSS, 2)" in text


# ---------------------------------------------------------------------------- basis functions


def quadrature(name: str, shape: str = "xyoz") -> Datum:
    return Datum(name, Name(name), DerivedType(f"quadrature_{shape}_type"), DatumRole.QUADRATURE)


def test_basis_functions_at_quadrature_points() -> None:
    made = kernel(
        field_arg("w1", WRITE),
        functions=(SpaceFunctions("w1", (BasisOperation.BASIS, BasisOperation.DIFF_BASIS)),),
        shapes=(BasisShape.XYOZ,),
    )
    calls = [loop(call(made, "f1", quadratures=(passed("qr"),)), uid=f"loop{at}") for at in (1, 2)]
    text = lowered((field("f1"), quadrature("qr")), *calls)
    body = body_of(text)
    assert (
        "call work_code(nlayers_f1, f1_data, ndf_w1, undf_w1, map_w1(:, cell), basis_w1_qr, "
        "diff_basis_w1_qr, np_xy_qr, np_z_qr, weights_xy_qr, weights_z_qr)" in body
    )
    assert body.count("allocate(basis_w1_qr(3, ndf_w1, np_xy_qr, np_z_qr))") == 1
    assert (
        body.count("call qr%compute_function(BASIS, f1_proxy%vspace, 3, ndf_w1, basis_w1_qr)") == 1
    )
    assert "qr_proxy = qr%get_quadrature_proxy()" in body
    assert "weights_z_qr => qr_proxy%weights_z" in body
    assert body[-3] == "deallocate(basis_w1_qr, diff_basis_w1_qr)"


@pytest.mark.parametrize(("shape", "count"), [("face", "nfaces"), ("edge", "nedges")])
def test_quadrature_on_faces_and_edges(shape: str, count: str) -> None:
    wanted = BasisShape(f"gh_quadrature_{shape}")
    made = kernel(
        field_arg("w3", WRITE),
        functions=(SpaceFunctions("w3", (BasisOperation.BASIS,)),),
        shapes=(wanted,),
    )
    item = call(made, "f1", quadratures=(passed("qr"),))
    text = cell_program((field("f1"), quadrature("qr", shape)), item)
    assert called(text).endswith(f"basis_w3_qr, {count}_qr, np_xyz_qr, weights_xyz_qr")
    assert f"allocate(basis_w3_qr(1, ndf_w3, np_xyz_qr, {count}_qr))" in body_of(text)
    assert f"use quadrature_{shape}_mod, only: quadrature_{shape}_proxy_type" in text


def test_the_dimension_of_a_wildcard_is_asked_for() -> None:
    made = kernel(
        field_arg("any_space_1", WRITE),
        functions=(SpaceFunctions("any_space_1", tuple(BasisOperation)[:2]),),
        shapes=(BasisShape.XYOZ,),
    )
    item = call(made, "f1", quadratures=(passed("qr"),))
    body = body_of(cell_program((field("f1"), quadrature("qr")), item))
    assert "dim_f1 = f1_proxy%vspace%get_dim_space()" in body
    assert "diff_dim_f1 = f1_proxy%vspace%get_dim_space_diff()" in body
    assert "allocate(diff_basis_f1_qr(diff_dim_f1, ndf_f1, np_xy_qr, np_z_qr))" in body


def test_basis_functions_at_the_nodes_of_each_target() -> None:
    made = kernel(
        field_arg("w0", WRITE),
        field_arg("w1"),
        functions=(SpaceFunctions("w1", (BasisOperation.BASIS,)),),
        shapes=(BasisShape.EVALUATOR,),
        targets=("w0", "w1"),
    )
    text = cell_program((field("f1"), field("f2")), call(made, "f1", "f2"))
    assert called(text).endswith("basis_w1_on_w0, basis_w1_on_w1")
    body = body_of(text)
    start = body.index("allocate(basis_w1_on_w0(3, ndf_w1, ndf_w0))")
    value = "f2_proxy%vspace%call_function(BASIS, df_basis, nodes_w0(:, node))"
    assert body[start + 1 : start + 6] == [
        "do node = 1, ndf_w0",
        "do df_basis = 1, ndf_w1",
        f"basis_w1_on_w0(:, df_basis, node) = {value}",
        "end do",
        "end do",
    ]
    assert "nodes_w0 => f1_proxy%vspace%get_nodes()" in body


# ---------------------------------------------------------------------------- columns and meshes


def columnwise(name: str) -> Datum:
    kind = ArgKind.COLUMNWISE_OPERATOR
    return Datum(name, Name(name), DerivedType("columnwise_operator_type"), kind=kind)


def columnwise_arg(to: str, source: str, access: Access = READ) -> KernelArg:
    return KernelArg(ArgKind.COLUMNWISE_OPERATOR, Intrinsic.REAL, access, to, source)


def test_the_assembly_of_a_columnwise_operator() -> None:
    made = kernel(
        operator_arg("w3", "wtheta"), columnwise_arg("w3", "wtheta", WRITE), cma=CmaKind.ASSEMBLY
    )
    text = cell_program((operator("op"), columnwise("cma")), call(made, "op", "cma"))
    assert called(text) == (
        "cell, nlayers_op, ncell_2d, op_ncell_3d, op_local_stencil, cma_matrix, cma_nrow, "
        "cma_ncol, cma_bandwidth, cma_alpha, cma_beta, cma_gamma_m, cma_gamma_p, ndf_w3, "
        "cma_banded_map_to, ndf_wtheta, cma_banded_map_from"
    )
    body = body_of(text)
    assert "cma_matrix => cma_proxy%columnwise_matrix" in body
    assert "cma_banded_map_from => cma_proxy%column_banded_dofmap_from" in body
    assert "ncell_2d = mesh%get_ncells_2d()" in body
    assert "real(kind=r_solver), pointer, contiguous :: cma_matrix(:, :, :)" in text


def test_the_application_of_a_columnwise_operator() -> None:
    made = kernel(
        field_arg("w3", INC),
        field_arg("wtheta"),
        columnwise_arg("w3", "wtheta"),
        cma=CmaKind.APPLY,
    )
    data = (field("f1"), field("f2"), columnwise("cma"))
    text = cell_program(data, call(made, "f1", "f2", "cma"))
    assert called(text).startswith("cell, ncell_2d, f1_data, f2_data, cma_matrix, cma_nrow")
    assert called(text).endswith(
        "map_w3(:, cell), cma_indirection_map_to, ndf_wtheta, undf_wtheta, map_wtheta(:, cell), "
        "cma_indirection_map_from"
    )


def test_two_meshes_share_nothing() -> None:
    made = kernel(field_arg("w1", INC, mesh=MeshRole.FINE), field_arg("w2", mesh=MeshRole.COARSE))
    data = (field("fine"), field("coarse"))
    text = lowered(data, loop(call(made, "fine", "coarse"), bounds_from=1))
    assert called(text) == (
        "nlayers_fine, cells_fine_per_coarse(:, :, cell), ncell_fine_per_coarse_x, "
        "ncell_fine_per_coarse_y, ncell_fine, fine_data, coarse_data, ndf_fine, undf_fine, "
        "map_fine, undf_coarse, map_coarse(:, cell)"
    )
    body = body_of(text)
    assert "map_coarse_to_fine => mesh_coarse%get_mesh_map(mesh_fine)" in body
    assert "loop1_stop = mesh_coarse%get_last_edge_cell()" in body
    assert "ncell_fine = mesh_fine%get_ncells_2d()" in body


def test_a_kernel_of_2019_is_told_the_product_of_cells() -> None:
    made = kernel(
        field_arg("w1", INC, mesh=MeshRole.FINE),
        field_arg("w2", mesh=MeshRole.COARSE),
        generation=Generation.Y2019,
    )
    data = (field("fine"), field("coarse"))
    text = lowered(data, loop(call(made, "fine", "coarse"), bounds_from=1))
    assert "(:, :, cell), ncell_fine_per_coarse_x * ncell_fine_per_coarse_y, " in called(text)


def test_orientation_is_that_of_the_cell() -> None:
    made = kernel(
        field_arg("w2", INC),
        functions=(SpaceFunctions("w2", (BasisOperation.ORIENTATION,)),),
        generation=Generation.Y2019,
    )
    text = cell_program((field("f1"),), call(made, "f1"))
    assert called(text).endswith("map_w2(:, cell), f1_proxy%vspace%get_cell_orientation(cell)")


def test_the_reference_element_and_the_neighbours() -> None:
    made = kernel(
        field_arg("w3", WRITE),
        reference_element=("normals_to_horizontal_faces", "outward_normals_to_faces"),
        mesh_properties=("adjacent_face",),
    )
    text = cell_program((field("f1"),), call(made, "f1"))
    assert called(text).endswith(
        "nfaces_re_h, nfaces_re, normals_to_horizontal_faces, outward_normals_to_faces, "
        "adjacent_face(:, cell)"
    )
    body = body_of(text)
    assert "reference_element => mesh%get_reference_element()" in body
    assert "class(reference_element_type), pointer :: reference_element" in text
    assert "call reference_element%get_outward_normals_to_faces(outward_normals_to_faces)" in body
    assert "adjacent_face => mesh%get_adjacent_face()" in body


def test_boundary_dofs_of_fields_and_operators() -> None:
    made = kernel(field_arg("any_space_1", INC), name="enforce_bc")
    text = lowered((field("f1"),), loop(call(made, "f1")))
    assert "map_f1(:, cell), boundary_dofs_f1)" in text
    assert "boundary_dofs_f1 => f1_proxy%vspace%get_boundary_dofs()" in text
    made = kernel(operator_arg("w2", "w3", READWRITE), name="enforce_operator_bc")
    text = lowered((operator("op"),), loop(call(made, "op")))
    assert "boundary_dofs_w2 => op_proxy%fs_to%get_boundary_dofs()" in text


# ---------------------------------------------------------------------------- other iterations


def test_a_domain_kernel_is_called_once_for_all_cells() -> None:
    made = kernel(field_arg("w3", READWRITE), iteration=Iteration.DOMAIN)
    text = lowered((field("f1"),), loop(call(made, "f1"), over=Over.DOMAIN))
    assert called(text) == "nlayers_f1, ncell_2d_no_halos, f1_data, ndf_w3, undf_w3, map_w3"
    assert "ncell_2d_no_halos = mesh%get_last_edge_cell()" in body_of(text)
    assert not any(line.startswith("do ") for line in body_of(text))


@pytest.mark.parametrize("iteration", [Iteration.DOF, Iteration.OWNED_DOF])
def test_a_kernel_over_dofs_is_passed_values(iteration: Iteration) -> None:
    made = kernel(
        field_arg("w3", WRITE), field_arg("w3", vector=2), scalar_arg(), iteration=iteration
    )
    item = call(made, "f1", "chi", "a")
    data = (field("f1"), field("chi", vector=2), scalar("a"))
    text = lowered(data, loop(item, over=Over.DOFS))
    assert called(text) == "f1_data(df), chi_1_data(df), chi_2_data(df), a"
    assert "mesh" not in text
    assert "loop1_stop = f1_proxy%vspace%get_last_dof_owned()" in body_of(text)


def test_coloured_cells() -> None:
    made = kernel(field_arg("w2", INC))
    inner = loop(
        call(made, "f1"), over=Over.CELLS_OF_COLOUR, extent=Extent(Reach.HALO, Depth.of(1))
    )
    outer = loop(inner, over=Over.COLOURS, uid="loop2")  # type: ignore[arg-type]
    body = body_of(lowered((field("f1"),), outer))
    start = body.index("do colour = 1, ncolours")
    assert body[start + 1 : start + 4] == [
        "do cell_of_colour = 1, last_halo_cells(colour, 1)",
        "cell = colour_map(colour, cell_of_colour)",
        "call work_code(nlayers_f1, f1_data, ndf_w2, undf_w2, map_w2(:, cell))",
    ]
    source = "mesh%get_last_halo_cell_all_colours()"
    assert f"allocate(last_halo_cells, source={source})" in body
    assert "deallocate(last_halo_cells)" in body
    assert "colour_map => mesh%get_colour_map()" in body
    assert "ncolours = mesh%get_ncolours()" in body
