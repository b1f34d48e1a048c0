"""Argument access in kernels for grid points: arrays are indexed relative to the point.

Elements may be read as far as the stencil allows. Only the element at the point itself may be
assigned.
"""

from __future__ import annotations

import ast
from typing import Any

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.compile_time import UNKNOWN_VALUE, is_int, value_of
from psyclone_storage.languages.python.parse.local_arrays import (
    local_array,
    read_element,
    written_element,
)
from psyclone_storage.languages.python.parse.scope import (
    UNKNOWN,
    CountedRange,
    KernelScope,
    TypedExpression,
)
from psyclone_storage.languages.python.parse.tree import PythonTree

_OFFSETS = (
    "Write the distance from the point, as in 'height[1, 0]': whole numbers, constants of the"
    " module, and counters of loops with constant bounds."
)
_OWN = (0, 0)
_AXES = ("i", "j")
_FARTHEST = 1000


@dataclass(frozen=True, slots=True)
class PointAccess:
    """Access rules for kernels of grid points; `index` contains the names of the two indices."""

    index: tuple[str, str]
    hint: str = _OFFSETS
    has_arrays: bool = False

    def assigned(self, name: str, _dummy: Dummy) -> str:
        """Return a hint that explains how to assign the element at the point."""
        return f"Write '{name}[0, 0] = ...'."

    def within(self, _tree: PythonTree) -> PointAccess:
        """Return the same rules, because a kernel body uses no names of the API."""
        return self

    def read(self, scope: KernelScope, node: ast.Subscript) -> TypedExpression:
        """Return an element near the point."""
        if (local := local_array(scope, node)) is not None:
            return read_element(scope, node, local)
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        dummy = scope.arguments.get(name)
        if dummy is None or not dummy.rank:
            what = f"'{scope.text(node.value)}' has no neighbours to look at."
            hint = "Only fields and properties of a grid have."
            return scope.refuse("P051", what, node.value, hint)
        offset = _offset_of(scope, node.slice)
        if offset is None or not _may_read(scope, node, dummy, offset):
            return TypedExpression(UNKNOWN.expr, dummy.type.intrinsic)
        found = nodes.element(scope.code(name), self.index, offset)
        return TypedExpression(found, dummy.type.intrinsic)

    def target(
        self, scope: KernelScope, node: ast.Subscript, value: TypedExpression
    ) -> Expr | None:
        """Return the assigned element at the point, or one of a local array."""
        if (local := local_array(scope, node)) is not None:
            return written_element(scope, node, local, value)
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        dummy = scope.arguments.get(name)
        if dummy is None or not dummy.rank:
            scope.refuse("P051", f"'{scope.text(node)}' is no field.", node)
            return None
        offset = _offset_of(scope, node.slice)
        if offset is None or not _may_write(scope, node, dummy, offset):
            return None
        if not scope.accepts(node, name, dummy.type.intrinsic, value):
            return None
        scope.gives_element(f"{scope.code(name)}[]")
        return nodes.element(scope.code(name), self.index, offset)

    def extent(self, scope: KernelScope, node: ast.Subscript, part: int) -> Expr | None:
        """Return None, because there are no array sections."""
        return None

    def counted(self, scope: KernelScope, node: ast.expr) -> CountedRange | None:
        """Return None, because such kernels have no loop ranges."""
        return None

    def length(self, scope: KernelScope, node: ast.expr) -> TypedExpression | None:
        """Return None, because such kernels have no loop ranges."""
        return None

    def number(self, scope: KernelScope, node: ast.Call) -> TypedExpression | None:
        """Return None, because such kernels have no named integers."""
        return None


def _offset_of(scope: KernelScope, node: ast.expr) -> tuple[int, int] | None:
    """Return the offset of an element from the point.

    Record an error and return None if invalid.
    """
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    values = [value_of(scope, part) for part in parts]
    if len(values) == len(_AXES) and all(map(_is_distance, values)):
        return values[0], values[1]
    if len(values) == len(_AXES) and UNKNOWN_VALUE in values and scope.needs_unrolling():
        return None
    scope.refuse("P051", f"'{scope.text(node)}' is no distance from a point.", node, _OFFSETS)
    return None


def _is_distance(value: Any) -> bool:
    return is_int(value) and abs(value) <= _FARTHEST


def _may_read(
    scope: KernelScope, node: ast.Subscript, dummy: Dummy, offset: tuple[int, int]
) -> bool:
    name = scope.text(node.value)
    if not dummy.access.reads and not (
        offset == _OWN and scope.has_element(f"{scope.code(name)}[]")
    ):
        what = f"'{name}' is only written, but is looked at here before it has a value."
        scope.refuse("M206", what, node, "Let its access be one that reads, too.")
        return False
    if dummy.reach is not None and offset not in dummy.reach:
        seen = ", ".join(f"[{i}, {j}]" for i, j in sorted(dummy.reach)) or "no point"
        what = f"'{name}' is looked at outside of its stencil."
        scope.refuse("M207", what, node, f"Its stencil has {seen}.")
        return False
    return True


def _may_write(
    scope: KernelScope, target: ast.Subscript, dummy: Dummy, offset: tuple[int, int]
) -> bool:
    name = scope.text(target.value)
    if not scope.may_write(target, dummy):
        return False
    if offset != _OWN:
        what = f"'{name}' is written off the point that the kernel is called for."
        scope.refuse("M207", what, target, f"Write '{name}[0, 0]'.")
        return False
    return True
