"""LFRic meshes, as programs create them, and the function spaces on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypedDict, Unpack

import numpy as np

from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import replace
from psyclone_storage.runtime.lfric.cells import (
    Columns,
    CubedSphere,
    MeshCells,
    NeighbourCells,
    Plane,
    Surface,
)
from psyclone_storage.runtime.lfric.names import SPACE_OF_CELLS
from psyclone_storage.runtime.lfric.space import FunctionSpace


class ColumnOptions(TypedDict, total=False):
    """The keywords of `Columns`."""

    layers: int
    bottom: float
    top: float
    extrusion: str | Sequence[float]
    tiles: tuple[int, int]


class CutOptions(TypedDict, total=False):
    """The keywords for the partition of a horizontal mesh."""

    halo_depth: int
    cells_together: int
    generate_inner_halos: bool


class MeshOptions(ColumnOptions, CutOptions, total=False):
    """The keywords that all meshes accept."""

    label: str
    device: str | None
    ranks: Any


class ColumnMesh(MeshCells):
    """Columns of cells on this rank, including the halo, and the function spaces on them.

    `planar`, `cubed_sphere` and `extruded` create meshes; these calls are collective and need equal
    arguments on all ranks.
    """

    def __init__(
        self,
        horizontal: Plane | CubedSphere,
        columns: Columns,
        *,
        surface: Surface | None = None,
        **options: Any,
    ) -> None:
        super().__init__(horizontal, columns, surface=surface, **options)
        self._spaces: dict[tuple[Any, ...], FunctionSpace] = {}
        self.stencil: Callable[[str | int, int], NeighbourCells] = cache(self._stencil)

    @classmethod
    def planar(
        cls,
        cells: tuple[int, int],
        widths: tuple[float, float] = (1.0, 1.0),
        *,
        periodic: tuple[bool, bool] = (True, True),
        **options: Unpack[MeshOptions],
    ) -> ColumnMesh:
        """Return a mesh of columns on a plane with `cells` cells in x and y, `widths` metres wide.

        If two meshes are mapped to each other, `cells_together` of the finer mesh keeps the cells
        of a coarse cell on one rank. Without `generate_inner_halos`, all inner cells are at the
        largest inner depth, as on some LFRic meshes.

        Collective: all ranks must call it.

        Raises:
            TypeError: a keyword is unknown.
            ValueError: on all ranks, the mesh cannot be created, or not for this number of ranks.
        """
        plane = Plane(
            _pair(cells, "The numbers of cells in x and y"),
            _pair(widths, "The widths of cells in x and y"),
            _pair(periodic, "Whether a plane is periodic in x and y"),
            **_cut(options),
        )
        return cls._of(plane, options)

    @classmethod
    def cubed_sphere(cls, edge_cells: int, **options: Unpack[MeshOptions]) -> ColumnMesh:
        """Return a mesh of columns on a sphere; its radius is the bottom of the columns.

        Collective: all ranks must call it.

        Raises:
            TypeError: a keyword is unknown.
            ValueError: on all ranks, the mesh cannot be created, or not for this number of ranks.
        """
        return cls._of(CubedSphere(edge_cells, **_cut(options)), options)

    @classmethod
    def _of(cls, horizontal: Plane | CubedSphere, options: MeshOptions) -> ColumnMesh:
        _check_names(options, MeshOptions)
        return cls(
            horizontal,
            _columns(Columns(), options),
            label=options.get("label", ""),
            device=options.get("device"),
            ranks=options.get("ranks"),
        )

    def extruded(self, label: str = "", **columns: Unpack[ColumnOptions]) -> ColumnMesh:
        """Return a mesh with other columns on the same horizontal mesh.

        `columns` are the properties that differ from those of this mesh.

        Collective: all ranks must call it.

        Raises:
            TypeError: `columns` contains other keywords than those of `Columns`.
            ValueError: on all ranks, the mesh cannot be created.
        """
        _check_names(columns, ColumnOptions)
        return ColumnMesh(
            self.horizontal,
            _columns(self.columns, columns),
            label=label,
            device=self.device,
            ranks=self.ranks,
            surface=self.surface,
        )

    def space(
        self,
        name: str,
        order: int | tuple[int, int] = 0,
        *,
        ndata: int = 1,
        ndata_first: bool = False,
    ) -> FunctionSpace:
        """Return an LFRic function space by name; equal arguments return the same object.

        `order` is the order of the element, or a pair of the horizontal and the vertical order. A
        dof has `ndata` values, which are contiguous if `ndata_first`.

        Collective: all ranks must call it.

        Raises:
            TypeError: the name is not a string, or an order is not an integer.
            ValueError: the space does not exist.
        """
        if not isinstance(name, str):
            raise TypeError(f"A function space has a name, as 'W3', not {name!r}.")
        orders = (order, order) if isinstance(order, int) else _pair(order, "Orders, if not one,")
        key = name.lower(), orders, ndata, bool(ndata_first)
        if key not in self._spaces:
            self._spaces[key] = FunctionSpace(self, *key)
        return self._spaces[key]

    def _stencil(self, shape: str | int, extent: int) -> NeighbourCells:
        """Return the cells around each cell, in the order of the dofs in stencils of a space.

        Raises:
            ValueError: the shape is unknown, or the extent is negative.
        """
        space = self.space(SPACE_OF_CELLS)
        dofs = space.stencil(shape, extent)
        cell_of_dof = np.zeros(space.undf + 1, np.int32)
        cell_of_dof[space.dofmap[0]] = np.arange(1, space.dofmap.shape[1] + 1)
        # A missing neighbour has the dof 0, and therefore the cell 0.
        cells = np.asfortranarray(cell_of_dof[dofs.dofmap[0]])
        cells.flags.writeable = False
        return NeighbourCells(cells, dofs.sizes)

    def __deepcopy__(self, memo: Any) -> ColumnMesh:
        """Return the mesh itself, so that copies of fields are on the same mesh."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor arguments for a pickle, without the ranks."""
        return _made_again, (
            self.horizontal,
            self.columns,
            self.label,
            self.device,
            self.surface,
        )


def _made_again(
    horizontal: Plane | CubedSphere,
    columns: Columns,
    label: str,
    device: str | None,
    surface: Surface | None = None,
) -> ColumnMesh:
    """Recreate a pickled mesh; older pickles have no `surface`."""
    return ColumnMesh(horizontal, columns, label=label, device=device, surface=surface)


def _cut(options: MeshOptions) -> CutOptions:
    """Return the options for the partition of a horizontal mesh."""
    return {
        "halo_depth": options.get("halo_depth", 2),
        "cells_together": options.get("cells_together", 1),
        "generate_inner_halos": bool(options.get("generate_inner_halos", True)),
    }


def _check_names(options: Any, known: Any) -> None:
    """Raise `TypeError` for unknown keywords."""
    for name in options:
        if name not in known.__optional_keys__:
            names = sorted(known.__optional_keys__)
            hint = did_you_mean(name, names) or f"It takes {listed(names, 'and')}."
            raise TypeError(f"A mesh takes no keyword '{name}'. {hint}")


def _pair(values: Any, what: str) -> tuple[Any, Any]:
    """Return two values; raise `TypeError`, with the description `what`, for anything else."""
    try:
        first, second = values
    except (TypeError, ValueError):
        raise TypeError(f"{what} are two values, as (1, 1), not {values!r}.") from None
    return first, second


def _columns(given: Columns, options: Any) -> Columns:
    """Return columns, with properties replaced by `options`.

    Raises:
        ValueError: the number of levels does not match the number of layers.
    """
    named = {name: options[name] for name in Columns.__slots__ if name in options}
    made = replace(given, **named)
    if isinstance(made.extrusion, str):
        return made
    levels = tuple(float(level) for level in made.extrusion)
    layers = named.get("layers", len(levels) - 1)
    if len(levels) != layers + 1:
        raise ValueError(f"{len(levels)} levels are not those of {layers} layers.")
    return replace(made, extrusion=levels, layers=layers)
