"""Dummy arguments of an LFRic kernel's subroutine, in order, derived from metadata.

The list is used for generated calls, for stubs and for checks of kernels. It has the order of the
LFRic interface. Arguments from the loop come first: cell, layers, and maps of an inter-grid pair.
They are followed by a group for each metadata argument, and a group for each function space in
order of first appearance. Boundary dofs, the reference element, mesh properties and quadrature come
last.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.infrastructures.lfric import (
    INTEGER,
    LOGICAL,
    REAL,
    SOLVER_REAL,
    basis_dimension,
    diff_basis_dimension,
)
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import kernel as kern
from psyclone_storage.ir.interface import ANY, Dummy, Role, shape_of_extents
from psyclone_storage.ir.types import Intrinsic, ScalarType

_DATA_TYPES = {Intrinsic.REAL: REAL, Intrinsic.INTEGER: INTEGER, Intrinsic.LOGICAL: LOGICAL}

_FIELD_BOUNDARY_KERNEL = regex(r"enforce_bc_(\d+_)?code")
_OPERATOR_BOUNDARY_KERNEL = "enforce_operator_bc_code"


def build_lfric_dummies(kernel: kern.Kernel) -> tuple[Dummy, ...]:
    """Return the dummy arguments of `kernel`'s subroutine (spec 2.1).

    A built-in has no subroutine and no dummies. A kernel over dofs receives only the values of its
    arguments at one dof (spec 2.6), also if it covers only owned dofs.
    """
    if kernel.is_builtin:
        return ()
    if kernel.iteration.over_dofs:
        return tuple(_dof_values(kernel))
    return (
        *_from_the_loop(kernel),
        *_from_the_arguments(kernel),
        *_from_the_spaces(kernel),
        *_operator_boundary(kernel),
        *_from_the_reference_element(kernel),
        *_from_the_mesh(kernel),
        *_from_the_quadratures(kernel),
    )


@dataclass(frozen=True, slots=True)
class SpaceUse:
    """Function space of a kernel, with one numbering of its dofs.

    - `arg`: the first field with this numbering, or the first operator without a field.

    - `numbering`: the numbers of layers and of values per dof. Fields with equal values are
      numbered in the same way.

    - `label`: the stem of the dummies' names: the space, extended by the argument for all but the
      first numbering.
    """

    name: str
    arg: int
    has_field: bool
    mesh: kern.MeshRole | None
    numbering: tuple[str, str]
    label: str

    @property
    def is_first(self) -> bool:
        """True for the first use of a space, which has the shared dummies."""
        return self.label == self.name


def space_uses(kernel: kern.Kernel) -> tuple[SpaceUse, ...]:
    """Return the function spaces of `kernel`, one for each numbering, by first appearance."""
    uses: list[SpaceUse] = []
    for position, arg in enumerate(kernel.args):
        for space in arg.spaces:
            is_field = arg.kind is kern.ArgKind.FIELD
            new = SpaceUse(space, position, is_field, arg.mesh, arg.numbering, space)
            alike = [at for at, use in enumerate(uses) if use.name == space]
            if not alike:
                uses.append(new)
            elif is_field and not uses[alike[0]].has_field:
                uses[alike[0]] = new
            elif is_field and all(uses[at].numbering != new.numbering for at in alike):
                uses.append(replace(new, label=f"{space}_{position + 1}"))
    return tuple(uses)


# ------------------------------------------------------------------ kernels over dofs


def _dof_values(kernel: kern.Kernel) -> Iterator[Dummy]:
    for position, arg in enumerate(kernel.args):
        if arg.kind is not kern.ArgKind.FIELD:
            yield from _of_scalar(position, arg)
            continue
        for component in _components(arg):
            yield Dummy(
                Role.DOF_VALUE,
                _field_name(position, arg, component),
                _data_type(arg),
                arg=position,
                component=component,
                access=arg.access,
            )


# ------------------------------------------------------------------ the loop's own


def _from_the_loop(kernel: kern.Kernel) -> Iterator[Dummy]:
    kinds = {arg.kind for arg in kernel.args}
    if any(kind.is_operator for kind in kinds):
        yield _integer(Role.CELL, "cell")
    if kernel.cma not in (kern.CmaKind.APPLY, kern.CmaKind.MATRIX_MATRIX):
        yield _integer(Role.NLAYERS, "nlayers")
    if kernel.iteration is kern.Iteration.DOMAIN:
        yield _integer(Role.NCELL_2D_NO_HALOS, "ncell_2d_no_halos")
    if kern.ArgKind.COLUMNWISE_OPERATOR in kinds:
        yield _integer(Role.NCELL_2D, "ncell_2d")
    if kernel.is_intergrid:
        yield from _of_mesh_pair(kernel)


def _of_mesh_pair(kernel: kern.Kernel) -> Iterator[Dummy]:
    if kernel.generation is kern.Generation.Y2019:
        yield _integer(Role.CELL_MAP, "cell_map", shape_of_extents("ncell_f_per_c"))
        yield _integer(Role.CELLS_PER_CELL, "ncell_f_per_c")
    else:
        yield _integer(
            Role.CELL_MAP, "cell_map", shape_of_extents("ncell_f_per_c_x", "ncell_f_per_c_y")
        )
        yield _integer(Role.CELLS_PER_CELL_X, "ncell_f_per_c_x")
        yield _integer(Role.CELLS_PER_CELL_Y, "ncell_f_per_c_y")
    yield _integer(Role.NCELL_FINE, "ncell_f")


# ------------------------------------------------------------------ metadata arguments


def _from_the_arguments(kernel: kern.Kernel) -> Iterator[Dummy]:
    labels = {(use.name, use.numbering): use.label for use in space_uses(kernel)}
    told: set[tuple[Role, str]] = set()
    for position, arg in enumerate(kernel.args):
        match arg.kind:
            case kern.ArgKind.FIELD:
                yield from _of_field(position, arg, labels[arg.space, arg.numbering])
                if arg.stencil is not None:
                    yield from _of_stencil(position, arg, kernel)
            case kern.ArgKind.OPERATOR:
                yield from _of_operator(position, arg, kernel.generation)
                if isinstance(arg.stencil, kern.StencilShape):
                    yield from _of_cells(position, arg.stencil)
            case kern.ArgKind.COLUMNWISE_OPERATOR:
                yield from _of_columnwise_operator(position, arg)
            case _:
                yield from _of_scalar(position, arg)
        for dummy, number in _numbers_of(position, arg):
            if (dummy.role, number) not in told:
                told.add((dummy.role, number))
                yield dummy


def _numbers_of(position: int, arg: kern.KernelArg) -> Iterator[tuple[Dummy, str]]:
    """Yield the numbers of values and layers known at run time, with their names.

    A number with one name is passed once, after the first argument that has it.
    """
    of = f"{'field' if arg.kind is kern.ArgKind.FIELD else 'op'}_{position + 1}"
    for role, stem, number in (
        (Role.DATA_PER_DOF, "ndata", arg.data_per_dof),
        (Role.FIELD_LAYERS, "nlayers", arg.layers),
    ):
        if number and not number.isdecimal():
            yield _integer(role, f"{stem}_{of}", (), position, arg.space), number


def _of_field(position: int, arg: kern.KernelArg, label: str) -> Iterator[Dummy]:
    for component in _components(arg):
        yield Dummy(
            Role.FIELD,
            _field_name(position, arg, component),
            _data_type(arg),
            shape_of_extents(f"undf_{label}"),
            arg=position,
            component=component,
            space=arg.space,
            access=arg.access,
        )


def _of_stencil(position: int, arg: kern.KernelArg, kernel: kern.Kernel) -> Iterator[Dummy]:
    """Yield the dummies for the stencil of a field (spec 2.2).

    The size of a stencil is a scalar in both generations. Today it is the size for the current
    cell, and in 2019 it was the same for every cell. A kernel over the domain receives the sizes
    and maps of all cells, but may use only those of owned cells.
    """
    name = f"field_{position + 1}"
    ndf = f"ndf_{arg.space}"
    size = f"{name}_stencil_size"
    longest = f"{name}_max_branch_length"
    branches: tuple[ex.Expr, ...] = ()
    shape = shape_of_extents(ndf, size)
    branched = arg.stencil is kern.StencilShape.CROSS2D
    if branched:
        branches = shape_of_extents(4)
        shape = shape_of_extents(ndf, longest, 4)
    if kernel.iteration is kern.Iteration.DOMAIN:
        branches += shape_of_extents("ncell_2d_no_halos")
        shape = (ANY,) * (len(shape) + 1)
    if arg.mesh is kern.MeshRole.COARSE:
        # The number of dofs per cell is not passed for a space of the coarse mesh.
        shape = (ANY,) * len(shape)
    yield _integer(Role.STENCIL_SIZE, size, branches, position, arg.space)
    if arg.stencil is kern.StencilShape.XORY1D:
        yield _integer(Role.STENCIL_DIRECTION, f"{name}_direction", (), position, arg.space)
    if branched:
        yield _integer(Role.STENCIL_MAX_BRANCH, longest, (), position, arg.space)
    yield _integer(Role.STENCIL_MAP, f"{name}_stencil_map", shape, position, arg.space)


def _of_operator(
    position: int, arg: kern.KernelArg, generation: kern.Generation
) -> Iterator[Dummy]:
    name = f"op_{position + 1}"
    ncell = f"{name}_ncell_3d"
    dofs = (f"ndf_{arg.space}", f"ndf_{arg.space_from}")
    yield _integer(Role.OPERATOR_NCELL_3D, ncell, (), position)
    yield Dummy(
        Role.OPERATOR,
        name,
        _data_type(arg),
        shape_of_extents(*dofs, ncell)
        if generation is kern.Generation.Y2019
        else shape_of_extents(ncell, *dofs),
        arg=position,
        access=arg.access,
    )


def _of_cells(position: int, shape: kern.StencilShape) -> Iterator[Dummy]:
    """Yield the dummies for the stencil of an operator.

    They correspond to those of a field with a stencil, in the same order, with cells instead of
    dofs.
    """
    name = f"op_{position + 1}"
    size, longest = f"{name}_stencil_size", f"{name}_max_branch_length"
    branched = shape is kern.StencilShape.CROSS2D
    yield _integer(Role.STENCIL_SIZE, size, shape_of_extents(4) if branched else (), position)
    if shape is kern.StencilShape.XORY1D:
        yield _integer(Role.STENCIL_DIRECTION, f"{name}_direction", (), position)
    if branched:
        yield _integer(Role.STENCIL_MAX_BRANCH, longest, (), position)
    cells = shape_of_extents(longest, 4) if branched else shape_of_extents(size)
    yield _integer(Role.STENCIL_CELLS, f"{name}_stencil_cells", cells, position)


def _of_columnwise_operator(position: int, arg: kern.KernelArg) -> Iterator[Dummy]:
    name = f"cma_op_{position + 1}"
    yield Dummy(
        Role.CMA_MATRIX,
        name,
        _data_type(arg) if arg.precision else SOLVER_REAL,
        shape_of_extents(f"{name}_bandwidth", f"{name}_nrow", "ncell_2d"),
        arg=position,
        access=arg.access,
    )
    yield _integer(Role.CMA_NROW, f"{name}_nrow", (), position)
    if arg.space != arg.space_from:
        yield _integer(Role.CMA_NCOL, f"{name}_ncol", (), position)
    yield _integer(Role.CMA_BANDWIDTH, f"{name}_bandwidth", (), position)
    yield _integer(Role.CMA_ALPHA, f"{name}_alpha", (), position)
    yield _integer(Role.CMA_BETA, f"{name}_beta", (), position)
    yield _integer(Role.CMA_GAMMA_M, f"{name}_gamma_m", (), position)
    yield _integer(Role.CMA_GAMMA_P, f"{name}_gamma_p", (), position)


def _of_scalar(position: int, arg: kern.KernelArg) -> Iterator[Dummy]:
    name = f"{arg.intrinsic.value[0]}scalar_{position + 1}"
    data_type = _data_type(arg)
    if arg.kind is kern.ArgKind.SCALAR:
        yield Dummy(Role.SCALAR, name, data_type, arg=position, access=arg.access)
        return
    dims = f"dims_{name}"
    yield _integer(Role.ARRAY_SHAPE, dims, shape_of_extents(arg.rank), position)
    shape = tuple(ex.Element(ex.Name(dims), shape_of_extents(at)) for at in range(1, arg.rank + 1))
    yield Dummy(Role.SCALAR_ARRAY, name, data_type, shape, arg=position, access=arg.access)


# ------------------------------------------------------------------ function spaces


def _from_the_spaces(kernel: kern.Kernel) -> Iterator[Dummy]:
    if kernel.cma is kern.CmaKind.MATRIX_MATRIX:
        return
    for use in space_uses(kernel):
        if use.mesh is None:
            yield from _of_space(kernel, use)
        else:
            yield from _of_mesh_space(use)
        if use.is_first:
            yield from _of_basis(kernel, use)
            yield from _field_boundary(kernel, use)


def _of_space(kernel: kern.Kernel, use: SpaceUse) -> Iterator[Dummy]:
    ndf = f"ndf_{use.label}"
    yield _integer(Role.NDF, ndf, (), use.arg, use.name)
    if use.has_field:
        yield _integer(Role.UNDF, f"undf_{use.label}", (), use.arg, use.name)
        if kernel.iteration is kern.Iteration.DOMAIN:
            shape = shape_of_extents(ndf, "ncell_2d_no_halos")
            yield _integer(Role.WHOLE_DOFMAP, f"map_{use.label}", shape, use.arg, use.name)
        else:
            yield _integer(
                Role.DOFMAP, f"map_{use.label}", shape_of_extents(ndf), use.arg, use.name
            )
    if kernel.cma is not None:
        yield from _of_columnwise_map(kernel, use, kernel.cma)


def _of_columnwise_map(kernel: kern.Kernel, use: SpaceUse, cma: kern.CmaKind) -> Iterator[Dummy]:
    """Yield the dofmap of a columnwise operator for one of its spaces."""
    position = [arg.kind for arg in kernel.args].index(kern.ArgKind.COLUMNWISE_OPERATOR)
    operator = kernel.args[position]
    if use.name not in operator.spaces:
        return
    if cma is kern.CmaKind.ASSEMBLY:
        shape = shape_of_extents(f"ndf_{use.name}", "nlayers")
        yield _integer(Role.BANDED_MAP, f"cbanded_map_{use.name}", shape, position, use.name)
        return
    rows = "nrow" if use.name == operator.space else "ncol"
    shape = shape_of_extents(f"cma_op_{position + 1}_{rows}")
    name = f"cma_indirection_map_{use.name}"
    yield _integer(Role.INDIRECTION_MAP, name, shape, position, use.name)


def _of_mesh_space(use: SpaceUse) -> Iterator[Dummy]:
    """Yield the dofmaps of a space in an inter-grid kernel (spec 2.3).

    The map covers all cells of the fine mesh, or one cell of the coarse mesh. The number of dofs
    per cell of the coarse mesh is not passed.
    """
    ndf, undf, name = f"ndf_{use.name}", f"undf_{use.name}", f"map_{use.name}"
    if use.mesh is kern.MeshRole.FINE:
        yield _integer(Role.NDF, ndf, (), use.arg, use.name)
        yield _integer(Role.UNDF, undf, (), use.arg, use.name)
        yield _integer(Role.WHOLE_DOFMAP, name, shape_of_extents(ndf, "ncell_f"), use.arg, use.name)
    else:
        yield _integer(Role.UNDF, undf, (), use.arg, use.name)
        yield _integer(Role.DOFMAP, name, (ANY,), use.arg, use.name)


def _of_basis(kernel: kern.Kernel, use: SpaceUse) -> Iterator[Dummy]:
    wanted = next((item for item in kernel.functions if item.space == use.name), None)
    if wanted is None:
        return
    for operation in (kern.BasisOperation.BASIS, kern.BasisOperation.DIFF_BASIS):
        if operation in wanted.operations:
            yield from _evaluations(kernel, use, operation)
    if kern.BasisOperation.ORIENTATION in wanted.operations:
        shape = shape_of_extents(f"ndf_{use.name}")
        yield _integer(Role.ORIENTATION, f"orientation_{use.name}", shape, use.arg, use.name)


def _evaluations(
    kernel: kern.Kernel, use: SpaceUse, operation: kern.BasisOperation
) -> Iterator[Dummy]:
    """Yield one array per quadrature in the order of the shapes, then one per target space."""
    is_basis = operation is kern.BasisOperation.BASIS
    role = Role.BASIS if is_basis else Role.DIFF_BASIS
    dimension = (basis_dimension if is_basis else diff_basis_dimension)(use.name)
    stem = f"{role.value}_{use.name}"

    def array(name: str, ends: tuple[str, ...], shape: kern.BasisShape, target: str = "") -> Dummy:
        unknown = (ANY,) * (len(ends) + 2)
        return Dummy(
            role,
            f"{stem}_{name}",
            REAL,
            shape_of_extents(dimension, f"ndf_{use.name}", *ends) if dimension else unknown,
            arg=use.arg,
            space=use.name,
            quadrature=shape,
            operation=operation,
            target=target,
        )

    for shape in kernel.quadratures:
        yield array(_quadrature_name(shape), _POINTS[shape], shape)
    if kern.BasisShape.EVALUATOR in kernel.shapes:
        for target in kernel.targets:
            yield array(f"on_{target}", (f"ndf_{target}",), kern.BasisShape.EVALUATOR, target)


def _field_boundary(kernel: kern.Kernel, use: SpaceUse) -> Iterator[Dummy]:
    """Yield the boundary dofs for a kernel whose name implies boundary conditions."""
    if use.name == "any_space_1" and _FIELD_BOUNDARY_KERNEL.fullmatch(kernel.procedure):
        shape = shape_of_extents(f"ndf_{use.name}", 2)
        yield _integer(Role.BOUNDARY_DOFS, f"boundary_dofs_field_{use.arg + 1}", shape, use.arg,
                       use.name)  # fmt: skip


def _operator_boundary(kernel: kern.Kernel) -> Iterator[Dummy]:
    if kernel.procedure == _OPERATOR_BOUNDARY_KERNEL:
        space = kernel.args[0].space
        yield _integer(
            Role.BOUNDARY_DOFS, "boundary_dofs_op_1", shape_of_extents(f"ndf_{space}", 2), 0, space
        )


# ------------------------------------------------------------------ element and mesh

_FACE_COUNTS = {
    "horizontal": (Role.NFACES_HORIZONTAL, "nfaces_re_h", "horiz_faces"),
    "vertical": (Role.NFACES_VERTICAL, "nfaces_re_v", "vert_faces"),
    "": (Role.NFACES, "nfaces_re", "faces"),
}


def _faces_of(name: str) -> str:
    return next((kind for kind in ("horizontal", "vertical") if f"_{kind}_" in name), "")


def _from_the_reference_element(kernel: kern.Kernel) -> Iterator[Dummy]:
    """Yield each required number of faces once, then the normals in metadata order."""
    for kind in dict.fromkeys(map(_faces_of, kernel.reference_element)):
        role, name, _ = _FACE_COUNTS[kind]
        yield _integer(role, name)
    for item in kernel.reference_element:
        _, count, faces = _FACE_COUNTS[_faces_of(item)]
        prefix = "out_normals_to" if item.startswith("outward") else "normals_to"
        yield Dummy(
            Role.NORMALS, f"{prefix}_{faces}", REAL, shape_of_extents(3, count), property_name=item
        )


def _from_the_mesh(kernel: kern.Kernel) -> Iterator[Dummy]:
    for item in kernel.mesh_properties:
        if "horizontal" not in map(_faces_of, kernel.reference_element):
            yield _integer(Role.NFACES_HORIZONTAL, "nfaces_re_h")
        yield Dummy(
            Role.ADJACENT_FACE, item, INTEGER, shape_of_extents("nfaces_re_h"), property_name=item
        )


# ------------------------------------------------------------------ quadrature

_POINTS = {
    kern.BasisShape.XYOZ: ("np_xy_qr_xyoz", "np_z_qr_xyoz"),
    kern.BasisShape.FACE: ("np_xyz_qr_face", "nfaces_qr_face"),
    kern.BasisShape.EDGE: ("np_xyz_qr_edge", "nedges_qr_edge"),
}


def _quadrature_name(shape: kern.BasisShape) -> str:
    return f"qr_{shape.name.lower()}"


def _from_the_quadratures(kernel: kern.Kernel) -> Iterator[Dummy]:
    for shape in kernel.quadratures:
        if shape is kern.BasisShape.XYOZ:
            yield _points(Role.NPOINTS_XY, "np_xy", shape)
            yield _points(Role.NPOINTS_Z, "np_z", shape)
            yield _weights(Role.WEIGHTS_XY, "weights_xy", ("np_xy",), shape)
            yield _weights(Role.WEIGHTS_Z, "weights_z", ("np_z",), shape)
            continue
        faces = shape is kern.BasisShape.FACE
        count = "nfaces" if faces else "nedges"
        role = Role.QUADRATURE_NFACES if faces else Role.QUADRATURE_NEDGES
        yield _points(role, count, shape)
        yield _points(Role.NPOINTS_XYZ, "np_xyz", shape)
        yield _weights(Role.WEIGHTS_XYZ, "weights_xyz", ("np_xyz", count), shape)


def _points(role: Role, name: str, shape: kern.BasisShape) -> Dummy:
    return Dummy(role, f"{name}_{_quadrature_name(shape)}", INTEGER, quadrature=shape)


def _weights(role: Role, name: str, counts: tuple[str, ...], shape: kern.BasisShape) -> Dummy:
    suffix = _quadrature_name(shape)
    shape_of = shape_of_extents(*(f"{count}_{suffix}" for count in counts))
    return Dummy(role, f"{name}_{suffix}", REAL, shape_of, quadrature=shape)


# ------------------------------------------------------------------ small parts


def _data_type(arg: kern.KernelArg) -> ScalarType:
    """Return the data type of an argument."""
    if arg.precision:
        return ScalarType(arg.intrinsic, arg.precision)
    return _DATA_TYPES[arg.intrinsic]


def _components(arg: kern.KernelArg) -> tuple[int | None, ...]:
    return tuple(range(1, arg.vector + 1)) if arg.vector > 1 else (None,)


def _field_name(position: int, arg: kern.KernelArg, component: int | None) -> str:
    name = f"field_{position + 1}_{arg.space}"
    return f"{name}_v{component}" if component else name


def _integer(
    role: Role,
    name: str,
    shape: tuple[ex.Expr, ...] = (),
    arg: int | None = None,
    space: str = "",
) -> Dummy:
    return Dummy(role, name, INTEGER, shape, arg=arg, space=space)
