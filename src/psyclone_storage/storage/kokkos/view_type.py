"""`ViewType`, the static properties of a view: no extents, data or memory.

`View["const int*[10]", LayoutLeft, HostSpace, Unmanaged]` is a type: a data type, then a layout, a
space and traits, each of which is optional, in this order (VIEW-5). These checks need no extents,
so each violation is a `ViewTypeError`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Self

import numpy as np

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.storage.core.errors import ViewTypeError
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind
from psyclone_storage.storage.kokkos.data_type import DataType, ElementType, data_type
from psyclone_storage.storage.kokkos.view_layout import (
    LayoutLeft,
    LayoutRight,
    ViewLayout,
    checked_extents,
    is_layout_class,
)
from psyclone_storage.storage.kokkos.view_spaces import (
    AnonymousSpace,
    DefaultExecutionSpace,
    Device,
    ExecutionSpace,
    MemoryTraits,
    ScratchSpace,
    execution_space_of,
    mirror_space_of,
    space_name,
)


class Count(int):
    """An integer that can also be called, because Kokkos allows `rank` and `rank()`."""

    def __call__(self) -> int:
        """Return the integer."""
        return int(self)


class _ParameterOrder(IntEnum):
    """The parameters allowed after the data type, in their required order."""

    LAYOUT = 1
    SPACE = 2
    TRAITS = 3


@dataclass(frozen=True, slots=True, repr=False)
class ViewType:  # pylint: disable=too-many-public-methods
    """The type of a view; create one as `View[...]`. Types are equal if their parameters are."""

    data_type: DataType
    array_layout: type[ViewLayout]
    execution_space: ExecutionSpace
    memory_space: MemorySpace
    memory_traits: MemoryTraits = MemoryTraits.Managed

    @classmethod
    def of(cls, arguments: Any, default: ExecutionSpace | None = None) -> Self:
        """Return the type with these arguments, in the form of the brackets of `View[...]`.

        If `default` is omitted, it is the default execution space; it applies to types without a
        space. Raises `ViewTypeError` for an invalid argument, or one that is out of order.
        """
        parts = arguments if isinstance(arguments, tuple) else (arguments,)
        spec, rest = _data_type_in(parts)
        found = _in_order(spec, rest)
        execution, memory, lent = _placed(
            found.get(_ParameterOrder.SPACE, default or DefaultExecutionSpace())
        )
        traits = MemoryTraits(found.get(_ParameterOrder.TRAITS, MemoryTraits.Managed))
        layout = found.get(_ParameterOrder.LAYOUT, LayoutRight)
        return cls(spec, layout, execution, memory, traits | lent)

    # -- numbers and flags -----------------------------------------------------------------------

    @property
    def rank(self) -> Count:
        """Return the number of dimensions (VIEW-16)."""
        return Count(self.data_type.rank)

    @property
    def rank_dynamic(self) -> Count:
        """Return the number of dimensions whose extent is known at run time (VIEW-17)."""
        return Count(self.data_type.rank_dynamic)

    @property
    def is_hostspace(self) -> bool:
        """Return whether host code can use the data (VIEW-19)."""
        return self.memory_space.host_accessible

    @property
    def is_managed(self) -> bool:
        """Return whether a view of this type counts as a user of its memory."""
        return MemoryTraits.Unmanaged not in self.memory_traits

    @property
    def reference_type_is_lvalue_reference(self) -> bool:
        """Return whether element access returns a reference (VIEW-18).

        It does not for atomic views, nor for constant `RandomAccess` data on a device.
        """
        special = MemoryTraits.RandomAccess in self.memory_traits and self.value_type.const
        on_device = self.memory_space.kind is SpaceKind.DEVICE
        return MemoryTraits.Atomic not in self.memory_traits and not (special and on_device)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the NumPy type of an element."""
        return self.data_type.scalar.dtype

    # -- data types and scalar types -------------------------------------------------------------

    @property
    def const_data_type(self) -> DataType:
        """Return the const version of the data type (VIEW-21)."""
        return self.data_type.with_const(True)

    @property
    def non_const_data_type(self) -> DataType:
        """Return the non-const version of the data type (VIEW-22)."""
        return self.data_type.with_const(False)

    @property
    def scalar_array_type(self) -> DataType:
        """Return the data type with scalar elements, which is the data type itself (VIEW-23)."""
        return self.data_type

    const_scalar_array_type = const_data_type
    non_const_scalar_array_type = non_const_data_type

    @property
    def value_type(self) -> ElementType:
        """Return the element type, including `const` (VIEW-24)."""
        return self.data_type.scalar

    @property
    def const_value_type(self) -> ElementType:
        """Return the const version of the element type (VIEW-25)."""
        return self.data_type.scalar.with_const(True)

    @property
    def non_const_value_type(self) -> ElementType:
        """Return the non-const version of the element type (VIEW-26)."""
        return self.data_type.scalar.with_const(False)

    @property
    def reference_type(self) -> str:
        """Return the name of the type that element access returns (VIEW-43)."""
        if MemoryTraits.Atomic in self.memory_traits:
            return f"AtomicElement<{self.value_type}>"
        return f"{self.value_type}&" if self.reference_type_is_lvalue_reference else self.value_type

    @property
    def pointer_type(self) -> str:
        """Return the name of the type of `data()` (VIEW-43)."""
        return f"{self.value_type}*"

    @property
    def size_type(self) -> type[int]:
        """Return the type of indices (VIEW-44)."""
        return int

    @property
    def dimension(self) -> tuple[int | None, ...]:
        """Return the compile-time extents, None for each run-time extent (VIEW-44)."""
        return (None,) * self.data_type.rank_dynamic + self.data_type.static

    @property
    def specialize(self) -> None:
        """Return None: there are no specialised mappings (VIEW-44)."""
        return

    # -- places ----------------------------------------------------------------------------------

    @property
    def device_type(self) -> Device:
        """Return the execution space and the memory space (VIEW-29)."""
        return Device(self.execution_space, self.memory_space)

    @property
    def host_mirror_space(self) -> MemorySpace:
        """Return the space of a host mirror (VIEW-31)."""
        return mirror_space_of(self.memory_space)

    # -- other view types ------------------------------------------------------------------------

    @property
    def const_type(self) -> Self:
        """Return the view type with const elements (VIEW-40)."""
        return replace(self, data_type=self.const_data_type)

    @property
    def non_const_type(self) -> Self:
        """Return the view type with non-const elements (VIEW-41)."""
        return replace(self, data_type=self.non_const_data_type)

    @property
    def uniform_type(self) -> Self:
        """Return the canonical form: `LayoutLeft` for regular layouts up to rank 1 (VIEW-32)."""
        regular = self.array_layout in (LayoutLeft, LayoutRight)
        if self.rank > 1 or not regular:
            return self
        return replace(self, array_layout=LayoutLeft)

    @property
    def uniform_const_type(self) -> Self:
        """Return the canonical form with const elements (VIEW-33)."""
        return self.uniform_type.const_type

    @property
    def uniform_runtime_type(self) -> Self:
        """Return the canonical form without compile-time extents (VIEW-34)."""
        return replace(self.uniform_type, data_type=self.data_type.at_run_time())

    @property
    def uniform_runtime_const_type(self) -> Self:
        """Return the canonical form, const and without compile-time extents (VIEW-35)."""
        return self.uniform_runtime_type.const_type

    @property
    def uniform_nomemspace_type(self) -> Self:
        """Return the canonical form in `AnonymousSpace` (VIEW-36)."""
        return replace(self.uniform_type, memory_space=AnonymousSpace)

    @property
    def uniform_const_nomemspace_type(self) -> Self:
        """Return the canonical form in `AnonymousSpace`, const (VIEW-37)."""
        return self.uniform_nomemspace_type.const_type

    @property
    def uniform_runtime_nomemspace_type(self) -> Self:
        """Return the canonical form in `AnonymousSpace`, without compile-time extents (VIEW-38)."""
        return replace(self.uniform_runtime_type, memory_space=AnonymousSpace)

    @property
    def uniform_runtime_const_nomemspace_type(self) -> Self:
        """Return the const canonical form in `AnonymousSpace`, run-time extents only (VIEW-39)."""
        return self.uniform_runtime_nomemspace_type.const_type

    @property
    def host_mirror_type(self) -> Self:
        """Return the non-const type of a mirror that the host can access (VIEW-42)."""
        return self.at_space(self.host_mirror_space).non_const_type

    HostMirror = host_mirror_type

    def at_space(self, space: MemorySpace) -> Self:
        """Return the managed type with the same data type and layout in `space`."""
        return replace(
            self,
            execution_space=execution_space_of(space),
            memory_space=space,
            memory_traits=MemoryTraits.Managed,
        )

    # -- layouts ---------------------------------------------------------------------------------

    def required_allocation_size(self, *extents: Any) -> int:
        """Return the size in bytes of a view with these extents or this layout (VIEW-73, VIEW-74).

        Missing extents are 0. Raises `ViewTypeError` for extents if the layout is not regular.
        """
        if len(extents) == 1 and isinstance(extents[0], self.array_layout):
            return extents[0].span() * self.dtype.itemsize
        if not self.array_layout.is_regular:
            raise ViewTypeError(
                f"{self} has a layout that extents do not determine: pass a layout object."
            )
        numbers = checked_extents(extents)[: self.rank]
        dynamic = numbers + (0,) * (self.rank - len(numbers))
        return self.regular_layout(self.data_type.completed(dynamic)).span() * self.dtype.itemsize

    def regular_layout(self, extents: tuple[int, ...]) -> ViewLayout:
        """Return the layout with the given extents; the type must have a regular layout."""
        return self.array_layout(*extents)

    def __repr__(self) -> str:
        parts = [f'"{self.data_type}"', self.array_layout.__name__]
        usual = execution_space_of(self.memory_space) == self.execution_space
        parts.append(space_name(self.memory_space) if usual else repr(self.device_type))
        if self.memory_traits:
            named = [trait.name or "" for trait in MemoryTraits if trait in self.memory_traits]
            parts.append(" | ".join(named))
        return f"View[{', '.join(parts)}]"


def _data_type_in(parts: tuple[Any, ...]) -> tuple[DataType, tuple[Any, ...]]:
    """Return the data type at the head of the arguments, and the arguments after it."""
    if isinstance(parts[0], str):
        return data_type(parts[0]), parts[1:]
    if isinstance(parts[0], tuple) and len(parts[0]) == 2:
        return data_type(*parts[0]), parts[1:]
    if len(parts) > 1 and isinstance(parts[1], str):
        return data_type(parts[0], parts[1]), parts[2:]
    return data_type(parts[0]), parts[1:]


def _in_order(spec: DataType, arguments: tuple[Any, ...]) -> dict[_ParameterOrder, Any]:
    found: dict[_ParameterOrder, Any] = {}
    for argument in arguments:
        place = _place_of(argument, spec)
        if found and place <= max(found):
            raise ViewTypeError(
                f'The arguments after "{spec}" are out of order: a layout, a memory space and '
                f"memory traits, each at most once, come in this order."
            )
        found[place] = argument
    return found


def _place_of(argument: Any, spec: DataType) -> _ParameterOrder:
    if is_layout_class(argument):
        return _ParameterOrder.LAYOUT
    if argument is ScratchSpace or isinstance(argument, (MemorySpace, ExecutionSpace, Device)):
        return _ParameterOrder.SPACE
    if isinstance(argument, MemoryTraits):
        return _ParameterOrder.TRAITS
    raise ViewTypeError(
        f'View["{spec}", …] cannot use {argument!r}: what may follow is a layout class such as '
        f"LayoutLeft, a space such as HostSpace, and traits such as Unmanaged."
    )


def _placed(space: Any) -> tuple[ExecutionSpace, MemorySpace, MemoryTraits]:
    """Return the execution space, the memory space, and the traits that `space` implies."""
    if space is ScratchSpace:
        execution = DefaultExecutionSpace()
        return execution, execution.memory_space, MemoryTraits.Unmanaged
    if isinstance(space, Device):
        return space.execution_space, space.memory_space, MemoryTraits.Managed
    if isinstance(space, ExecutionSpace):
        return space, space.memory_space, MemoryTraits.Managed
    return execution_space_of(space), space, MemoryTraits.Managed
