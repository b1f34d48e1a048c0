"""Be the door for users of Kokkos: `Kokkos::View` and what goes with it, under the same names.

from psyclone_storage.storage.kokkos import HostSpace, LayoutLeft, View, deep_copy

a = View["double**", LayoutLeft]("A", 3, 4)
a[1, 2] = 5.0
assert a(1, 2) == 5.0
"""

from __future__ import annotations

from psyclone_storage.storage.core.errors import (
    ViewExtentError,
    ViewIndexError,
    ViewRankError,
    ViewTypeError,
)
from psyclone_storage.storage.kokkos.dual_view import DualView
from psyclone_storage.storage.kokkos.mirrors import (
    create_mirror,
    create_mirror_view,
    create_mirror_view_and_copy,
    deep_copy,
    realloc,
    resize,
)
from psyclone_storage.storage.kokkos.offset_view import OffsetView
from psyclone_storage.storage.kokkos.view import View, is_assignable, subview
from psyclone_storage.storage.kokkos.view_create import (
    AllocProperties,
    WithoutInitializing,
    move,
    view_alloc,
    view_wrap,
)
from psyclone_storage.storage.kokkos.view_cut import ALL
from psyclone_storage.storage.kokkos.view_data import register_type
from psyclone_storage.storage.kokkos.view_layout import (
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    ViewLayout,
)
from psyclone_storage.storage.kokkos.view_spaces import (
    AnonymousSpace,
    Atomic,
    Cuda,
    CudaHostPinnedSpace,
    CudaSpace,
    CudaUVMSpace,
    DefaultExecutionSpace,
    DefaultHostExecutionSpace,
    Device,
    ExecutionSpace,
    HostSpace,
    MemoryTraits,
    RandomAccess,
    Restrict,
    ScratchSpace,
    Serial,
    SharedHostPinnedSpace,
    SharedSpace,
    Unmanaged,
)
from psyclone_storage.storage.kokkos.view_type import ViewType

__all__ = [
    "ALL",
    "AllocProperties",
    "AnonymousSpace",
    "Atomic",
    "Cuda",
    "CudaHostPinnedSpace",
    "CudaSpace",
    "CudaUVMSpace",
    "DefaultExecutionSpace",
    "DefaultHostExecutionSpace",
    "Device",
    "DualView",
    "ExecutionSpace",
    "HostSpace",
    "LayoutLeft",
    "LayoutRight",
    "LayoutStride",
    "MemoryTraits",
    "OffsetView",
    "RandomAccess",
    "Restrict",
    "ScratchSpace",
    "Serial",
    "SharedHostPinnedSpace",
    "SharedSpace",
    "Unmanaged",
    "View",
    "ViewExtentError",
    "ViewIndexError",
    "ViewLayout",
    "ViewRankError",
    "ViewType",
    "ViewTypeError",
    "WithoutInitializing",
    "create_mirror",
    "create_mirror_view",
    "create_mirror_view_and_copy",
    "deep_copy",
    "is_assignable",
    "move",
    "realloc",
    "register_type",
    "resize",
    "subview",
    "view_alloc",
    "view_wrap",
]
