"""The constructors of views: each converts its arguments to a handle, without element access.

The type of the first argument selects the constructor: a label or properties allocate memory, a
pointer or an array is wrapped, a `ScratchSpace` provides scratch memory, a view is assigned. With a
view and further arguments, the result is a subview.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.errors import ViewExtentError, ViewTypeError
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, host_space
from psyclone_storage.storage.kokkos.subview import cut
from psyclone_storage.storage.kokkos.unmanaged_view import (
    checked_room,
    deduced,
    face_of,
    is_face,
    lent,
    recorded_at,
    wrapped,
)
from psyclone_storage.storage.kokkos.view_assign import assigned, check_types
from psyclone_storage.storage.kokkos.view_handle import Handle, Pointer, Record, Viewed, record_of
from psyclone_storage.storage.kokkos.view_layout import (
    ViewLayout,
    checked_extents,
    is_contiguous,
    is_layout_class,
)
from psyclone_storage.storage.kokkos.view_spaces import ExecutionSpace, ScratchSpace, space_name
from psyclone_storage.storage.kokkos.view_type import ViewType


class _WithoutInitializing:
    """The property that leaves new memory uninitialised."""

    def __repr__(self) -> str:
        return "WithoutInitializing"


WithoutInitializing = _WithoutInitializing()  # pylint: disable=invalid-name


@dataclass(frozen=True, slots=True)
class AllocProperties:
    """Allocation properties or the pointer of a view; create with `view_alloc` or `view_wrap`."""

    label: str = ""
    initialise: bool = True
    space: MemorySpace | None = None
    execution: ExecutionSpace | None = None
    pointer: Any = None


@dataclass(frozen=True, slots=True)
class MovedView:
    """A view whose memory is moved to the next view constructed from it (VIEW-47)."""

    view: Viewed


def move(view: Viewed) -> MovedView:
    """Return an argument that moves the memory of `view` to the view constructed from it.

    `view` has no memory afterwards.
    """
    return MovedView(view)


def view_alloc(*properties: Any) -> AllocProperties:
    """Return allocation properties (VIEW-59), given in any order, each at most once.

    They are a label, `WithoutInitializing`, a memory space, and an execution space, which then
    initialises the memory without a fence. Raises `ViewTypeError` for anything else.
    """
    found: dict[str, Any] = {}
    for given in properties:
        name, value = _property(given)
        if name in found:
            raise ViewTypeError(f"view_alloc() was given more than one {name}: {given!r}.")
        found[name] = value
    return AllocProperties(**found)


def view_wrap(pointer: Any) -> AllocProperties:
    """Return the properties for a view of existing memory at `pointer`."""
    return AllocProperties(pointer=pointer)


def build_handle(view_type: ViewType, arguments: tuple[Any, ...]) -> Handle:
    """Return the handle that the constructor of `view_type` makes from `arguments`.

    Raises `ViewTypeError` if the types do not allow it, `ViewExtentError` if the extents do not.
    """
    if not arguments:
        return Handle.null(view_type)
    first, rest = arguments[0], arguments[1:]
    match first:
        case MovedView():
            return _taken_over(view_type, first.view)
        case Viewed() if not rest:
            return assigned(view_type, first.type, first.handle)
        case Viewed():
            return assigned(view_type, *cut(first.type, first.handle, rest))
        case str():
            return _allocated(view_type, AllocProperties(first), rest)
        case AllocProperties(pointer=None):
            return _allocated(view_type, first, rest)
        case AllocProperties():
            return build_handle(view_type, (first.pointer, *rest))
        case ScratchSpace():
            return _lent(view_type, first, rest)
    return _around(view_type, first, rest)


def deduced_type(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments of the view type that `View(...)` without brackets implies.

    For a view, that is its own type or, with further arguments, the type of the subview; for an
    array, the type that matches it.
    """
    match arguments:
        case (MovedView(view=source),) | (Viewed() as source,):
            found = source.type
        case (Viewed() as source, *choices):
            found, _ = cut(source.type, source.handle, tuple(choices))
        case (str() | AllocProperties() | int() | ScratchSpace(), *_) | ():
            raise ViewTypeError(
                'A new view needs a type: write View["double*"](...), with the data type in '
                "brackets."
            )
        case (face,) if is_face(face):
            return deduced(*face_of(face, host_space()))
        case (array,):
            return deduced(*wrapped(array))
        case _:
            raise ViewTypeError(
                'Memory with extents needs a type: write View["double**"](array, 3, 4).'
            )
    return (
        found.data_type, found.array_layout, found.device_type, found.memory_traits,
    )  # fmt: skip


def allocated(view_type: ViewType, layout: ViewLayout, properties: AllocProperties) -> Handle:
    """Return a handle on new memory for `layout`, zero unless the properties disable that.

    If the properties contain an execution space, the memory is zeroed there asynchronously
    (VIEW-52); the first use of the view waits for this. Raises `ViewTypeError` for an unmanaged
    type, or if the properties specify another memory space.
    """
    space = view_type.memory_space
    buffer = new_buffer(view_type, layout, properties)
    record = record_of(buffer, space)
    if properties.initialise and properties.execution is not None:
        properties.execution.submit(buffer.make_valid, space)
    elif properties.initialise:
        buffer.make_valid(space)
    return Handle.counted(record, layout)


def new_buffer(
    view_type: ViewType, layout: ViewLayout, properties: AllocProperties
) -> CoherentBuffer:
    """Return a buffer for `layout` without allocating memory; raise the errors of `allocated`."""
    space = view_type.memory_space
    if not view_type.is_managed:
        raise ViewTypeError(
            f"{view_type} is unmanaged: it cannot allocate, so give it a pointer or a view."
        )
    if properties.space is not None and properties.space is not space:
        raise ViewTypeError(f"{view_type} cannot allocate at {space_name(properties.space)}.")
    zero = np.zeros((), view_type.dtype)[()] if properties.initialise else None
    hints = Hints(pinned=space.kind is SpaceKind.PINNED, managed=space.kind is SpaceKind.MANAGED)
    options = BufferOptions(label=properties.label, init=zero, hints=hints)
    return CoherentBuffer(layout.span(), view_type.dtype, options)


def layout_for(view_type: ViewType, arguments: tuple[Any, ...], label: str = "") -> ViewLayout:
    """Return the layout from the arguments of a constructor: extents or a layout object (VIEW-48).

    Either the run-time extents or all extents can be given; the latter must agree with those in the
    type. Raises `ViewTypeError` for a wrong number of extents or a layout of another class, and
    `ViewExtentError` for an extent that differs from the one in the type. `label` appears in the
    messages.
    """
    given = arguments[0] if len(arguments) == 1 else None
    if is_layout_class(type(given)):
        return _laid_out(view_type, given, label)
    if not view_type.array_layout.is_regular:
        raise ViewTypeError(
            f"{view_type} has a layout that extents do not determine: pass a layout object."
        )
    return view_type.regular_layout(_all_extents(view_type, checked_extents(arguments), label))


def _laid_out(view_type: ViewType, layout: Any, label: str) -> ViewLayout:
    if not isinstance(layout, view_type.array_layout):
        raise ViewTypeError(
            f"{view_type} takes a {view_type.array_layout.__name__}, not {layout!r}."
        )
    extents = _all_extents(view_type, tuple(layout.extents), label)
    found: ViewLayout = layout
    return found if extents == tuple(layout.extents) else view_type.regular_layout(extents)


def _all_extents(view_type: ViewType, extents: tuple[int, ...], label: str) -> tuple[int, ...]:
    data = view_type.data_type
    subject = f'"{label}" of type {view_type}' if label else str(view_type)
    if len(extents) not in (data.rank_dynamic, data.rank):
        raise ViewTypeError(
            f"{subject} takes {data.rank_dynamic} extents, not {len(extents)}: {extents}."
        )
    complete = data.completed(extents)
    if len(extents) == data.rank and extents != complete:
        raise ViewExtentError(f"{subject} has extents {complete}, and cannot have {extents}.")
    return complete


def _taken_over(view_type: ViewType, source: Viewed) -> Handle:
    handle = assigned(view_type, source.type, source.handle)
    source.handle = Handle.null(source.type)
    return handle


def _allocated(
    view_type: ViewType, properties: AllocProperties, arguments: tuple[Any, ...]
) -> Handle:
    return allocated(view_type, layout_for(view_type, arguments, properties.label), properties)


def _lent(view_type: ViewType, scratch: ScratchSpace, arguments: tuple[Any, ...]) -> Handle:
    _check_space(view_type, scratch.space)
    layout = layout_for(view_type, arguments)
    nbytes = layout.span() * view_type.dtype.itemsize
    return Handle(lent(scratch, nbytes, view_type.dtype), None, layout)


def _around(view_type: ViewType, memory: Any, arguments: tuple[Any, ...]) -> Handle:
    """Return a handle on existing memory: a pointer, an address, an array or a facade."""
    if isinstance(memory, Pointer) and memory.record is not None:
        return _beyond(view_type, memory.record, memory.offset, arguments)
    if memory is None or isinstance(memory, (int, np.integer)):
        return _at(view_type, int(memory or 0), layout_for(view_type, arguments))
    if is_face(memory):
        source_type, handle = face_of(memory, view_type.memory_space)
    else:
        source_type, handle = wrapped(memory)
    if not arguments:
        return assigned(view_type, source_type, handle)
    return _relaid(view_type, source_type, handle, arguments)


def _beyond(view_type: ViewType, record: Record, offset: int, arguments: tuple[Any, ...]) -> Handle:
    _check_space(view_type, record.space)
    if record.buffer.dtype != view_type.dtype:
        raise ViewTypeError(f"{view_type} cannot use memory of {record.buffer.dtype}.")
    layout = layout_for(view_type, arguments)
    return checked_room(view_type, Handle(record, None, layout, offset))


def _at(view_type: ViewType, address: int, layout: ViewLayout) -> Handle:
    if not address:
        return Handle(None, None, layout)
    nbytes = layout.span() * view_type.dtype.itemsize
    record = recorded_at(view_type.memory_space, address, nbytes, view_type.dtype, address)
    return Handle(record, None, layout)


def _relaid(
    view_type: ViewType, source_type: ViewType, handle: Handle, arguments: tuple[Any, ...]
) -> Handle:
    """Return a handle on contiguous memory with new extents."""
    flat = replace(
        source_type,
        data_type=source_type.data_type.with_rank(view_type.rank),
        array_layout=view_type.array_layout,
    )
    check_types(view_type, flat)
    if not is_contiguous(handle.layout):
        raise ViewExtentError(
            f"{view_type} cannot lay out memory with gaps anew: the array given has extents "
            f"{handle.layout.extents} and strides {handle.layout.strides}."
        )
    laid_out = handle.with_layout(layout_for(view_type, arguments))
    return checked_room(view_type, laid_out).counted_for(view_type)


def _check_space(view_type: ViewType, space: MemorySpace) -> None:
    if not view_type.memory_space.assignable_from(space):
        raise ViewTypeError(f"{view_type} cannot use memory at {space_name(space)}.")


def _property(given: Any) -> tuple[str, Any]:
    match given:
        case str():
            return "label", given
        case _WithoutInitializing():
            return "initialise", False
        case MemorySpace():
            return "space", given
        case ExecutionSpace():
            return "execution", given
    raise ViewTypeError(
        f"view_alloc() cannot use {given!r}: it takes a label, WithoutInitializing, a memory space "
        f"and an execution space."
    )
