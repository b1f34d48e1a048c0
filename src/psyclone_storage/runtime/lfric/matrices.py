"""Base class of operators: two function spaces on one mesh, and matrices in a storage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from psyclone_storage.runtime.lfric.cells import MeshCells
from psyclone_storage.runtime.lfric.space import FunctionSpace, checked_space
from psyclone_storage.storage import Storage, storage, zeros

_FIRST_FASTEST = (2, 1, 0)


class Matrices(ABC):
    """Matrices from the dofs of one space to those of another, initially zero.

    They exist at least for owned cells and cells of halo level 1, and are never exchanged.
    """

    under_way: ClassVar[None] = None
    """The exchange in progress, of which there is never one."""

    def __init__(self, to_space: FunctionSpace, from_space: FunctionSpace, label: str) -> None:
        """Set the spaces.

        Raises:
            ValueError: the spaces are on different meshes.
            TypeError: an argument is not a function space.
        """
        for space in (to_space, from_space):
            checked_space(space, "An operator maps from and to")
        if to_space.mesh is not from_space.mesh:
            raise ValueError(
                f"An operator between {to_space.describe()} and {from_space.describe()} would be "
                f"on two meshes."
            )
        self.to_space, self.from_space, self.label = to_space, from_space, label
        self._storage: Storage

    @property
    def mesh(self) -> MeshCells:
        """Mesh of both spaces."""
        return self.to_space.mesh

    @property
    def storage(self) -> Storage:
        """The matrices; always the same object."""
        return self._storage

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type of the values."""
        return self._storage.dtype

    def reach(self, depth: int, least: int) -> int:
        """Return the halo depth to which a routine uses the operator; check that it is valid.

        Raises:
            ValueError: the operator has no matrices for cells of this depth.
        """
        if not least <= depth <= 1:
            raise ValueError(
                f"The halo cells to depth {depth} are computed from {self.describe()}, but "
                f"operators have matrices for depth 1 only: call the kernel to depth 1."
            )
        return depth

    def check_idle(self) -> None:  # noqa: B027 - operators of all kinds
        """Do nothing, because operators are not exchanged."""

    def describe(self) -> str:
        """Return the name of the operator in error messages."""
        kind = self._kind
        return f"the {kind} '{self.label}'" if self.label else f"{_article(kind)} without a label"

    @property
    @abstractmethod
    def _kind(self) -> str:
        """Kind of the operator in error messages."""

    def _make(self, shape: tuple[int, int, int], dtype: np.dtype[Any]) -> None:
        """Allocate matrices that are zero."""
        self._storage = zeros(shape, dtype, **self._keywords)

    @property
    def _keywords(self) -> Any:
        return {"layout": _FIRST_FASTEST, "label": self.label, "device": self.mesh.device}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle: this rank's matrices, and the spaces."""
        return {
            "spaces": (self.to_space, self.from_space),
            "label": self.label,
            "values": np.array(self._storage.data_ro, order="F"),
            "cells": np.array(self.mesh.global_cell_ids),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore an operator on the same part of the mesh from a pickle.

        Raises:
            ValueError: the mesh is distributed differently in this program.
        """
        to_space, from_space = state["spaces"]
        if not np.array_equal(state["cells"], to_space.mesh.global_cell_ids):
            raise ValueError(
                f"A pickled operator holds {len(state['cells'])} cells of another part of the mesh "
                f"than this rank's: read it on the rank that wrote it, of as many."
            )
        self._make_again(to_space, from_space, state)
        self._storage = storage(state["values"], **self._keywords)

    @abstractmethod
    def _make_again(
        self, to_space: FunctionSpace, from_space: FunctionSpace, state: dict[str, Any]
    ) -> None:
        """Create an operator from a pickle, without its values."""


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
