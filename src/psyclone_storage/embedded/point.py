"""One point of a field and what lies around it, for a kernel that is run by Python itself."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

Offset = tuple[int, int]
_OWN = (0, 0)


class Point:
    """A field as a kernel sees it from one point; `given` are its values around that point."""

    def __init__(self, name: str, given: Any, may_change: bool) -> None:
        self._name = name
        self._given = given
        self._written: Any = None
        self._is_written = False
        self.may_change = may_change

    def __getitem__(self, offset: Offset) -> Any:
        """Return the value at a distance from the point."""
        if offset == _OWN and self._is_written:
            return self._written
        return looked_up(self._name, self._given, offset)

    def __setitem__(self, offset: Offset, value: Any) -> None:
        """Write the value of the point itself."""
        if not self.may_change:
            raise TypeError(f"The field '{self._name}' is only read.")
        if offset != _OWN:
            raise IndexError(f"The field '{self._name}' is written at {offset}, off its own point.")
        # What 'np.where' gives is an array without dimensions, which '+=' would change in place.
        self._written = value[()] if getattr(value, "ndim", None) == 0 else value
        self._is_written = True

    @property
    def value(self) -> Any:
        """The value of the point itself; None where it was neither given nor written."""
        if self._is_written:
            return self._written
        if isinstance(self._given, Mapping) and _OWN not in self._given:
            return None
        return looked_up(self._name, self._given, _OWN)


class PointColumn:
    """A field with layers as a kernel sees it from one point: an array for each offset.

    `given` is an array over the layers for all points, a mapping from offsets to arrays, or a
    function of the two offsets.
    """

    def __init__(self, name: str, given: Any, may_change: bool) -> None:
        self._name, self._given = name, given
        self.value = copy.deepcopy(looked_up(name, given, _OWN))
        self.may_change = may_change

    def __len__(self) -> int:
        """Return the number of layers."""
        return len(self.value)

    def __getitem__(self, index: tuple[int, int, int]) -> Any:
        """Return the value of a layer at a distance from the point."""
        *offset, layer = index
        found = self.value
        if tuple(offset) != _OWN:
            found = looked_up(self._name, self._given, (offset[0], offset[1]))
        return found[layer]

    def __setitem__(self, index: tuple[int, int, int], value: Any) -> None:
        """Write the value of a layer at the point itself."""
        *offset, layer = index
        if not self.may_change:
            raise TypeError(f"The field '{self._name}' is only read.")
        if tuple(offset) != _OWN:
            raise IndexError(f"The field '{self._name}' is written at {index}, off its own point.")
        self.value[layer] = value


class _Real(float):
    """A number that is the same at every point."""

    def __getitem__(self, offset: Offset) -> float:
        return float(self)


class _Integer(int):
    """An integer that is the same at each point."""

    def __getitem__(self, offset: Offset) -> int:
        return int(self)


class _Around:
    """Values around a point that are only read."""

    def __init__(self, name: str, given: Any) -> None:
        self._name, self._given = name, given

    def __getitem__(self, offset: Offset) -> Any:
        return looked_up(self._name, self._given, offset)


def anywhere(name: str, given: Any) -> Any:
    """Return what a kernel gets for a property of the grid: a number may be one or be looked at."""
    if isinstance(given, Mapping) or callable(given):
        return _Around(name, given)
    return _Integer(given) if isinstance(given, int) else _Real(given)


def looked_up(name: str, given: Any, offset: Offset) -> Any:
    """Return the value of `given` at an offset."""
    if isinstance(given, Mapping):
        if offset not in given:
            raise KeyError(f"'{name}' has no value at {offset}: give one, as {{{offset}: 0.0}}.")
        return given[offset]
    return given(*offset) if callable(given) else given
