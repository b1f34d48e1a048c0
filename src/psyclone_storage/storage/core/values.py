"""Own the conversion of values before they are stored; refuse to store them.

An assignment that NumPy refuses half-way would have given newer values up, or left data that nobody
may read. So values are brought to a form that no assignment refuses, and then an access begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMBERS = "biuf"


def as_stored(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return `values` in a form that elements of `dtype` take without a question.

    Arrays of devices, and of numbers that any numbers can be made of, stay as they are. Raises what
    NumPy raises for values that the elements cannot have: `OverflowError`, `TypeError` or
    `ValueError`.
    """
    known = getattr(values, "dtype", None)
    if hasattr(values, "__cuda_array_interface__") or (known is not None and known == dtype):
        return values
    if known is not None and known.kind in _NUMBERS and dtype.kind in "biufc":
        return values
    if dtype.names is not None:
        made = np.asarray(values, dtype)
    else:
        made = np.empty(np.shape(values), dtype)
        made[...] = values
    return made if made.ndim else made[()]
