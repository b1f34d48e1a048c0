"""The types of numbers that words of LFRic stand for, as the library has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.runtime.lfric.library import infrastructure
from psyclone_storage.runtime.ranks import SingleRank


def dtype_of(kind: Any) -> np.dtype[Any]:
    """Return the type that a kind of LFRic, or a type of NumPy, stands for; None is the default.

    Kinds are those of the mixed set: some are reals of 32 bits.

    Raises:
        TypeError: it stands for none that data have: reals and whole numbers of 32 or 64 bits.
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
        raise TypeError(f"Data of LFRic are reals or whole numbers of 32 or 64 bits, not {found}.")
    return found
