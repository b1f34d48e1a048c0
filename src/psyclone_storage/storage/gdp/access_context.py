"""`StorageAccess`: access to one side of a storage for the duration of a block."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from psyclone_storage.storage.core.errors import AccessConflictError
from psyclone_storage.storage.core.locks import MODE_WORDS, AccessMode
from psyclone_storage.storage.core.native import BindingBlock, register
from psyclone_storage.storage.core.token import AccessToken


class Openable(Protocol):
    """The methods of a storage that an access needs."""

    def acquire(self, device: str | None, mode: AccessMode) -> AccessToken:
        """Acquire the data on one side, and return the access token."""

    def window_for(self, token: AccessToken) -> Any:
        """Return the array for the owner of `token`."""


class StorageAccess(BindingBlock):
    """A context manager that yields the array of one side of a storage.

    If a block that writes raises an exception, the data are marked as failed. They can be read
    again after all of them have been rewritten, or through an access that ignores the failure.
    """

    __slots__ = ()

    _arguments: Openable
    _device: str | None
    _writes: AccessMode

    def __init__(self, storage: Openable, device: str | None, mode: AccessMode) -> None:
        """Prepare the block; it locks the data on entry."""
        super().__init__(storage, device, mode)
        self._lone = True

    if TYPE_CHECKING:

        def __enter__(self) -> Any:
            """Lock the data and return the array."""

    def _enter(self) -> Any:
        """Execute `__enter__` if it needs an allocation, a transfer or a wait."""
        token = self._arguments.acquire(self._device, self._writes)
        try:
            token.__enter__()  # pylint: disable=unnecessary-dunder-call  # see _leave
            window = self._arguments.window_for(token)
            self._tokens = (token,)
        except BaseException as error:
            token.give_back(error)
            raise
        return window

    def _leave(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Execute `__exit__` where it affects other threads."""
        tokens = self._tokens
        for token in tokens:
            token.__exit__(kind, error, trace)
        self._tokens = ()

    def _refuse(self) -> None:
        raise AccessConflictError("The storage is in use by this block until it ends.")

    def _give_all_back(self, error: BaseException | None) -> None:
        """End the access that an interrupt has left."""
        tokens, self._tokens = self._tokens, ()
        for token in tokens:
            token.leave_device()
            if token.active:
                token.buffer.release(token, error)


register(opening=StorageAccess, modes=MODE_WORDS)
