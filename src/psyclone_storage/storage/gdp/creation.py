"""Functions that create storages: those of GDP-3 (GDP-40 to GDP-61) and extensions.

All of them accept the keywords of `Keywords`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import lcm
from typing import Any, Unpack

import numpy as np

from psyclone_storage.base.records import replace
from psyclone_storage.storage.core.device import on_device_change
from psyclone_storage.storage.gdp.allocation_plan import Plan, plan_memory
from psyclone_storage.storage.gdp.base_storage import Storage
from psyclone_storage.storage.gdp.defaults import on_new_defaults
from psyclone_storage.storage.gdp.from_array import check_type, copied, in_shape, material_of, wrap
from psyclone_storage.storage.gdp.parameters import Keywords, Parameters, checked_shape, resolve
from psyclone_storage.storage.gdp.storage_classes import (
    NOWHERE,
    CPUStorage,
    backed_by,
    ghost,
    kind_of,
    new_buffer,
)

Shape = int | Sequence[int]
Maker = Callable[..., Storage]


def empty(shape: Shape, dtype: Any = np.float64, **keywords: Unpack[Keywords]) -> Storage:
    """Return a storage whose values are undefined (GDP-40)."""
    try:
        plan, make = _plan(shape, dtype, **keywords) if keywords else _plan(shape, dtype)
        if plan.plain:
            return CPUStorage(np.empty(*plan.packed), plan.labels, None)
    except (TypeError, MemoryError):
        return _new(shape, dtype, keywords)
    return make(plan)


def zeros(shape: Shape, dtype: Any = np.float64, **keywords: Unpack[Keywords]) -> Storage:
    """Return a storage of zeros (GDP-42)."""
    return _new(shape, dtype, keywords, 0)


def ones(shape: Shape, dtype: Any = np.float64, **keywords: Unpack[Keywords]) -> Storage:
    """Return a storage of ones (GDP-44)."""
    return _new(shape, dtype, keywords, 1)


def full(
    shape: Shape, fill_value: Any, dtype: Any = np.float64, **keywords: Unpack[Keywords]
) -> Storage:
    """Return a storage with all elements set to `fill_value` (GDP-46)."""
    return _new(shape, dtype, keywords, fill_value)


def empty_like(data: Any, dtype: Any = None, **keywords: Unpack[Keywords]) -> Storage:
    """Return a storage with undefined values and the parameters of `data` (GDP-41).

    By default, the element type is that of `data` (GDP-48). A keyword overrides the parameter of
    the same name; the shape cannot be overridden (GDP-49).
    """
    return _made(_parameters_like(data, dtype, keywords))


def zeros_like(data: Any, dtype: Any = None, **keywords: Unpack[Keywords]) -> Storage:
    """Return a storage of zeros with the parameters of `data` (GDP-43)."""
    return _made(_parameters_like(data, dtype, keywords), 0)


def ones_like(data: Any, dtype: Any = None, **keywords: Unpack[Keywords]) -> Storage:
    """Return a storage of ones with the parameters of `data` (GDP-45)."""
    return _made(_parameters_like(data, dtype, keywords), 1)


def full_like(
    data: Any, fill_value: Any, dtype: Any = None, **keywords: Unpack[Keywords]
) -> Storage:
    """Return a storage filled with `fill_value`, with the parameters of `data` (GDP-47)."""
    return _made(_parameters_like(data, dtype, keywords), fill_value)


def as_storage(
    data: Any = None,
    device_data: Any = None,
    *,
    sync_state: Any = None,
    shape: Shape | None = None,
    **keywords: Unpack[Keywords],
) -> Storage:
    """Return a storage over existing memory, without a copy (GDP-52).

    `data` and `device_data` are arrays, storages or other objects with a data interface; either may
    be on the device. `data` may also be a buffer or another facade; the storage then shares its
    values, locks and validity. If both are given, their shapes and strides must be equal (GDP-53).
    `sync_state` specifies which of the two is current, and becomes the state of the storage. The
    `sync_state` of another storage requires the buffers of that storage (GDP-54, GDP-55). `shape`,
    if given, must equal that of the data; for a buffer, it may be any shape with as many elements,
    in C order.

    Raises `TypeError` without any data, `ValueError` if a parameter contradicts the memory.
    """
    material = material_of(data, device_data)
    if material is None:
        raise TypeError("as_storage() needs data or device_data to wrap.")
    return wrap(in_shape(material, shape), sync_state, keywords)


def storage(  # noqa: PLR0913 - the signature is that of GDP-3
    data: Any = None,
    device_data: Any = None,
    *,
    dtype: Any = None,
    copy: bool = True,
    sync_state: Any = None,
    shape: Shape | None = None,
    **keywords: Unpack[Keywords],
) -> Storage:
    """Return a storage with the values of `data`, or of `device_data` (GDP-56).

    The element type is that of the data unless `dtype` is given. With `copy=False`, the function is
    equivalent to `as_storage` (GDP-57), or to `empty` without data (GDP-58), which then requires
    `shape`. If there are two arrays, `sync_state` specifies which one is current; by default, they
    count as equal.

    Raises `TypeError` without data or without a shape, `ValueError` if `shape` or `dtype`
    contradicts the data (GDP-59).
    """
    material = material_of(data, device_data)
    if material is None:
        if copy or shape is None:
            raise TypeError(
                "storage() needs data to copy; without data it needs copy=False and a shape."
            )
        return empty(shape, np.float64 if dtype is None else dtype, **keywords)
    material = in_shape(material, shape)
    if not copy:
        check_type(material, dtype)
        return wrap(material, sync_state, keywords)
    return copied(material, dtype, sync_state, keywords)


def stacked(
    shapes: Mapping[str, Sequence[int]], dtype: Any = np.float64, **keywords: Unpack[Keywords]
) -> dict[str, Storage]:
    """Return several storages, by name, that share one buffer and are transferred together.

    Their shapes and ranks may differ. With `device="gpu"`, a transfer of one storage moves all of
    them in one copy; they share one validity state.
    """
    plans = {name: _make_plan(shape, dtype, keywords)[0] for name, shape in shapes.items()}
    if not plans:
        return {}
    plan = next(iter(plans.values()))
    first = plan.parameters
    if any(each.parameters.cuts for each in plans.values()):
        raise ValueError("Storages that share a buffer move as one: it cannot be cut in chunks.")
    starts, nbytes = _stacked_starts(list(plans.values()), lcm(first.labels.alignment_size, 64))
    kind = kind_of(first.device, first.managed)
    backing = backed_by(new_buffer(kind, plan, nbytes), kind, NOWHERE, first)
    return {
        name: kind(
            ghost(plan.parameters, plan.strides, start + plan.offset),
            replace(plan.parameters.labels, label=f"{first.labels.label}.{name}".lstrip(".")),
            backing,
        )
        for (name, plan), start in zip(plans.items(), starts, strict=True)
    }


def _stacked_starts(plans: list[Plan], alignment: int) -> tuple[list[int], int]:
    starts: list[int] = []
    nbytes = 0
    for plan in plans:
        nbytes += -nbytes % alignment
        starts.append(nbytes)
        nbytes += plan.nbytes
    return starts, nbytes


def _make_plan(shape: Any, dtype: Any, keywords: Mapping[str, Any]) -> tuple[Plan, Maker]:
    """Return the memory plan, and the function that creates a storage from it."""
    plan = plan_memory(resolve(keywords, checked_shape(shape), np.dtype(dtype)))
    return plan, kind_of(plan.parameters.device, plan.parameters.managed).from_plan


@lru_cache(maxsize=1024)
def _plan(shape: Any, dtype: Any, **keywords: Any) -> tuple[Plan, Maker]:
    return _make_plan(shape, dtype, keywords)


def _new(shape: Any, dtype: Any, keywords: Mapping[str, Any], init: Any = None) -> Storage:
    """Return a new storage; memory plans are cached for repeated requests."""
    try:
        plan, make = _plan(shape, dtype, **keywords)
    except TypeError:  # The shape is an unhashable list, or the call below raises the error again.
        plan, make = _make_plan(shape, dtype, keywords)
    return make(plan, init)


def _made(parameters: Parameters, init: Any = None) -> Storage:
    return kind_of(parameters.device, parameters.managed).allocate(parameters, init)


def _parameters_like(data: Any, dtype: Any, keywords: Mapping[str, Any]) -> Parameters:
    material = material_of(data, None)
    if material is None:
        raise TypeError("There is nothing to be like: the data are None.")
    source = material.source
    return resolve(
        keywords, source.shape, np.dtype(source.dtype if dtype is None else dtype), source
    )


on_new_defaults(_plan.cache_clear)
on_device_change(_plan.cache_clear)
