"""NumPy types of LFRic's kinds, as in the Fortran library."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.runtime.lfric.library import infrastructure
from psyclone_storage.runtime.ranks import SingleRank


def dtype_of(kind: Any) -> np.dtype[Any]:
    """Return the NumPy type of an LFRic kind or of a NumPy type; None is the default.

    LFRic's mixed-precision kinds are used, in which some reals have 32 bits.

    Raises:
        TypeError: data cannot have this type; only 32-bit and 64-bit reals and integers are
            supported.
    """
    if isinstance(kind, str):
        bits = infrastructure(SingleRank()).kinds().get(kind)
        if bits is not None:
            kind = f"{'f' if bits > 0 else 'i'}{abs(bits) // 8}"
    try:
        found: np.dtype[Any] = np.dtype(kind)
    except TypeError:
        raise TypeError(
            f"{kind!r} is neither a kind of LFRic, as 'r_def', nor a type of NumPy."
        ) from None
    if found.kind not in "fi" or found.itemsize not in (4, 8):
        raise TypeError(f"Data of LFRic are reals or 32-bit or 64-bit integers, not {found}.")
    return found
