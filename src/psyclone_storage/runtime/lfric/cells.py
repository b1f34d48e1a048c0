"""The cells of LFRic's meshes: columns over a plane or a cubed sphere, divided among ranks.

Fortran makes them, the same that Fortran programs run on: which rank has which cells, in which
order, and of which colours. What is seen here are its own arrays. Cells, and entries of maps, count
from 1.
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
    """A plane of `cells` in x and in y, each `widths` metres wide.

    Without `generate_inner_halos` all inner cells are at the deepest depth.
    """

    cells: tuple[int, int]
    widths: tuple[float, float] = (1.0, 1.0)
    periodic: tuple[bool, bool] = (True, True)
    halo_depth: int = 2
    cells_together: int = 1
    generate_inner_halos: bool = True


@dataclass(frozen=True, slots=True)
class CubedSphere:
    """Six panels with `edge_cells` cells along each edge."""

    edge_cells: int
    halo_depth: int = 2
    cells_together: int = 1
    generate_inner_halos: bool = True


@dataclass(frozen=True, slots=True)
class Columns:
    """Vertical extent of a mesh: layers from the bottom to a height above it.

    `extrusion` is `uniform`, `quadratic`, or the levels themselves, from 0 at the bottom to 1.
    `tiles` are as many cells wide in x and in y.
    """

    layers: int = 1
    bottom: float = 0.0
    top: float = 1.0
    extrusion: str | tuple[float, ...] = "uniform"
    tiles: tuple[int, int] = (1, 1)


@dataclass(frozen=True, eq=False)
class Surface:
    """The part of a horizontal mesh on a rank; several meshes with columns may share it.

    Meshes that are pickled together are on one surface again.
    """

    horizontal: Plane | CubedSphere
    held: HeldObject

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it is made of; its ranks are those of the program that reads it."""
        return made_surface, (self.horizontal,)


def made_surface(horizontal: Plane | CubedSphere, ranks: Any = None) -> Surface:
    """Return what this rank has of a horizontal mesh, which all ranks make alike, and together.

    Collective: all ranks have to call it.

    Raises:
        ValueError: on all ranks, if it cannot be made, or not for so many ranks.
    """
    ranks = checked_ranks(ranks)
    library = agreed(ranks, partial(infrastructure, ranks))
    _check_alike(ranks, horizontal)
    return Surface(horizontal, agreed(ranks, partial(_new_surface, library, horizontal, ranks)))


@dataclass(frozen=True)
class CellMap:
    """Map from the cells of a mesh to the cells of another that they cover, or lie in.

    `cells` are those of each cell, (x, y, cell); 0 for those that this rank does not hold.
    """

    cells: Array

    @property
    def ncell_per_x(self) -> int:
        """The number of cells that one covers in x."""
        found: int = self.cells.shape[0]
        return found

    @property
    def ncell_per_y(self) -> int:
        """The number of cells that one covers in y."""
        found: int = self.cells.shape[1]
        return found


@dataclass(frozen=True)
class NeighbourCells:
    """The cells around each cell, itself first.

    `cells` is (place, cell), `sizes` the number of cells in each stencil; for `cross2d` they are
    (place, branch, cell) and (branch, cell).
    """

    cells: Array
    sizes: Array

    @property
    def size(self) -> int:
        """The number of cells of the largest stencil, or of the longest branch."""
        found: int = self.cells.shape[0]
        return found


@dataclass(frozen=True)
class ReferenceElement:
    """The cell that all cells are images of, a cube; arrays of normals are (3, face)."""

    normals_to_faces: Array
    outward_normals_to_faces: Array
    normals_to_horizontal_faces: Array = field(init=False)
    normals_to_vertical_faces: Array = field(init=False)
    outward_normals_to_horizontal_faces: Array = field(init=False)
    outward_normals_to_vertical_faces: Array = field(init=False)

    def __post_init__(self) -> None:
        """Keep the parts, so that they are always the same arrays."""
        for name in ("normals_to", "outward_normals_to"):
            all_faces = getattr(self, f"{name}_faces")
            object.__setattr__(self, f"{name}_horizontal_faces", all_faces[:, :_SIDES])
            object.__setattr__(self, f"{name}_vertical_faces", all_faces[:, _SIDES:])

    @property
    def nfaces(self) -> int:
        """The number of faces."""
        found: int = self.normals_to_faces.shape[1]
        return found

    @property
    def nfaces_horizontal(self) -> int:
        """The number of faces at the sides."""
        return _SIDES

    @property
    def nfaces_vertical(self) -> int:
        """The number of faces at the bottom and the top."""
        return self.nfaces - _SIDES


class MeshCells:
    """Columns of cells, those of this rank and the halo around them.

    Meshes are made by all ranks alike, and together. `device` is where kernels run.

    Collective: all ranks have to call it.
    """

    nlayers = Known[int]("The number of layers.")
    ncells_2d = Known[int]("The number of columns of this rank, those of the halo included.")
    ncells_2d_with_ghost = Known[int]("The number of columns that this rank knows of.")
    ncells_global = Known[int]("The number of columns of all ranks.")
    halo_depth = Known[int]("How deep the halo is.")
    inner_depth = Known[int]("How many depths of inner cells are told apart.")
    last_edge_cell = Known[int]("The last cell that this rank owns.")
    ncolours = Known[int]("The number of colours of cells.")
    ntilecolours = Known[int]("The number of colours of tiles.")
    colour_map = Known[Array]("The cells of the colours, (colour, place).")
    tile_map = Known[Array]("The cells of the tiles, (colour, tile, place).")
    adjacent_face = Known[Array]("Which side of the neighbour each side is, (side, cell), or -1.")
    cell_next = Known[Array]("The cell beyond each side, (side, cell), or 0.")
    global_cell_ids = Known[Array]("The number of each cell over all ranks, from 1.")
    cell_owners = Known[Array]("The rank that owns each cell.")
    eta = Known[Array]("The levels, scaled to 0 at the bottom and 1 at the top.")
    last_inner_cells_of_colours = Known[Array]("The last inner places, (colour, depth).")
    last_edge_cells_of_colours = Known[Array]("The last owned place of each colour.")
    last_halo_cells_of_colours = Known[Array]("The last places in the halo, (colour, depth).")
    last_inner_tiles_of_colours = Known[Array]("The last inner tiles, (colour, depth).")
    last_edge_tiles_of_colours = Known[Array]("The last tile of each colour with an owned cell.")
    last_halo_tiles_of_colours = Known[Array]("The last tiles in the halo, (colour, depth).")
    last_inner_cells_of_tiles = Known[Array]("The last inner places, (colour, tile, depth).")
    last_edge_cells_of_tiles = Known[Array]("The last owned places, (colour, tile).")
    last_halo_cells_of_tiles = Known[Array]("The last places in the halo, (colour, tile, depth).")

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
        """Make a mesh; `surface` is what this rank has of the horizontal mesh, if it is there.

        Raises:
            ValueError: on all ranks, if the mesh cannot be made, or not for so many ranks, or there
                is no such kind of device.
            NoCompilerError: Fortran has to be compiled first, and cannot be.
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
        """Return the last cell of the halo to a depth, or to all of it.

        Raises:
            ValueError: the halo is not so deep.
        """
        depth = self.halo_depth if depth is None else self.checked_depth(depth)
        return int(self.described["last_halo_cells"][depth - 1])

    def last_inner_cell(self, depth: int = 1) -> int:
        """Return the last cell that is at least `depth` within the owned ones.

        None is told to be deeper than `inner_depth`, nor than 1 where a mesh has no inner halos, so
        that 0 is the last. As in LFRic, depth 0 gives the last cell of depth 1.
        """
        deepest = self.inner_depth if self.horizontal.generate_inner_halos else 1
        if not 0 <= depth <= deepest:
            return 0
        return int(self.described["last_inner_cells"][max(depth, 1) - 1])

    def checked_depth(self, depth: int) -> int:
        """Return a depth that the halo has; raise `ValueError` for another."""
        if not 1 <= depth <= self.halo_depth:
            raise ValueError(f"The halo of {self.describe()} is {self.halo_depth} deep: {depth}?")
        return depth

    def on_device(self, array: Array) -> Storage:
        """Return a storage over a constant array, which is transferred to a device once."""
        known = self._on_device.get(id(array))
        if known is None:
            known = self._on_device[id(array)] = array, as_storage(array, device=self.device)
        return known[1]

    def __repr__(self) -> str:
        """Return what a notebook shows."""
        name = f" '{self.label}'" if self.label else ""
        shape = self.horizontal
        cells = shape.cells if isinstance(shape, Plane) else f"6 times {shape.edge_cells}**2"
        return f"<Mesh{name} of {cells} cells and {self.columns.layers} layers>"

    def describe(self) -> str:
        """Return the subject of an error message."""
        return f"the mesh '{self.label}'" if self.label else "a mesh without a label"

    def _map_to(self, other: MeshCells) -> CellMap:
        """Return which cells of another mesh of the same surface the cells cover, or lie in.

        Raises:
            ValueError: on all ranks, if the meshes are not nested, or not partitioned alike.
        """
        ask = partial(self.library.shown, "describe_map", self.held, 1, other.held.number)
        return CellMap(agreed(self.ranks, ask)["cells"])


def _check_alike(ranks: Ranks, what: Any) -> None:
    """Raise `ValueError` on all ranks if they do not make the same."""
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
