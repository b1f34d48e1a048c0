"""Rectangular grids with constant spacing, distributed over ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from psyclone_storage.base.uncaught import HaloWidthError
from psyclone_storage.runtime.gocean.decomposition import Subdomain, decompose
from psyclone_storage.runtime.gocean.exchange import MessagePool
from psyclone_storage.runtime.gocean.given import (
    distance_pair,
    one_of,
    truth_pair,
    whole_number,
    whole_pair,
)
from psyclone_storage.runtime.gocean.halo_plan import ExchangePattern, plan_exchange
from psyclone_storage.runtime.gocean.points import Offset, Points
from psyclone_storage.runtime.ranks import checked_ranks, world
from psyclone_storage.storage import Storage, storage, zeros
from psyclone_storage.storage.gdp.parameters import checked_device

X_CONTIGUOUS = (1, 0)
"""The layout of fields without layers: neighbours in x are neighbours in memory, as in Fortran."""
LAYERS_CONTIGUOUS = (1, 0, 2)
"""The layout of fields with layers: those of a point are neighbours in memory, then points in x."""
_LATITUDE = 50.0


class Grid:
    """Grid of `points` points in x and y with constant `spacing`, distributed over ranks.

    - `periodic`: whether the grid is periodic in x and in y.

    - `halo`: the width of the halo in points.

    - `mask`: 1 for sea, 0 for land, and -1 outside an open boundary, as an array over the points of
      the domain, optionally with `halo` points around them. Other points have the value of the
      nearest neighbour, or of the periodic image. Without a mask, all points are sea.

    - `parts`: the number of rectangles in each direction.

    - `device`: the device on which kernels run.

    - `ranks`: an mpi4py communicator; by default all ranks of the program.

    Collective: all ranks must create it.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: the domain cannot be divided in this way, a periodic domain has fewer points
            than the halo, a distance is not positive, the mask has a wrong shape, or there is no
            such device.
    """

    def __init__(  # noqa: PLR0913 - what a grid is made of
        self,
        points: tuple[int, int],
        spacing: tuple[float, float] = (1.0, 1.0),
        *,
        periodic: tuple[bool, bool] = (False, False),
        offset: Offset = Offset.NORTH_EAST,
        halo: int = 1,
        mask: Any = None,
        parts: tuple[int, int] | None = None,
        device: str | None = None,
        ranks: Any = None,
    ) -> None:
        self.points = whole_pair("the points of a grid", points)
        self.spacing = distance_pair("the spacing of a grid", spacing)
        self.periodic = truth_pair("the directions in which a grid is periodic", periodic)
        self.offset: Offset = one_of("The offset of a grid", offset, Offset)
        self.halo = whole_number("The halo of a grid", halo)
        self.device: str | None = checked_device(device)
        self.ranks = checked_ranks(ranks)
        cuts = None if parts is None else whole_pair("the parts of a grid", parts)
        self.decomposition = decompose(self.points, self.ranks.size, self.halo, cuts)
        for name, closed, extent in zip("xy", self.periodic, self.points, strict=True):
            if closed and extent < halo:
                raise ValueError(
                    f"The domain is periodic in {name} and has {extent} points there, fewer than "
                    f"the halo of {halo}."
                )
        self._mask = None if mask is None else self._checked_mask(np.asarray(mask))
        self.plan: Callable[[int], ExchangePattern] = cache(partial(self._plan_for))
        self.messages = MessagePool(self.ranks, self.plan)
        self.property: Callable[[str], Storage | float] = cache(partial(self._property_for))

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute for the first time.

        Attributes are constant, because invokes cache them.
        """
        if name in self.__dict__:
            raise AttributeError(f"The {name} of a grid cannot be changed: make another grid.")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        """Return the text shown in a notebook."""
        of, size = self.ranks.rank, self.ranks.size
        where = f", {self.subdomain.domain.shape} of them on rank {of}" if size > 1 else ""
        return f"<Grid of {self.points} points{where}>"

    @property
    def subdomain(self) -> Subdomain:
        """Part of the domain on this rank."""
        return self.decomposition.subdomains[self.ranks.rank]

    @property
    def shape(self) -> tuple[int, int]:
        """Extents of the rank's arrays: owned points, halo, and padding."""
        return self.subdomain.shape

    @property
    def at_start(self) -> tuple[bool, bool]:
        """True for x and y if the domain has a boundary at the start of this rank's part."""
        start = self.subdomain.domain.start
        return start[0] == 0 and not self.periodic[0], start[1] == 0 and not self.periodic[1]

    def zeros(self, label: str = "", dtype: Any = np.float64, layers: int | None = None) -> Storage:
        """Return a storage of zeros with the extents and layout of this rank's arrays."""
        shape = self.shape if layers is None else (*self.shape, layers)
        return zeros(shape, dtype, label=label, **self.keywords_for(layers))

    @property
    def keywords(self) -> Any:
        """Options for all storages of this grid without layers."""
        return self.keywords_for(None)

    def keywords_for(self, layers: int | None) -> Any:
        """Return the options for storages of this grid, with layers or without (None)."""
        halo, row = self.halo, self.halo + 1
        around = (halo, row)
        return {
            "dims": ("I", "J") if layers is None else ("I", "J", "K"),
            "layout": X_CONTIGUOUS if layers is None else LAYERS_CONTIGUOUS,
            "halo": (around, around) if layers is None else (around, around, (0, 0)),
            "device": self.device,
        }

    def coordinates(self, points: Points) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the coordinates of the points in this rank's arrays, in x and y.

        The first T point of the domain is one spacing from the origin in both directions.
        """
        found = []
        for axis, on_side in enumerate(points.on_sides):
            first = self.subdomain.domain.start[axis] - self.halo + 1
            places = np.arange(first, first + self.shape[axis], dtype=np.float64)
            found.append((places + (self.offset.shift if on_side else 0.0)) * self.spacing[axis])
        return found[0], found[1]

    def __deepcopy__(self, memo: Any) -> Grid:
        """Return the grid itself, so that copies of fields are on the same grid."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor arguments for a pickle; the reading program provides the ranks."""
        made = {
            "periodic": self.periodic,
            "offset": self.offset,
            "halo": self.halo,
            "mask": self._mask,
            "parts": self.decomposition.parts,
            "device": self.device,
        }
        return _made_again, (self.points, self.spacing, made)

    def _plan_for(self, depth: int) -> ExchangePattern:
        if not 1 <= depth <= self.halo:
            fix = f"write Grid(..., halo={depth})" if depth > 0 else "a depth is at least 1"
            raise HaloWidthError(
                f"An exchange to depth {depth} is not possible: the halo is {self.halo} "
                f"wide; {fix}."
            )
        return plan_exchange(self.decomposition, self.periodic, self.ranks.rank, depth)

    def _property_for(self, name: str) -> Storage | float:
        """Return a grid property for kernels by name.

        `dx_const` and `dy_const` are numbers. All others are storages: `mask_t`, `dx_t` and similar
        ones, `area_t`, `area_u`, `area_v`, `lat_u`, `lat_v`.
        """
        dx, dy = self.spacing
        numbers = {"dx_const": dx, "dy_const": dy}
        if name in numbers:
            return numbers[name]
        kind, _, place = name.partition("_")
        constant = {"dx": dx, "dy": dy, "area": dx * dy, "lat": _LATITUDE}
        places = {"dx": "tuvf", "dy": "tuvf", "area": "tuv", "lat": "uvf"}
        if name == "mask_t":
            return storage(self._local_mask(), label=name, **self.keywords)
        if kind not in constant or len(place) != 1 or place not in places[kind]:
            raise KeyError(f"A grid has no property '{name}'.")
        made = self.zeros(name)
        made[...] = constant[kind]
        return made

    def _checked_mask(self, mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        wide = tuple(extent + 2 * self.halo for extent in self.points)
        if mask.shape not in (self.points, wide):
            raise ValueError(
                f"A mask of shape {mask.shape} is neither over the {self.points} points of the "
                f"domain nor over the {wide} with the halo around them."
            )
        return mask.astype(np.int32)

    def _local_mask(self) -> np.ndarray[Any, Any]:
        if self._mask is None:
            return np.ones(self.shape, np.int32)
        rim = (self._mask.shape[0] - self.points[0]) // 2
        indices = []
        for axis, points in enumerate(self.points):
            first = self.subdomain.domain.start[axis] - self.halo
            places = np.arange(first, first + self.shape[axis])
            if self.periodic[axis] and not rim:
                places %= points
            indices.append(np.clip(places + rim, 0, points + 2 * rim - 1))
        return np.asfortranarray(self._mask[np.ix_(*indices)])


def _made_again(points: Any, spacing: Any, made: dict[str, Any]) -> Grid:
    """Return a grid from a pickle; on a different number of ranks it is divided anew."""
    ranks = world()
    if made["parts"][0] * made["parts"][1] != ranks.size:
        made = {**made, "parts": None}
    return Grid(points, spacing, ranks=ranks, **made)
