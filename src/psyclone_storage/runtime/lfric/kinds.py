"""The kinds of numbers that LFRic has words for, in its mixed set of precisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

KINDS: Mapping[str, Any] = {
    "r_def": np.float64,
    "r_double": np.float64,
    "r_second": np.float64,
    "r_um": np.float64,
    "r_phys": np.float64,
    "r_bl": np.float64,
    "r_solver": np.float32,
    "r_tran": np.float32,
    "r_single": np.float32,
    "r_native": np.float32,
    "i_def": np.int32,
    "i_um": np.int32,
    "i_native": np.int32,
    "i_long": np.int64,
}
"""The words, each with its type; in the uniform set `r_solver` and `r_tran` are `r_def`."""


def dtype_of(kind: Any) -> np.dtype[Any]:
    """Return the type that a word of LFRic, or NumPy's own, stands for.

    Raises:
        TypeError: it stands for none that fields have: reals and whole numbers of 32 or 64 bits.
    """
    found: np.dtype[Any] = np.dtype(KINDS.get(kind, kind) if isinstance(kind, str) else kind)
    if found.kind not in "fi" or found.itemsize not in (4, 8):
        raise TypeError(f"Data of LFRic are reals or whole numbers of 32 or 64 bits, not {found}.")
    return found
