"""Grids of rectangles with regular distances, divided among ranks."""

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
"""The layout of all fields: neighbours in x are neighbours in memory, as in Fortran."""
_LATITUDE = 50.0


class Grid:
    """A grid of `points` points in x and in y, `spacing` apart, divided among ranks.

    `periodic` closes it in x, in y or in both. `halo` is how many points of others a rank holds
    around its own. `mask` is 1 at sea, 0 on land and -1 outside of an open boundary: an array over
    the points of the domain, or over these and `halo` points around them. Points that it does not
    cover are as their nearest neighbour, or as their image in a periodic domain. Without a mask all
    is sea. `parts` says into how many rectangles the domain is cut in each direction, `device` is
    where kernels run. `ranks` is a communicator of mpi4py; without it, all ranks of the program.

    Collective: all ranks have to call it.

    Raises:
        TypeError: something is not what it is described as here.
        ValueError: the domain cannot be divided so, a periodic domain has fewer points than the
            halo, a distance is not above zero, the mask has another shape, or there is no such kind
            of device.
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
        """Set the attributes of the grid once, because invokes cache them."""
        if name in self.__dict__:
            raise AttributeError(f"The {name} of a grid cannot be changed: make another grid.")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        """Return what a notebook shows."""
        of, size = self.ranks.rank, self.ranks.size
        where = f", {self.subdomain.domain.shape} of them on rank {of}" if size > 1 else ""
        return f"<Grid of {self.points} points{where}>"

    @property
    def subdomain(self) -> Subdomain:
        """The part of this rank."""
        return self.decomposition.subdomains[self.ranks.rank]

    @property
    def shape(self) -> tuple[int, int]:
        """The extents of the arrays of this rank: its points, the halo around them, padding."""
        return self.subdomain.shape

    @property
    def at_start(self) -> tuple[bool, bool]:
        """Return whether the domain begins on this rank with a boundary, in x and in y."""
        start = self.subdomain.domain.start
        return start[0] == 0 and not self.periodic[0], start[1] == 0 and not self.periodic[1]

    def zeros(self, label: str = "", dtype: Any = np.float64) -> Storage:
        """Return a storage of zeros with the extents and the layout of this rank's arrays."""
        return zeros(self.shape, dtype, label=label, **self.keywords)

    @property
    def keywords(self) -> Any:
        """The options of all storages of this grid."""
        halo, row = self.halo, self.halo + 1
        return {
            "dims": ("I", "J"),
            "layout": X_CONTIGUOUS,
            "halo": ((halo, row), (halo, row)),
            "device": self.device,
        }

    def coordinates(self, points: Points) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return where the points of this rank's arrays are, in x and in y.

        The first T point of the domain lies at one distance from the origin in both directions.
        """
        found = []
        for axis, on_side in enumerate(points.on_sides):
            first = self.subdomain.domain.start[axis] - self.halo + 1
            places = np.arange(first, first + self.shape[axis], dtype=np.float64)
            found.append((places + (self.offset.shift if on_side else 0.0)) * self.spacing[axis])
        return found[0], found[1]

    def __deepcopy__(self, memo: Any) -> Grid:
        """Return the grid itself: copies of fields are fields on it."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the grid is made of; its ranks are those of the program that reads it."""
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
        """Return a property of the grid that kernels may ask for, by its name.

        `dx_const` and `dy_const` are numbers, all others are storages: `mask_t`, `dx_t` and so on,
        `area_t`, `area_u`, `area_v`, `lat_u`, `lat_v`.
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
    """Return a grid with what a pickle holds; on other ranks it is divided anew."""
    ranks = world()
    if made["parts"][0] * made["parts"][1] != ranks.size:
        made = {**made, "parts": None}
    return Grid(points, spacing, ranks=ranks, **made)
