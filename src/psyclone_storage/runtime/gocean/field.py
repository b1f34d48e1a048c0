"""Fields on a grid, with halos that can be made equal to the owners' values.

A field records the depth to which its halo is clean, provided that writers call `set_dirty`.
Exchanges record this depth, but test it only with `only_dirty`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from psyclone_storage.base.results import DeferredQueue
from psyclone_storage.runtime.binding import (
    array_of,
    kept_with,
    side_of,
)
from psyclone_storage.runtime.gocean.boundaries import Boundary
from psyclone_storage.runtime.gocean.exchange import InPlace, Packed, update_halos
from psyclone_storage.runtime.gocean.given import check_numbers, one_of, whole_number
from psyclone_storage.runtime.gocean.grid import Grid
from psyclone_storage.runtime.gocean.points import Points, regions
from psyclone_storage.runtime.gocean.reductions import (
    combined,
    reduced_on_rank,
    reduced_over_ranks,
)
from psyclone_storage.storage import RDWR, WRONLY, Storage, storage
from psyclone_storage.storage.core.errors import PoisonedDataError
from psyclone_storage.storage.interop.xarray import labelled

Array = np.ndarray[Any, Any]


class Field:
    """Field with one number at each point of a kind, including the rank's halo.

    With `layers`, it has a number for each layer at each point; the layer is the last index.

    - `storage`: the values. Layers are contiguous, then points in x.

    - `internal`: the points that the rank owns, and that kernels over internal points compute.

    - `whole`: the internal region with the boundary points around it.

    Without `values`, all values are zero. `values` may be an array over the points of the domain
    and the layers, a function of coordinate arrays x and y, which are followed by the numbers of
    the layers from 0, or a number, which also applies to the halo. An array of xarray with the
    dimensions x and y in any order is transposed; so is one with layers.

    Raises:
        TypeError: `grid`, `points` or `values` has a wrong type.
        ValueError: `values` are not over the points of the domain, an integer is outside the range
            of the type, or there is no layer.
    """

    def __init__(  # noqa: PLR0913 - what a field is made of
        self,
        grid: Grid,
        points: Points = Points.T,
        label: str = "",
        *,
        values: Any = None,
        dtype: Any = np.float64,
        layers: int | None = None,
    ) -> None:
        if not isinstance(grid, Grid):
            raise TypeError(f"A field is on a grid, not {grid!r}.")
        one_of("The kind of points of a field", points, Points)
        self.grid, self.points, self.label = grid, points, label
        self.internal, self.whole = regions(
            points,
            grid.subdomain.internal,
            at_start=grid.at_start,
            fixed_end=grid.fixed_end,
            offset=grid.offset,
        )
        self.layers = None if layers is None else whole_number("The layers of a field", layers)
        if self.layers is not None and self.layers < 1:
            raise ValueError(f"A field has at least one layer, not {layers}.")
        self._storage: Storage = grid.zeros(label, dtype, self.layers)
        self.waiting: DeferredQueue | None = None
        """The queue of the deferred invokes that use the field."""
        self._clean = 0
        self._in_place: dict[tuple[int, ...], InPlace] = {}
        self.under_way: tuple[int, Packed, int] | None = None
        if values is not None:
            self._fill(values)

    def __repr__(self) -> str:
        """Return the text shown in a notebook."""
        name = f" '{self.label}'" if self.label else ""
        return f"<Field{name} on {self.points.name} points of {self.grid!r}>"

    @property
    def storage(self) -> Storage:
        """Values of all points on this rank; always the same object.

        Deferred invokes that use the field run first.
        """
        if self.waiting is not None:
            self.waiting.complete()
        return self._storage

    @property
    def version(self) -> int:
        """The number of writes so far, without those of deferred invokes."""
        return self._storage.buffer.version

    @property
    def values(self) -> Array:
        """Read-only values of the internal region."""
        return self.storage.data_ro[self.internal.box]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the values of the internal region as a NumPy array.

        Without `dtype` and `copy`, it is a read-only view of the host's values.

        Raises:
            ValueError: `copy` is False, and `dtype` requires a copy.
        """
        found: Array = array_of(self.values, dtype, copy)
        return found

    def __getitem__(self, index: Any) -> Any:
        """Return a copy of values of the internal region of this rank, on the host.

        Indices are those of `values`. Values on a device are copied to the host.
        """
        found = self.values[index]
        return found.copy() if isinstance(found, np.ndarray) else found

    def __setitem__(self, index: Any, values: Any) -> None:
        """Assign to points of the internal region of this rank, on the host.

        Indices are those of `values`. The halo is dirty afterwards; copies on a device are stale.
        Exchanges that test the flags of halos require that all ranks assign.

        Raises:
            IndexError: there are no such points.
            TypeError: `values` are no numbers that the field can have.
            ValueError: `values` have another shape than the points, or an integer is outside the
                range of the type.
            RuntimeError: an exchange of the field has not been finished.
        """
        self.check_idle()
        # An exception during the access would leave undefined values.
        lost = None
        try:
            places = self.values[index]
        except PoisonedDataError as error:
            if not _is_everything(index):
                raise
            lost = error
            places = np.broadcast_to(np.int8(0), (*self.internal.shape, *self._layered))[index]
        found = np.broadcast_to(np.asarray(_with_x_first(values)), np.shape(places))
        check_numbers(self.describe, found, self.storage.dtype)
        if lost is not None:
            self.renew(lost)
        with self.storage.access(None, RDWR) as array:
            array[self.internal.box][index] = found
        self.set_dirty()

    def renew(self, error: PoisonedDataError | None = None) -> None:
        """Set all points to zero on the host, because a kernel failed and the values are lost.

        With the `error` of an access, exchanges must derive the other points from the internal
        region. They do not set F points on closed boundaries, nor points beyond other boundaries.

        Raises:
            PoisonedDataError: exchanges do not set all other points.
        """
        sides = {one for pair in self.grid.boundaries for one in pair}
        derived = {Boundary.PERIODIC}
        if self.points not in (Points.F, Points.ALL):
            derived.add(Boundary.CLOSED)
        if error is not None and not sides <= derived:
            error.add_note(
                f"{self.describe()} also has points on or beyond boundaries, which are not set: "
                f"call fill() first."
            )
            raise error
        with self.storage.access(None, WRONLY) as array:
            array[...] = 0

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the columns of the internal region."""
        return iter(self.values)

    def fill(self, value: float) -> None:
        """Set all points of this rank, including the halo and the points around the domain.

        The halo is clean afterwards if all ranks fill the field with the same value.

        Raises:
            RuntimeError: an exchange of the field has not been finished.
            TypeError: `value` is not a number.
        """
        self.check_idle()
        found = np.asarray(value)
        if found.ndim:
            raise TypeError(f"{self.describe()} is filled with a number, not with {value!r}.")
        check_numbers(self.describe, found, self.storage.dtype)
        try:
            with self.storage.access(None, RDWR) as array:
                array[...] = found
                self.reflect(array, self.grid.halo)
        except PoisonedDataError:
            self.renew()
            self.fill(value)
        self.set_clean(self.grid.halo)

    def prescribe(self, values: Any) -> None:
        """Set the points on and beyond prescribed boundaries, with equal arguments on all ranks.

        `values` is a number, or a function of the coordinates x and y. On a grid that is periodic
        in one direction, a function makes the halo dirty.

        Raises:
            RuntimeError: an exchange of the field has not been finished.
            TypeError: `values` is neither.
            ValueError: the grid has no prescribed boundary.
        """
        self.check_idle()
        if not any(Boundary.PRESCRIBED in sides for sides in self.grid.boundaries):
            raise ValueError(f"The grid of {self.describe()} has no prescribed boundary.")
        found = np.asarray(
            self._evaluated(values, *self.grid.columns_and_rows(self.points))
            if callable(values)
            else values
        )
        check_numbers(self.describe, found, self.storage.dtype)
        if found.ndim and not callable(values):
            raise TypeError(
                f"The boundaries of {self.describe()} are prescribed by a number or a function of "
                f"x and y, not by {values!r}."
            )
        found = np.broadcast_to(found, self.storage.shape)
        with self.storage.access(None, RDWR) as array:
            for part in self.grid.prescribed(self.points):
                array[part] = found[part]
            self.reflect(array, self.grid.halo)
        if callable(values) and any(self.grid.periodic):
            # Outside of the domain, the function may differ from the values of periodic images.
            self.set_dirty()

    @cached_property
    def region_is_all(self) -> bool:
        """True if the whole region contains all points of the arrays, except the padding."""
        columns, rows = self.grid.shape
        return self.whole.start == (0, 0) and self.whole.stop == (columns - 1, rows - 1)

    def to_xarray(self) -> Any:
        """Return the internal region as a `DataArray` with coordinates, without copying values."""
        box, places = self.internal.box, self.grid.coordinates(self.points)
        if places[0].ndim == 1:
            inside: dict[str, Any] = {
                name: one[part] for name, one, part in zip("xy", places, box, strict=True)
            }
        else:
            inside = {
                name: (("x", "y"), one[box])
                for name, one in zip(("x_place", "y_place"), places, strict=True)
            }
        dims = ("x", "y") if self.layers is None else ("x", "y", "layer")
        return labelled(self.storage[box], dims, inside, self.label)

    # -- halos -----------------------------------------------------------------------------------

    def exchange(self, depth: int = 1) -> None:
        """Copy the owners' values to the halo, up to `depth` points away, including corners.

        Collective: all ranks must call it.

        Raises:
            ValueError: the halo is narrower than `depth`.
            RuntimeError: an exchange of the field is not finished.
        """
        update_halos((self,), depth)

    def start_exchange(self, depth: int = 1) -> None:
        """Start a halo exchange; until it is finished, the field must not be written.

        The halo must not be used either. Collective: all ranks must call it.

        Raises:
            ValueError: the halo is narrower than `depth`.
            RuntimeError: an exchange of the field is not finished.
        """
        self.check_idle()
        packed = self.grid.messages.take([self], depth)
        packed.start([self])
        self.under_way = depth, packed, self.storage.buffer.version

    def finish_exchange(self) -> None:
        """Finish the exchange that was started.

        Collective: all ranks must call it.

        Raises:
            RuntimeError: no exchange was started, or the field was written since then.
        """
        if self.under_way is None:
            raise RuntimeError(f"{self.describe()} has no exchange under way.")
        depth, packed, version = self.under_way
        self.under_way = None
        writes = self.storage.buffer.version - version
        packed.finish([self])
        self.grid.messages.put(packed)
        if self.grid.reflections(self.points, depth):
            with self.storage.access(side_of([self]), RDWR) as array:
                self.reflect(array, depth)
        if writes:
            raise RuntimeError(
                f"{self.describe()} was written while an exchange of it was under way: what was "
                f"sent is not what it holds. Finish the exchange first."
            )
        self.set_clean(depth)

    @property
    def clean_halo_depth(self) -> int:
        """Number of levels of the halo that are equal to the owners' values."""
        if self.waiting is not None:
            self.waiting.complete()
        return self._clean

    def is_dirty(self, depth: int = 1) -> bool:
        """Return whether the halo, up to `depth` points away, may differ from owners' values."""
        return depth > self.clean_halo_depth

    def is_moved(self, depth: int) -> bool:
        """Return whether the halo is dirty and an exchange would change a value of this rank."""
        if not self.is_dirty(depth):
            return False
        return not self.grid.plan(depth).is_empty or bool(self.grid.reflections(self.points, depth))

    def reflect(self, array: Array, depth: int) -> None:
        """Set the points of `array` on and beyond closed boundaries, up to a halo depth."""
        for one in self.grid.reflections(self.points, depth):
            one.apply(array)

    def set_dirty(self) -> None:
        """Record that the field was written, so that its halo is stale."""
        if self.waiting is not None:
            self.waiting.complete()
        self._clean = 0

    def set_clean(self, depth: int) -> None:
        """Record that the halo is equal to the owners' values, up to `depth` points away."""
        if self.waiting is not None:
            self.waiting.complete()
        self._clean = max(self._clean, depth)

    def check_idle(self) -> None:
        """Raise `RuntimeError` if an exchange is in progress."""
        if self.waiting is not None:
            self.waiting.complete()
        if self.under_way is not None:
            raise RuntimeError(f"An exchange of {self.describe()} has not been finished.")

    def in_place(self, others: Sequence[Field], depth: int) -> InPlace:
        """Return the in-place exchange of this field and others in host memory."""
        key = depth, *map(id, others)
        made = self._in_place.get(key)
        if made is None:
            made = InPlace(self.grid.ranks, self.grid.plan(depth))
            made.watched = kept_with(others, key, self._in_place)
            self._in_place[key] = made
        return made

    def describe(self) -> str:
        """Return the name of the field in error messages."""
        return f"the field '{self.label}'" if self.label else "a field without a label"

    # -- over all ranks --------------------------------------------------------------------------

    def sum(self, *, reproducible: bool = False) -> float:
        """Return the sum over all internal points of the domain.

        A `reproducible` sum is the exact sum, rounded once, and does not depend on the number of
        ranks. Otherwise one partial sum for each rank is added. Collective: all ranks must call it.

        Raises:
            ValueError: on all ranks, a reproducible sum contains a value that is not finite.
        """
        return self._total(self, reproducible=reproducible)

    def _total(self, *fields: Field, reproducible: bool) -> float:
        """Return the sum of a field, or of the products of two, over all ranks."""
        parts = self.grid.ranks.gathered(reduced_on_rank("sum", *fields, exact=reproducible))
        # A rank that raised earlier would leave the others waiting.
        if reproducible and any(isinstance(one, float) for one in parts):
            rank = next(at for at, one in enumerate(parts) if isinstance(one, float))
            names = " and ".join([one.describe() for one in dict.fromkeys(fields)])
            what = f"{names} has a value that"
            if len(fields) > 1:
                is_square = fields[0] is fields[1]
                what = (
                    f"{'the square of a value' if is_square else 'a product of values'} of {names}"
                )
            raise ValueError(
                f"{what} is infinite or not a number, on rank {rank}: there is no exact sum."
            )
        return combined("sum", parts)

    def mean(self, *, reproducible: bool = False) -> float:
        """Return the mean over all internal points of the domain; see `sum`.

        Collective: all ranks must call it.

        Raises:
            ValueError: on all ranks, if a reproducible mean has a value that is not finite.
        """
        count = sum(self.grid.ranks.gathered(self.values.size))
        return self.sum(reproducible=reproducible) / count

    def dot(self, other: Field, *, reproducible: bool = False) -> float:
        """Return the sum of the products with another field over all internal points.

        Each product is rounded. A `reproducible` sum does not depend on the number of ranks.

        Collective: all ranks must call it.

        Raises:
            TypeError: `other` is not a field.
            ValueError: it has another grid or other points; or, on all ranks, a product in a
                reproducible sum is not finite.
        """
        if not isinstance(other, Field):
            raise TypeError(
                f"{self.describe()} has a dot product with a field, not with {other!r}."
            )
        return self._total(self, other, reproducible=reproducible)

    def norm(self, *, reproducible: bool = False) -> float:
        """Return the square root of the dot product with itself.

        Collective: all ranks must call it.

        Raises:
            ValueError: on all ranks, if a square in a reproducible sum is not finite.
        """
        return math.sqrt(self.dot(self, reproducible=reproducible))

    def min(self) -> float:
        """Return the minimum over all internal points of the domain; NaN if any value is NaN.

        It is infinite if there are no internal points. Collective: all ranks must call it.
        """
        return reduced_over_ranks("min", self, reduced_on_rank("min", self))

    def max(self) -> float:
        """Return the maximum over all internal points of the domain; NaN if any value is NaN.

        It is minus infinity if there are no internal points. Collective: all ranks must call it.
        """
        return reduced_over_ranks("max", self, reduced_on_rank("max", self))

    def gather(self, root: int = 0) -> Array | None:
        """Return the values of the whole domain on the rank `root`, and None on other ranks.

        They are the values of all ranks' owned points, including boundary points. Collective: all
        ranks must call it.
        """
        own = self.grid.subdomain.internal.box
        found = self.grid.ranks.sent_to(root, np.array(self.storage.data_ro[own]))
        if found is None:
            return None
        values = np.empty((*self.grid.points, *self._layered), self.storage.dtype, order="F")
        for subdomain, part in zip(self.grid.decomposition.subdomains, found, strict=True):
            values[subdomain.domain.box] = part
        return values

    # -- making ----------------------------------------------------------------------------------

    @property
    def _layered(self) -> tuple[int, ...]:
        """The extents of the values after those in x and y."""
        return () if self.layers is None else (self.layers,)

    def _evaluated(self, function: Callable[..., Any], x: Array, y: Array) -> Any:
        """Return the values of a function of the coordinates x and y, and of the layers if any."""
        if self.layers is None:
            return function(x, y)
        return function(x[..., None], y[..., None], np.arange(self.layers))

    def _fill(self, given: Any) -> None:
        own = self.grid.subdomain
        if callable(given):
            x, y = self.grid.columns_and_rows(self.points)
            columns, rows = own.internal.box
            if x.shape[1] == 1:
                values = self._evaluated(given, x[columns], y[:, rows])
            else:
                values = self._evaluated(given, x[columns, rows], y[columns, rows])
            values = np.broadcast_to(values, (*own.domain.shape, *self._layered))
        else:
            values = np.asarray(_with_x_first(given))
            if values.ndim:
                values = self._checked(values)[own.domain.box]
        check_numbers(self.describe, values, self.storage.dtype)
        with self.storage.access(None, RDWR) as array:
            array[own.internal.box if values.ndim else ...] = values
            self.reflect(array, self.grid.halo)

    def _checked(self, values: Array) -> Array:
        if values.shape != (*self.grid.points, *self._layered):
            and_layers = "" if self.layers is None else f" and {self.layers} layers"
            raise ValueError(
                f"Values of shape {values.shape} are not over the {self.grid.points} points"
                f"{and_layers} of the domain of {self.describe()}."
            )
        return values

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle: the grid, and the values of this rank with the halo."""
        self.check_idle()
        return {
            "grid": self.grid,
            "points": self.points,
            "label": self.label,
            "values": np.array(self.storage.data_ro, order="F"),
            "clean": self._clean,
            "layers": self.layers,
            "domain": self.grid.subdomain.domain,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a field on the same part of the grid from a pickle.

        Raises:
            ValueError: the grid is distributed differently in this program.
        """
        grid, values = state["grid"], state["values"]
        own, held = grid.subdomain.domain, state["domain"]
        if own != held:
            raise ValueError(
                f"A pickled field holds the points from {held.start} up to {held.stop}, and this "
                f"rank has those from {own.start} up to {own.stop}: read it on the rank that wrote "
                f"it, of as many."
            )
        self.__init__(  # type: ignore[misc]
            grid, state["points"], state["label"], dtype=values.dtype, layers=state.get("layers")
        )
        self._storage = storage(values, label=self.label, **grid.keywords_for(self.layers))
        self._clean = state["clean"]


def _with_x_first(given: Any) -> Any:
    """Return `given`, with the dimensions x and y first if it is an xarray array.

    Other dimensions, such as that of the layers, follow.
    """
    dims = getattr(given, "dims", ())
    found = [[one for one in dims if str(one)[:1] == axis] for axis in "xy"]
    if [len(one) for one in found] != [1, 1]:
        return given
    first = (found[0][0], found[1][0])
    return given.transpose(*first, *(one for one in dims if one not in first))


def exchange(fields: Sequence[Field], depth: int = 1, *, only_dirty: bool = False) -> None:
    """Exchange the halos of several fields; fields of one grid share messages.

    With `only_dirty`, fields with a halo that is clean to `depth` are omitted. All ranks must omit
    the same fields, which holds if they write the same fields. Collective: all ranks must call it.

    Raises:
        ValueError: a halo is narrower than `depth`.
        RuntimeError: an exchange of a field is not finished.
    """
    wanted = [field for field in fields if not only_dirty or field.is_dirty(depth)]
    if wanted:
        update_halos(wanted, depth)


def _is_everything(index: Any) -> bool:
    """Return whether an index selects all points by its form."""
    items = index if isinstance(index, tuple) else (index,)
    return all(one is Ellipsis or (isinstance(one, slice) and one == slice(None)) for one in items)
