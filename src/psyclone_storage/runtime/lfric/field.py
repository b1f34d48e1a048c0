"""Fields on function spaces, with halos that can be updated from the owners' values.

A field records the depth to which its halo is clean. An exchange sets this depth. As for LFRic's
fields, code that writes to a field must call `set_dirty` or `set_clean`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from psyclone_storage.runtime.binding import array_of, side_of
from psyclone_storage.runtime.lfric.cells import MeshCells
from psyclone_storage.runtime.lfric.exchange import JointMessages
from psyclone_storage.runtime.lfric.kinds import dtype_of
from psyclone_storage.runtime.lfric.library import Array, agreed
from psyclone_storage.runtime.lfric.reductions import exact_sum
from psyclone_storage.runtime.lfric.routing import Routing
from psyclone_storage.runtime.lfric.space import FunctionSpace, checked_space
from psyclone_storage.storage import RDWR, Storage, storage, zeros
from psyclone_storage.storage.interop.xarray import labelled


class DofField:
    """Field: values at the dofs of a function space, including the rank's halo.

    - `storage`: the values in dof order.
    - `halo_depth`: the depth to which the halo can be exchanged.

    Without `values`, all values are zero. `values` may be a number, a function of the dofs'
    coordinate arrays x, y and z, or an array over the dofs of all ranks, as returned by `gather`.
    They also apply to copies of other ranks' dofs. With a function, the call is collective.

    Raises:
        ValueError: the halo of the mesh is narrower than `halo_depth`, or `values` are not over the
            dofs.
        TypeError: `space` is not a function space, or `dtype` is neither an LFRic kind nor a
            supported NumPy type.
    """

    def __init__(
        self,
        space: FunctionSpace,
        label: str = "",
        *,
        values: Any = None,
        dtype: Any = None,
        halo_depth: int = 1,
    ) -> None:
        checked_space(space, "A field is on").mesh.checked_depth(halo_depth)
        self.space, self.label, self.halo_depth = space, label, halo_depth
        self._storage: Storage = zeros(
            (space.undf,), dtype_of(dtype), label=label, device=space.mesh.device
        )
        self._clean = 0
        self.under_way: StartedExchange | None = None
        if values is not None:
            self._fill(values)

    def __repr__(self) -> str:
        """Return the text shown in a notebook."""
        name = f" '{self.label}'" if self.label else ""
        return f"<Field{name} on {self.space.describe()}>"

    @property
    def mesh(self) -> MeshCells:
        """Mesh of the function space."""
        return self.space.mesh

    @property
    def storage(self) -> Storage:
        """Values of all dofs on this rank; always the same object."""
        return self._storage

    @property
    def dtype(self) -> np.dtype[Any]:
        """Data type of the values."""
        return self._storage.dtype

    @property
    def values(self) -> Array:
        """Read-only values of the dofs that this rank owns."""
        found: Array = self._storage.data_ro[: self.space.last_dof_owned]
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the values of the owned dofs as a NumPy array.

        Without `dtype` and `copy`, it is a read-only view of the host's values.

        Raises:
            ValueError: `copy` is False, and `dtype` requires a copy.
        """
        found: Array = array_of(self.values, dtype, copy)
        return found

    def to_xarray(self) -> Any:
        """Return the owned dofs as a `DataArray` with coordinates, without copying values."""
        owned = slice(0, self.space.last_dof_owned)
        places = self.space.coordinates()
        coords: dict[str, Any] = {axis: ("dof", places[at, owned]) for at, axis in enumerate("xyz")}
        coords["global_dof"] = ("dof", self.space.global_dof_ids[owned])
        return labelled(self._storage[owned], ("dof",), coords, self.label)

    # -- halos -----------------------------------------------------------------------------------

    def exchange(self, depth: int = 1) -> None:
        """Copy the owners' values to annexed dofs and to the halo, up to a depth.

        Collective: all ranks must call it.

        Raises:
            ValueError: the halo of the field is narrower than `depth`.
            RuntimeError: an exchange of the field has not been finished.
        """
        start_exchange([self], depth).finish()

    def start_exchange(self, depth: int = 1) -> None:
        """Start a halo exchange; until it is finished, the field must not be written.

        The halo must not be used either.

        Collective: all ranks must call it.

        Raises:
            ValueError: the halo of the field is narrower than `depth`.
            RuntimeError: an exchange of the field has not been finished.
        """
        start_exchange([self], depth)

    def finish_exchange(self) -> None:
        """Finish the exchange that was started, for all of its fields.

        Collective: all ranks must call it.

        Raises:
            RuntimeError: no exchange was started, or a field was written since then.
        """
        if self.under_way is None:
            raise RuntimeError(f"{self._subject()} has no exchange under way.")
        self.under_way.finish()

    @property
    def clean_halo_depth(self) -> int:
        """Number of levels of the halo that are equal to the owners' values."""
        return self._clean

    def is_dirty(self, depth: int = 1) -> bool:
        """Return whether the halo at a depth may differ from the owners' values.

        Raises:
            ValueError: the field has no halo of this depth.
        """
        return self.checked_depth(depth) > self._clean

    def set_dirty(self) -> None:
        """Record that the field was written, so that its halo is stale."""
        self._clean = 0

    def set_clean(self, depth: int) -> None:
        """Record that the halo is equal to the owners' values, up to a depth, which may be 0.

        Raises:
            ValueError: the field has no halo of this depth.
        """
        if depth:
            self._clean = max(self._clean, self.checked_depth(depth))

    def checked_depth(self, depth: int) -> int:
        """Return a valid halo depth; raise `ValueError` for an invalid one."""
        if not 1 <= depth <= self.halo_depth:
            raise ValueError(
                f"The halo of {self.describe()} is {self.halo_depth} deep, not {depth}: make the "
                f"field with halo_depth={depth}, on a mesh that has so deep a halo."
            )
        return depth

    def reach(self, depth: int, least: int) -> int:
        """Return the halo depth that a routine requires; check that it is valid.

        Raises:
            ValueError: the field has no halo of this depth, or the depth is smaller than `least`.
        """
        if least <= depth < 1:
            return depth
        if depth < 1:
            raise ValueError(
                f"The halo of {self.describe()} is needed to the depth {depth}: a depth, or the "
                f"extent of a stencil, is at least 1. Call a kernel that takes no neighbours, or "
                f"computes owned cells alone, where none of the halo is meant."
            )
        return self.checked_depth(depth)

    def check_idle(self) -> None:
        """Raise `RuntimeError` if an exchange is in progress."""
        if self.under_way is not None:
            raise RuntimeError(f"An exchange of {self.describe()} has not been finished.")

    def hold_for(self, started: StartedExchange | None) -> None:
        """Record a started exchange of the field, or None after its end."""
        self.under_way = started

    def describe(self) -> str:
        """Return the name of the field in error messages."""
        return f"the field '{self.label}'" if self.label else "a field without a label"

    def _subject(self) -> str:
        words = self.describe()
        return f"{words[:1].upper()}{words[1:]}"

    # -- over all ranks --------------------------------------------------------------------------

    def sum(self, *, reproducible: bool = False) -> float:
        """Return the sum over the dofs of all ranks.

        A `reproducible` sum is the exact sum, rounded once. It does not depend on the number of
        ranks, and is bitwise equal to the exact sums of the Fortran infrastructure. Sums of
        integers are always exact.

        Collective: all ranks must call it.
        """
        if reproducible or self.dtype.kind != "f":
            answer: float = exact_sum(self.mesh.ranks, self.values).item()
            return answer
        return float(self.mesh.ranks.total(self._reduced(lambda values: values.sum(), 0)))

    def inner_product(self, other: DofField, *, reproducible: bool = False) -> float:
        """Return the sum of the products with the values of another field, in 64 bits.

        Collective: all ranks must call it.

        Raises:
            TypeError: `other` is not a field.
            ValueError: it is not on the same function space.
        """
        _check_fields("An inner product", [other])
        if other.space is not self.space:
            raise ValueError(
                f"{self._subject()} and {other.describe()} are on different spaces: "
                f"{self.space.told_apart(other.space)}."
            )
        products = self.values.astype(np.float64) * other.values
        ranks = self.mesh.ranks
        if reproducible:
            return float(exact_sum(ranks, products))
        return float(ranks.total(np.float64(products.sum())))

    def min(self) -> float:
        """Return the minimum over the dofs of all ranks; NaN if any value is NaN.

        Collective: all ranks must call it.
        """
        return self._extreme(np.min, lambda values: values.min())

    def max(self) -> float:
        """Return the maximum over the dofs of all ranks; NaN if any value is NaN.

        Collective: all ranks must call it.
        """
        return self._extreme(np.max, lambda values: values.max())

    def gather(self, root: int = 0) -> Array | None:
        """Return the values of all dofs of all ranks on the rank `root`, and None on others.

        They are in the order of global dof numbers. Collective: all ranks must call it.
        """
        owned = self.space.global_dof_ids[: self.space.last_dof_owned]
        found = self.mesh.ranks.sent_to(root, (np.array(owned), np.array(self.values)))
        if found is None:
            return None
        values = np.empty(self.space.ndof_global, self.dtype)
        for places, part in found:
            values[places] = part
        return values

    def _reduced(self, function: Callable[[Any], Any], empty: float) -> Any:
        """Return `function` applied to the owned dofs, on the device if they are current there.

        A rank without dofs has the result `empty`.
        """
        owned = self.space.last_dof_owned
        if not owned:
            return self.dtype.type(empty)
        with self._storage.access(side_of([self])) as array:
            return self.dtype.type(function(array[:owned]).item())

    def _extreme(self, of_ranks: Callable[[Any], Any], function: Callable[[Any], Any]) -> float:
        owned = self.space.last_dof_owned
        own = self._reduced(function, 0) if owned else None
        found = [one for one in self.mesh.ranks.gathered(own) if one is not None]
        answer: float = of_ranks(found).item()
        return answer

    # -- making ----------------------------------------------------------------------------------

    def _fill(self, values: Any) -> None:
        """Set the values of all dofs, including annexed and halo dofs."""
        if not callable(values):
            self._set_dofs(self._found(values), self.space.undf)
            return
        owned = self.space.last_dof_owned
        self._set_dofs(agreed(self.mesh.ranks, lambda: self._computed(values, owned)), owned)
        # On the seam of a periodic mesh, a copy of a dof has other coordinates than the owner's
        # dof: the owner's value is used.
        self.exchange(self.halo_depth)
        self.set_dirty()

    def _found(self, values: Any) -> Array:
        """Return a number, or this rank's values from an array over the dofs of all ranks."""
        found, space = np.asarray(values), self.space
        if not found.ndim:
            return found
        if found.shape != (space.ndof_global,):
            raise ValueError(
                f"Values of shape {found.shape} are not over the {space.ndof_global} dofs of "
                f"{space.describe()}."
            )
        answer: Array = found[space.global_dof_ids]
        return answer

    def _computed(self, function: Callable[..., Any], owned: int) -> Array:
        """Return the values of a function at the coordinates of the owned dofs."""
        found = np.asarray(function(*self.space.coordinates()[:, :owned]))
        return np.broadcast_to(found, (owned,)).astype(self.dtype)

    def _set_dofs(self, values: Array, end: int) -> None:
        with self._storage.access(None, RDWR) as array:
            array[:end] = values

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a pickle: the space, and this rank's values with the halo."""
        self.check_idle()
        return {
            "space": self.space,
            "label": self.label,
            "halo_depth": self.halo_depth,
            "values": np.array(self._storage.data_ro),
            "ids": np.array(self.space.global_dof_ids),
            "clean": self._clean,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a field on the same part of the mesh from a pickle.

        Raises:
            ValueError: the mesh is distributed differently in this program.
        """
        space, values = state["space"], state["values"]
        if not np.array_equal(state["ids"], space.global_dof_ids):
            raise ValueError(
                f"A pickled field holds {len(values)} dofs of another part of the mesh than this "
                f"rank's, of {space.undf}: read it on the rank that wrote it, of as many."
            )
        self.__init__(  # type: ignore[misc]
            space, state["label"], dtype=values.dtype, halo_depth=state["halo_depth"]
        )
        self._storage = storage(values, label=self.label, device=space.mesh.device)
        self._clean = state["clean"]


class FieldVector(Sequence[DofField]):
    """Vector of fields that are passed as one argument."""

    def __init__(self, fields: Sequence[DofField], label: str = "") -> None:
        """Create a vector of fields.

        Raises:
            TypeError: an item is not a field.
            ValueError: there are no fields.
        """
        _check_fields("A vector", fields)
        if not fields:
            raise ValueError("A vector of fields has at least one field.")
        self._fields, self.label = tuple(fields), label

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self._fields)

    def __iter__(self) -> Iterator[DofField]:
        """Return an iterator over the fields."""
        return iter(self._fields)

    def __getitem__(self, key: Any) -> Any:
        """Return a field by its index from 0, or a vector for a slice."""
        if isinstance(key, slice):
            return FieldVector(self._fields[key], self.label)
        return self._fields[key]

    def describe(self) -> str:
        """Return the name of the vector in error messages."""
        return f"the vector '{self.label}'" if self.label else "a vector without a label"


class StartedExchange:
    """Halo exchange that was started."""

    def __init__(self, fields: Sequence[DofField], depths: Sequence[int]) -> None:
        """Start the exchange; `start_exchange` checks the arguments."""
        self._depths = dict(zip(fields, depths, strict=True))
        self._versions = {field: field.storage.buffer.version for field in fields}
        self._groups: list[tuple[JointMessages, list[DofField]]] = []
        for group in _together(fields):
            routings = [field.space.routing(self._depths[field]) for field in group]
            if not any(one.sent or one.received for one in routings):
                continue
            self._start(group, routings)
        for field in fields:
            field.hold_for(self)

    def _start(self, group: list[DofField], routings: list[Routing]) -> None:
        """Send the messages of a group; after an error, wait for the messages of other groups."""
        pool = group[0].mesh.messages
        packed = pool.take(group, routings)
        try:
            packed.start(group)
        except BaseException:
            pool.put(packed)
            self._wait()
            raise
        self._groups.append((packed, group))

    def _wait(self) -> None:
        """Wait for the messages of all groups."""
        while self._groups:
            packed, group = self._groups[-1]
            packed.finish(group)
            group[0].mesh.messages.put(packed)
            self._groups.pop()

    def finish(self) -> None:
        """Wait for the end of the exchange; a second call has no effect.

        Collective: all ranks must call it.

        Raises:
            RuntimeError: a field was written since the start.
        """
        written = [
            field
            for field, version in self._versions.items()
            if field.storage.buffer.version != version
        ]
        self._wait()
        for field, depth in self._depths.items():
            field.hold_for(None)
            if field not in written:
                field.set_clean(depth)
        self._versions, self._depths = {}, {}
        if written:
            raise RuntimeError(
                f"{written[0].describe()} was written while an exchange of it was under way: what "
                f"was sent is not what it holds. Finish the exchange first."
            )


def start_exchange(fields: Sequence[DofField], depths: int | Sequence[int] = 1) -> StartedExchange:
    """Start an exchange of the halos of fields, with joint messages.

    `depths` is one depth, or a depth for each field. Collective: all ranks must call it.

    Raises:
        TypeError: an argument is not a field.
        ValueError: a halo is not that deep.
        RuntimeError: an exchange of a field is not finished.
    """
    _check_fields("An exchange", fields)
    wanted: dict[DofField, int] = {}
    each = [depths] * len(fields) if isinstance(depths, int) else depths
    for field, depth in zip(fields, each, strict=True):
        field.check_idle()
        wanted[field] = max(field.checked_depth(depth), wanted.get(field, 0))
    return StartedExchange(list(wanted), list(wanted.values()))


def exchange(
    fields: Sequence[DofField], depths: int | Sequence[int] = 1, *, only_dirty: bool = False
) -> None:
    """Exchange the halos of fields, with joint messages.

    `depths` is one depth, or a depth for each field. With `only_dirty`, fields with a halo that is
    clean to their depth are omitted. All ranks must omit the same fields, which holds if they write
    the same fields. Collective: all ranks must call it.

    Raises:
        TypeError: an argument is not a field.
        ValueError: a halo is not that deep.
        RuntimeError: an exchange of a field is not finished.
    """
    _check_fields("An exchange", fields)
    each = [depths] * len(fields) if isinstance(depths, int) else depths
    wanted = [
        (field, depth)
        for field, depth in zip(fields, each, strict=True)
        if not only_dirty or field.is_dirty(depth)
    ]
    start_exchange([field for field, _ in wanted], [depth for _, depth in wanted]).finish()


def _check_fields(what: str, fields: Sequence[Any]) -> None:
    """Raise `TypeError` if `fields` is not a sequence of fields."""
    if isinstance(fields, DofField):
        raise TypeError(f"{what} takes several fields: give it '[field]'.")
    for field in fields:
        if not isinstance(field, DofField):
            raise TypeError(f"{what} takes fields, not {field!r}.")


def _together(fields: Sequence[DofField]) -> Iterator[list[DofField]]:
    """Yield groups of fields with the same ranks and data type, which share messages.

    All ranks form the same groups. The location of values (host or device) is ignored, because
    other ranks do not know it.
    """
    groups: dict[tuple[Any, ...], list[DofField]] = {}
    for field in fields:
        groups.setdefault((id(field.mesh.ranks), field.dtype), []).append(field)
    yield from groups.values()
