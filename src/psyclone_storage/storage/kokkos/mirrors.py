"""Copies of views between spaces: mirrors, `deep_copy`, `resize` and `realloc`."""

from __future__ import annotations

from typing import Any

import numpy as np

from psyclone_storage.storage.core.errors import ViewTypeError
from psyclone_storage.storage.core.futures import Future
from psyclone_storage.storage.core.spaces import MemorySpace
from psyclone_storage.storage.kokkos.dual_view import DualView
from psyclone_storage.storage.kokkos.view import View, ViewClass
from psyclone_storage.storage.kokkos.view_copy import Part, copy_values, fill_values, resized
from psyclone_storage.storage.kokkos.view_create import (
    AllocProperties,
    WithoutInitializing,
    allocated,
    view_alloc,
)
from psyclone_storage.storage.kokkos.view_handle import Handle
from psyclone_storage.storage.kokkos.view_spaces import ExecutionSpace

_SCALARS = (int, float, complex, bool, np.generic, tuple)


def create_mirror(*arguments: Any) -> View:
    """Return a new view with the extents and layout of `view`, in a space that the host can use.

    Call it as `create_mirror(view)`, or as `create_mirror(space, view)` for another space. Before
    the view there may be a memory space, `WithoutInitializing` or `view_alloc(...)`. The mirror is
    non-const and initialised with zeros.
    """
    view, properties = _source(arguments)
    return _mirror(view, properties)


def create_mirror_view(*arguments: Any) -> View:
    """Return the view itself if it is in the requested space, else a mirror.

    The arguments are those of `create_mirror`. Without a space, the view itself is returned if the
    host can use it.
    """
    view, properties = _source(arguments)
    return _same(view, properties) or _mirror(view, properties)


def create_mirror_view_and_copy(*arguments: Any) -> View:
    """Return the result of `create_mirror_view`, filled with the values of the view."""
    view, properties = _source(arguments)
    same = _same(view, properties)
    if same is not None:
        return same
    mirror = _mirror(view, view_alloc(*_given(properties), WithoutInitializing))
    if view.is_allocated():
        deep_copy(mirror, view)
    return mirror


def deep_copy(*arguments: Any) -> Future[None] | None:
    """Copy values: `deep_copy(target, source)`; a scalar `source` fills the target.

    Target and source are views or arrays with equal extents and element types, in any space and
    layout. With an execution space as the first argument, the copy runs there asynchronously and
    the function returns a future; otherwise the copy is complete on return. Raises `ViewTypeError`
    if the target is const or if ranks or element types differ, and `ViewExtentError` if extents
    differ.
    """
    if isinstance(arguments[0], ExecutionSpace):
        return arguments[0].submit(_copy, *arguments[1:])
    _copy(*arguments)
    return None


def resize(*arguments: Any) -> None:
    """Reallocate a view with other extents; copy values that fit, set new elements to zero.

    Call it as `resize(view, *extents)` or `resize(view, layout)`, with `WithoutInitializing` or
    `view_alloc(...)` as optional first arguments. Other views of the old memory are unchanged. A
    dual view is resized on the side with the newest values.
    """
    _exchange(arguments, keep=True)


def realloc(*arguments: Any) -> None:
    """Reallocate a view with other extents, without its values; arguments as for `resize`."""
    _exchange(arguments, keep=False)


def _copy(target: Any, source: Any) -> None:
    if isinstance(source, _SCALARS):
        fill_values(Part.of(target), source)
    else:
        copy_values(Part.of(target), Part.of(source))


def _exchange(arguments: tuple[Any, ...], *, keep: bool) -> None:
    kinds = (View, DualView)
    position = next((at for at, given in enumerate(arguments) if isinstance(given, kinds)), None)
    if position == 0 and isinstance(arguments[0], DualView):
        exchange = arguments[0].resize if keep else arguments[0].realloc
        exchange(*arguments[1:])
        return
    if position is None or not isinstance(arguments[position], View):
        raise ViewTypeError("resize() and realloc() need a view, and after it extents or a layout.")
    view = arguments[position]
    properties = _properties(arguments[:position], view.label())
    view.handle = resized(Part.of(view), properties, arguments[position + 1 :], keep=keep)


def _source(arguments: tuple[Any, ...]) -> tuple[View, AllocProperties]:
    """Return the view among the arguments, and the allocation properties of its mirror."""
    views = [given for given in arguments if isinstance(given, View)]
    if len(views) != 1:
        raise ViewTypeError(f"A mirror needs one view, unlike {arguments}.")
    wishes = tuple(given for given in arguments if not isinstance(given, View))
    labelled = any(isinstance(given, str) for given in wishes)
    return views[0], _properties(wishes, "" if labelled else f"{views[0].label()}_mirror")


def _properties(wishes: tuple[Any, ...], label: str) -> AllocProperties:
    """Return the allocation properties in `wishes`; `label` applies if they contain no label."""
    parts: list[Any] = []
    for wish in wishes:
        parts.extend(_given(wish) if isinstance(wish, AllocProperties) else [wish])
    labelled = not label or any(isinstance(part, str) for part in parts)
    return view_alloc(*parts) if labelled else view_alloc(label, *parts)


def _given(properties: AllocProperties) -> list[Any]:
    parts = (properties.label or None, properties.space, properties.execution)
    found = [part for part in parts if part is not None]
    return found if properties.initialise else [*found, WithoutInitializing]


def _target_type(view: View, properties: AllocProperties) -> ViewClass:
    space: MemorySpace | None = properties.space
    return view.type.host_mirror_type if space is None else view.type.at_space(space).non_const_type


def _same(view: View, properties: AllocProperties) -> View | None:
    target = _target_type(view, properties)
    return view if target.memory_space is view.type.memory_space else None


def _mirror(view: View, properties: AllocProperties) -> View:
    target = _target_type(view, properties)
    if not view.is_allocated():
        return View.around(target, Handle.null(target))
    return View.around(target, allocated(target, view.layout(), properties))
