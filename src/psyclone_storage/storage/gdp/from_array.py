"""Creation of storages from existing data: over the same memory or with a copy."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.faces import found_buffer, spec_of, strides_of_spec
from psyclone_storage.storage.core.layout import byte_extent, has_layout, is_packed, layout_of
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind, host_space
from psyclone_storage.storage.gdp.allocation_plan import cut_memory
from psyclone_storage.storage.gdp.base_storage import Storage
from psyclone_storage.storage.gdp.labels import is_dim
from psyclone_storage.storage.gdp.parameters import Parameters, Source, checked_shape, resolve
from psyclone_storage.storage.gdp.shared_buffer import Backing, address_of, on_host
from psyclone_storage.storage.gdp.storage_classes import (
    NOWHERE,
    CPUStorage,
    CUDAManagedGPUStorage,
    GPUStorage,
    SoftwareManagedGPUStorage,
    backed_by,
    ghost,
    kind_of,
)
from psyclone_storage.storage.gdp.sync_state import Sync, SyncState
from psyclone_storage.storage.interop import dlpack
from psyclone_storage.storage.interop.gt import (
    call,
    describe,
    device_array,
    host_array,
    space_of,
)
from psyclone_storage.storage.memory.registry import host_memory, memory_of

Array = np.ndarray[Any, Any]


class SourceData(NamedTuple):
    """The data from which a storage is made: host and device arrays, a storage, or a buffer.

    With a `buffer` (that of another facade), `spec` describes the elements that the facade covers.
    """

    source: Source
    host: Array | None = None
    device: Any = None
    storage: Storage | None = None
    buffer: CoherentBuffer | None = None
    spec: WindowSpec | None = None


def material_of(data: Any, device_data: Any) -> SourceData | None:
    """Return the description of `data` and `device_data`, None if both are None.

    Raises `TypeError` if `device_data` is not on a device, `ValueError` if shapes or strides
    differ.
    """
    if device_data is None:
        return None if data is None else _material(data)
    there = _device_part(device_data)
    host = None if data is None else _material(data)
    if host is None:
        return SourceData(_source_of(there, "gpu", device_data), device=there)
    if host.host is None and host.storage is None:
        raise TypeError("With device_data, the data must be in main memory.")
    here = host.storage.to_numpy() if host.storage is not None else host.host
    assert here is not None
    if here.shape != there.shape or here.strides != tuple(there.strides):
        raise ValueError(
            f"The two buffers must have the same shape and strides, but have {here.shape} with "
            f"{here.strides} and {there.shape} with {tuple(there.strides)}."
        )
    return SourceData(host.source._replace(device="gpu"), here, there)


def in_shape(material: SourceData, shape: Any) -> SourceData:
    """Return `material` in the shape `shape`, if that is not None (GDP-59).

    Only a buffer, whose elements are contiguous, can be viewed in another shape with as many
    elements. Raises `ValueError` for any other shape.
    """
    source = material.source
    if shape is None or checked_shape(shape) == source.shape:
        return material
    wanted, spec = checked_shape(shape), material.spec
    packed = None if spec is None else strides_of_spec(spec._replace(strides=None))
    in_order = spec is not None and spec.strides in (None, packed)
    if spec is None or not in_order or prod(wanted) != prod(source.shape):
        raise ValueError(f"The data have the shape {source.shape}, not {wanted}.")
    seen = spec._replace(shape=wanted, strides=None)
    layout = layout_of(strides_of_spec(seen))
    return material._replace(source=source._replace(shape=wanted, layout=layout), spec=seen)


def check_type(material: SourceData, dtype: Any) -> None:
    """Raise `ValueError` if `dtype` is not None and differs from that of the data (GDP-59)."""
    source = material.source
    if dtype is not None and np.dtype(dtype) != source.dtype:
        raise ValueError(
            f"The data are of type {source.dtype}, not {np.dtype(dtype)}: only a copy can change "
            f"that."
        )


def copied(
    material: SourceData, dtype: Any, sync_state: SyncState | None, keywords: Mapping[str, Any]
) -> Storage:
    """Return a new storage with a copy of the values of `material` (GDP-56)."""
    source = material.source
    wanted = source.dtype if dtype is None else np.dtype(dtype)
    parameters = resolve(keywords, source.shape, wanted, source)
    made = kind_of(parameters.device, parameters.managed).allocate(parameters)
    if material.storage is not None:
        made[...] = material.storage
        return made
    if material.buffer is not None and material.spec is not None:
        with material.buffer.acquire() as access:
            made[...] = access.window(*material.spec[:-1])
        return made
    state = None if sync_state is None else sync_state.state
    twofold = material.host is not None and material.device is not None
    current = [
        values
        for values, stale in (
            (material.host, Sync.DEVICE_DIRTY),
            (material.device, Sync.HOST_DIRTY),
        )
        if values is not None and not (twofold and state is stale)
    ]
    for values in current:
        made[...] = values
    if len(current) == 2:
        made.set_synchronized()
    return made


def wrap(
    material: SourceData, sync_state: SyncState | None, keywords: Mapping[str, Any]
) -> Storage:
    """Return a storage over the memory of `material` (GDP-52).

    Raises `ValueError` for a keyword that would require a copy.
    """
    source = material.source._replace(fixed=True)
    parameters = resolve(keywords, source.shape, source.dtype, source)
    kind = kind_of(parameters.device, parameters.managed)
    known = sync_state is not None and sync_state.buffer is not None
    if parameters.cuts and (kind is CPUStorage or material.buffer or material.storage or known):
        raise ValueError(
            "Memory in main memory alone, and what has a buffer already, cannot be cut in chunks: "
            "copy, with storage()."
        )
    if material.storage is not None:
        return _rewrapped(material.storage, kind, parameters)
    if material.buffer is not None and material.spec is not None:
        return _face_of(material.buffer, material.spec, kind, parameters)
    pattern = material.host if material.host is not None else material.device
    _check_layout(tuple(pattern.strides), parameters)
    _check_alignment(pattern, parameters, keywords)
    if sync_state is not None and known:
        return _known(material, sync_state, kind, parameters)
    if kind is CPUStorage and material.host is not None:
        backing = on_host(True, parameters.labels.label) if parameters.strict_exports else None
        return CPUStorage(material.host, parameters.labels, backing)
    return _adopted(material, sync_state, kind, parameters)


def _material(thing: Any) -> SourceData:
    if isinstance(thing, Storage):
        return SourceData(_source_of_storage(thing), storage=thing)
    buffer = found_buffer(thing)
    if buffer is not None:
        spec = spec_of(thing)
        space = getattr(thing, "memory_space", None)
        bound = isinstance(space, MemorySpace) and space.kind is SpaceKind.DEVICE
        layout = layout_of(strides_of_spec(spec))
        return SourceData(
            Source(
                spec.shape, spec.dtype, layout, device="gpu" if bound else None, label=buffer.label
            ),
            buffer=buffer,
            spec=spec,
        )
    found = describe(thing)
    for info in found.values():
        call(info, "acquire")
    if found:
        host = host_array(found[None], thing) if None in found else None
        device = device_array(found["gpu"], thing) if "gpu" in found else None
    else:
        offered = dlpack.imported(thing)
        host, device = np.asarray(thing) if offered is None else offered, None
    pattern = host if host is not None else device
    return SourceData(_source_of(pattern, "gpu" if "gpu" in found else None, thing), host, device)


def _device_part(thing: Any) -> Any:
    if isinstance(thing, Storage):
        return thing.to_cupy()
    found = describe(thing)
    if "gpu" not in found:
        raise TypeError(
            f"device_data must be on a device, but this {type(thing).__name__} is not: pass it as "
            f"data."
        )
    call(found["gpu"], "acquire")
    return device_array(found["gpu"], thing)


def _source_of_storage(thing: Storage) -> Source:
    parameters = thing.parameters()
    labels = thing.labels
    return Source(
        thing.shape,
        thing.dtype,
        parameters.layout,
        labels.halo,
        labels.dims,
        labels.aligned_index,
        labels.alignment_size,
        parameters.device,
        parameters.managed,
        labels.label,
    )


def _source_of(array: Any, device: Any, thing: Any) -> Source:
    """Return the parameters that follow from `array` and from the data interface of `thing`."""
    interface = getattr(thing, "__gt_data_interface__", None) or {}
    info: Mapping[str, Any] = next(iter(interface.values()), {})
    dims = info.get("dims")
    if dims is not None and not all(is_dim(str(name)) for name in dims):
        dims = None
    return Source(
        tuple(array.shape),
        np.dtype(array.dtype),
        layout_of(array.strides),
        info.get("halo"),
        None if dims is None else tuple(str(name) for name in dims),
        device=device,
    )


def _rewrapped(thing: Storage, kind: type[Storage], parameters: Parameters) -> Storage:
    """Return a storage of class `kind` on the data of the storage `thing`."""
    if not has_layout(thing.shape, thing.strides, parameters.layout):
        raise ValueError(
            f"{thing.describe()} is not in the layout {parameters.layout}: leave the layout to it, "
            f"or copy."
        )
    if thing.__class__ is kind:
        return thing.seen_as(kind, thing.backing(), parameters.labels)
    buffer = thing.buffer
    _check_kind(buffer, kind, thing.describe())
    backing = backed_by(buffer, kind, thing.backing().origin, parameters)
    return thing.seen_as(kind, backing, parameters.labels)


def _face_of(
    buffer: CoherentBuffer, spec: WindowSpec, kind: type[Storage], parameters: Parameters
) -> Storage:
    """Return a storage over the elements of `buffer` that `spec` describes."""
    _check_kind(buffer, kind, repr(buffer))
    strides = strides_of_spec(spec)
    _check_layout(strides, parameters)
    backing = backed_by(buffer, kind, NOWHERE, parameters)
    backing.points = buffer.size
    return kind(ghost(parameters, strides, spec.offset), parameters.labels, backing)


def _check_layout(strides: tuple[int, ...], parameters: Parameters) -> None:
    if not has_layout(parameters.shape, strides, parameters.layout):
        raise ValueError(
            f"The buffer with strides {strides} is not in the layout {parameters.layout} that the "
            f"parameters ask for: leave it to the buffer, or copy."
        )


def _check_kind(buffer: CoherentBuffer, kind: type[Storage], subject: str) -> None:
    if (kind is CUDAManagedGPUStorage) is not buffer.hints.managed:
        raise ValueError(
            f"{subject} cannot be seen as a {kind.__name__}: unified memory is chosen when memory "
            f"is allocated, so that only a copy can change it."
        )


def _check_alignment(pattern: Any, parameters: Parameters, keywords: Mapping[str, Any]) -> None:
    if keywords.get("alignment_size") is None or 0 in parameters.shape:
        return
    point = parameters.labels.aligned_point
    steps = zip(point, pattern.strides, strict=True)
    address = _start_of(pattern) + sum(i * stride for i, stride in steps)
    if address % parameters.labels.alignment_size:
        raise ValueError(
            f"The address of the point {point} is not a multiple of "
            f"{parameters.labels.alignment_size}: only a copy can change that."
        )


def _start_of(array: Any) -> int:
    return address_of(array) if isinstance(array, np.ndarray) else int(array.data.ptr)


def _known(
    material: SourceData, state: SyncState, kind: type[Storage], parameters: Parameters
) -> Storage:
    """Return a storage on the buffer to which `state` belongs (GDP-55)."""
    buffer = state.buffer
    assert buffer is not None
    on_device = None if material.device is None else space_of(material.device)
    offsets = {
        _start_of(array) - _start_in(buffer, space)
        for array, space in ((material.host, host_space()), (material.device, on_device))
        if array is not None
    }
    offset = offsets.pop()
    if offsets or not 0 <= offset <= buffer.nbytes - material.source.dtype.itemsize:
        raise ValueError(
            f'The sync_state is that of "{buffer.label}", but the arrays are not its buffers: '
            f"take to_numpy(), to_cupy() and sync_state from one storage."
        )
    pattern = material.host if material.host is not None else material.device
    backing = backed_by(buffer, kind, NOWHERE, parameters, on_device)
    backing.share(state)
    array = ghost(parameters, tuple(pattern.strides), offset)
    return kind(array, parameters.labels, backing)


def _start_in(buffer: CoherentBuffer, space: Any) -> int:
    """Return the address of the allocation that serves `space`; 0 without an allocation."""
    replica = None if space is None else buffer.replicas.find(space)
    return 0 if replica is None or replica.allocation is None else replica.allocation.pointer


def _adopted(
    material: SourceData, state: SyncState | None, kind: type[Storage], parameters: Parameters
) -> Storage:
    """Return a storage on a new buffer that adopts the memory of `material`."""
    _check_sides(material, kind)
    pattern = material.host if material.host is not None else material.device
    strides = tuple(pattern.strides)
    if not is_packed(parameters.shape, strides, parameters.dtype.itemsize):
        raise ValueError(
            f"A buffer of shape {parameters.shape} with strides {strides} has gaps, which "
            f"transfers between host and device would overwrite: wrap the whole array and take a "
            f"view of the storage, or copy."
        )
    size = int(np.prod(parameters.shape))
    start = -byte_extent(parameters.shape, strides, parameters.dtype.itemsize)[0]
    chunks = cut_memory(parameters, strides, start, size)
    options = BufferOptions(parameters.labels.label, chunks=chunks)
    buffer = CoherentBuffer(size, parameters.dtype, options)
    offset = 0
    for array, memory in _parts(material, kind):
        allocation, offset = memory.adopt(array)
        buffer.adopt(allocation)
    backing = backed_by(buffer, kind, NOWHERE, parameters, _device_of(material))
    backing.points = size
    if kind is SoftwareManagedGPUStorage:
        _set_state(backing, state)
    if material.host is not None:
        if material.device is None and not material.host.flags.writeable:
            # Values written on the device could never be copied back.
            buffer.freeze()
        backing.written_back()
    return kind(ghost(parameters, strides, offset), parameters.labels, backing)


def _device_of(material: SourceData) -> MemorySpace | None:
    return None if material.device is None else space_of(material.device)


def _parts(material: SourceData, kind: type[Storage]) -> list[tuple[Any, Any]]:
    parts: list[tuple[Any, Any]] = []
    if material.host is not None and kind is not GPUStorage:
        parts.append((material.host, host_memory()))
    if material.device is not None:
        parts.append((material.device, memory_of(space_of(material.device))))
    return parts


def _check_sides(material: SourceData, kind: type[Storage]) -> None:
    if kind is CUDAManagedGPUStorage:
        raise ValueError(
            'managed="cuda" needs memory that was allocated as unified: copy, with storage().'
        )
    if kind is GPUStorage and material.device is None:
        raise ValueError(
            'The buffer is in main memory, but device="gpu" with managed=None has no buffer there: '
            "copy, with storage()."
        )
    if kind is CPUStorage:
        raise ValueError(
            "The buffer is on the device, but a storage without a device has no buffer there: "
            "copy, with storage()."
        )


def _set_state(backing: Backing, state: SyncState | None) -> None:
    if state is None:
        return
    value = state.state
    both = backing.buffer is not None and len(backing.buffer.incarnations()) == 2
    backing.share(state)
    if both:
        state.state = value
