"""Exceptions of the storage runtime, independent of the code that raises them.

Every message is a full sentence that names the buffer by its label, its size and the memory spaces
concerned, and ends with the remedy. `code` identifies the kind of error for tools, in the
R (run time) series.
"""

from __future__ import annotations


class StorageError(Exception):
    """The common ancestor of every error that the storage runtime raises on purpose."""

    code = "R200"


class AccessConflictError(StorageError, RuntimeError):
    """An error: an access was requested while another one makes it unsafe (HM-61, HM-62)."""

    code = "R201"


class AccessDeadlockError(AccessConflictError):
    """An error: a wait could never end, because the waiting thread holds the resource itself."""

    code = "R202"


class PoisonedDataError(StorageError, RuntimeError):
    """An error: the last task that wrote the data failed, so that they are unusable (spec 2B.2)."""

    code = "R203"


class ConstBufferError(StorageError, TypeError):
    """An error: a write access was requested on data that are read-only (spec 2B.7)."""

    code = "R204"


class AllocationInUseError(StorageError, BufferError):
    """An error: memory cannot be moved or freed: something outside points to it (spec 2B.5)."""

    code = "R205"


class AccessReleasedError(StorageError, RuntimeError):
    """An error: an access was used after its release (HM-50)."""

    code = "R206"


class MemoryException(StorageError, RuntimeError):  # noqa: N818 - the name in HMemo
    """An error: a memory cannot do the request: no route, or a wrong size (HM-26, HM-36)."""

    code = "R207"


class DeviceUnavailableError(StorageError, RuntimeError):
    """An error: a device was requested that does not exist."""

    code = "R208"


class UnknownSpaceError(StorageError, ValueError):
    """An error: a string is neither the tag nor an alias of a memory space (ACC-8)."""

    code = "R209"


class HostUseError(StorageError, TypeError):
    """An error: host code touched the memory of a device without copying it first."""

    code = "R210"


class GTNoSuchBufferError(StorageError, TypeError, BufferError):
    """An error: a storage has no buffer on the requested side (GDP-108, GDP-110)."""

    code = "R211"


class MemoryExhaustedError(MemoryException, MemoryError):
    """An error: a memory space has no more bytes, or no machine could have as many."""

    code = "R212"


class DataRaceError(StorageError, RuntimeError):
    """An error: nothing makes one of two uses of the same memory wait for the other."""

    code = "R213"


class ViewTypeError(StorageError, TypeError):
    """An error: types forbid the request to a view, whatever its extents (VIEW-82 to 86)."""

    code = "R220"


class ViewExtentError(StorageError, ValueError):
    """An error: the extents or strides of a view forbid what its type allows (VIEW-87, VIEW-89)."""

    code = "R221"


class ViewIndexError(StorageError, IndexError):
    """An error: an index or a dimension lies outside of a view."""

    code = "R222"


class ViewRankError(ViewTypeError, IndexError):
    """An error: a view was given more or fewer indices than its rank (VIEW-60, VIEW-61)."""

    code = "R223"
