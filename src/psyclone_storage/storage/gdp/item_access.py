"""Reads of the elements of a storage with a buffer, and its reconstruction from a pickle."""

from __future__ import annotations

from math import prod
from typing import Any, Protocol

import numpy as np

from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.index_keys import is_basic, with_ellipsis
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.gdp.indexing import device_key, host_key
from psyclone_storage.storage.gdp.shared_buffer import Backing


class Readable(Protocol):
    """The methods of a storage that a read of elements needs."""

    def window(self, space: MemorySpace) -> Any:
        """Return the array in `space`, whether its values are current or not."""

    def token(
        self, device: str | None, mode: AccessMode, part: np.ndarray[Any, Any] | None = None
    ) -> AccessToken | None:
        """Return an access token, not yet acquired, for a part of the data on one side."""

    @property
    def pattern(self) -> np.ndarray[Any, Any]:
        """Return an array with the element type, shape and strides of the data."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""

    def describe(self) -> str:
        """Return a description of the storage, used as the subject of an error message."""

    def __getitem__(self, key: Any) -> Any:
        """Return the element or the values that `key` selects."""


def read(storage: Readable, backing: Backing, key: Any) -> Any:
    """Return the element or the values that `key` selects.

    They are read on the host if there is a host buffer, else on the device.
    """
    space = backing.host or backing.device
    assert space is not None
    assert backing.buffer is not None
    on_host = space is backing.host
    if on_host and is_basic(key) and backing.buffer.is_at_rest(space):
        return storage.window(space)[key]
    chosen = host_key(key) if on_host else device_key(key, space)
    part = storage.pattern[with_ellipsis(key)] if is_basic(key) else None
    token = storage.token(None if on_host else "gpu", AccessMode.READ, part)
    assert token is not None
    acquire_all((token,))
    with token:
        found = storage.window(space)[chosen]
    return found if on_host or not is_basic(key) else found.item()


def is_part(found: Any, array: np.ndarray[Any, Any]) -> bool:
    """Return whether `found` is a view of the memory of `array`."""
    owner = found.base if isinstance(found, np.ndarray) else None
    return owner is not None and (owner is array or owner is array.base)


def item(storage: Readable, index: tuple[int, ...]) -> Any:
    """Return one element as a Python number; a single index counts the elements in C order.

    Raises `ValueError` without an index unless there is exactly one element, `IndexError` for an
    index out of range.
    """
    shape = storage.shape
    if not index and prod(shape) != 1:
        raise ValueError(f"{storage.describe()} has {prod(shape)} elements: item() needs an index.")
    key = index or (0,) * len(shape)
    if len(key) == 1 and len(shape) > 1:
        key = tuple(int(part) for part in np.unravel_index(range(prod(shape))[key[0]], shape))
    return np.asarray(storage[key]).item()


def missing(storage: Readable, key: Any, error: IndexError) -> IndexError:
    """Return an `IndexError` that names the storage and the invalid key."""
    return IndexError(f"{storage.describe()} has nothing at {key!r}: {error}.")


def restored(kind: Any, parameters: Any, values: np.ndarray[Any, Any]) -> Any:
    """Return a storage of class `kind` with the pickled parameters and values."""
    made = kind.allocate(parameters)
    made[...] = values
    return made
