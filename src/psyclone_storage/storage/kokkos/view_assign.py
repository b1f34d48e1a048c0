"""The rules by which a view may refer to the data of another view, without a copy.

The rules are two tables. The type rules need no extents; a violation is a `ViewTypeError`. The
extent rules need the views themselves; a violation is a `ViewExtentError`. Each rule returns the
reason for a violation, or an empty string.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.storage.core.errors import ViewExtentError, ViewTypeError
from psyclone_storage.storage.kokkos.view_handle import Handle
from psyclone_storage.storage.kokkos.view_layout import (
    LayoutLeft,
    LayoutRight,
    LayoutStride,
    ViewLayout,
    same_places,
)
from psyclone_storage.storage.kokkos.view_spaces import space_name
from psyclone_storage.storage.kokkos.view_type import ViewType

_BUILT_IN = {LayoutLeft, LayoutRight, LayoutStride}
TypeRule = Callable[[ViewType, ViewType], str]
ExtentRule = Callable[[ViewType, ViewLayout], str]


def type_reasons(target: ViewType, source: ViewType) -> tuple[str, ...]:
    """Return the reasons why a view of type `target` cannot be made from one of type `source`."""
    return tuple(reason for rule in TYPE_RULES if (reason := rule(target, source)))


def extent_reasons(target: ViewType, layout: ViewLayout) -> tuple[str, ...]:
    """Return the reasons why a view of type `target` cannot have the layout `layout`.

    The types must already be compatible.
    """
    return tuple(reason for rule in EXTENT_RULES if (reason := rule(target, layout)))


def check_types(target: ViewType, source: ViewType) -> None:
    """Raise `ViewTypeError` if the types do not allow the assignment."""
    reasons = type_reasons(target, source)
    if reasons:
        raise ViewTypeError(f"{target} cannot be made from {source}: {'; '.join(reasons)}.")


def assigned(target: ViewType, source: ViewType, handle: Handle) -> Handle:
    """Return the handle of a view of type `target` that refers to the memory of `handle`.

    `source` is the type of the view to which `handle` belongs. Raises `ViewTypeError` or
    `ViewExtentError` if the assignment is not allowed.
    """
    check_types(target, source)
    if handle.record is None:
        return Handle.null(target)
    return fitted(target, handle)


def fitted(target: ViewType, handle: Handle) -> Handle:
    """Return `handle` with the layout and the ownership that `target` requires.

    Raises `ViewExtentError` if extents or strides do not fit; types are not checked.
    """
    reasons = extent_reasons(target, handle.layout)
    if reasons:
        raise ViewExtentError(
            f'{target} cannot show "{handle.label}" of extents {handle.layout.extents}: '
            f"{'; '.join(reasons)}."
        )
    return handle.with_layout(_converted(target, handle.layout)).counted_for(target)


def _ranks(target: ViewType, source: ViewType) -> str:
    """Require equal ranks (VIEW-82)."""
    if target.rank == source.rank:
        return ""
    return f"the ranks are {target.rank} and {source.rank}"


def _value_types(target: ViewType, source: ViewType) -> str:
    """Require equal element types, apart from `const` (VIEW-83)."""
    if target.non_const_value_type == source.non_const_value_type:
        return ""
    return f'the elements are "{target.value_type}" and "{source.value_type}"'


def _constness(target: ViewType, source: ViewType) -> str:
    """Reject a non-const view of const data (VIEW-84)."""
    if target.value_type.const or not source.value_type.const:
        return ""
    return f'the source is const, so the target must be "const {target.value_type}"'


def _spaces(target: ViewType, source: ViewType) -> str:
    """Require that a view in the target's space can refer to memory in the source's (VIEW-85)."""
    if target.memory_space.assignable_from(source.memory_space):
        return ""
    return (
        f"data at {space_name(source.memory_space)} cannot be used as "
        f"{space_name(target.memory_space)} (copy them with deep_copy)"
    )


def _static_extents(target: ViewType, source: ViewType) -> str:
    """Require that compile-time extents of both types are equal (VIEW-86)."""
    pairs = zip(target.dimension, source.dimension, strict=False)
    for axis, (ours, theirs) in enumerate(pairs):
        if ours is not None and theirs is not None and ours != theirs:
            return f"extent {axis} is {ours} in one type and {theirs} in the other"
    return ""


def _layout_kinds(target: ViewType, source: ViewType) -> str:
    """Require layouts that can be equal (VIEW-88).

    `LayoutLeft` and `LayoutRight` can be equal up to rank 1, either can equal `LayoutStride`, and a
    custom layout only itself.
    """
    kinds = {target.array_layout, source.array_layout}
    if len(kinds) == 1:
        return ""
    if kinds <= _BUILT_IN and (LayoutStride in kinds or target.rank <= 1):
        return ""
    return f"the layouts are {target.array_layout.__name__} and {source.array_layout.__name__}"


def _dynamic_extents(target: ViewType, layout: ViewLayout) -> str:
    """Require that compile-time extents of the target equal those of the source (VIEW-87)."""
    for axis, (ours, theirs) in enumerate(zip(target.dimension, layout.extents, strict=True)):
        if ours is not None and ours != theirs:
            return f"extent {axis} is {theirs}, but the type says {ours}"
    return ""


def _strides(target: ViewType, layout: ViewLayout) -> str:
    """Require the strides of the target's regular layout (VIEW-89)."""
    if isinstance(layout, target.array_layout) or target.array_layout is LayoutStride:
        return ""
    wanted = target.regular_layout(layout.extents)
    if same_places(layout, wanted):
        return ""
    return f"the strides are {layout.strides}, but {wanted!r} has {wanted.strides}"


def _converted(target: ViewType, layout: ViewLayout) -> ViewLayout:
    if isinstance(layout, target.array_layout):
        return layout
    if target.array_layout is LayoutStride and layout.strides is not None:
        return LayoutStride(layout.extents, layout.strides)
    return target.regular_layout(layout.extents)


TYPE_RULES: tuple[TypeRule, ...] = (
    _ranks,
    _value_types,
    _constness,
    _spaces,
    _static_extents,
    _layout_kinds,
)
EXTENT_RULES: tuple[ExtentRule, ...] = (_dynamic_extents, _strides)
