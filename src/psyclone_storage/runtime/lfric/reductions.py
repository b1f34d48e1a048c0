"""Sums over all ranks that are bitwise independent of the number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.runtime.exact_sum import exact_multiple, rounded
from psyclone_storage.runtime.lfric.library import Array
from psyclone_storage.runtime.ranks import Ranks


def exact_sum(ranks: Ranks, values: Array) -> Any:
    """Return the exact sum of the values of all ranks, rounded once, in their type.

    If some values are infinite or NaN, the result is the sum of only these. The result is bitwise
    equal to the exact sums of the Fortran infrastructure. The sum of integers has 64 bits.

    Collective: all ranks must call it.
    """
    flat = np.ravel(values)
    if flat.dtype.kind != "f":
        return ranks.total(flat.sum(dtype=np.int64))
    special = flat[~np.isfinite(flat)]
    own = exact_multiple(flat[np.isfinite(flat)]), special.size
    parts = ranks.gathered(own)
    if any(number for _, number in parts):
        with np.errstate(invalid="ignore"):
            return flat.dtype.type(ranks.total(np.float64(special.sum(dtype=np.float64))))
    with np.errstate(over="ignore"):
        return flat.dtype.type(rounded(sum(multiple for multiple, _ in parts)))
