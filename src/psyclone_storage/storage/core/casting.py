"""Conversion of values before they are stored.

If NumPy rejected an assignment half-way, newer values could already be invalidated, or the data be
unreadable. Therefore values are converted to a form that no assignment rejects before an access
begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_INTEGERS = "biu"
_NUMBERS = "biufc"


def casts_quietly(given: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Return whether no value of type `given` causes an error or warning in a cast to `dtype`."""
    if given.kind in _INTEGERS and dtype.kind in _INTEGERS:
        return True
    numbers = given.kind in _NUMBERS and dtype.kind in _NUMBERS
    return numbers and np.can_cast(given, dtype, "safe")


def as_stored(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return `values` in a form whose assignment to elements of `dtype` cannot fail.

    Device arrays, and arrays whose conversion cannot fail, are returned unchanged. Raises NumPy's
    errors for values that do not fit: `OverflowError`, `TypeError` or `ValueError`, or a warning if
    warnings are errors.
    """
    known = getattr(values, "dtype", None)
    if hasattr(values, "__cuda_array_interface__") or (known is not None and known == dtype):
        return values
    if known is not None and casts_quietly(known, dtype):
        return values
    if dtype.names is not None:
        made = np.asarray(values, dtype)
    else:
        made = np.empty(np.shape(values), dtype)
        made[...] = values
    return made if made.ndim else made[()]
