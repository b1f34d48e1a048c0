"""Assignment to storages (`storage[key] = value`), with all checks before any change.

Key and value are read and converted first. Then the storage is acquired together with the value, if
that is a storage or another facade. Only then are elements written. A value of the wrong shape or
type raises an error and leaves both sides of the storage valid.
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
    """The methods of a storage that an assignment needs."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the element type."""

    @property
    def pattern(self) -> np.ndarray[Any, Any]:
        """Return an array with the dtype, shape and strides of the storage.

        If the storage has no buffer, this is the array with the data.
        """

    def backing(self) -> Backing:
        """Return the state shared by all storages of the same data."""

    def window(self, space: MemorySpace) -> Any:
        """Return the array in `space`, whether its values are current or not."""

    def token(
        self, device: str | None, mode: AccessMode, part: np.ndarray[Any, Any] | None = None
    ) -> AccessToken | None:
        """Return an access token, not yet acquired, for a part of the data on one side."""

    def writes_on_device(self, value: Any) -> bool:
        """Return whether assigning `value` executes on the device."""

    def describe(self) -> str:
        """Return a description of the storage, used as the subject of an error message."""


def assign(storage: Assignable, key: Any, value: Any) -> None:
    """Copy `value` to the elements that `key` selects, on the side that GDP-119 to 124 require.

    Raises the same errors as NumPy for a key or a value that does not fit; no element has changed
    then.
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
        # One call cannot acquire a buffer in two spaces; in one space, one access suffices.
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
    """Assign to a host array that has no buffer and therefore needs no lock."""
    source = _token_of(value, None)
    if source is None:
        array[key] = as_stored(host_values(value), array.dtype)
        return
    acquire_all((source,))
    with source:
        array[key] = as_stored(host_values(value), array.dtype)


def _token_of(value: Any, side: str | None) -> AccessToken | None:
    """Return an access token for the storage `value`, on the side from which its values are read.

    Return None if `value` is not a storage with a buffer.
    """
    ask = getattr(value, "token", None)
    backing = value.backing() if ask is not None and hasattr(value, "backing") else None
    if ask is None or backing is None or backing.buffer is None:
        return None
    there: AccessToken | None = ask(side, AccessMode.READ)
    return there if there is not None else ask("gpu" if side is None else None, AccessMode.READ)


def _read(storage: Assignable, value: Any, source: AccessToken, space: MemorySpace | None) -> Any:
    """Return a converted copy of the storage `value`, made before the target is acquired."""
    acquire_all((source,))
    with source:
        return _converted(storage, value, space)


def _is_ready(given: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Return whether values of type `given` convert to `dtype` without any check of the values."""
    return given == dtype or casts_quietly(given, dtype)


def _converted(storage: Assignable, value: Any, space: MemorySpace | None) -> Any:
    """Return `value` as an array (or scalar) of the element type, on the host or on device `space`.

    Raises an error if a value does not fit the element type.
    """
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
    """Return the number of dimensions of the selected elements.

    Raises `IndexError` for a key outside the storage, `ValueError` for values of another shape.
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
    """Return `values` without leading extents of 1: NumPy ignores them, other arrays do not."""
    shape = tuple(getattr(values, "shape", ()))
    return values if len(shape) <= ndim else values.reshape(shape[len(shape) - ndim :])


def _as_host_key(key: Any) -> Any:
    """Return `key` with device arrays replaced by host copies."""
    if isinstance(key, tuple):
        return tuple(_as_host_key(part) for part in key)
    return key.get() if on_gpu(key) else key
