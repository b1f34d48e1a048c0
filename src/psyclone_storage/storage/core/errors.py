"""Own the exceptions of the storage runtime; refuse to know what raises them.

Every message is a full sentence that names the buffer by its label, its size and the memory spaces
concerned, and ends with what to do about it. `code` identifies the kind of error for tools, in the
R (run time) series.
"""

from __future__ import annotations


class StorageError(Exception):
    """The common ancestor of every error that the storage runtime raises on purpose."""

    code = "R200"


class AccessConflictError(StorageError, RuntimeError):
    """Say that an access was asked for while another one makes it unsafe (HM-61, HM-62)."""

    code = "R201"


class AccessDeadlockError(AccessConflictError):
    """Say that a wait could never end, because the waiter itself holds what it waits for."""

    code = "R202"


class PoisonedDataError(StorageError, RuntimeError):
    """Say that the last task that wrote the data failed: nobody may read them (spec 2B.2)."""

    code = "R203"


class ConstBufferError(StorageError, TypeError):
    """Say that a write access was asked for on data that are read-only (spec 2B.7)."""

    code = "R204"


class AllocationInUseError(StorageError, BufferError):
    """Say that memory cannot be moved or freed: something outside points to it (spec 2B.5)."""

    code = "R205"


class AccessReleasedError(StorageError, RuntimeError):
    """Say that an access was used after its release (HM-50)."""

    code = "R206"


class MemoryException(StorageError, RuntimeError):  # noqa: N818 - the word of HMemo
    """Say that a memory cannot do what was asked: no route, or a wrong size (HM-26, HM-36)."""

    code = "R207"


class DeviceUnavailableError(StorageError, RuntimeError):
    """Say that a device was asked for where there is none, and how to choose another one."""

    code = "R208"


class UnknownSpaceError(StorageError, ValueError):
    """Say that a string is neither the tag nor an alias of a memory space (ACC-8)."""

    code = "R209"


class HostUseError(StorageError, TypeError):
    """Say that host code touched the memory of a device without copying it first."""

    code = "R210"


class GTNoSuchBufferError(StorageError, TypeError, BufferError):
    """Say that a storage has no buffer on the side that was asked for (GDP-108, GDP-110)."""

    code = "R211"


class MemoryExhaustedError(MemoryException, MemoryError):
    """Say that a memory space has no more bytes, or that no machine could have as many."""

    code = "R212"


class ViewTypeError(StorageError, TypeError):
    """Say that types forbid what was asked of a view, whatever its extents (VIEW-82 to VIEW-86)."""

    code = "R220"


class ViewExtentError(StorageError, ValueError):
    """Say that the extents or strides of a view forbid what its type allows (VIEW-87, VIEW-89)."""

    code = "R221"


class ViewIndexError(StorageError, IndexError):
    """Say that an index or a dimension lies outside of a view."""

    code = "R222"


class ViewRankError(ViewTypeError, IndexError):
    """Say that a view was given more or fewer indices than its rank (VIEW-60, VIEW-61)."""

    code = "R223"
