"""Write-back of values to user-owned host memory when its use ends; it never waits."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from psyclone_storage.storage.core.errors import AccessConflictError, PoisonedDataError
from psyclone_storage.storage.core.lifetime import fail_at_end
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import host_space

if TYPE_CHECKING:
    from psyclone_storage.storage.core.buffer import CoherentBuffer


def write_back(buffer: CoherentBuffer) -> None:
    """Write the values back to user-owned host memory, when its use ends.

    This runs when an object is destroyed or the program ends, where waiting is impossible. Values
    that are unavailable then are lost, with a `RuntimeWarning`; at program exit, the exit status
    also reports the failure.
    """
    failure: BaseException | None = buffer.poisoned
    if failure is None:
        try:
            buffer.acquire(host_space(), AccessMode.READ, Policy.RAISE).release()
        except (AccessConflictError, PoisonedDataError) as error:
            # The failure of a task may be detected only now.
            failure = buffer.poisoned or error
        except BaseException:
            fail_at_end()
            raise
    if failure is not None:
        fail_at_end()
        warnings.warn(
            f'The values of "{buffer.label}" were not written back: {_why(failure)}',
            RuntimeWarning,
            stacklevel=2,
        )


def _why(failure: BaseException) -> str:
    if isinstance(failure, AccessConflictError):
        return str(failure)
    notes = "".join(f" {note}" for note in getattr(failure, "__notes__", ()))
    return f"the task that wrote them failed ({failure!r}).{notes}"
