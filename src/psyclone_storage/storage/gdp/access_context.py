"""`StorageAccess`, the use of one side of a storage during a block."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol

from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.token import AccessToken


class Openable(Protocol):
    """The interface of a storage to an access."""

    def acquire(self, device: str | None, mode: AccessMode) -> AccessToken:
        """Return an access to the data on one side."""

    def window_for(self, token: AccessToken) -> Any:
        """Return the array that a holder of `token` works on."""


class StorageAccess:
    """The array of one side of a storage for the time of a block.

    A block that writes and raises marks the data as failed: they can be read again after all of
    them were written anew, or through an access that ignores the failure.
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
