"""Logically rectangular grids, distributed over ranks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from psyclone_storage.base.uncaught import HaloWidthError, level_of_user
from psyclone_storage.runtime.gocean.boundaries import (
    Boundary,
    Reflection,
    Slices,
    is_periodic,
    prescribed_parts,
    reflections,
    sides_of,
)
from psyclone_storage.runtime.gocean.decomposition import Subdomain, decompose
from psyclone_storage.runtime.gocean.exchange import MessagePool
from psyclone_storage.runtime.gocean.given import (
    distance_pair,
    one_of,
    whole_number,
    whole_pair,
)
from psyclone_storage.runtime.gocean.halo_plan import ExchangePattern, plan_exchange
from psyclone_storage.runtime.gocean.metrics import Array, Metrics, coordinate_arrays
from psyclone_storage.runtime.gocean.points import Offset, Points
from psyclone_storage.runtime.ranks import checked_ranks, world
from psyclone_storage.storage import Storage, storage, zeros
from psyclone_storage.storage.gdp.parameters import checked_device

X_CONTIGUOUS = (1, 0)
"""The layout of fields without layers: points in x are contiguous, as in Fortran."""
LAYERS_CONTIGUOUS = (1, 0, 2)
"""The layout of fields with layers: layers are contiguous, then points in x."""


_OPEN = (
    "The domain of this grid is open, and kernels read points beyond it, which are zero unless the "
    "program stores values there: a basin loses its mass. Write boundaries='closed', 'periodic' or "
    "'prescribed' in Grid(...), or boundaries='open' to omit this warning."
)


def _warn_if(is_open: bool) -> None:
    """Warn of an open domain, without an error if a filter demands one: other ranks wait."""
    if not is_open:
        return
    try:
        warnings.warn(_OPEN, stacklevel=level_of_user())
    except UserWarning:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(_OPEN, stacklevel=level_of_user())


class Grid:
    """Grid of `points` points in x and y, distributed over ranks.

    - `spacing`: the distances of points in x and y, if they are constant.

    - `boundaries`: `"closed"`, `"periodic"`, `"prescribed"` or `"open"`; or a pair, for x and y.
      Each of the pair may be a pair again, for the start and the end.

    - `periodic`: whether the grid is periodic in x and in y. Other directions are open.

    Without both, the domain is open. Then the first exchange of a halo issues a `UserWarning`,
    unless the grid has a mask with points around the domain.

    - `halo`: the width of the halo in points.

    - `mask`: 1 for sea, 0 for land, and -1 outside an open boundary, as an array over the points of
      the domain, optionally with `halo` points around them. Points beyond a closed boundary are
      land; others have the value of the nearest neighbour, or of the periodic image. Without a
      mask, all points of the domain are sea.

    - `latitude`: a number, a function of coordinates, or a mapping of `u`, `v`, `f` to these or
      arrays; 50 degrees by default.

    - `metrics`: a mapping of properties, such as `dx_t` and `area_u`, to numbers, functions of
      coordinates, or arrays. Other distances are the spacing, and other areas are products.

    - `coordinates`: a function that maps x and y to curvilinear coordinates, or a mapping of points
      to a pair of arrays.

    Arrays are over the points of the domain, optionally with `halo` points around them.

    - `parts`: the number of rectangles in each direction.

    - `device`: the device on which kernels run.

    - `ranks`: an mpi4py communicator; by default all ranks of the program.

    Collective: all ranks must create it.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: the domain cannot be divided in this way, a periodic or closed domain has fewer
            points than the halo, a distance is not positive, an array has a wrong shape, a mask has
            values other than integers, or there is no such boundary or device.
    """

    def __init__(  # noqa: PLR0913 - what a grid is made of
        self,
        points: tuple[int, int],
        spacing: tuple[float, float] = (1.0, 1.0),
        *,
        boundaries: Any = None,
        periodic: tuple[bool, bool] | None = None,
        offset: Offset = Offset.NORTH_EAST,
        halo: int = 1,
        mask: Any = None,
        latitude: Any = None,
        metrics: Any = None,
        coordinates: Any = None,
        parts: tuple[int, int] | None = None,
        device: str | None = None,
        ranks: Any = None,
    ) -> None:
        self.points = whole_pair("the points of a grid", points)
        self.spacing = distance_pair("the spacing of a grid", spacing)
        self.boundaries = sides_of(boundaries, periodic)
        self.periodic = is_periodic(self.boundaries)
        self.has_walls = any(Boundary.CLOSED in sides for sides in self.boundaries)
        self.offset: Offset = one_of("The offset of a grid", offset, Offset)
        self.halo = whole_number("The halo of a grid", halo)
        self.device: str | None = checked_device(device)
        self.ranks = checked_ranks(ranks)
        cuts = None if parts is None else whole_pair("the parts of a grid", parts)
        self.decomposition = decompose(self.points, self.ranks.size, self.halo, cuts)
        self._check_images()
        self._mask = None if mask is None else self._checked_mask(np.asarray(mask))
        is_open = self._is_open_by_default(boundaries, periodic)
        self._warn_if_open: Callable[[], None] = cache(partial(_warn_if, is_open))
        self._metrics = Metrics(self.spacing, latitude, metrics, self._check_shape)
        self._coordinates = coordinate_arrays(coordinates, self._check_shape)
        self._keywords = {"latitude": latitude, "metrics": metrics, "coordinates": coordinates}
        self.plan: Callable[[int], ExchangePattern] = cache(partial(self._plan_for))
        self.reflections: Callable[[Points, int], tuple[Reflection, ...]] = cache(
            partial(self._reflections_for)
        )
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

    @property
    def fixed_end(self) -> tuple[bool, bool]:
        """True for x and y if this rank's part ends at a closed or prescribed boundary."""
        stop = self.subdomain.domain.stop
        x, y = (
            one[1].is_fixed and at == points
            for one, at, points in zip(self.boundaries, stop, self.points, strict=True)
        )
        return x, y

    def prescribed(self, points: Points) -> tuple[Slices, ...]:
        """Return the points on and beyond prescribed boundaries, as parts of this rank's arrays."""
        kind = points, self.offset
        return tuple(prescribed_parts(self.decomposition, self.ranks.rank, self.boundaries, kind))

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

    def coordinates(self, points: Points) -> tuple[Array, Array]:
        """Return the coordinates of the points in this rank's arrays, in x and y.

        They are one-dimensional for constant spacing, where the first T point of the domain is one
        spacing from the origin in both directions. Curvilinear coordinates are two-dimensional.

        Raises:
            ValueError: the coordinates that were passed to the grid have none of these points.
        """
        found = []
        for axis, on_side in enumerate(points.on_sides):
            first = self.subdomain.domain.start[axis] - self.halo + 1
            places = np.arange(first, first + self.shape[axis], dtype=np.float64)
            found.append((places + (self.offset.shift if on_side else 0.0)) * self.spacing[axis])
        x, y = found
        if self._coordinates is None:
            return x, y
        if callable(self._coordinates):
            pair = self._coordinates(x[:, None], y[None, :])
            x, y = (np.broadcast_to(np.asarray(one, np.float64), self.shape) for one in pair)
            return x, y
        if points not in self._coordinates:
            raise ValueError(
                f"The coordinates of the grid have no {points.name} points: add Points."
                f"{points.name} to 'coordinates'."
            )
        x, y = (self._local(one) for one in self._coordinates[points])
        return x, y

    def columns_and_rows(self, points: Points) -> tuple[Array, Array]:
        """Return the coordinates of points in a form that broadcasts to two dimensions."""
        x, y = self.coordinates(points)
        return (x[:, None], y[None, :]) if x.ndim == 1 else (x, y)

    def __deepcopy__(self, memo: Any) -> Grid:
        """Return the grid itself, so that copies of fields are on the same grid."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor arguments for a pickle, without the ranks."""
        made = {
            "boundaries": self.boundaries,
            "offset": self.offset,
            "halo": self.halo,
            "mask": self._mask,
            "parts": self.decomposition.parts,
            "device": self.device,
            **self._keywords,
        }
        return _made_again, (self.points, self.spacing, made)

    def _is_open_by_default(self, boundaries: Any, periodic: Any) -> bool:
        """Return whether this rank warns of a domain without boundaries or a mask beyond it.

        A domain whose outermost points are all land needs no boundaries.
        """
        if boundaries is not None or periodic is not None or self.ranks.rank:
            return False
        if self._mask is None or self._mask.shape != self.points:
            return self._mask is None
        rim = np.ones(self.points, bool)
        rim[1:-1, 1:-1] = False
        return bool(self._mask[rim].any())

    def _plan_for(self, depth: int) -> ExchangePattern:
        if not 1 <= depth <= self.halo:
            fix = f"write Grid(..., halo={depth})" if depth > 0 else "a depth is at least 1"
            raise HaloWidthError(
                f"An exchange to depth {depth} is not possible: the halo is {self.halo} "
                f"wide; {fix}."
            )
        self._warn_if_open()
        return plan_exchange(self.decomposition, self.periodic, self.ranks.rank, depth)

    def _reflections_for(self, points: Points, depth: int) -> tuple[Reflection, ...]:
        kind = points, self.offset
        return reflections(self.decomposition, self.ranks.rank, self.boundaries, kind, depth)

    def _property_for(self, name: str) -> Storage | float:
        """Return a grid property for kernels by name.

        `dx_const` and `dy_const` are numbers. All others are storages: `mask_t`, `dx_t` and similar
        ones, `area_t`, `area_u`, `area_v`, `lat_u`, `lat_v`.
        """
        if name == "mask_t":
            return storage(self._local_mask(), label=name, **self.keywords)
        given = self._metrics.given(name)
        if name.endswith("_const"):
            return float(given)
        if isinstance(given, tuple):
            x, y = (np.asarray(self.property(one)) for one in given)
            given = x * y
        elif callable(given):
            given = given(*self.columns_and_rows(Points(name[-1])))
        elif np.ndim(given):
            given = self._local(given)
        made = self.zeros(name)
        made[...] = np.broadcast_to(given, self.shape)
        return made

    def _check_images(self) -> None:
        """Check that a domain has the points of its periodic images and reflections."""
        for name, sides, extent in zip("xy", self.boundaries, self.points, strict=True):
            images = [one for one in sides if one in (Boundary.PERIODIC, Boundary.CLOSED)]
            if images and extent < self.halo:
                raise ValueError(
                    f"The domain is {images[0].value} in {name} and has {extent} points there, "
                    f"fewer than the halo of {self.halo}."
                )

    def _checked_mask(self, mask: Array) -> Array:
        self._check_shape("A mask", mask)
        if mask.dtype.kind not in "biuf":
            raise TypeError(f"A mask contains integers, not values of the type {mask.dtype}.")
        limits = np.iinfo(np.int32)
        # In reals of 16 bits, the limits are infinite.
        real = mask.astype(np.result_type(mask, np.float64))
        is_integer = (real >= limits.min) & (real <= limits.max) & (np.floor(real) == real)
        if not is_integer.all():
            at = tuple(map(int, np.argwhere(~is_integer)[0]))
            raise ValueError(
                f"A mask contains integers, but has {mask[at].item()!r} at {at}: write, for "
                f"example, 'mask > 0.5'."
            )
        return mask.astype(np.int32)

    def _check_shape(self, what: str, values: Array) -> None:
        wide = tuple(extent + 2 * self.halo for extent in self.points)
        if values.shape in (self.points, wide):
            return
        is_transposed = values.shape[::-1] in (self.points, wide)
        hint = " Transpose it: x is the first dimension." if is_transposed else ""
        raise ValueError(
            f"{what} of shape {values.shape} is neither over the {self.points} points of the "
            f"domain nor over the {wide} with the halo around them.{hint}"
        )

    def _local_mask(self) -> Array:
        mask = np.ones(self.points, np.int32) if self._mask is None else self._mask
        found = self._local(mask)
        if mask.shape == self.points:
            for axis, sides in enumerate(self.boundaries):
                first = self.subdomain.domain.start[axis] - self.halo
                places = np.arange(first, first + self.shape[axis])
                is_land = (places < 0) & (sides[0] is Boundary.CLOSED)
                is_land |= (places >= self.points[axis]) & (sides[1] is Boundary.CLOSED)
                found[is_land if axis == 0 else (slice(None), is_land)] = 0
        return found

    def _local(self, values: Array) -> Array:
        """Return the part of an array over the domain that belongs to this rank's arrays.

        If the array has no halo, points around the domain have the values of the nearest points, or
        of their periodic images.
        """
        rim = (values.shape[0] - self.points[0]) // 2
        indices = []
        for axis, points in enumerate(self.points):
            first = self.subdomain.domain.start[axis] - self.halo
            places = np.arange(first, first + self.shape[axis])
            if self.periodic[axis] and not rim:
                places %= points
            indices.append(np.clip(places + rim, 0, points + 2 * rim - 1))
        return np.asfortranarray(values[np.ix_(*indices)])


def _made_again(points: Any, spacing: Any, made: dict[str, Any]) -> Grid:
    """Recreate a pickled grid; with another number of ranks, it is decomposed again."""
    ranks = world()
    if made["parts"][0] * made["parts"][1] != ranks.size:
        made = {**made, "parts": None}
    return Grid(points, spacing, ranks=ranks, **made)
