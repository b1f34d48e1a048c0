"""Own the way from a storage and a key to a view or an element, as long as that is simple."""

from __future__ import annotations

from typing import Any

import numpy as np

_new = object.__new__
_SLICES = frozenset((slice, int))
_NUMBERS = frozenset((int,))


class Sliceable:
    """Hold the fields of a storage, and cut it: slicing is done in inner loops.

    `_array` describes the elements, and is them where `_backing` has no buffer. `_windows` keeps
    the arrays of the two sides. Whatever is not simple, `_picked` of the subclass does: keys other
    than integers and slices, values that have to be brought, errors.
    """

    __slots__ = ("_array", "_labels", "_backing", "_windows")

    _array: np.ndarray[Any, Any]
    _labels: Any
    _backing: Any
    _windows: Any

    def __getitem__(self, key: Any) -> Any:
        """Return a number, a view for integers and slices, else an array of the values."""
        array, backing = self._array, self._backing
        if backing is not None and backing.buffer is not None:
            if type(key) is tuple and _NUMBERS.issuperset(map(type, key)):
                return self._element(key)
            if not _is_view(key):
                return self._picked(key)
        try:
            picked = array[key]
        except (IndexError, TypeError, ValueError):
            return self._picked(key)
        if type(picked) is not np.ndarray:  # pylint: disable=unidiomatic-typecheck
            return picked
        owner = picked.base
        if owner is not array and (owner is None or owner is not array.base):
            return picked
        return self._view(picked, key)

    def _view(self, picked: np.ndarray[Any, Any], key: Any) -> Any:
        """Return the storage that `picked`, the array of `key`, describes.

        This is what the constructor does, without the call.
        """
        view = _new(type(self))
        view._array = picked  # noqa: SLF001
        view._labels = (self._labels, key, self._array)  # noqa: SLF001
        view._backing = self._backing or self.backing()  # noqa: SLF001
        view._windows = None  # noqa: SLF001
        return view

    def _element(self, key: tuple[int, ...]) -> Any:
        """Return one element of the host side, if that is at rest and has been looked at before."""
        windows, backing = self._windows, self._backing
        host = None if windows is None else windows.host
        if host is not None and backing.buffer.is_at_rest(backing.host):
            try:
                found = host[key]
            except IndexError:
                return self._picked(key)
            if type(found) is not np.ndarray:  # pylint: disable=unidiomatic-typecheck
                return found
        return self._picked(key)

    def _picked(self, key: Any) -> Any:
        """Return `self[key]` whatever it takes."""
        raise NotImplementedError

    def backing(self) -> Any:
        """Return what this storage shares with all others on its data."""
        raise NotImplementedError


def _is_view(key: Any) -> bool:
    """Say whether NumPy gives a view for `key` whatever the array is, as far as is seen at once."""
    if type(key) is not tuple:
        return type(key) is slice
    return _SLICES.issuperset(map(type, key)) and slice in map(type, key)
