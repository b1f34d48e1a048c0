"""CUDA kernels for grid points, and their launch by CuPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from psyclone_storage.runtime.device import KernelLibrary, OfTables
from psyclone_storage.runtime.native import parameters_of

_BLOCK = (32, 4)
_SCALARS: Mapping[str, Callable[[Any], Any]] = {"d": np.float64, "i": np.int32}


class KernelLaunch:
    """CUDA kernel that is called like a C function, with tables and scalars.

    - `tables`: positions in the tables of arrays, counts and reals.

    - `alone`: launch only one thread.
    """

    def __init__(
        self,
        kernel: Any,
        types: str,
        tables: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
        alone: bool,
    ) -> None:
        self._kernel, self._tables, self._alone = kernel, tables, alone
        self._types = [_SCALARS[one] for one in types]
        self._of_tables = OfTables(self._described)
        self.argtypes = parameters_of(types)

    def __call__(self, data: Any, reals: Any, counts: Any, *scalars: Any) -> None:
        """Launch a thread for each point of the arrays."""
        blocks, block, passed = self._of_tables(data, reals, counts)
        if scalars or self._types:
            passed += tuple(made(one) for made, one in zip(self._types, scalars, strict=True))
        self._kernel(blocks, block, passed)

    def _described(self, data: Any, reals: Any, counts: Any) -> tuple[Any, Any, tuple[Any, ...]]:
        """Return the number and size of blocks, and all arguments except scalars."""
        of_arrays, of_counts, of_reals = self._tables
        passed = (
            *(np.uint64(data[at]) for at in of_arrays),
            *(np.int64(counts[at]) for at in of_counts),
            *(np.float64(reals[at]) for at in of_reals),
        )
        if self._alone:
            return (1, 1), (1, 1), passed
        return tuple(-(-counts[at] // extent) for at, extent in enumerate(_BLOCK)), _BLOCK, passed


class DeviceLibrary(KernelLibrary):
    """CUDA kernels of a module for grids."""

    def launches(self, kernel: Any, types: str, *launch: Any) -> KernelLaunch:
        """Return a function that launches a kernel with a thread for each point."""
        *tables, alone = launch
        return KernelLaunch(kernel, types, (tables[0], tables[1], tables[2]), alone)
