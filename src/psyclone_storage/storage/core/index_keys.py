"""NumPy index keys: classification and the shape of the selection, without the indexed array."""

from __future__ import annotations

from typing import Any

import numpy as np

Shape = tuple[int, ...]

INTEGERS = (int, np.integer)
BASIC = (slice, int, np.integer, type(None), type(Ellipsis))


def is_basic(key: Any) -> bool:
    """Return whether `key` selects a view: only integers, slices, Ellipsis and new axes."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(isinstance(part, BASIC) and not isinstance(part, bool) for part in parts)


def is_element(key: Any, ndim: int) -> bool:
    """Return whether the basic `key` selects one element: one integer per dimension."""
    parts = key if isinstance(key, tuple) else (key,)
    return len(parts) == ndim and all(isinstance(part, INTEGERS) for part in parts)


def with_ellipsis(key: Any) -> Any:
    """Return the basic `key` with an Ellipsis, so that NumPy returns a view and never a scalar."""
    if not isinstance(key, tuple):
        return key if key is Ellipsis else (key, ...)
    return key if Ellipsis in key else (*key, ...)


def view_key(region: Any) -> Any:
    """Return the key of a region with an Ellipsis, so that NumPy returns a view.

    Raises `TypeError` for a key that selects a copy.
    """
    if not is_basic(region):
        raise TypeError(
            f"A region is a key of integers and slices, which selects a view, not {region!r}."
        )
    return with_ellipsis(region)


def is_everything(key: Any) -> bool:
    """Return whether `key` selects all elements and preserves the shape."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(part is Ellipsis or part == slice(None) for part in parts if _is_span(part)) and all(
        _is_span(part) for part in parts
    )


def _is_span(part: Any) -> bool:
    return part is Ellipsis or isinstance(part, slice)


def selected_by(key: Any, shape: Shape) -> Shape:
    """Return the shape of the selection; raise `IndexError` as an array of `shape` would."""
    return tuple(np.broadcast_to(_ANYTHING, shape)[key].shape)


def fits(given: Shape, selected: Shape) -> bool:
    """Return whether values of one shape can be assigned to elements of the other."""
    if given in ((), selected):
        return True
    while len(given) > len(selected) and given[0] == 1:
        given = given[1:]
    pairs = zip(reversed(given), reversed(selected), strict=False)
    return len(given) <= len(selected) and all(mine in (1, theirs) for mine, theirs in pairs)


_ANYTHING = np.zeros((), np.bool_)
