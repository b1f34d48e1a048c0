"""The smallest meshes on which every race shows: what there is to count, and who shares what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from properties.thread_model import Here, Place
from psyclone_storage.ir.kernel import ArgKind, GridStencil, KernelArg, MeshRole
from psyclone_storage.ir.schedule import Actual, Loop, Over, Schedule

WIDE, HIGH = 4, 8
"""Cells of a periodic plane: two tiles of each colour, and two cells of each colour, in a row."""
TILE = 2
CELLS = list(product(range(WIDE), range(HIGH)))
TILES = list(product(range(WIDE), range(HIGH // TILE)))
COLOURS = list(product(range(2), range(2)))
CORNERS = list(product(range(2), range(2)))
ACROSS = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]
FEW_LINES = range(4, 9)


def around(cell: Place, offsets: Iterable[Place]) -> set[tuple[int, int]]:
    """Return the places at `offsets` from a cell; the plane has no ends."""
    x, y = cell
    assert isinstance(x, int)
    assert isinstance(y, int)
    return {((x + i) % WIDE, (y + j) % HIGH) for i, j in offsets}  # type: ignore[operator]


def of_colour(places: Iterable[tuple[int, int]], colour: Place) -> list[Place]:
    """Return every second of the places in both directions."""
    return [(x, y) for x, y in places if (x % 2, y % 2) == colour]


@dataclass(frozen=True)
class Plane:
    """A plane of cells. The fields that are `shared` live on its corners, the others in cells.

    Tiles are one cell wide and two high. A fine mesh has four cells in each of these.
    """

    schedule: Schedule
    shared: frozenset[str]

    def counted(self, loop: Loop, here: Here) -> Iterable[Place]:
        """Return the iterations of a loop; halos do not matter, for all ranks are alike.

        Of the parts of a loop each may have most cells, as the smallest ranks have no interior.
        """
        match loop.over:
            case Over.CELLS | Over.DOFS:
                return CELLS
            case Over.DOMAIN:
                return [(0, 0)]
            case Over.COLOURS | Over.TILE_COLOURS:
                return COLOURS
            case Over.CELLS_OF_COLOUR:
                return of_colour(CELLS, here[Over.COLOURS])
            case Over.TILES_OF_COLOUR:
                return of_colour(TILES, here[Over.TILE_COLOURS])
            case Over.CELLS_OF_TILE:
                x, y = here[Over.TILES_OF_COLOUR]
                return [(x, TILE * y + row) for row in range(TILE)]  # type: ignore[operator]
        raise AssertionError(f"{loop.uid} does not count a plane")

    def places(self, loop: Loop, described: KernelArg, actual: Actual, here: Here) -> set[Place]:
        """Return the dofs that a call touches, or the cells of an operator."""
        if actual.datum is None or described.kind.is_scalar:
            return set()
        if loop.over is Over.DOMAIN:
            dofs = set(CELLS)
        else:
            dofs = self._dofs(loop.over, described, actual.datum, here[loop.over])
        mesh = "fine" if described.mesh is MeshRole.FINE else ""
        components = [actual.component] if actual.component is not None else range(described.vector)
        first = actual.component is None
        return {
            (actual.datum, number + 1 if first and number is not None else number, mesh, *dof)
            for number in components
            for dof in dofs
        }

    def _dofs(
        self, over: Over, described: KernelArg, datum: str, cell: Place
    ) -> set[tuple[int, int]]:
        if over is Over.DOFS or described.kind.is_operator:
            return around(cell, [(0, 0)])
        cells = around(cell, ACROSS if described.stencil else [(0, 0)])
        if datum not in self.shared:
            return cells
        if described.mesh is MeshRole.FINE:
            # Corners of the fine cells inside: a coarse cell shares those on its rim.
            x, y = cell
            inside = product(range(3), range(3))
            return {((2 * x + i) % (2 * WIDE), (2 * y + j) % (2 * HIGH)) for i, j in inside}  # type: ignore[operator]
        return {corner for one in cells for corner in around(one, CORNERS)}


@dataclass(frozen=True)
class Grid:
    """A few points of a structured grid; stencils may look beyond them."""

    def counted(self, loop: Loop, here: Here) -> Iterable[Place]:
        """Return the rows, columns or tiles of a loop."""
        match loop.over:
            case Over.ROW_TILES | Over.COLUMN_TILES:
                return [(first,) for first in FEW_LINES[:: loop.tile]]
            case Over.ROWS_OF_TILE:
                return self._of_tile(here[Over.ROW_TILES], loop.tile)
            case Over.COLUMNS_OF_TILE:
                return self._of_tile(here[Over.COLUMN_TILES], loop.tile)
        return [(line,) for line in FEW_LINES]

    def places(self, loop: Loop, described: KernelArg, actual: Actual, here: Here) -> set[Place]:
        """Return the points that a call touches; a scalar is one place."""
        if actual.datum is None or described.kind is ArgKind.GRID_PROPERTY:
            return set()
        if described.kind is not ArgKind.FIELD:
            return {(actual.datum,)}
        row = self._stands(here, Over.ROWS, Over.ROWS_OF_TILE)
        column = self._stands(here, Over.COLUMNS, Over.COLUMNS_OF_TILE)
        offsets = {(0, 0)}
        if isinstance(described.stencil, GridStencil):
            offsets |= set(described.stencil.offsets)
        return {(actual.datum, column + i, row + j) for i, j in offsets}

    def _of_tile(self, tile: Place, size: int) -> list[Place]:
        (first,) = tile
        return [(line,) for line in FEW_LINES if first <= line < first + size]  # type: ignore[operator]

    def _stands(self, here: Here, *counts: Over) -> int:
        ((line,),) = (here[over] for over in counts if over in here)
        assert isinstance(line, int)
        return line
