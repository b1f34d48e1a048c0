"""Metrics, latitudes and coordinates of a grid: constants, functions of position, or arrays.

`dx`, `dy` and areas are distances and areas around points. By default, they follow from the
constant spacing of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from psyclone_storage.runtime.gocean.points import Points

Array = np.ndarray[Any, Any]

_LATITUDE = 50.0
_PLACES = {"dx": "tuvf", "dy": "tuvf", "area": "tuv", "lat": "uvf"}
"""The points at which grids have each property."""
_METRICS = tuple(f"{kind}_{at}" for kind in ("dx", "dy", "area") for at in _PLACES[kind])
_COORDINATES = tuple(one for one in Points if one is not Points.ALL)


class Metrics:
    """Values of grid properties, other than masks, as specified by the user.

    - `latitude`: a number, a function of coordinates, or a mapping of `u`, `v` and `f` to these or
      arrays.
    - `metrics`: a mapping of names of properties, such as `dx_t`, to numbers, functions or arrays.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: a name is unknown, an array has a wrong shape, or a metric is not positive.
    """

    def __init__(
        self,
        spacing: tuple[float, float],
        latitude: Any,
        metrics: Any,
        check_shape: Callable[[str, Array], None],
    ) -> None:
        self._check_shape = check_shape
        given = _mapping("The metrics of a grid", {} if metrics is None else metrics, _METRICS)
        latitudes = latitude if isinstance(latitude, Mapping) else dict.fromkeys("uvf", latitude)
        latitudes = _mapping("The latitudes of a grid", latitudes, tuple("uvf"))
        self._given = {name: self._checked(name, one) for name, one in given.items()}
        for at, one in latitudes.items():
            if one is not None:
                self._given[f"lat_{at}"] = self._checked(f"lat_{at}", one)
        self._spacing = spacing

    def given(self, name: str) -> Any:
        """Return the definition of a property: a number, an array, or a function.

        The default of an area with varying distances is a pair: the names of the distances whose
        product it is.

        Raises:
            KeyError: grids have no property of this name.
            ValueError: kernels request a constant spacing, but it varies.
        """
        kind, _, place = name.partition("_")
        if place == "const" and kind in ("dx", "dy"):
            self._check_constant(name, kind)
            return self._spacing[kind == "dy"]
        if len(place) != 1 or place not in _PLACES.get(kind, ""):
            raise KeyError(f"A grid has no property '{name}'.")
        if name in self._given:
            return self._given[name]
        if kind == "lat":
            return _LATITUDE
        if kind == "area" and not self._given.keys().isdisjoint((f"dx_{place}", f"dy_{place}")):
            return f"dx_{place}", f"dy_{place}"
        dx, dy = self._spacing
        return {"dx": dx, "dy": dy, "area": dx * dy}[kind]

    def _check_constant(self, name: str, kind: str) -> None:
        varying = sorted(one for one in self._given if one.startswith(f"{kind}_"))
        if varying:
            raise ValueError(
                f"A kernel requests '{name}', but the grid has the metrics {', '.join(varying)}: "
                f"request '{kind}_t', '{kind}_u', '{kind}_v' or '{kind}_f' in the kernel."
            )

    def _checked(self, name: str, given: Any) -> Any:
        if callable(given):
            return given
        values = np.asarray(given)
        if values.dtype.kind not in "iuf":
            raise TypeError(f"'{name}' is a number, a function or an array, not {given!r}.")
        if values.ndim:
            self._check_shape(f"'{name}'", values)
        _check_positive(name, values)
        return values.astype(np.float64)


def _check_positive(name: str, values: Array) -> None:
    """Raise `ValueError` for a non-finite value, or a distance or area that is not positive."""
    is_valid = np.isfinite(values) if name.startswith("lat") else np.isfinite(values) & (values > 0)
    if not np.all(is_valid):
        wanted = "finite" if name.startswith("lat") else "above zero"
        raise ValueError(f"All values of '{name}' must be {wanted}.")


def coordinate_arrays(coordinates: Any, check_shape: Callable[[str, Array], None]) -> Any:
    """Return curvilinear coordinates as specified by the user: None, a function, or arrays.

    Raises:
        TypeError: `coordinates` is neither a function nor a mapping of points to pairs of arrays.
        ValueError: an array has a wrong shape.
    """
    if coordinates is None or callable(coordinates):
        return coordinates
    if not isinstance(coordinates, Mapping) or not set(coordinates) <= {*_COORDINATES}:
        raise TypeError(
            "The coordinates of a grid are a function of x and y, or a mapping of Points.T, "
            f"Points.U, Points.V and Points.F to pairs of arrays, not {coordinates!r}."
        )
    made = {}
    for points, pair in coordinates.items():
        found = tuple(np.asarray(one, np.float64) for one in pair)
        if len(found) != 2:
            raise TypeError(f"The coordinates of {points.name} points are a pair of arrays.")
        for one in found:
            check_shape(f"A coordinate of {points.name} points", one)
        made[points] = found
    return made


def _mapping(what: str, given: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} are a mapping of names to values, not {given!r}.")
    for name in given:
        if name not in names:
            raise ValueError(f"{what} have no '{name}'; names are {', '.join(names)}.")
    return given
