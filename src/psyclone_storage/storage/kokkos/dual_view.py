"""`DualView`, a pair of views on one buffer, one on the host and one on a device.

In Kokkos, a dual view has flags for modified sides; here these flags are queries to the buffer. The
buffer tracks each access through either view, so it needs no calls of `modify` and `sync`. These
methods exist for programs that already contain such calls, and for kernels whose writes the buffer
cannot track.
"""

from __future__ import annotations

from typing import Any

from psyclone_storage.base.records import dataclass
from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.errors import AccessConflictError, MemoryException, ViewTypeError
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.kokkos.subview import cut
from psyclone_storage.storage.kokkos.view import View, ViewClass
from psyclone_storage.storage.kokkos.view_copy import Part, copy_shared
from psyclone_storage.storage.kokkos.view_create import (
    AllocProperties,
    build_handle,
    layout_for,
    new_buffer,
)
from psyclone_storage.storage.kokkos.view_handle import Handle, record_of
from psyclone_storage.storage.kokkos.view_layout import ViewLayout
from psyclone_storage.storage.kokkos.view_spaces import Cuda, Device, ExecutionSpace, Serial
from psyclone_storage.storage.kokkos.view_type import ViewType
from psyclone_storage.storage.memory.registry import resolved_device


@dataclass(frozen=True, slots=True)
class DualViewType:
    """The type of a dual view; `t_dev` and `t_host` are those of its two views."""

    t_dev: ViewClass

    @property
    def t_host(self) -> ViewClass:
        """Return the type of the view on the host."""
        return self.t_dev.at_space(self.t_dev.host_mirror_space)

    def __call__(self, *arguments: Any) -> DualView:
        """Create a dual view.

        The arguments are one of: a label or `view_alloc(...)`, then extents or a layout; a view, a
        storage or a buffer, which then has two sides; nothing, for a dual view without memory.
        """
        return DualView(self, _shown(self.t_dev, arguments))

    def __repr__(self) -> str:
        return f"Dual{self.t_dev!r}"


@dataclass(frozen=True, slots=True)
class DualViewParts:
    """The buffer, the layout and the offset that both views of a dual view share."""

    buffer: CoherentBuffer
    layout: ViewLayout
    offset: int = 0


class _TypedDualView(type):
    """The metaclass that makes `DualView[...]` a type, with the arguments of `View[...]`.

    Without a space argument, the device side is on the default device, or on the host if there is
    no device.
    """

    def __getitem__(cls, arguments: Any) -> DualViewType:
        default = Serial if resolved_device() is None else Cuda
        return DualViewType(ViewClass.of(arguments, default))


class DualView(metaclass=_TypedDualView):
    """Two views with the same elements; `DualView["double*"]` is a type.

    Each side is allocated on the first request for its view.
    """

    __slots__ = ("type", "_shown", "_views")

    def __init__(self, dual_type: DualViewType, shown: DualViewParts | None) -> None:
        """Create a dual view of the elements `shown`; users call the type instead."""
        self.type = dual_type
        self._views: dict[MemorySpace, View] = {}
        self._shown = shown

    # -- views -----------------------------------------------------------------------------------

    @property
    def d_view(self) -> View:
        """Return the view on the device."""
        return self._view_of(self.type.t_dev)

    @property
    def h_view(self) -> View:
        """Return the view on the host."""
        return self._view_of(self.type.t_host)

    def view_device(self) -> View:
        """Return the view on the device."""
        return self.d_view

    def view_host(self) -> View:
        """Return the view on the host."""
        return self.h_view

    def view(self, place: Any) -> View:
        """Return the view in a memory space, or that of an execution space or a `Device`."""
        return self._view_of(self._side(place))

    def part(self, *choices: Any) -> DualView:
        """Return the dual view of a part, as `subview` does for views; it shares the state."""
        t_dev, handle = cut(self.type.t_dev, self.d_view.handle, choices)
        shown = DualViewParts(self._memory.buffer, handle.layout, handle.offset)
        return DualView(DualViewType(t_dev), shown)

    # -- coherence -------------------------------------------------------------------------------

    def modify(self, place: Any) -> None:
        """Record that the side at `place` was written.

        Raises `AccessConflictError` if the other side has newer values, because one of the two
        modifications would be lost.
        """
        space = self._side(place).memory_space
        if self.need_sync(space):
            raise AccessConflictError(
                f'Both sides of the dual view "{self.label()}" ({self.type.t_dev.data_type}, '
                f"{self.extents}) were modified: sync {space.tag} before it is written."
            )
        buffer = self._memory.buffer
        buffer.acquire(space, AccessMode.READ_WRITE).release()

    def modify_host(self) -> None:
        """Record that the host side was written."""
        self.modify(self.type.t_host.memory_space)

    def modify_device(self) -> None:
        """Record that the device side was written."""
        self.modify(self.type.t_dev.memory_space)

    def sync(self, place: Any) -> None:
        """Update the side at `place` if the other side has newer values; wait for the copy."""
        space = self._side(place).memory_space
        if self.need_sync(space):
            self._memory.buffer.make_valid(space)

    def sync_host(self) -> None:
        """Update the host side if the device has newer values."""
        self.sync(self.type.t_host.memory_space)

    def sync_device(self) -> None:
        """Update the device side if the host has newer values."""
        self.sync(self.type.t_dev.memory_space)

    def need_sync(self, place: Any) -> bool:
        """Return whether the other side has newer values than the one at `place`.

        Before the first write, no side is newer than the other.
        """
        shown = self._shown
        if shown is None or shown.buffer.version == 0:
            return False
        buffer = shown.buffer
        space = self._side(place).memory_space
        return buffer.is_initialised() and not buffer.is_valid(space)

    def need_sync_host(self) -> bool:
        """Return whether the device has newer values."""
        return self.need_sync(self.type.t_host.memory_space)

    def need_sync_device(self) -> bool:
        """Return whether the host has newer values."""
        return self.need_sync(self.type.t_dev.memory_space)

    def clear_sync_state(self) -> None:
        """Mark both sides as current; no data are copied."""
        sides = (self.type.t_dev.memory_space, self.type.t_host.memory_space)
        self._memory.buffer.assume_valid(sides)

    # -- extents ---------------------------------------------------------------------------------

    @property
    def buffer(self) -> CoherentBuffer:
        """Return the coherent buffer that both views share with all other facades."""
        return self._memory.buffer

    @property
    def window_spec(self) -> WindowSpec:
        """Return dtype, shape, strides and offset of the viewed elements in the buffer."""
        return self.h_view.window_spec

    @property
    def extents(self) -> tuple[int, ...]:
        """Return all extents."""
        return self.layout().extents

    @property
    def rank(self) -> int:
        """Return the number of dimensions."""
        return self.type.t_dev.rank

    def layout(self) -> ViewLayout:
        """Return the layout, which is the same on both sides."""
        shown = self._shown
        return shown.layout if shown is not None else Handle.null(self.type.t_dev).layout

    def extent(self, dimension: int) -> int:
        """Return an extent; raise `ViewIndexError` for a dimension beyond the rank."""
        return self.h_view.extent(dimension)

    extent_int = extent

    def size(self) -> int:
        """Return the number of elements."""
        return self.h_view.size()

    def span(self) -> int:
        """Return the number of elements from the lowest to the highest address."""
        return self.h_view.span()

    def span_is_contiguous(self) -> bool:
        """Return whether each element of the span belongs to the view."""
        return self.h_view.span_is_contiguous()

    def label(self) -> str:
        """Return the label."""
        return self._shown.buffer.label if self._shown is not None else ""

    def is_allocated(self) -> bool:
        """Return whether the view has memory."""
        return self._shown is not None

    def resize(self, *arguments: Any) -> None:
        """Change extents or layout; preserve the newest values at indices that still exist."""
        layout = layout_for(self.type.t_dev, arguments, self.label())
        if self._shown is None or layout != self.layout():
            self._exchange(layout, keep=self._shown is not None)

    def realloc(self, *arguments: Any) -> None:
        """Change extents or layout; the values are lost."""
        self._exchange(layout_for(self.type.t_dev, arguments, self.label()), keep=False)

    def __copy__(self) -> DualView:
        """Return another dual view of the same memory, like copies of views."""
        return DualView(self.type, self._shown)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle or deep-copy the dual view by value."""
        return DualView, (self.type, self._shown)

    def __repr__(self) -> str:
        return f'<{self.type} "{self.label()}" {self.extents}>'

    # -- private ---------------------------------------------------------------------------------

    @property
    def _memory(self) -> DualViewParts:
        if self._shown is None:
            raise MemoryException(f"{self.type} has no memory: give it a label and extents.")
        return self._shown

    def _view_of(self, view_type: ViewClass) -> View:
        shown, space = self._shown, view_type.memory_space
        if shown is None:
            return View.around(view_type, Handle.null(view_type))
        found = self._views.get(space)
        if found is None:
            handle = Handle.counted(record_of(shown.buffer, space), shown.layout, shown.offset)
            found = self._views[space] = View.around(view_type, handle)
        return found

    def _side(self, place: Any) -> ViewClass:
        space = place.memory_space if isinstance(place, (ExecutionSpace, Device)) else place
        for side in (self.type.t_dev, self.type.t_host):
            if side.memory_space is space:
                return side
        raise ViewTypeError(f"{self.type} has no side at {place!r}.")

    def _exchange(self, layout: ViewLayout, *, keep: bool) -> None:
        newer = self.type.t_host if self.need_sync_device() else self.type.t_dev
        old = self._view_of(newer) if keep else None
        buffer = new_buffer(self.type.t_dev, layout, AllocProperties(self.label()))
        self._shown = DualViewParts(buffer, layout)
        self._views = {}
        if old is not None:
            copy_shared(Part.of(self._view_of(newer)), Part.of(old))


def _shown(view_type: ViewType, arguments: tuple[Any, ...]) -> DualViewParts | None:
    match arguments:
        case ():
            return None
        case (str() | AllocProperties(pointer=None) as given, *rest):
            properties = AllocProperties(given) if isinstance(given, str) else given
            layout = layout_for(view_type, tuple(rest), properties.label)
            return DualViewParts(new_buffer(view_type, layout, properties), layout)
    return _joined(view_type, arguments)


def _joined(view_type: ViewType, arguments: tuple[Any, ...]) -> DualViewParts | None:
    """Return the parts of a dual view that shares the buffer of a view, a storage or a buffer."""
    source = arguments[0]
    at_home = (
        view_type.at_space(source.type.memory_space) if isinstance(source, View) else view_type
    )
    handle = build_handle(at_home, arguments)
    if handle.record is None:
        return None
    return DualViewParts(handle.record.buffer, handle.layout, handle.offset)
