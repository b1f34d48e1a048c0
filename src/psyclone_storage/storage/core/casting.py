"""Conversion of values before they are stored; this module stores nothing.

An assignment that NumPy rejects half-way would have invalidated newer values, or left unreadable
data. Therefore values are first converted to a form that no assignment rejects, and then an access
begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_INTEGERS = "biu"
_NUMBERS = "biufc"


def casts_quietly(given: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Return whether no number of type `given` can raise an error or a warning as a `dtype`."""
    if given.kind in _INTEGERS and dtype.kind in _INTEGERS:
        return True
    numbers = given.kind in _NUMBERS and dtype.kind in _NUMBERS
    return numbers and np.can_cast(given, dtype, "safe")


def as_stored(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return `values` in a form that elements of `dtype` take without a question.

    Arrays of devices, and of numbers whose conversion raises nothing, stay as they are. Raises what
    NumPy raises for values that the elements cannot have: `OverflowError`, `TypeError` or
    `ValueError`, or a warning where warnings are errors.
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
