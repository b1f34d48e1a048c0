"""Generate the body of a kernel from its dummy arguments, such that every argument matters.

A body computes one integer from all values that a cell may read, and from it the written values, so
that any invalid value changes the results. All values remain small integers: their sums are exact
in any order. Values written to shared dofs depend only on data that all sharing cells have in
common.

Numbers that count objects of one rank (dofs, cells) have no influence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from psyclone_storage.infrastructures.lfric import is_continuous
from psyclone_storage.ir.expr import Expr, spell
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Access, CmaKind, Iteration, Kernel, MeshRole, StencilShape
from psyclone_storage.ir.types import Intrinsic

UNIFORM_NUMBERS = {
    *(Role.SCALAR, Role.STENCIL_DIRECTION, Role.CMA_ALPHA, Role.CMA_BETA, Role.CMA_GAMMA_M),
    *(Role.CMA_GAMMA_P, Role.CMA_NROW, Role.CMA_NCOL, Role.CMA_BANDWIDTH, Role.NFACES),
    *(Role.NFACES_HORIZONTAL, Role.NFACES_VERTICAL, Role.NPOINTS_XY, Role.NPOINTS_Z),
    *(Role.NPOINTS_XYZ, Role.QUADRATURE_NFACES, Role.QUADRATURE_NEDGES, Role.NLAYERS, Role.NDF),
    *(Role.CELLS_PER_CELL_X, Role.CELLS_PER_CELL_Y),
}
UNIFORM_ARRAYS = {
    *(Role.SCALAR_ARRAY, Role.ARRAY_SHAPE, Role.BASIS, Role.DIFF_BASIS, Role.WEIGHTS_XY),
    *(Role.WEIGHTS_Z, Role.WEIGHTS_XYZ, Role.NORMALS, Role.BANDED_MAP, Role.INDIRECTION_MAP),
}
COUNTERS = ("column", "branch", "neighbour", "fine_y", "fine_x", "row", "df", "k", "i", "j")
STEP = "  "


@dataclass(frozen=True, slots=True)
class Walk:
    """How a body comes to all values of a dummy argument in its reach.

    Attributes:
        loops: what a `do` says, from the outermost in.
        value: the value within the loops.
        place: an integer that tells one of these values from another.
    """

    loops: tuple[str, ...]
    value: str
    place: str

    def around(self, statement: str) -> Iterator[str]:
        """Yield the loops with one statement in them."""
        for depth, loop in enumerate(self.loops):
            yield f"{STEP * depth}do {loop}"
        yield f"{STEP * len(self.loops)}{statement}"
        for depth in reversed(range(len(self.loops))):
            yield f"{STEP * depth}end do"


@dataclass(frozen=True, slots=True)
class Interface:
    """A kernel and the dummy arguments of one of its subroutines."""

    kernel: Kernel
    dummies: tuple[Dummy, ...]

    def of(self, *roles: Role) -> tuple[Dummy, ...]:
        """Return the dummy arguments of these roles, in order."""
        return tuple(dummy for dummy in self.dummies if dummy.role in roles)

    def name(self, role: Role, dummy: Dummy) -> str:
        """Return the name of the dummy of this role that belongs to the argument of another."""
        return next(one.name for one in self.of(role) if one.arg == dummy.arg)

    def map_of(self, dummy: Dummy) -> Dummy:
        """Return the dofmap of the space of a field."""
        maps = self.of(Role.DOFMAP, Role.WHOLE_DOFMAP)
        return next(one for one in maps if one.space == dummy.space)


def write_body(kernel: Kernel, dummies: Iterable[Dummy]) -> list[str]:
    """Return the lines of the local declarations and of the statements, not indented."""
    face = Interface(kernel, tuple(dummies))
    statements = [*uniform_part(face), *cell_part(face)]
    used = set(re.findall(r"\bdo (\w+) =", "\n".join(statements)))
    counters = ", ".join(name for name in COUNTERS if name in used)
    integers = [f"integer(i_def) :: {counters}"] if counters else []
    return [*integers, "real(real64) :: total, uniform", "", *statements]


def uniform_part(face: Interface) -> Iterator[str]:
    """Yield the sum of what is the same in all cells."""
    yield "uniform = 0.0_real64"
    for number, dummy in enumerate(face.dummies, 1):
        if dummy.role in UNIFORM_NUMBERS:
            yield f"uniform = uniform + {number} * weighed([{dummy.name}])"
        elif dummy.role in UNIFORM_ARRAYS:
            yield f"uniform = uniform + weighed([{dummy.name}])"


def cell_part(face: Interface) -> Iterator[str]:
    """Yield what is done for a cell: all is read, then all is written."""
    statements = ["total = uniform"]
    for dummy in face.dummies:
        statements += reading(face, dummy)
    for dummy in face.dummies:
        statements += writing(face, dummy)
    if face.kernel.iteration is not Iteration.DOMAIN:
        yield from statements
        return
    yield f"do column = 1, {face.of(Role.NCELL_2D_NO_HALOS)[0].name}"
    yield from (STEP + line for line in statements)
    yield "end do"


def reading(face: Interface, dummy: Dummy) -> Iterator[str]:
    """Yield what adds the values of a dummy argument that may be read."""
    match dummy.role:
        case Role.FIELD | Role.DOF_VALUE | Role.OPERATOR | Role.CMA_MATRIX:
            walk = walk_of(face, dummy)
        case Role.STENCIL_SIZE if face.kernel.iteration is not Iteration.DOMAIN:
            yield f"total = total + weighed([{dummy.name}])"
            return
        case Role.ADJACENT_FACE:
            yield f"total = total + weighed([{dummy.name}])"
            return
        case _:
            return
    match dummy.access:
        case Access.READWRITE if is_done_twice(face):
            yield from walk.around(f"total = total + hidden({walk.value})")
        case Access.READ | Access.READWRITE:
            yield from walk.around(f"total = total + mixed({walk.value}, {walk.place})")
        case Access.READINC:
            yield from walk.around(f"total = total + hidden({walk.value})")


def writing(face: Interface, dummy: Dummy) -> Iterator[str]:
    """Yield what gives values to a dummy argument that is written."""
    if dummy.role not in (Role.FIELD, Role.DOF_VALUE, Role.OPERATOR, Role.CMA_MATRIX):
        return
    walk = walk_of(face, dummy)
    made = f"total + {walk.place}"
    match dummy.access:
        case Access.INC | Access.READINC:
            value = f"{walk.value} + {converted(dummy, f'folded({made})')}"
        case Access.READWRITE if not is_done_twice(face):
            value = converted(dummy, f"folded(mixed({walk.value}, 1) + {made})")
        case Access.WRITE if dummy.role is Role.FIELD and is_continuous(dummy.space):
            own = "".join(f" + mixed({value}, 1)" for value in beside(face, walk, dummy))
            value = converted(dummy, f"folded(uniform{own}) + hidden(total)")
        case Access.WRITE | Access.READWRITE:
            value = converted(dummy, f"folded({made})")
        case _:
            return
    yield from walk.around(f"{walk.value} = {value}")


def is_done_twice(face: Interface) -> bool:
    """Return whether a kernel may be called for a cell that has been computed by its owner.

    An exchange brings what the owner has made, and then the kernel is called for halo cells: to do
    a thing twice must be to do it once.
    """
    return face.kernel.iteration is Iteration.HALO_CELL_COLUMN


def beside(face: Interface, walk: Walk, written: Dummy) -> Iterator[str]:
    """Yield the values of the fields that are read at the same dof as one that is written."""
    for dummy in face.of(Role.FIELD):
        if dummy.access is Access.READ and dummy.space == written.space:
            other = walk_of(face, dummy)
            if other.loops == walk.loops:
                yield other.value


def converted(dummy: Dummy, value: str) -> str:
    """Return a value in the type of a dummy argument."""
    if dummy.type.intrinsic is Intrinsic.INTEGER:
        return f"as_integer({value})"
    return f"real({value}, {dummy.type.kind})"


# ------------------------------------------------------------------ all values of an argument


def walk_of(face: Interface, dummy: Dummy) -> Walk:
    """Return how to come to all values of a field, an operator or a value at a dof."""
    assert dummy.arg is not None
    start = 10 * (dummy.arg + 1) + (dummy.component or 0)
    match dummy.role:
        case Role.DOF_VALUE:
            return Walk((), dummy.name, str(start))
        case Role.OPERATOR:
            loops = (*walks_over(dummy.shape[1:]), "k = 1, nlayers")
            value = f"{dummy.name}((cell - 1) * nlayers + k, i, j)"
            return Walk(loops, value, f"{start} + 3 * i + 5 * j + 7 * k")
        case Role.CMA_MATRIX:
            loops = walks_over(dummy.shape[:2])
            return Walk(loops, f"{dummy.name}(i, j, cell)", f"{start} + 3 * i + 5 * j")
        case _ if face.kernel.cma is CmaKind.APPLY:
            return column_walk(face, dummy, start)
        case _:
            return field_walk(face, dummy, start)


def walks_over(extents: Iterable[Expr]) -> tuple[str, ...]:
    """Return loops over two dimensions."""
    return tuple(f"{name} = 1, {spell(extent)}" for name, extent in zip("ij", extents, strict=True))


def column_walk(face: Interface, dummy: Dummy, start: int) -> Walk:
    """Return how a kernel without layers comes to a column of a field."""
    rows = next(one for one in face.of(Role.INDIRECTION_MAP) if one.space == dummy.space)
    value = f"{dummy.name}(minval({face.map_of(dummy).name}) - 1 + {rows.name}(row))"
    return Walk((f"row = 1, {spell(rows.shape[0])}",), value, f"{start} + 3 * row")


def field_walk(face: Interface, dummy: Dummy, start: int) -> Walk:
    """Return how to come to a field's dofs of a column of cells, or of several."""
    assert dummy.arg is not None
    arg = face.kernel.args[dummy.arg]
    dofmap = face.map_of(dummy)
    outer: tuple[str, ...] = ()
    place = f"{start} + 3 * df + 5 * k"
    last, index = spell(dofmap.shape[0]), f"{dofmap.name}(df)"
    if arg.stencil is not None:
        outer, index = stencil_walk(face, dummy)
        place += " + 7 * neighbour" + (" + 11 * branch" if "branch" in index else "")
    elif arg.mesh is MeshRole.FINE:
        cells = face.of(Role.CELL_MAP)[0]
        across, along = map(spell, cells.shape)
        outer = (f"fine_y = 1, {along}", f"fine_x = 1, {across}")
        index = f"{dofmap.name}(df, {cells.name}(fine_x, fine_y))"
        place += " + 7 * fine_x + 11 * fine_y"
    elif arg.mesh is MeshRole.COARSE:
        last = f"size({dofmap.name})"
    elif face.kernel.iteration is Iteration.DOMAIN:
        index = f"{dofmap.name}(df, column)"
    loops = (*outer, f"df = 1, {last}", "k = 0, nlayers - 1")
    return Walk(loops, f"{dummy.name}({index} + k)", place)


def stencil_walk(face: Interface, dummy: Dummy) -> tuple[tuple[str, ...], str]:
    """Return the loops over the cells of a stencil, and the first dof of each."""
    assert dummy.arg is not None
    size, cells = face.name(Role.STENCIL_SIZE, dummy), face.name(Role.STENCIL_MAP, dummy)
    in_domain = face.kernel.iteration is Iteration.DOMAIN
    here, there = (["column"], ", column") if in_domain else ([], "")
    if face.kernel.args[dummy.arg].stencil is StencilShape.CROSS2D:
        size = f"{size}({', '.join(['branch', *here])})"
        loops: tuple[str, ...] = ("branch = 1, 4", f"neighbour = 1, {size}")
        return loops, f"{cells}(df, neighbour, branch{there})"
    size += "(column)" if in_domain else ""
    return (f"neighbour = 1, {size}",), f"{cells}(df, neighbour{there})"
