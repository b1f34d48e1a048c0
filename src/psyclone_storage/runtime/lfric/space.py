"""LFRic function spaces: the dofs of cells, their owners, and basis functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.lfric.cells import MeshCells
from psyclone_storage.runtime.lfric.known import Known
from psyclone_storage.runtime.lfric.library import Array, agreed, numbers_of
from psyclone_storage.runtime.lfric.quadrature import Quadrature
from psyclone_storage.runtime.lfric.routing import Routing, routing_of

STENCILS = ("point", "x1d", "y1d", "cross", "region", "cross2d")
"""The shapes of stencils, in the order of their numbers in the library."""
LINES = {1: "x1d", 2: "y1d"}
"""The line stencils, by the number of the direction that is chosen at run time."""

_HIGHEST_ORDER = 16


@dataclass(frozen=True)
class StencilDofs:
    """The dofs of the cells around each cell.

    `dofmap` has the indices (dof, place, cell), and `sizes` contains the number of cells in each
    stencil. For `cross2d`, the indices are (dof, place, branch, cell) and (branch, cell).
    """

    dofmap: Array
    sizes: Array

    @property
    def size(self) -> int:
        """The number of cells in the largest stencil, or in the longest branch."""
        found: int = self.dofmap.shape[1]
        return found


class FunctionSpace:
    """A function space on a mesh, created by `mesh.space`.

    Dofs are counted from 1. The dofs that this rank owns come first. Then follow the annexed dofs,
    which belong to owned cells but to other ranks, and the dofs of the halo by depth.
    """

    ndf = Known[int]("The number of dofs of a cell.")
    undf = Known[int]("The number of values on this rank.")
    ndof_global = Known[int]("The number of values on all ranks.")
    ndof_interior = Known[int](
        "The number of dofs of a cell that are not shared with cells above or below."
    )
    dim_space = Known[int]("The number of components of a basis function.")
    dim_space_diff = Known[int]("The number of components of a differentiated basis function.")
    last_dof_owned = Known[int]("The last dof that this rank owns.")
    last_dof_annexed = Known[int]("The last dof of an owned cell.")
    dofmap = Known[Array]("The dofs at the bottom of each column, (dof, cell).")
    boundary_dofs = Known[Array](
        "0 for dofs on the bottom (dof, 1) or on the top (dof, 2), otherwise 1."
    )
    nodes = Known[Array]("The positions of the dofs in the reference cell, (3, dof).")
    levels = Known[Array]("The heights at which a column has dofs, in layers.")
    entity_dofs = Known[Array]("The label of the entity to which each dof of a cell belongs.")
    global_dof_ids = Known[Array]("The global number of each dof, counted from 0.")

    def __init__(
        self, mesh: MeshCells, name: str, order: tuple[int, int], ndata: int, ndata_first: bool
    ) -> None:
        self.mesh, self.name, self.order = mesh, name, order
        self.ndata, self.ndata_first = ndata, ndata_first
        library = mesh.library
        encoded = name.encode()
        which = library.call("space_named", encoded, len(encoded))
        if not which:
            raise ValueError(f"LFRic has no function space '{name}'.")
        _check_size(mesh, order, ndata)
        self.held = library.new(
            "new_space",
            mesh.ranks,
            mesh.held.number,
            which,
            numbers_of(order),
            ndata,
            int(ndata_first),
        )
        self.described: dict[str, Any] = library.listed("describe_space", self.held)
        self.routing: Callable[[int], Routing] = cache(self._routing)
        self.stencil: Callable[[str | int, int], StencilDofs] = cache(self._stencil)
        self.basis: Callable[[Quadrature | FunctionSpace], Array] = cache(
            partial(self._basis, False)
        )
        self.diff_basis: Callable[[Quadrature | FunctionSpace], Array] = cache(
            partial(self._basis, True)
        )

    def __repr__(self) -> str:
        """Return the text shown in a notebook."""
        return f"<FunctionSpace {self.describe().removeprefix('the space ')}>"

    @property
    def is_continuous(self) -> bool:
        """Return whether neighbouring columns share dofs."""
        return bool(self.described["is_continuous"])

    @property
    def ncell(self) -> int:
        """The number of columns on this rank, including the halo."""
        return self.mesh.ncells_2d

    @property
    def nlayers(self) -> int:
        """The number of layers."""
        return self.mesh.nlayers

    @property
    def halo_depth(self) -> int:
        """The depth of the halo."""
        return self.mesh.halo_depth

    def last_dof_halo(self, depth: int | None = None) -> int:
        """Return the last dof of the halo up to a depth, or of the whole halo.

        Raises:
            ValueError: the halo is not that deep.
        """
        depth = self.halo_depth if depth is None else self.mesh.checked_depth(depth)
        return int(self.described["last_halo_dofs"][depth - 1])

    def coordinates(self) -> Array:
        """Return the coordinates of the first value of each dof, shape (3, undf); NaN for others.

        A dof on the seam of a periodic mesh has its position in the first cell that contains it.
        """
        found = np.full((3, self.undf), np.nan, order="F")
        self.mesh.library.call("dof_coordinates", self.held.number, found.ctypes.data)
        return found

    def describe(self) -> str:
        """Return a description of the space, used as the subject of error messages."""
        order = "" if self.order == (0, 0) else f" of the orders {self.order}"
        return f"the space '{self.name}'{order} on {self.mesh.describe()}"

    def same_dofs(self, other: FunctionSpace) -> int:
        """Return the number of dofs of this rank, for loops over the dofs of both spaces.

        Raises:
            ValueError: the spaces do not have equally many dofs.
        """
        ends = [(one.last_dof_owned, one.last_dof_annexed, one.undf) for one in (self, other)]
        if ends[0] != ends[1]:
            raise ValueError(
                f"Loops over the dofs of {self.told_apart(other)} were fused with 'same_space', "
                f"but they have {ends[0]} and {ends[1]} owned, annexed and all dofs: remove "
                f"'same_space' from the recipe."
            )
        return self.undf

    def told_apart(self, other: FunctionSpace) -> str:
        """Return the difference of two space objects in words."""
        words = f"{self.describe()} and {other.describe()}"
        if self.mesh is other.mesh:
            return words
        return f"{words}, which are two meshes. Pickle together what is on one mesh"

    def __deepcopy__(self, memo: Any) -> FunctionSpace:
        """Return the space itself, so that copies of fields are on the same space."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor arguments for a pickle."""
        return _made_again, (self.mesh, self.name, self.order, self.ndata, self.ndata_first)

    def _routing(self, depth: int) -> Routing:
        """Return the routing of an exchange to `depth`; collective over all ranks."""
        self.mesh.checked_depth(depth)
        asked = self.name, self.order, self.ndata, self.ndata_first, depth
        ranks = self.mesh.ranks
        for rank, other in enumerate(ranks.gathered(asked)):
            if other != asked:
                raise ValueError(
                    f"Rank {ranks.rank} exchanges {asked[0]!r} to depth {depth}, rank {rank} "
                    f"{other[0]!r} to depth {other[-1]}: all ranks exchange the same."
                )
        ask = partial(self.mesh.library.shown, "describe_routing", self.held, 8, depth, ranks=ranks)
        return routing_of(agreed(ranks, ask))

    def _stencil(self, shape: str | int, extent: int) -> StencilDofs:
        """Return the stencils of a shape and an extent around all cells.

        A shape that is an integer is a line along x (1) or y (2).

        Raises:
            ValueError: the shape is unknown, or the extent is negative.
        """
        if not isinstance(shape, str):
            if shape not in LINES:
                known = "x_direction (1) or y_direction (2)"
                raise ValueError(f"The direction of a stencil is {known}, not {shape!r}.")
            shape = LINES[shape]
        if shape not in STENCILS:
            known = ", ".join(f"'{one}'" for one in STENCILS)
            raise ValueError(f"A stencil is one of {known}, not '{shape}'.")
        number = STENCILS.index(shape) + 1
        return StencilDofs(
            **self.mesh.library.shown("describe_stencil", self.held, 2, number, extent)
        )

    def _basis(self, derivatives: bool, at: Quadrature | FunctionSpace) -> Array:
        """Return basis functions at the points of a quadrature, or at the nodes of a space."""
        points = at.nodes if isinstance(at, FunctionSpace) else at.points
        flat = np.asfortranarray(points.reshape((3, -1), order="F"))
        size = self.dim_space_diff if derivatives else self.dim_space
        found = np.empty((size, self.ndf, flat.shape[1]), order="F")
        self.mesh.library.call(
            "evaluate_basis",
            self.held.number,
            int(derivatives),
            flat.shape[1],
            flat.ctypes.data,
            found.ctypes.data,
        )
        found = found.reshape((size, self.ndf, *points.shape[1:]), order="F")
        found.flags.writeable = False
        return found


def checked_space(space: Any, what: str) -> FunctionSpace:
    """Return a function space; raise `TypeError`, with the words `what`, for anything else."""
    if not isinstance(space, FunctionSpace):
        raise TypeError(f"{what} a function space, as mesh.space('W3') is, not {space!r}.")
    return space


def _check_size(mesh: MeshCells, order: tuple[int, int], ndata: int) -> None:
    """Raise `ValueError` on all ranks if a rank may have more dofs than 32-bit integers can count.

    The library, which performs all other checks, considers only the cells of its rank; if it failed
    on one rank, the others would wait.
    """
    if ndata < 1 or not all(0 <= one <= _HIGHEST_ORDER for one in order):
        return
    most_of_cell = 3 * (order[0] + 2) ** 2 * (order[1] + 2) * ndata
    if most_of_cell > (2**31 - 1) // (mesh.most_cells * (mesh.nlayers + 1)):
        raise ValueError("There may be more dofs than numbers of 32 bits can count.")


def _made_again(mesh: Any, name: str, order: tuple[int, int], ndata: int, ndata_first: bool) -> Any:
    return mesh.space(name, order, ndata=ndata, ndata_first=ndata_first)
