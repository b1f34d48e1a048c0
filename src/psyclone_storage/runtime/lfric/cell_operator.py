"""Operators between function spaces: a matrix for each cell of each layer."""

from __future__ import annotations

from typing import Any

from psyclone_storage.runtime.lfric.kinds import dtype_of
from psyclone_storage.runtime.lfric.matrices import Matrices
from psyclone_storage.runtime.lfric.space import FunctionSpace


class CellOperator(Matrices):
    """Matrices from the dofs of one space to those of another, initially zero.

    `storage` has the indices (cell and layer, dof of `to_space`, dof of `from_space`), with the
    first index contiguous. Layer k (from 0) of cell c (from 1) is at (c - 1) * layers + k.

    Raises:
        ValueError: the spaces are on different meshes.
        TypeError: an argument is not a function space, or `dtype` is neither an LFRic kind nor a
            supported NumPy type.
    """

    def __init__(
        self,
        to_space: FunctionSpace,
        from_space: FunctionSpace,
        label: str = "",
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__(to_space, from_space, label)
        self._make((self.ncell_3d, to_space.ndf, from_space.ndf), dtype_of(dtype))

    @property
    def ncell_3d(self) -> int:
        """Number of cells in all layers, including the first halo level."""
        return self.mesh.last_halo_cell(1) * self.mesh.nlayers

    @property
    def _kind(self) -> str:
        return "operator"

    def _make_again(
        self, to_space: FunctionSpace, from_space: FunctionSpace, state: dict[str, Any]
    ) -> None:
        CellOperator.__init__(
            self, to_space, from_space, state["label"], dtype=state["values"].dtype
        )
