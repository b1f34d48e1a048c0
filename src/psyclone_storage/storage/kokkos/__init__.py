"""Public API of the Kokkos facade: `Kokkos::View` and related types, under the same names.

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
from psyclone_storage.storage.kokkos.data_type import register_type
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
from psyclone_storage.storage.kokkos.parallel import (
    KOKKOS_LAMBDA,
    Iterate,
    MDRangePolicy,
    RangePolicy,
    Rank,
    parallel_for,
    parallel_reduce,
)
from psyclone_storage.storage.kokkos.program import fence, finalize, initialize
from psyclone_storage.storage.kokkos.reducers import BAnd, BOr, LAnd, LOr, Max, Min, Prod, Sum
from psyclone_storage.storage.kokkos.scatter_view import (
    ScatterMax,
    ScatterMin,
    ScatterProd,
    ScatterSum,
    ScatterView,
    contribute,
    create_scatter_view,
)
from psyclone_storage.storage.kokkos.subview import ALL
from psyclone_storage.storage.kokkos.view import View, is_assignable, subview
from psyclone_storage.storage.kokkos.view_create import (
    AllocProperties,
    WithoutInitializing,
    move,
    view_alloc,
    view_wrap,
)
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
    "KOKKOS_LAMBDA",
    "AllocProperties",
    "AnonymousSpace",
    "Atomic",
    "BAnd",
    "BOr",
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
    "Iterate",
    "LAnd",
    "LOr",
    "LayoutLeft",
    "LayoutRight",
    "LayoutStride",
    "MDRangePolicy",
    "Max",
    "MemoryTraits",
    "Min",
    "OffsetView",
    "Prod",
    "RandomAccess",
    "RangePolicy",
    "Rank",
    "Restrict",
    "ScatterMax",
    "ScatterMin",
    "ScatterProd",
    "ScatterSum",
    "ScatterView",
    "ScratchSpace",
    "Serial",
    "SharedHostPinnedSpace",
    "SharedSpace",
    "Sum",
    "Unmanaged",
    "View",
    "ViewExtentError",
    "ViewIndexError",
    "ViewLayout",
    "ViewRankError",
    "ViewType",
    "ViewTypeError",
    "WithoutInitializing",
    "contribute",
    "create_mirror",
    "create_mirror_view",
    "create_mirror_view_and_copy",
    "create_scatter_view",
    "deep_copy",
    "fence",
    "finalize",
    "initialize",
    "is_assignable",
    "move",
    "parallel_for",
    "parallel_reduce",
    "realloc",
    "register_type",
    "resize",
    "subview",
    "view_alloc",
    "view_wrap",
]
