"""Meshes of LFRic, as programs make them, and the function spaces over them."""

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
    """The keywords that `Columns` takes."""

    layers: int
    bottom: float
    top: float
    extrusion: str | Sequence[float]
    tiles: tuple[int, int]


class CutOptions(TypedDict, total=False):
    """The keywords that say how a horizontal mesh is cut."""

    halo_depth: int
    cells_together: int
    generate_inner_halos: bool


class MeshOptions(ColumnOptions, CutOptions, total=False):
    """The keywords that all meshes take."""

    label: str
    device: str | None
    ranks: Any


class ColumnMesh(MeshCells):
    """Columns of cells, those of this rank and the halo around them, and the spaces over them.

    `planar`, `cubed_sphere` and `extruded` make meshes; all ranks make them alike, and together.
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
        """Return a plane of `cells` in x and in y, each `widths` metres wide, under columns.

        Of two meshes that are mapped to each other the finer one keeps `cells_together`. Without
        `generate_inner_halos` all inner cells are at the deepest depth, as on some of LFRic.

        Collective: all ranks must call it.

        Raises:
            TypeError: there is no such keyword.
            ValueError: on all ranks, if the mesh cannot be made, or not for so many ranks.
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
        """Return a sphere; its radius is the bottom of the columns.

        Collective: all ranks must call it.

        Raises:
            TypeError: there is no such keyword.
            ValueError: on all ranks, if the mesh cannot be made, or not for so many ranks.
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
        """Return other columns over the same horizontal mesh, as this one's but for `columns`.

        Collective: all ranks must call it.

        Raises:
            TypeError: `columns` has other keywords than `Columns`.
            ValueError: on all ranks, if the mesh cannot be made.
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
        """Return a function space of LFRic's name, always the same for the same question.

        `order` is that of the element, in the horizontal and in the vertical. A dof has `ndata`
        values, which are contiguous if `ndata_first`.

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
        """Return the cells around each cell, in the order in which a space has their dofs.

        Raises:
            ValueError: there is no such shape, or the extent is below 0.
        """
        space = self.space(SPACE_OF_CELLS)
        dofs = space.stencil(shape, extent)
        cell_of_dof = np.zeros(space.undf + 1, np.int32)
        cell_of_dof[space.dofmap[0]] = np.arange(1, space.dofmap.shape[1] + 1)
        # Where there is no neighbour, there is no dof, 0, and so no cell.
        cells = np.asfortranarray(cell_of_dof[dofs.dofmap[0]])
        cells.flags.writeable = False
        return NeighbourCells(cells, dofs.sizes)

    def __deepcopy__(self, memo: Any) -> ColumnMesh:
        """Return the mesh itself: copies of fields are fields on it."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the mesh is made of; its ranks are those of the program that reads it."""
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
    """Return a mesh that was pickled; before its surface was, too, it had none."""
    return ColumnMesh(horizontal, columns, label=label, device=device, surface=surface)


def _cut(options: MeshOptions) -> CutOptions:
    """Return what options say of how a horizontal mesh is cut."""
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
    """Return two values; raise `TypeError` if there are not two, which `what` names."""
    try:
        first, second = values
    except (TypeError, ValueError):
        raise TypeError(f"{what} are two values, as (1, 1), not {values!r}.") from None
    return first, second


def _columns(given: Columns, options: Any) -> Columns:
    """Return columns with what the options say of them.

    Raises:
        ValueError: the levels are not those of the layers.
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
