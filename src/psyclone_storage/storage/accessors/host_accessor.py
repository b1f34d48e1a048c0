"""`HostAccessor`, long-lived access to a buffer from host code, element by element.

Each use acquires the buffer and waits until that is safe. The accessor therefore always reads
current values, and need not be closed (ACC-17). It exposes the memory only during a `held` block.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from psyclone_storage.storage.accessors.accessor_buffer import Shape, buffer_of, shape_of
from psyclone_storage.storage.core.errors import ConstBufferError
from psyclone_storage.storage.core.index_keys import fits, is_everything, selected_by
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import host_space
from psyclone_storage.storage.core.token import AccessToken


class HostAccessor:
    """Read, or read and write, a buffer on the host by indexing.

    A const accessor reads: it waits while a device task writes (ACC-13), but not while one reads
    (ACC-14), and other spaces keep their current values (ACC-12). A non-const accessor counts every
    use as a write, even a read through it: it waits while any device task uses the buffer (ACC-16),
    and only the host has the current values afterwards (ACC-15). Use const accessors where
    possible. Indexing returns copies.

    Raises `AccessDeadlockError` for a wait that could never end, for example for a device accessor
    that the same thread has open.
    """

    __slots__ = ("const", "buffer", "_mode")

    def __init__(self, buffer: Any, const: bool = False) -> None:
        """Access `buffer`, or the buffer of another facade."""
        self.const = const
        self.buffer, _ = buffer_of(buffer)
        self._mode = AccessMode.READ if const else AccessMode.READ_WRITE

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the element type."""
        return self.buffer.dtype

    @property
    def shape(self) -> Shape:
        """Return the extents of the buffer."""
        return shape_of(self.buffer)

    @contextmanager
    def held(self) -> Iterator[np.ndarray[Any, Any]]:
        """Acquire the buffer for a block; yield its array, read-only for a const accessor.

        This is for loops: indexing the array costs no access. Other users wait until the end of the
        block.
        """
        with self._use() as token:
            yield self._window(token)

    def __getitem__(self, key: Any) -> Any:
        """Return a copy of the elements that `key` selects."""
        with self._use() as token:
            found = self._window(token)[key]
            return found.copy() if isinstance(found, (np.ndarray, np.void)) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set the elements that `key` selects; raise `ConstBufferError` if const (ACC-11).

        Setting all elements, as with `[...]`, needs no valid values, and repairs a buffer that a
        failed task left invalid. Raises the exceptions of NumPy for values that do not fit.
        """
        if self.const:
            raise ConstBufferError(
                f'"{self.buffer.label}" was to be written through a const host accessor: make one '
                f"that is not const."
            )
        values = np.asarray(value, self.dtype)
        selected = selected_by(key, self.shape)
        if not fits(values.shape, selected):
            raise ValueError(
                f'"{self.buffer.label}" has elements of shape {selected} at {key!r}, which values '
                f"of shape {values.shape} do not fit."
            )
        mode = AccessMode.WRITE_ONLY if is_everything(key) else AccessMode.READ_WRITE
        with self._use(mode) as token:
            self._window(token)[key] = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return a copy of all values; raise `ValueError` for `copy=False`."""
        if copy is False:
            raise ValueError("A host accessor gives copies of its values only: use `held`.")
        with self._use() as token:
            return np.array(self._window(token), dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def _use(self, mode: AccessMode | None = None) -> AccessToken:
        return self.buffer.acquire(host_space(), mode or self._mode, Policy.WAIT)

    def _window(self, token: AccessToken) -> np.ndarray[Any, Any]:
        window: np.ndarray[Any, Any] = token.window(self.dtype, self.shape)
        return window

    def __repr__(self) -> str:
        return f"<HostAccessor {'const ' if self.const else ''}to {self.buffer!r}>"
