"""Assignment to storages (`storage[key] = value`), with all checks before any change.

Key and value are read and converted first. Then the storage is acquired together with the value, if
that is a storage or another facade, and only then is anything written. A value that does not fit
invalidates the values of neither side.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.casting import as_stored, casts_quietly
from psyclone_storage.storage.core.index_keys import (
    fits,
    is_basic,
    selected_by,
    with_ellipsis,
)
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.gdp.indexing import (
    device_key,
    device_values,
    host_key,
    host_values,
    on_gpu,
)
from psyclone_storage.storage.gdp.shared_buffer import Backing
from psyclone_storage.storage.memory.registry import memory_of


class Assignable(Protocol):
    """The interface of a storage to an assignment."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the element type."""

    @property
    def pattern(self) -> np.ndarray[Any, Any]:
        """Return an array with the type and shape of the data; without a buffer, the data."""

    def backing(self) -> Backing:
        """Return the state shared by all storages of the same data."""

    def window(self, space: MemorySpace) -> Any:
        """Return the array at `space`, valid or not."""

    def token(
        self, device: str | None, mode: AccessMode, part: np.ndarray[Any, Any] | None = None
    ) -> AccessToken | None:
        """Return an access to a part of one side that has not begun yet."""

    def writes_on_device(self, value: Any) -> bool:
        """Return whether the value is written on the device."""

    def describe(self) -> str:
        """Return the subject of a message."""


def assign(storage: Assignable, key: Any, value: Any) -> None:
    """Copy `value` to the elements that `key` selects, on the side that GDP-119 to 124 say.

    Raises what NumPy raises for a key or a value that does not fit; nothing has changed then.
    """
    backing = storage.backing()
    side = _side_of(storage, backing, value)
    space = None if side is None else backing.device
    chosen = host_key(key) if space is None else device_key(key, space)
    part = storage.pattern[with_ellipsis(chosen)] if is_basic(chosen) else None
    if backing.buffer is None:
        _assign_plainly(storage.pattern, chosen, value)
        return
    mode = AccessMode.READ_WRITE if part is None else AccessMode.WRITE_ONLY
    target = storage.token(side, mode, part)
    assert target is not None
    source = _token_of(value, side)
    if source is not None and not _is_ready(value.dtype, storage.dtype):
        value, source = _read(storage, value, source, space), None
    if source is not None and source.buffer is target.buffer:
        # One buffer at two places cannot be held by one call; at one place, once is enough.
        value = np.array(host_values(value)) if source.space is not target.space else value
        source = None
    values = value if source is not None else _converted(storage, value, space)
    ndim = _check_fit(storage, chosen, part, values)
    tokens = (target,) if source is None else (source, target)
    acquire_all(tokens)
    try:
        if source is not None:
            values = _converted(storage, value, space)
        with target.on_device():
            storage.window(target.space)[chosen] = _without_ones(values, ndim)
    except BaseException as error:
        _release(tokens, error)
        raise
    _release(tokens, None)


def _release(tokens: tuple[AccessToken, ...], error: BaseException | None) -> None:
    for token in tokens:
        token.release(error)


def _side_of(storage: Assignable, backing: Backing, value: Any) -> str | None:
    if backing.device is None:
        return None
    return "gpu" if backing.host is None or storage.writes_on_device(value) else None


def _assign_plainly(array: np.ndarray[Any, Any], key: Any, value: Any) -> None:
    """Assign to a host array that no other facade uses."""
    source = _token_of(value, None)
    if source is None:
        array[key] = as_stored(host_values(value), array.dtype)
        return
    acquire_all((source,))
    with source:
        array[key] = as_stored(host_values(value), array.dtype)


def _token_of(value: Any, side: str | None) -> AccessToken | None:
    """Return an access to a storage that is assigned, on the side where its values are taken."""
    ask = getattr(value, "token", None)
    backing = value.backing() if ask is not None and hasattr(value, "backing") else None
    if ask is None or backing is None or backing.buffer is None:
        return None
    there: AccessToken | None = ask(side, AccessMode.READ)
    return there if there is not None else ask("gpu" if side is None else None, AccessMode.READ)


def _read(storage: Assignable, value: Any, source: AccessToken, space: MemorySpace | None) -> Any:
    """Return a converted copy of `value`, a storage, made before anything is given up for it."""
    acquire_all((source,))
    with source:
        return _converted(storage, value, space)


def _is_ready(given: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Return whether every value of type `given` is convertible to an element of `dtype`."""
    return given == dtype or casts_quietly(given, dtype)


def _converted(storage: Assignable, value: Any, space: MemorySpace | None) -> Any:
    """Return `value` as it can be written at `space`, a device, or on the host, for certain."""
    dtype = storage.dtype
    if space is not None and on_gpu(value):
        values = device_values(value, space)
        if _is_ready(values.dtype, dtype):
            return values
        with memory_of(space).bound():
            return values.astype(dtype)
    values = as_stored(host_values(value), dtype)
    return values if space is None else device_values(values, space)


def _check_fit(storage: Assignable, key: Any, part: Any, values: Any) -> int:
    """Return how many dimensions the selected elements have.

    Raises `IndexError` for a key that selects nothing, `ValueError` for values of other shape.
    """
    selected = selected_by(_as_host_key(key), storage.pattern.shape) if part is None else part.shape
    given = tuple(getattr(values, "shape", ()))
    if not fits(given, selected):
        raise ValueError(
            f"{storage.describe()} has elements of shape {selected} at {key!r}, which values of "
            f"shape {given} do not fit."
        )
    return len(selected)


def _without_ones(values: Any, ndim: int) -> Any:
    """Return values without extents of 1 in front, which only NumPy passes over."""
    shape = tuple(getattr(values, "shape", ()))
    return values if len(shape) <= ndim else values.reshape(shape[len(shape) - ndim :])


def _as_host_key(key: Any) -> Any:
    """Return `key` with arrays of a device replaced by their values on the host."""
    if isinstance(key, tuple):
        return tuple(_as_host_key(part) for part in key)
    return key.get() if on_gpu(key) else key
