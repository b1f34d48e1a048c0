"""Cells of LFRic meshes: columns on a plane or a cubed sphere, distributed over ranks.

The Fortran infrastructure creates the meshes, so they are the same as in Fortran programs: the
partition, the order of cells, and the colours. Arrays are views of Fortran arrays. Cells and map
entries are counted from 1.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.runtime.lfric.exchange import JointPool
from psyclone_storage.runtime.lfric.known import Known
from psyclone_storage.runtime.lfric.library import (
    Array,
    HeldObject,
    InfrastructureLibrary,
    agreed,
    infrastructure,
    numbers_of,
)
from psyclone_storage.runtime.ranks import Ranks, checked_ranks
from psyclone_storage.storage import Storage, as_storage
from psyclone_storage.storage.gdp.parameters import checked_device

_EXTRUSIONS = {"uniform": 1, "quadratic": 2}
_LEVELS = 3
_SIDES = 4


@dataclass(frozen=True, slots=True)
class Plane:
    """Plane with `cells` cells in x and y, each `widths` metres wide.

    Without `generate_inner_halos`, all inner cells are at the largest inner depth.
    """

    cells: tuple[int, int]
    widths: tuple[float, float] = (1.0, 1.0)
    periodic: tuple[bool, bool] = (True, True)
    halo_depth: int = 2
    cells_together: int = 1
    generate_inner_halos: bool = True


@dataclass(frozen=True, slots=True)
class CubedSphere:
    """Cubed sphere: six panels with `edge_cells` cells along each edge."""

    edge_cells: int
    halo_depth: int = 2
    cells_together: int = 1
    generate_inner_halos: bool = True


@dataclass(frozen=True, slots=True)
class Columns:
    """Vertical extent of a mesh: layers from the bottom to a height.

    - `extrusion`: `uniform`, `quadratic`, or the levels themselves, from 0 at the bottom to 1.

    - `tiles`: the size of tiles in cells, in x and y.
    """

    layers: int = 1
    bottom: float = 0.0
    top: float = 1.0
    extrusion: str | tuple[float, ...] = "uniform"
    tiles: tuple[int, int] = (1, 1)


@dataclass(frozen=True, eq=False)
class Surface:
    """Part of a horizontal mesh on a rank, which several meshes with columns may share.

    Meshes that are pickled together share it again.
    """

    horizontal: Plane | CubedSphere
    held: HeldObject

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor arguments for a pickle, without the ranks."""
        return made_surface, (self.horizontal,)


def made_surface(horizontal: Plane | CubedSphere, ranks: Any = None) -> Surface:
    """Return this rank's part of a horizontal mesh.

    Collective: all ranks must call it with equal arguments.

    Raises:
        ValueError: on all ranks, the mesh cannot be created, or not for this number of ranks.
    """
    ranks = checked_ranks(ranks)
    library = agreed(ranks, partial(infrastructure, ranks))
    _check_alike(ranks, horizontal)
    return Surface(horizontal, agreed(ranks, partial(_new_surface, library, horizontal, ranks)))


@dataclass(frozen=True)
class CellMap:
    """Map from the cells of a mesh to the cells of another mesh that they cover or lie in.

    `cells` has the indices (x, y, cell). It is 0 for cells that are not on this rank.
    """

    cells: Array

    @property
    def ncell_per_x(self) -> int:
        """Number of cells in x covered by one cell."""
        found: int = self.cells.shape[0]
        return found

    @property
    def ncell_per_y(self) -> int:
        """Number of cells in y covered by one cell."""
        found: int = self.cells.shape[1]
        return found


@dataclass(frozen=True)
class NeighbourCells:
    """Stencils: the cells around each cell, starting with the cell itself.

    `cells` has the indices (place, cell), and `sizes` contains the number of cells in each stencil.
    For `cross2d` the indices are (place, branch, cell) and (branch, cell).
    """

    cells: Array
    sizes: Array

    @property
    def size(self) -> int:
        """Number of cells in the largest stencil, or in the longest branch."""
        found: int = self.cells.shape[0]
        return found


@dataclass(frozen=True)
class ReferenceElement:
    """Reference element: a cube; arrays of normals have the indices (3, face)."""

    normals_to_faces: Array
    outward_normals_to_faces: Array
    normals_to_horizontal_faces: Array = field(init=False)
    normals_to_vertical_faces: Array = field(init=False)
    outward_normals_to_horizontal_faces: Array = field(init=False)
    outward_normals_to_vertical_faces: Array = field(init=False)

    def __post_init__(self) -> None:
        """Create the partial arrays once, so that they are always the same objects."""
        for name in ("normals_to", "outward_normals_to"):
            all_faces = getattr(self, f"{name}_faces")
            object.__setattr__(self, f"{name}_horizontal_faces", all_faces[:, :_SIDES])
            object.__setattr__(self, f"{name}_vertical_faces", all_faces[:, _SIDES:])

    @property
    def nfaces(self) -> int:
        """Number of faces."""
        found: int = self.normals_to_faces.shape[1]
        return found

    @property
    def nfaces_horizontal(self) -> int:
        """Number of side faces."""
        return _SIDES

    @property
    def nfaces_vertical(self) -> int:
        """Number of faces at the bottom and the top."""
        return self.nfaces - _SIDES


class MeshCells:
    """Columns of cells on this rank, including the halo.

    `device` is the device on which kernels run. Collective: all ranks must create a mesh with equal
    arguments.
    """

    nlayers = Known[int]("The number of layers.")
    ncells_2d = Known[int]("The number of columns on this rank, including the halo.")
    ncells_2d_with_ghost = Known[int](
        "The number of columns on this rank, including halo and ghost cells."
    )
    ncells_global = Known[int]("The number of columns on all ranks.")
    halo_depth = Known[int]("The depth of the halo.")
    inner_depth = Known[int]("The largest depth of inner cells.")
    last_edge_cell = Known[int]("The last cell that this rank owns.")
    ncolours = Known[int]("The number of colours of cells.")
    ntilecolours = Known[int]("The number of colours of tiles.")
    colour_map = Known[Array]("The cells of each colour, (colour, place).")
    tile_map = Known[Array]("The cells of each tile, (colour, tile, place).")
    adjacent_face = Known[Array](
        "The face of the neighbour at each side, (side, cell); -1 without one."
    )
    cell_next = Known[Array]("The neighbour at each side, (side, cell); 0 without one.")
    global_cell_ids = Known[Array]("The global number of each cell, counted from 1.")
    cell_owners = Known[Array]("The rank that owns each cell.")
    eta = Known[Array]("The heights of levels, scaled to 0 at the bottom and 1 at the top.")
    last_inner_cells_of_colours = Known[Array]("The place of the last inner cell, (colour, depth).")
    last_edge_cells_of_colours = Known[Array]("The place of the last owned cell of each colour.")
    last_halo_cells_of_colours = Known[Array]("The place of the last halo cell, (colour, depth).")
    last_inner_tiles_of_colours = Known[Array]("The last tile with an inner cell, (colour, depth).")
    last_edge_tiles_of_colours = Known[Array]("The last tile of each colour with an owned cell.")
    last_halo_tiles_of_colours = Known[Array](
        "The last tile with cells up to a halo depth, (colour, depth)."
    )
    last_inner_cells_of_tiles = Known[Array](
        "The place of the last inner cell, (colour, tile, depth)."
    )
    last_edge_cells_of_tiles = Known[Array]("The place of the last owned cell, (colour, tile).")
    last_halo_cells_of_tiles = Known[Array](
        "The place of the last halo cell, (colour, tile, depth)."
    )

    def __init__(  # noqa: PLR0913 - what a mesh is made of
        self,
        horizontal: Plane | CubedSphere,
        columns: Columns,
        *,
        label: str = "",
        device: str | None = None,
        ranks: Any = None,
        surface: Surface | None = None,
    ) -> None:
        """Create a mesh; `surface` is this rank's part of the horizontal mesh if it exists already.

        Raises:
            ValueError: on all ranks, the mesh cannot be created, or not for this number of ranks,
                or there is no such device.
            NoCompilerError: Fortran code must be compiled, but cannot be.
        """
        self.horizontal, self.columns = horizontal, columns
        self.label = label
        self.device: str | None = checked_device(device)
        self.ranks = checked_ranks(ranks)
        self.library = agreed(self.ranks, partial(infrastructure, self.ranks))
        _check_alike(self.ranks, (horizontal, columns))
        self.surface = made_surface(horizontal, self.ranks) if surface is None else surface
        make = partial(_new_mesh, self.library, self.surface.held, columns, self.ranks)
        self.held = agreed(self.ranks, make)
        self.described: dict[str, Any] = self.library.listed("describe_mesh", self.held)
        self.most_cells: int = max(self.ranks.gathered(self.ncells_2d))
        self.map_to: Callable[[MeshCells], CellMap] = cache(self._map_to)
        self.reference_element = ReferenceElement(
            self.described["normals"], self.described["outward_normals"]
        )
        self.messages = JointPool(self.ranks)
        self._on_device: dict[int, tuple[Array, Storage]] = {}

    def last_halo_cell(self, depth: int | None = None) -> int:
        """Return the last halo cell down to a depth, or of the whole halo.

        Raises:
            ValueError: the halo is not that deep.
        """
        depth = self.halo_depth if depth is None else self.checked_depth(depth)
        return int(self.described["last_halo_cells"][depth - 1])

    def last_inner_cell(self, depth: int = 1) -> int:
        """Return the last cell that is at least `depth` cells inside the owned region.

        The result is 0 for depths greater than `inner_depth`, or greater than 1 on a mesh without
        inner halos. As in LFRic, depth 0 gives the same result as depth 1.
        """
        deepest = self.inner_depth if self.horizontal.generate_inner_halos else 1
        if not 0 <= depth <= deepest:
            return 0
        return int(self.described["last_inner_cells"][max(depth, 1) - 1])

    def checked_depth(self, depth: int) -> int:
        """Return a valid halo depth; raise `ValueError` for an invalid one."""
        if not 1 <= depth <= self.halo_depth:
            raise ValueError(f"The halo of {self.describe()} is {self.halo_depth} deep: {depth}?")
        return depth

    def on_device(self, array: Array) -> Storage:
        """Return a storage for a constant array, which is copied to a device once."""
        known = self._on_device.get(id(array))
        if known is None:
            known = self._on_device[id(array)] = array, as_storage(array, device=self.device)
        return known[1]

    def __repr__(self) -> str:
        """Return the text shown in a notebook."""
        name = f" '{self.label}'" if self.label else ""
        shape = self.horizontal
        cells = shape.cells if isinstance(shape, Plane) else f"6 times {shape.edge_cells}**2"
        return f"<Mesh{name} of {cells} cells and {self.columns.layers} layers>"

    def describe(self) -> str:
        """Return the name of the mesh in error messages."""
        return f"the mesh '{self.label}'" if self.label else "a mesh without a label"

    def _map_to(self, other: MeshCells) -> CellMap:
        """Return the map to the cells of another mesh on the same surface.

        Raises:
            ValueError: on all ranks, the meshes are not nested, or have different partitions.
        """
        ask = partial(self.library.shown, "describe_map", self.held, 1, other.held.number)
        return CellMap(agreed(self.ranks, ask)["cells"])


def _check_alike(ranks: Ranks, what: Any) -> None:
    """Raise `ValueError` on all ranks if their arguments differ."""
    for rank, other in enumerate(ranks.gathered(what)):
        if other != what:
            raise ValueError(f"Rank {ranks.rank} makes a mesh of {what}, rank {rank} of {other}.")


def _new_surface(
    library: InfrastructureLibrary, horizontal: Plane | CubedSphere, ranks: Ranks
) -> HeldObject:
    depths = horizontal.halo_depth, horizontal.cells_together
    inner_halos = int(horizontal.generate_inner_halos)
    if isinstance(horizontal, CubedSphere):
        return library.new("new_sphere", ranks, horizontal.edge_cells, *depths, inner_halos)
    return library.new(
        "new_plane",
        ranks,
        numbers_of(horizontal.cells),
        numbers_of(horizontal.widths, ctypes.c_double),
        numbers_of(horizontal.periodic),
        *depths,
        inner_halos,
    )


def _new_mesh(
    library: InfrastructureLibrary, surface: HeldObject, columns: Columns, ranks: Ranks
) -> HeldObject:
    extrusion: Any = columns.extrusion
    if isinstance(extrusion, str) and extrusion not in _EXTRUSIONS:
        known = ", ".join(f"'{one}'" for one in _EXTRUSIONS)
        raise ValueError(f"An extrusion is {known} or a sequence of levels, not '{extrusion}'.")
    given = not isinstance(extrusion, str)
    return library.new(
        "new_mesh",
        ranks,
        surface.number,
        columns.layers,
        columns.bottom,
        columns.top,
        _LEVELS if given else _EXTRUSIONS[extrusion],
        numbers_of(np.asarray(extrusion, float) if given else (0.0,), ctypes.c_double),
        numbers_of(columns.tiles),
    )
