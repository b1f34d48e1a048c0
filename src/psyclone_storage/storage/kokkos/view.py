"""`View`, the multi-dimensional array of Kokkos on a buffer, without mirrors and copies.

`View["double**", LayoutLeft]("A", 3, 4)` allocates memory; views made from it share that memory. A
view is a handle, as in Kokkos: it can be assigned other memory, but its type is fixed. Elements are
read with `v(i, j)` at any rank, or `v[i]` at rank 1, and written with `v[i, j] = x`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager
from functools import partial
from math import prod
from operator import index as to_index
from typing import Any, Protocol, Self, SupportsIndex, TypeVar

import numpy as np

from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.casting import as_stored
from psyclone_storage.storage.core.errors import (
    HostUseError,
    MemoryException,
    ViewExtentError,
    ViewIndexError,
    ViewRankError,
    ViewTypeError,
)
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.interop.dlpack import ExportRequest, device_of, export
from psyclone_storage.storage.kokkos.subview import cut
from psyclone_storage.storage.kokkos.vectorized_functor import THREAD, Together
from psyclone_storage.storage.kokkos.view_assign import assigned, extent_reasons, type_reasons
from psyclone_storage.storage.kokkos.view_atomic import AtomicElement, Cell
from psyclone_storage.storage.kokkos.view_copy import Part, copy_values, host_values
from psyclone_storage.storage.kokkos.view_create import (
    AllocProperties,
    allocated,
    build_handle,
    deduced_type,
)
from psyclone_storage.storage.kokkos.view_export import (
    Exported,
    array_interface,
    as_numpy,
    cuda_array_interface,
    gt_data_interface,
)
from psyclone_storage.storage.kokkos.view_handle import Handle, Pointer, Record, Viewed
from psyclone_storage.storage.kokkos.view_layout import ViewLayout, is_contiguous
from psyclone_storage.storage.kokkos.view_spaces import MemoryTraits
from psyclone_storage.storage.kokkos.view_type import ViewType

_ATOMIC = int(MemoryTraits.Atomic)


class ViewClass(ViewType):
    """A view type; call it to create views, or use it in `isinstance`."""

    __slots__ = ()

    def __call__(self, *arguments: Any) -> View:
        """Create a view (VIEW-45 to VIEW-58).

        The arguments are one of:

        - nothing: a view without memory
        - a label or `view_alloc(...)`, then extents or a layout: new memory, initialised with zeros
        - an array, an address or another view's `data()`, then extents or a layout: that memory
        - an array, a storage or a buffer alone: its memory, with its extents
        - `ScratchSpace(...)`, then extents or a layout: scratch memory
        - a view: the same memory, by the rules of assignment; with further arguments, a subview

        Raises `ViewTypeError` if the types do not allow the view, `ViewExtentError` if the extents
        do not.
        """
        return View.around(self, build_handle(self, arguments))

    def __instancecheck__(self, instance: object) -> bool:
        """Return whether `instance` is a view of exactly this type."""
        return isinstance(instance, View) and instance.type == self


class _OfType:
    """A descriptor that reads an attribute of the view's type."""

    __slots__ = ("_name",)
    _name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, view: View | None, owner: type | None = None) -> Any:
        return self if view is None else getattr(view.type, self._name)


def _stride_of(dimension: int) -> Callable[[View], int]:
    def stride(self: View) -> int:
        return self.stride(dimension)  # type: ignore[return-value]

    stride.__doc__ = f"Return the stride of dimension {dimension} in elements (VIEW-67)."
    return stride


class _TypedView(type):
    """The metaclass that makes `View[...]` a type.

    It replaces `__class_getitem__`, which type checkers do not support.
    """

    def __getitem__(cls, arguments: Any) -> ViewClass:
        return ViewClass.of(arguments)


class View(Viewed, metaclass=_TypedView):
    """The elements of a buffer as an array of fixed rank, layout and memory space.

    `View[...]` is a type; calling it creates a view. `View(other)` has the type of `other`, and
    `View(array)` the type that matches the array.
    """

    __slots__ = ("_lent",)
    type: ViewClass

    rank = _OfType()
    rank_dynamic = _OfType()
    reference_type_is_lvalue_reference = _OfType()
    is_hostspace = _OfType()
    data_type = _OfType()
    const_data_type = _OfType()
    non_const_data_type = _OfType()
    scalar_array_type = _OfType()
    const_scalar_array_type = _OfType()
    non_const_scalar_array_type = _OfType()
    value_type = _OfType()
    const_value_type = _OfType()
    non_const_value_type = _OfType()
    execution_space = _OfType()
    memory_space = _OfType()
    device_type = _OfType()
    memory_traits = _OfType()
    host_mirror_space = _OfType()
    uniform_type = _OfType()
    uniform_const_type = _OfType()
    uniform_runtime_type = _OfType()
    uniform_runtime_const_type = _OfType()
    uniform_nomemspace_type = _OfType()
    uniform_const_nomemspace_type = _OfType()
    uniform_runtime_nomemspace_type = _OfType()
    uniform_runtime_const_nomemspace_type = _OfType()
    const_type = _OfType()
    non_const_type = _OfType()
    host_mirror_type = _OfType()
    HostMirror = _OfType()
    reference_type = _OfType()
    pointer_type = _OfType()
    array_layout = _OfType()
    size_type = _OfType()
    dimension = _OfType()
    specialize = _OfType()
    required_allocation_size = _OfType()
    dtype = _OfType()

    def __init__(self, *arguments: Any) -> None:
        """Create a view of the type of a view or an array; further arguments select a subview."""
        self.type = ViewClass.of(deduced_type(arguments))
        self.handle = build_handle(self.type, arguments)
        self._lent: set[Record] = set()

    @classmethod
    def around(cls, view_type: ViewClass, handle: Handle) -> Self:
        """Return a view of type `view_type` with the memory of `handle`."""
        self = cls.__new__(cls)
        self.type = view_type
        self.handle = handle
        self._lent = set()
        return self

    # -- elements --------------------------------------------------------------------------------

    def __call__(self, *indices: SupportsIndex) -> Any:
        """Return the element at the given indices, one for each dimension (VIEW-61).

        Raises `ViewRankError` for another number of indices, `ViewIndexError` for one out of range,
        `HostUseError` if the elements are on a device.
        """
        return self._load(self._position(indices))

    def access(self, *indices: SupportsIndex) -> Any:
        """Return the element at up to 8 indices; missing ones are 0 (VIEW-62).

        Raises `ViewIndexError` for a nonzero index beyond the rank.
        """
        rank = self.type.data_type.rank
        if len(indices) > 8 or any(index != 0 for index in indices[rank:]):
            raise ViewIndexError(
                f"{self._subject()} was given {indices}: beyond its rank it "
                f"takes indices of 0 only, up to 8 in all."
            )
        return self(*indices[:rank], *(0,) * (rank - len(indices)))

    def __getitem__(self, key: Any) -> Any:
        """Return the element `v[i]` of a view of rank 1 (VIEW-60), or `v[i, j]` for rank 2, etc."""
        return self._load(self._position(self._indices(key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to the element `v[i]`, `v[i, j]` …; at rank 0, `v[()]`.

        Raises the same errors as reading, and `ViewTypeError` if the elements are const.
        """
        position = self._position(self._indices(key))
        if isinstance(value, AtomicElement):
            if value.cell.is_at(self, position):
                return
            value = value.value()
        if self._atomic:
            Cell(self, position).replace(value)
        else:
            self.store(position, value)

    def __iter__(self) -> Iterator[Any]:
        if self.type.data_type.rank != 1:
            raise ViewRankError(f"{self._subject()} has rank {self.rank}: only rank 1 iterates.")
        return (self(index) for index in range(self.extent(0)))

    @contextmanager
    def opened(self, *, write: bool | None = None) -> Iterator[Any]:
        """Yield the elements as an array in the memory space of the view.

        That is a NumPy array on the host and on an emulated device, a CuPy array on a GPU. By
        default, `write` is true unless the elements are const. If a block that writes raises an
        exception, the data are marked as failed.
        """
        writes = not self.type.value_type.const if write is None else write
        if writes:
            self._check_writable()
        record = self.handle.memory
        mode = AccessMode.READ_WRITE if writes else AccessMode.READ
        with record.buffer.acquire(record.space, mode) as access:
            spec = self.handle.spec(self.type.dtype, writes)
            yield access.kernel_view(
                access.window(spec.dtype, spec.shape, spec.strides, spec.offset)
            )

    def part(self, *choices: Any) -> Self:
        """Return a subview; `subview(view, *choices)` documents the choices."""
        view_type, handle = cut(self.type, self.handle, choices)
        return type(self).around(view_type, handle.counted_for(view_type))

    # -- layout ----------------------------------------------------------------------------------

    def layout(self) -> ViewLayout:
        """Return the layout, which can be used to create a view of equal extents (VIEW-63)."""
        return self.handle.layout

    def extent(self, dimension: int) -> int:
        """Return an extent (VIEW-64); raise `ViewIndexError` for a dimension beyond the rank."""
        return self.extents[self._dimension(dimension)]

    extent_int = extent

    @property
    def extents(self) -> tuple[int, ...]:
        """Return all extents."""
        return self.handle.layout.extents

    def stride(self, dimension: int | MutableSequence[int]) -> int | None:
        """Return a stride in elements (VIEW-66), or write all strides into a sequence (VIEW-68).

        The sequence has one item more than the rank; that item receives the span.
        """
        strides = self._strides()
        if isinstance(dimension, (int, np.integer)):
            return strides[self._dimension(int(dimension))]
        if len(dimension) != len(strides) + 1:
            raise ViewExtentError(
                f"{self._subject()} writes {len(strides) + 1} numbers, but the sequence has "
                f"{len(dimension)}."
            )
        for position, number in enumerate((*strides, self.span())):
            dimension[position] = number
        return None

    stride_0 = _stride_of(0)
    stride_1 = _stride_of(1)
    stride_2 = _stride_of(2)
    stride_3 = _stride_of(3)
    stride_4 = _stride_of(4)
    stride_5 = _stride_of(5)
    stride_6 = _stride_of(6)
    stride_7 = _stride_of(7)

    def span(self) -> int:
        """Return the number of elements from the lowest to the highest address (VIEW-69)."""
        return self.handle.layout.span() if self.handle.record is not None else 0

    def size(self) -> int:
        """Return the number of elements (VIEW-70); 0 without memory."""
        return prod(self.extents) if self.handle.record is not None else 0

    def span_is_contiguous(self) -> bool:
        """Return whether each element of the span belongs to the view (VIEW-72)."""
        return self.span() == 0 or is_contiguous(self.handle.layout)

    def data(self) -> Pointer:
        """Return the address of the first element (VIEW-71); 0 without memory."""
        return Pointer(self.handle.record, self.handle.offset)

    # -- memory ----------------------------------------------------------------------------------

    @property
    def buffer(self) -> CoherentBuffer:
        """Return the coherent buffer that this view shares with all other facades."""
        return self.handle.memory.buffer

    @property
    def window_spec(self) -> WindowSpec:
        """Return dtype, shape, strides and offset of the viewed elements in the buffer.

        Raises `ViewTypeError` for a layout without strides.
        """
        self._strides()
        return self.handle.spec(self.type.dtype, not self.type.value_type.const)

    def use_count(self) -> int:
        """Return the number of managed views of the memory; 0 for an unmanaged view (VIEW-75)."""
        return len(self.handle.memory.users) if self.handle.use is not None else 0

    def label(self) -> str:
        """Return the label of the memory (VIEW-76)."""
        return self.handle.label

    def is_allocated(self) -> bool:
        """Return whether the view has memory, its own or that of another owner (VIEW-79)."""
        return self.handle.record is not None

    def is_assignable(self, source: Any) -> bool:
        """Return whether `source` can be assigned to this view (VIEW-77)."""
        return is_assignable(self, source)

    def assign(self, source: View) -> None:
        """Refer to the memory of `source`, by the rules of assignment; in Kokkos, `dst = src`."""
        self.handle = assigned(self.type, source.type, source.handle)

    def assign_data(self, pointer: Any) -> None:
        """Refer to the memory at `pointer`, an address or an array; the extents stay (VIEW-78).

        The view releases its old memory, and does not count as a user of the new one.
        """
        self.handle = build_handle(self.type, (pointer, self.handle.layout))._replace(use=None)

    # -- identity --------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Return whether both views have the same elements, space and layout (VIEW-80).

        The constness of the elements does not matter.
        """
        return isinstance(other, View) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Hash the attributes that `==` compares; reassigning the view changes its hash."""
        return hash(self._identity())

    def __copy__(self) -> Self:
        return type(self).around(self.type, self.handle.counted_for(self.type))

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a view of new memory in the same space with the same values."""
        managed = self.type.at_space(self.type.memory_space)
        handle = allocated(
            managed, self.handle.layout, AllocProperties(self.label(), initialise=False)
        )
        if self.size():
            copy_values(Part(managed.non_const_type, handle), Part.of(self))
        return type(self).around(managed, handle)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle type, layout, label and values; values on a device are copied to the host."""
        values = host_values(Part.of(self)) if self.size() else None
        managed = self.type.at_space(self.type.memory_space)
        return _restored, (managed, self.handle.layout, self.label(), values)

    def __repr__(self) -> str:
        return f'<{self.type} "{self.label()}" {self.extents}>'

    # -- protocols -------------------------------------------------------------------------------

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """Describe the elements for NumPy; only on the host."""
        found: dict[str, Any] = self._lending(array_interface)
        return found

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Describe the elements for CuPy and others; only on a device."""
        found: dict[str, Any] = self._lending(cuda_array_interface)
        return found

    @property
    def __gt_data_interface__(self) -> dict[str | None, dict[str, Any]]:
        """Describe the elements for stencil calls (GDP-3)."""
        found: dict[str | None, dict[str, Any]] = self._lending(gt_data_interface)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return the elements as a NumPy array; raise `HostUseError` on a device."""
        found: np.ndarray[Any, Any] = self._lending(partial(as_numpy, dtype=dtype, copy=copy))
        return found

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the location of the elements as (DLPack device type, device id)."""
        return device_of(Exported(Part.of(self)))

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule of the elements; raise `BufferError` for an emulated device."""
        request = ExportRequest(stream, max_version, dl_device, copy)
        return self._lending(lambda part: export(Exported(part), request))

    def __buffer__(self, flags: int) -> memoryview:
        """Return a `memoryview` of the elements (Python 3.12 and later)."""
        return np.asarray(self).data

    # -- private ---------------------------------------------------------------------------------

    def store(self, position: Any, value: Any) -> None:
        """Set the element at `position` in the memory; used by element references."""
        self._check_writable()
        record, running = self._reached(), THREAD.running
        if running is not None:
            running.store(record, position, value)
            return
        stored = as_stored(value, record.elements.dtype)
        with record.buffer.acquire(record.space, AccessMode.READ_WRITE):
            record.elements[position] = stored

    def fetch(self, position: Any) -> Any:
        """Return the element at `position` in the memory; used by element references."""
        record, running = self._reached(), THREAD.running
        if running is not None:
            return running.load(record, position)
        token = record.buffer.acquire(record.space)
        try:
            value = record.elements[position]
        finally:
            token.release()
        return value.copy() if isinstance(value, np.void) else value

    @property
    def _atomic(self) -> bool:
        # Integers, because combining `IntFlag` members takes longer than reading an element.
        return int(self.type.memory_traits) & _ATOMIC != 0

    def _load(self, position: Any) -> Any:
        if self._atomic:
            self._reached()
            return AtomicElement(Cell(self, position))
        return self.fetch(position)

    def _indices(self, key: Any) -> tuple[Any, ...]:
        return key if isinstance(key, tuple) else (key,)

    def _position(self, indices: tuple[Any, ...]) -> Any:
        """Return the position of an element in the memory, after checking the indices.

        In a functor that runs for many indices, the result contains one position for each.
        """
        layout = self.handle.layout
        extents = layout.extents
        if len(indices) != len(extents):
            raise ViewRankError(
                f"{self._subject()} takes {len(extents)} indices, not {len(indices)}: {indices}."
            )
        try:
            checked = tuple(map(to_index, indices))
        except TypeError:
            running = THREAD.running
            if running is not None and any(isinstance(index, Together) for index in indices):
                return running.position(layout, self.handle.offset, indices)
            raise ViewTypeError(
                f"{self._subject()} takes integers as indices, unlike {indices}: subview() selects "
                f"a part, deep_copy() assigns to all of it."
            ) from None
        for index, extent in zip(checked, extents, strict=True):
            if not 0 <= index < extent:
                raise ViewIndexError(f"{self._subject()} has no element {checked}.")
        return self.handle.offset + layout.offset(checked)

    def _reached(self) -> Record:
        """Return the memory record; raise `HostUseError` if the calling code cannot access it."""
        record = self.handle.record
        if record is None:
            raise MemoryException(f"{self._subject()} has no memory: give it a label and extents.")
        running = THREAD.running
        if running is not None:
            running.check(record.space, self._subject)
        elif not (self.type.memory_space.host_accessible and record.space.host_accessible):
            raise HostUseError(
                f"{self._subject()} is at {record.space.tag}: host code cannot use its elements. "
                f"Copy it with create_mirror_view_and_copy(), or compute with opened()."
            )
        return record

    def _check_writable(self) -> None:
        if self.type.value_type.const:
            raise ViewTypeError(f"{self._subject()} is const: it cannot be written.")

    def _dimension(self, dimension: int) -> int:
        if 0 <= dimension < self.type.data_type.rank:
            return dimension
        raise ViewIndexError(f"{self._subject()} has no dimension {dimension}.")

    def _strides(self) -> tuple[int, ...]:
        strides = self.handle.layout.strides
        if strides is None:
            raise ViewTypeError(f"{self._subject()} has a layout without strides.")
        return strides

    def _identity(self) -> tuple[Any, ...]:
        kind = self.type
        places = (kind.const_value_type, kind.array_layout, kind.memory_space)
        return *places, int(self.data()), self.extents

    def _lending(self, made: Callable[[Part], Any]) -> Any:
        """Return the interface that `made` computes, and keep the memory alive with this view.

        A consumer of a protocol holds a reference to the exporting object, so this is sufficient,
        even if the view is later assigned other memory.
        """
        part = Part.of(self)
        found = made(part)
        self._lent.add(part.record)
        return found

    def _subject(self) -> str:
        extents = " x ".join(map(str, self.extents)) or "no extents"
        return f'View "{self.label()}" ({self.type.data_type}, {extents})'


def is_assignable(target: ViewType | View, source: ViewType | View) -> bool:
    """Return whether a view of type `target` can be made from `source` (VIEW-77).

    Between two types, only the type rules are checked; if `source` is a view, the extent rules are
    checked, too.
    """
    target_type = target.type if isinstance(target, View) else target
    if isinstance(source, View):
        if type_reasons(target_type, source.type):
            return False
        return source.handle.record is None or not extent_reasons(target_type, source.layout())
    return not type_reasons(target_type, source)


class Divisible(Protocol):
    """An object with a `part` method: a view, a dual view or an offset view."""

    def part(self, *choices: Any) -> Self:
        """Return the subview that `choices` select."""


D = TypeVar("D", bound=Divisible)


def subview(view: D, *choices: Any) -> D:
    """Return the subview that `choices` select, one for each dimension (VIEW-58).

    A choice is an index, which removes the dimension, or `ALL`, a pair (begin, end), a slice or a
    range, which keep it. The subview shares the memory.
    """
    return view.part(*choices)


def _restored(view_type: ViewClass, layout: ViewLayout, label: str, values: Any) -> View:
    """Recreate a view from the data that `__reduce__` returned."""
    if values is None and not prod(layout.extents):
        return View.around(view_type, Handle.null(view_type))
    handle = allocated(view_type, layout, AllocProperties(label, initialise=False))
    copy_values(Part(view_type.non_const_type, handle), Part.of(values))
    return View.around(view_type, handle)
