"""The order of a kernel's dummy arguments, for every kind of kernel.

The expected orders are those that the LFRic interface documents, verified against code that
compiles with its infrastructure.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from psyclone_storage.ir.expr import Name, spell
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    BasisOperation,
    BasisShape,
    CmaKind,
    Generation,
    Iteration,
    Kernel,
    KernelArg,
    MeshRole,
    SpaceFunctions,
    StencilShape,
)
from psyclone_storage.ir.types import Intrinsic

READ, WRITE, INC, READWRITE = Access.READ, Access.WRITE, Access.INC, Access.READWRITE
REAL, INTEGER, LOGICAL = Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL


def shape_of(dummy: Dummy) -> tuple[str, ...]:
    return tuple(map(spell, dummy.shape))


def field(access: Access, space: str, vector: int = 1, intrinsic: Intrinsic = REAL) -> KernelArg:
    return KernelArg(ArgKind.FIELD, intrinsic, access, space, vector=vector)


def stencil(shape: StencilShape, space: str, vector: int = 1) -> KernelArg:
    return replace(field(READ, space, vector), stencil=shape)


def operator(access: Access, to: str, origin: str) -> KernelArg:
    return KernelArg(ArgKind.OPERATOR, REAL, access, to, origin)


def columnwise(access: Access, to: str, origin: str) -> KernelArg:
    return KernelArg(ArgKind.COLUMNWISE_OPERATOR, REAL, access, to, origin)


def scalar(intrinsic: Intrinsic = REAL) -> KernelArg:
    return KernelArg(ArgKind.SCALAR, intrinsic, READ)


def kernel(*args: KernelArg, **more: object) -> Kernel:
    plain = Kernel("k_type", "k_mod", "k_code", Iteration.CELL_COLUMN, args)
    return replace(plain, **more)  # type: ignore[arg-type]


def names(given: Kernel) -> list[str]:
    return [dummy.name for dummy in build_lfric_dummies(given)]


def test_fields_and_scalars_then_their_spaces() -> None:
    given = kernel(
        field(INC, "w1"), scalar(), field(READ, "w2"), field(READ, "w1"), scalar(LOGICAL)
    )
    assert names(given) == [
        "nlayers", "field_1_w1", "rscalar_2", "field_3_w2", "field_4_w1", "lscalar_5",
        "ndf_w1", "undf_w1", "map_w1", "ndf_w2", "undf_w2", "map_w2",
    ]  # fmt: skip


def test_a_vector_is_its_components() -> None:
    assert names(kernel(field(READWRITE, "w3", 3)))[1:4] == [
        "field_1_w3_v1", "field_1_w3_v2", "field_1_w3_v3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (StencilShape.CROSS, ["field_2_stencil_size", "field_2_stencil_map"]),
        (StencilShape.REGION, ["field_2_stencil_size", "field_2_stencil_map"]),
        (
            StencilShape.XORY1D,
            ["field_2_stencil_size", "field_2_direction", "field_2_stencil_map"],
        ),
        (
            StencilShape.CROSS2D,
            ["field_2_stencil_size", "field_2_max_branch_length", "field_2_stencil_map"],
        ),
    ],
)
def test_a_stencil_follows_its_field(shape: StencilShape, expected: list[str]) -> None:
    given = kernel(field(WRITE, "w3"), stencil(shape, "w2v"), field(READ, "wtheta"))
    assert names(given)[1:-9] == [
        "field_1_w3", "field_2_w2v", *expected, "field_3_wtheta",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "expected", "ranks"),
    [
        (StencilShape.CROSS, ["stencil_size", "stencil_cells"], [0, 1]),
        (StencilShape.XORY1D, ["stencil_size", "direction", "stencil_cells"], [0, 0, 1]),
        (
            StencilShape.CROSS2D,
            ["stencil_size", "max_branch_length", "stencil_cells"],
            [1, 0, 2],
        ),
    ],
)
def test_the_cells_of_a_stencil_follow_their_operator(
    shape: StencilShape, expected: list[str], ranks: list[int]
) -> None:
    around = replace(operator(READ, "w2", "w3"), stencil=shape, layers="soil")
    found = build_lfric_dummies(kernel(field(WRITE, "w3"), around))
    assert [dummy.name for dummy in found][:3] == ["cell", "nlayers", "field_1_w3"]
    own = found[3:-4]
    assert [dummy.name for dummy in own] == [
        "op_2_ncell_3d", "op_2", *(f"op_2_{word}" for word in expected), "nlayers_op_2",
    ]  # fmt: skip
    assert [dummy.rank for dummy in own[2:-1]] == ranks


def test_scalars_of_a_kernel_between_meshes_stand_where_metadata_have_them() -> None:
    coarse = replace(field(WRITE, "any_space_1"), mesh=MeshRole.COARSE)
    fine = replace(field(READ, "any_space_2"), mesh=MeshRole.FINE)
    assert names(kernel(scalar(INTEGER), coarse, fine, scalar()))[5:9] == [
        "iscalar_1", "field_2_any_space_1", "field_3_any_space_2", "rscalar_4",
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [StencilShape.REGION, StencilShape.CROSS2D])
def test_a_stencil_on_a_coarse_mesh_needs_no_number_that_is_not_passed(
    shape: StencilShape,
) -> None:
    fine = replace(field(WRITE, "any_space_1"), mesh=MeshRole.FINE)
    coarse = replace(stencil(shape, "any_space_2"), mesh=MeshRole.COARSE)
    dummies = build_lfric_dummies(kernel(fine, coarse))
    names = {dummy.name for dummy in dummies}
    for dummy in dummies:
        for extent in dummy.shape:
            assert not isinstance(extent, Name) or extent.text in names, dummy.name


def test_a_stencil_of_a_vector_comes_once_behind_the_last_component() -> None:
    given = kernel(field(WRITE, "w3"), stencil(StencilShape.CROSS, "w3", 2))
    assert names(given)[2:6] == [
        "field_2_w3_v1", "field_2_w3_v2", "field_2_stencil_size", "field_2_stencil_map",
    ]  # fmt: skip


def test_the_branches_of_a_cross2d_stencil_have_a_rank_of_their_own() -> None:
    given = kernel(field(WRITE, "w3"), stencil(StencilShape.CROSS2D, "w3"))
    ranks = {dummy.name: dummy.rank for dummy in build_lfric_dummies(given)}
    assert (ranks["field_2_stencil_size"], ranks["field_2_stencil_map"]) == (1, 3)


def test_a_domain_kernel_takes_the_stencils_of_all_cells() -> None:
    given = kernel(
        field(WRITE, "w3"), stencil(StencilShape.CROSS2D, "w3"), iteration=Iteration.DOMAIN
    )
    shapes = {dummy.name: shape_of(dummy) for dummy in build_lfric_dummies(given)}
    assert shapes["field_2_stencil_size"] == ("4", "ncell_2d_no_halos")
    assert shapes["field_2_max_branch_length"] == ()
    assert shapes["field_2_stencil_map"] == (":",) * 4


def test_an_operator_brings_the_cell_and_its_own_number_of_cells() -> None:
    given = kernel(operator(WRITE, "w3", "w2"), operator(READ, "w2", "w2"))
    assert names(given) == [
        "cell", "nlayers", "op_1_ncell_3d", "op_1", "op_2_ncell_3d", "op_2", "ndf_w3", "ndf_w2",
    ]  # fmt: skip
    shapes = {dummy.name: shape_of(dummy) for dummy in build_lfric_dummies(given)}
    assert shapes["op_1"] == ("op_1_ncell_3d", "ndf_w3", "ndf_w2")
    old = {
        dummy.name: shape_of(dummy)
        for dummy in build_lfric_dummies(replace(given, generation=Generation.Y2019))
    }
    assert old["op_1"] == ("ndf_w3", "ndf_w2", "op_1_ncell_3d")


def test_a_field_after_an_operator_on_its_space_gives_the_dofmap() -> None:
    given = kernel(operator(READ, "w3", "w2"), field(READ, "w2"), field(READWRITE, "w3"))
    dummies = {dummy.name: dummy for dummy in build_lfric_dummies(given)}
    assert [dummies["map_w3"].arg, dummies["map_w2"].arg] == [2, 1]


def test_domain_kernels_take_whole_dofmaps() -> None:
    given = kernel(field(READWRITE, "w3"), scalar(INTEGER), iteration=Iteration.DOMAIN)
    assert names(given) == [
        "nlayers", "ncell_2d_no_halos", "field_1_w3", "iscalar_2", "ndf_w3", "undf_w3", "map_w3",
    ]  # fmt: skip
    assert shape_of(build_lfric_dummies(given)[-1]) == ("ndf_w3", "ncell_2d_no_halos")


@pytest.mark.parametrize("iteration", [Iteration.DOF, Iteration.OWNED_DOF])
def test_kernels_over_dofs_take_values_alone(iteration: Iteration) -> None:
    given = kernel(field(WRITE, "w0"), field(READ, "w0", 2), scalar(), iteration=iteration)
    assert names(given) == ["field_1_w0", "field_2_w0_v1", "field_2_w0_v2", "rscalar_3"]
    assert all(dummy.rank == 0 for dummy in build_lfric_dummies(given))


def intergrid(written: MeshRole) -> Kernel:
    fine = written is MeshRole.FINE
    first = field(INC if fine else WRITE, "w1")
    other = MeshRole.COARSE if fine else MeshRole.FINE
    return kernel(replace(first, mesh=written), replace(field(READ, "w2"), mesh=other))


def test_prolongation_has_all_of_the_fine_mesh_and_one_coarse_cell() -> None:
    assert names(intergrid(MeshRole.FINE)) == [
        "nlayers", "cell_map", "ncell_f_per_c_x", "ncell_f_per_c_y", "ncell_f",
        "field_1_w1", "field_2_w2", "ndf_w1", "undf_w1", "map_w1", "undf_w2", "map_w2",
    ]  # fmt: skip


def test_restriction_is_the_other_way_round() -> None:
    assert names(intergrid(MeshRole.COARSE))[-5:] == [
        "undf_w1", "map_w1", "ndf_w2", "undf_w2", "map_w2",
    ]  # fmt: skip


def test_intergrid_kernels_of_2019_have_one_count_of_cells() -> None:
    given = replace(intergrid(MeshRole.FINE), generation=Generation.Y2019)
    assert names(given)[1:4] == ["cell_map", "ncell_f_per_c", "ncell_f"]


CMA = [
    "cma_op_{n}", "cma_op_{n}_nrow", "cma_op_{n}_ncol", "cma_op_{n}_bandwidth", "cma_op_{n}_alpha",
    "cma_op_{n}_beta", "cma_op_{n}_gamma_m", "cma_op_{n}_gamma_p",
]  # fmt: skip


def cma(number: int, square: bool = False) -> list[str]:
    return [name.format(n=number) for name in CMA if not (square and name.endswith("ncol"))]


def test_assembly_of_a_columnwise_operator() -> None:
    given = kernel(operator(READ, "w0", "w3"), columnwise(WRITE, "w0", "w3"), cma=CmaKind.ASSEMBLY)
    assert names(given) == [
        "cell", "nlayers", "ncell_2d", "op_1_ncell_3d", "op_1", *cma(2),
        "ndf_w0", "cbanded_map_w0", "ndf_w3", "cbanded_map_w3",
    ]  # fmt: skip


def test_assembly_with_a_field_passes_its_dofmap_before_the_banded_one() -> None:
    given = kernel(
        field(READ, "w0"),
        operator(READ, "w0", "w0"),
        columnwise(WRITE, "w0", "w0"),
        cma=CmaKind.ASSEMBLY,
    )
    assert names(given) == [
        "cell", "nlayers", "ncell_2d", "field_1_w0", "op_2_ncell_3d", "op_2", *cma(3, square=True),
        "ndf_w0", "undf_w0", "map_w0", "cbanded_map_w0",
    ]  # fmt: skip


def test_application_of_a_columnwise_operator_has_no_layers() -> None:
    given = kernel(
        field(INC, "w0"), field(READ, "w3"), columnwise(READ, "w0", "w3"), cma=CmaKind.APPLY
    )
    assert names(given) == [
        "cell", "ncell_2d", "field_1_w0", "field_2_w3", *cma(3),
        "ndf_w0", "undf_w0", "map_w0", "cma_indirection_map_w0",
        "ndf_w3", "undf_w3", "map_w3", "cma_indirection_map_w3",
    ]  # fmt: skip
    shapes = {dummy.name: shape_of(dummy) for dummy in build_lfric_dummies(given)}
    assert shapes["cma_indirection_map_w0"] == ("cma_op_3_nrow",)
    assert shapes["cma_indirection_map_w3"] == ("cma_op_3_ncol",)


def test_products_of_columnwise_operators_have_no_spaces() -> None:
    given = kernel(
        columnwise(READ, "w0", "w3"),
        columnwise(WRITE, "w3", "w0"),
        scalar(),
        cma=CmaKind.MATRIX_MATRIX,
    )
    assert names(given) == ["cell", "ncell_2d", *cma(1), *cma(2), "rscalar_3"]


BASIS = SpaceFunctions("w1", (BasisOperation.BASIS,))
BOTH = SpaceFunctions("w2", (BasisOperation.DIFF_BASIS, BasisOperation.BASIS))


def test_basis_arrays_of_each_quadrature_and_their_points_and_weights() -> None:
    given = kernel(
        field(INC, "w1"),
        field(READ, "w2"),
        functions=(BASIS, BOTH),
        shapes=(BasisShape.FACE, BasisShape.EDGE),
    )
    assert names(given) == [
        "nlayers", "field_1_w1", "field_2_w2",
        "ndf_w1", "undf_w1", "map_w1", "basis_w1_qr_face", "basis_w1_qr_edge",
        "ndf_w2", "undf_w2", "map_w2", "basis_w2_qr_face", "basis_w2_qr_edge",
        "diff_basis_w2_qr_face", "diff_basis_w2_qr_edge",
        "nfaces_qr_face", "np_xyz_qr_face", "weights_xyz_qr_face",
        "nedges_qr_edge", "np_xyz_qr_edge", "weights_xyz_qr_edge",
    ]  # fmt: skip
    shapes = {dummy.name: shape_of(dummy) for dummy in build_lfric_dummies(given)}
    assert shapes["basis_w1_qr_face"] == ("3", "ndf_w1", "np_xyz_qr_face", "nfaces_qr_face")
    assert shapes["diff_basis_w2_qr_edge"][0] == "1"


def test_an_evaluator_has_one_array_for_each_target_and_nothing_at_the_end() -> None:
    given = kernel(
        field(INC, "w1"),
        field(READ, "w2"),
        functions=(BASIS,),
        shapes=(BasisShape.XYOZ, BasisShape.EVALUATOR),
        targets=("w2", "w1"),
    )
    assert names(given)[6:9] == ["basis_w1_qr_xyoz", "basis_w1_on_w2", "basis_w1_on_w1"]
    assert names(given)[-4:] == [
        "np_xy_qr_xyoz", "np_z_qr_xyoz", "weights_xy_qr_xyoz", "weights_z_qr_xyoz",
    ]  # fmt: skip


def test_the_basis_of_a_wildcard_has_a_shape_that_the_caller_decides() -> None:
    given = kernel(
        field(INC, "any_space_1"),
        functions=(SpaceFunctions("any_space_1", (BasisOperation.BASIS,)),),
        shapes=(BasisShape.XYOZ,),
    )
    assert shape_of(build_lfric_dummies(given)[5]) == (":",) * 4


def test_each_count_of_faces_comes_once_before_all_normals() -> None:
    given = kernel(
        field(INC, "w1"),
        reference_element=(
            "normals_to_vertical_faces",
            "outward_normals_to_vertical_faces",
            "normals_to_faces",
            "normals_to_horizontal_faces",
        ),
        mesh_properties=("adjacent_face",),
    )
    assert names(given)[5:] == [
        "nfaces_re_v", "nfaces_re", "nfaces_re_h",
        "normals_to_vert_faces", "out_normals_to_vert_faces", "normals_to_faces",
        "normals_to_horiz_faces", "adjacent_face",
    ]  # fmt: skip


def test_adjacent_faces_bring_their_count_if_nothing_else_does() -> None:
    given = kernel(field(INC, "w1"), mesh_properties=("adjacent_face",))
    assert names(given)[5:] == ["nfaces_re_h", "adjacent_face"]


@pytest.mark.parametrize("procedure", ["enforce_bc_code", "enforce_bc_12_code"])
def test_boundary_dofs_of_a_field_are_known_by_the_kernels_name(procedure: str) -> None:
    given = kernel(field(INC, "any_space_1"), field(READ, "w3"), procedure=procedure)
    assert names(given)[6] == "boundary_dofs_field_1"


def test_boundary_dofs_of_an_operator_come_after_the_spaces() -> None:
    given = kernel(operator(READWRITE, "w2", "w3"), procedure="enforce_operator_bc_code")
    assert names(given) == [
        "cell", "nlayers", "op_1_ncell_3d", "op_1", "ndf_w2", "ndf_w3", "boundary_dofs_op_1",
    ]  # fmt: skip


def test_an_array_of_scalars_follows_its_shape() -> None:
    array = KernelArg(ArgKind.SCALAR_ARRAY, INTEGER, READ, rank=2)
    given = kernel(field(WRITE, "w3"), array)
    assert names(given)[2:4] == ["dims_iscalar_2", "iscalar_2"]
    assert [dummy.rank for dummy in build_lfric_dummies(given)[2:4]] == [1, 2]


def test_orientation_of_2019() -> None:
    wanted = SpaceFunctions("w2", (BasisOperation.BASIS, BasisOperation.ORIENTATION))
    given = kernel(
        field(INC, "w2"),
        functions=(wanted,),
        shapes=(BasisShape.XYOZ,),
        generation=Generation.Y2019,
    )
    assert names(given)[5:7] == ["basis_w2_qr_xyoz", "orientation_w2"]


def test_intents_follow_the_access() -> None:
    given = kernel(field(WRITE, "w3"), field(READ, "w3"), operator(READ, "w3", "w3"))
    intents = {dummy.name: dummy.intent for dummy in build_lfric_dummies(given)}
    assert (intents["field_1_w3"], intents["field_2_w3"], intents["op_3"]) == (
        "inout", "in", "in",
    )  # fmt: skip
