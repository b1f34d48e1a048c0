"""`StorageAccess`: access to one side of a storage for the duration of a block."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol

from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.token import AccessToken


class Openable(Protocol):
    """The methods of a storage that an access needs."""

    def acquire(self, device: str | None, mode: AccessMode) -> AccessToken:
        """Acquire the data on one side, and return the access token."""

    def window_for(self, token: AccessToken) -> Any:
        """Return the array for the owner of `token`."""


class StorageAccess:
    """A context manager that yields the array of one side of a storage.

    If a block that writes raises an exception, the data are marked as failed. They can be read
    again after all of them have been rewritten, or through an access that ignores the failure.
    """

    __slots__ = ("_storage", "_device", "_mode", "_token")

    def __init__(self, storage: Openable, device: str | None, mode: AccessMode) -> None:
        """Prepare the block; it locks the data on entry."""
        self._storage = storage
        self._device = device
        self._mode = mode
        self._token: AccessToken | None = None

    def __enter__(self) -> Any:
        token = self._storage.acquire(self._device, self._mode)
        try:
            token.__enter__()  # pylint: disable=unnecessary-dunder-call  # see __exit__
            window = self._storage.window_for(token)
        except BaseException as error:
            token.give_back(error)
            raise
        self._token = token
        return window

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        token, self._token = self._token, None
        if token is not None:
            token.__exit__(kind, error, trace)
