"""Exceptions of the storage runtime.

Every message is a full sentence that names the buffer by its label, its size and the memory spaces
concerned, and ends with the remedy. `code` identifies the kind of error for tools; run-time errors
have codes that begin with R.
"""

from __future__ import annotations


class StorageError(Exception):
    """The base class of all errors of the storage runtime."""

    code = "R200"


class AccessConflictError(StorageError, RuntimeError):
    """Error: an access was requested that conflicts with an active one (HM-61, HM-62)."""

    code = "R201"


class AccessDeadlockError(AccessConflictError):
    """Error: a wait could never end, because of a cycle in the wait-for graph."""

    code = "R202"


class PoisonedDataError(StorageError, RuntimeError):
    """Error: the data are unusable, because the last task that wrote them failed."""

    code = "R203"


class ConstBufferError(StorageError, TypeError):
    """Error: a write access was requested to read-only data."""

    code = "R204"


class AllocationInUseError(StorageError, BufferError):
    """Error: memory cannot be moved or freed, because exported arrays or others refer to it."""

    code = "R205"


class AccessReleasedError(StorageError, RuntimeError):
    """Error: an access was used after its release (HM-50)."""

    code = "R206"


class MemoryException(StorageError, RuntimeError):  # noqa: N818 - the name in HMemo
    """Error: a memory cannot execute a request: no copy route, or a wrong size (HM-26, HM-36)."""

    code = "R207"


class DeviceUnavailableError(StorageError, RuntimeError):
    """Error: a device was requested that does not exist."""

    code = "R208"


class UnknownSpaceError(StorageError, ValueError):
    """Error: a string is neither the tag nor an alias of a memory space (ACC-8)."""

    code = "R209"


class HostUseError(StorageError, TypeError):
    """Error: host code accessed device memory without copying it first."""

    code = "R210"


class GTNoSuchBufferError(StorageError, TypeError, BufferError):
    """Error: a storage has no buffer on the requested side (GDP-108, GDP-110)."""

    code = "R211"


class MemoryExhaustedError(MemoryException, MemoryError):
    """Error: a memory space has too little free memory, or the size is not addressable."""

    code = "R212"


class DataRaceError(StorageError, RuntimeError):
    """Error: two accesses to the same memory are not synchronised (data race)."""

    code = "R213"


class ViewTypeError(StorageError, TypeError):
    """Error: the types of views do not allow an operation, for any extents (VIEW-82 to 86)."""

    code = "R220"


class ViewExtentError(StorageError, ValueError):
    """Error: extents or strides of a view do not allow an operation (VIEW-87, VIEW-89)."""

    code = "R221"


class ViewIndexError(StorageError, IndexError):
    """Error: an index or a dimension is out of range for a view."""

    code = "R222"


class ViewRankError(ViewTypeError, IndexError):
    """Error: the number of indices is not the rank of the view (VIEW-60, VIEW-61)."""

    code = "R223"
