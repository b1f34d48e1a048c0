"""Operators between function spaces: a matrix for each cell of each layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.runtime.lfric.cells import MeshCells
from psyclone_storage.runtime.lfric.kinds import dtype_of
from psyclone_storage.runtime.lfric.space import FunctionSpace, checked_space
from psyclone_storage.storage import Storage, storage, zeros

_FIRST_FASTEST = (2, 1, 0)


class CellOperator:
    """Matrices from the dofs of one space to those of another, zero to begin with.

    `storage` is (cell and layer, dof of `to_space`, dof of `from_space`), the first fastest: cell
    c, from 1, has its layer k, from 0, at (c - 1) * layers + k.

    Raises:
        ValueError: the spaces are on different meshes.
        TypeError: something is no function space, or `dtype` neither a kind of LFRic nor a type
            of NumPy that data may have.
    """

    def __init__(
        self,
        to_space: FunctionSpace,
        from_space: FunctionSpace,
        label: str = "",
        *,
        dtype: Any = None,
    ) -> None:
        for space in (to_space, from_space):
            checked_space(space, "An operator maps from and to")
        if to_space.mesh is not from_space.mesh:
            raise ValueError(
                f"An operator between {to_space.describe()} and {from_space.describe()} would be "
                f"on two meshes."
            )
        self.to_space, self.from_space, self.label = to_space, from_space, label
        shape = (self.ncell_3d, to_space.ndf, from_space.ndf)
        self._storage: Storage = zeros(shape, dtype_of(dtype), **self._keywords)

    @property
    def mesh(self) -> MeshCells:
        """The mesh of both spaces."""
        return self.to_space.mesh

    @property
    def ncell_3d(self) -> int:
        """The number of cells of all layers, those of the first depth of the halo included."""
        return self.mesh.last_halo_cell(1) * self.mesh.nlayers

    @property
    def storage(self) -> Storage:
        """The matrices; always the same object."""
        return self._storage

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self._storage.dtype

    def reach(self, depth: int, least: int) -> int:
        """Return a depth of the halo to which a routine uses the operator, `least` or more.

        Raises:
            ValueError: the operator has no matrices for cells of this depth.
        """
        if not least <= depth <= 1:
            raise ValueError(
                f"The halo cells to depth {depth} are computed from {self.describe()}, but "
                f"operators have matrices for depth 1 only: call the kernel to depth 1."
            )
        return depth

    def check_idle(self) -> None:
        """Do nothing: operators are not exchanged."""

    def describe(self) -> str:
        """Return the subject of an error message."""
        return f"the operator '{self.label}'" if self.label else "an operator without a label"

    @property
    def _keywords(self) -> Any:
        return {"layout": _FIRST_FASTEST, "label": self.label, "device": self.mesh.device}

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: the matrices of this rank, and the spaces."""
        return {
            "spaces": (self.to_space, self.from_space),
            "label": self.label,
            "values": np.array(self._storage.data_ro, order="F"),
            "cells": np.array(self.mesh.global_cell_ids),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make an operator on the same part of the mesh with the matrices of a pickle.

        Raises:
            ValueError: the program that reads it has divided the mesh otherwise.
        """
        to_space, from_space = state["spaces"]
        if not np.array_equal(state["cells"], to_space.mesh.global_cell_ids):
            raise ValueError(
                f"A pickled operator holds {len(state['cells'])} cells of another part of the mesh "
                f"than this rank's: read it on the rank that wrote it, of as many."
            )
        self.__init__(to_space, from_space, state["label"], dtype=state["values"].dtype)  # type: ignore[misc]
        self._storage = storage(state["values"], **self._keywords)
