"""Checks of the arguments for grids and fields.

Arguments that would be misinterpreted raise an error with the expected form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from numbers import Real
from operator import index
from typing import Any

import numpy as np


def whole_number(what: str, given: Any) -> int:
    """Return an integer; raise `TypeError` for anything else, with the description `what`."""
    try:
        return index(given)
    except TypeError:
        raise TypeError(f"{what} is an integer, not {given!r}.") from None


def whole_pair(what: str, given: Any) -> tuple[int, int]:
    """Return two integers, for x and for y; raise `TypeError` for anything else."""
    first, second = _pair(what, "two integers, for x and for y", given)
    return whole_number(f"Each of {what}", first), whole_number(f"Each of {what}", second)


def distance_pair(what: str, given: Any) -> tuple[float, float]:
    """Return two distances, for x and y.

    Raises:
        TypeError: `given` is not two numbers.
        ValueError: a number is not positive or not finite.
    """
    first, second = _pair(what, "two numbers, for x and for y", given)
    for one in (first, second):
        if isinstance(one, bool) or not isinstance(one, Real):
            raise TypeError(f"Each of {what} is a number, not {one!r}.")
        if not 0.0 < float(one) < inf:
            raise ValueError(f"Each of {what} is above zero, which {one!r} is not.")
    return float(first), float(second)


def truth_pair(what: str, given: Any) -> tuple[bool, bool]:
    """Return two Booleans, for x and y; raise `TypeError` for anything else."""
    first, second = _pair(what, "two times True or False, for x and for y", given)
    for one in (first, second):
        if not isinstance(one, bool | np.bool):
            raise TypeError(f"Each of {what} is True or False, not {one!r}.")
    return bool(first), bool(second)


def one_of(what: str, given: Any, kind: type[Any]) -> Any:
    """Return a member of an enumeration; raise `TypeError` for anything else."""
    if not isinstance(given, kind):
        known = ", ".join(f"{kind.__name__}.{name}" for name in kind.__members__)
        raise TypeError(f"{what} is one of {known}, not {given!r}.")
    return given


def check_numbers(
    what: Callable[[], str], values: np.ndarray[Any, Any], dtype: np.dtype[Any]
) -> None:
    """Check that values can be converted to `dtype`; reals may be rounded.

    Raises:
        TypeError: values have another kind of type.
        ValueError: an integer is outside the range of `dtype`.
    """
    if not np.can_cast(values.dtype, dtype, "same_kind"):
        raise TypeError(f"{what()} has values of {dtype}, and is given some of {values.dtype}.")
    if dtype.kind in "iu" and values.size and not np.can_cast(values.dtype, dtype):
        limits = np.iinfo(dtype)
        for one in (int(values.min()), int(values.max())):
            if not limits.min <= one <= limits.max:
                raise ValueError(f"{what()}: {one} is outside the range of {dtype}.")


def _pair(what: str, meant: str, given: Any) -> Sequence[Any]:
    try:
        found = () if isinstance(given, str) else tuple(given)
    except TypeError:
        found = ()
    if len(found) != 2:
        raise TypeError(f"{what[:1].upper()}{what[1:]} are {meant}, not {given!r}.")
    return found
