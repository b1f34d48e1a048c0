"""Argument access in kernels for grid points: arrays are indexed relative to the point.

Elements may be read as far as the stencil allows. Only elements at the point itself may be
assigned. A field with layers has a third index: the layer, counted from 0, as in columns of cells.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.parse.compile_time import UNKNOWN_VALUE, is_int, value_of
from psyclone_storage.languages.python.parse.extremes import index_with_check
from psyclone_storage.languages.python.parse.imports import ImportedNames, imported_names
from psyclone_storage.languages.python.parse.indices import (
    from_one,
    is_within,
    read_index,
    reversed_range,
)
from psyclone_storage.languages.python.parse.local_arrays import (
    is_refused,
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
    "Write the distance from the point, as in 'height[1, 0]': integers, constants of the"
    " module, and counters of loops with constant bounds."
)
_OWN = (0, 0)
_AXES = ("i", "j")
_FARTHEST = 1000


@dataclass(frozen=True, slots=True)
class PointAccess:
    """Access rules for kernels of grid points.

    - `index`: the names of the two indices.

    - `own`: the names of the kernel's arguments, in order.

    - `passed`: all dummies by name.
    """

    index: tuple[str, str]
    own: tuple[str, ...] = ()
    passed: Mapping[str, Dummy] = field(default_factory=dict)
    dialect: Dialect | None = None
    words: ImportedNames | None = None
    hint: str = _OFFSETS
    has_arrays: bool = False
    has_python_scalars: bool = True

    def assigned(self, name: str, dummy: Dummy) -> str:
        """Return a hint that explains how to assign the element at the point."""
        return f"Write '{_own_element(name, dummy)} = ...'."

    def within(self, tree: PythonTree) -> PointAccess:
        """Return the same rules with the imported names of another file."""
        if self.dialect is None:
            return self
        return replace(self, words=imported_names(tree, self.dialect.module))

    def read(self, scope: KernelScope, node: ast.Subscript) -> TypedExpression:
        """Return an element near the point."""
        if (local := local_array(scope, node)) is not None:
            return read_element(scope, node, local)
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        dummy = scope.arguments.get(name)
        if is_refused(scope, node):
            return UNKNOWN
        if dummy is None or not dummy.rank:
            what = f"'{scope.text(node.value)}' has no elements that a kernel can read."
            hint = "Fields, properties of a grid, local arrays and tables have."
            if name in scope.parts:
                what = f"'{scope.text(node)}' has an index that is not known at compile time."
                hint = "Use a table of the module, or a local array, instead of a tuple."
            return scope.refuse("P051", what, node.value, hint)
        place = self._place(scope, node, dummy)
        if place is None or not _may_read(scope, node, dummy, place[0]):
            return TypedExpression(UNKNOWN.expr, dummy.type.intrinsic)
        found = nodes.element(scope.code(name), self.index, *place)
        return TypedExpression(found, dummy.type.intrinsic)

    def target(
        self, scope: KernelScope, node: ast.Subscript, value: TypedExpression
    ) -> Expr | None:
        """Return the assigned element at the point, or one of a local array."""
        if (local := local_array(scope, node)) is not None:
            return written_element(scope, node, local, value)
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        dummy = scope.arguments.get(name)
        if is_refused(scope, node):
            return None
        if dummy is None or not dummy.rank:
            scope.refuse("P051", f"'{scope.text(node)}' is no field.", node)
            return None
        place = self._place(scope, node, dummy)
        if place is None or not _may_write(scope, node, dummy, place[0]):
            return None
        if not scope.accepts(node, name, dummy.type.intrinsic, value):
            return None
        scope.gives_element(f"{scope.code(name)}[]")
        return nodes.element(scope.code(name), self.index, *place)

    def _place(
        self, scope: KernelScope, node: ast.Subscript, dummy: Dummy
    ) -> tuple[tuple[int, int], tuple[Expr, ...]] | None:
        """Return the offset of an element from the point, and its layer if there are layers.

        Record an error and return None if the index is invalid.
        """
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not _has_layers(dummy) and len(parts) > len(_AXES):
            what = f"'{scope.text(node)}' is no element of a field without layers."
            hint = f"Write '{scope.text(node.value)}[0, 0]'; GO_LAYERS declares layers."
            scope.refuse("P051", what, node, hint)
            return None
        if not _has_layers(dummy):
            offset = _offset_of(scope, node.slice, parts)
            return None if offset is None else (offset, ())
        if len(parts) != dummy.rank:
            what = f"'{scope.text(node)}' is no element of a field with layers."
            hint = f"Write '{scope.text(node.value)}[0, 0, layer]'."
            scope.refuse("P051", what, node, hint)
            return None
        offset = _offset_of(scope, node.slice, parts[: len(_AXES)])
        layer, extent = read_index(scope, parts[-1]), Name(self._layers_of(dummy.arg))
        if offset is None or layer is None or not is_within(scope, parts[-1], layer, extent):
            return None
        return offset, (from_one(index_with_check(layer, extent)),)

    def _layers_of(self, arg: int | None) -> str:
        """Return the name of the number of layers of an argument; None selects the first one."""
        found = [
            name
            for name, one in self.passed.items()
            if one.role is Role.NLAYERS and arg in (None, one.arg)
        ]
        return found[0] if found else ""

    def extent(self, scope: KernelScope, node: ast.Subscript, part: int) -> Expr | None:
        """Return None, because there are no array sections."""
        return None

    def counted(self, scope: KernelScope, node: ast.expr) -> CountedRange | None:
        """Return the range of `layers()` or `layers(field)`, possibly reversed."""
        backwards = reversed_range(node)
        found = self.length(scope, backwards or node)
        if found is None:
            return None
        first: Expr = nodes.signed_integer(0)
        last: Expr = nodes.binary_operation("-", found.expr, nodes.signed_integer(1))
        if backwards is None:
            return CountedRange(first, last, taken=True)
        return CountedRange(last, first, nodes.signed_integer(-1), taken=True)

    def length(self, scope: KernelScope, node: ast.expr) -> TypedExpression | None:
        """Return the number of layers, or None for another expression."""
        if self.dialect is None or self.words is None or not isinstance(node, ast.Call):
            return None
        if self.words.meant(node.func) not in self.dialect.ranges:
            return None
        name = self._layers_of(None)
        if node.args:
            said = scope.code(scope.text(node.args[0]))
            name = self._layers_of(self.own.index(said)) if said in self.own else ""
        if not name or node.keywords or len(node.args) > 1:
            what = f"'{scope.text(node)}' is of no field with layers."
            scope.refuse("P051", what, node, "Write 'layers()' or 'layers(field)'.")
            return TypedExpression(nodes.signed_integer(1), Intrinsic.INTEGER)
        return TypedExpression(Name(name), Intrinsic.INTEGER)

    def number(self, scope: KernelScope, node: ast.Call) -> TypedExpression | None:
        """Return None, because such kernels have no named integers."""
        return None


def _own_element(name: str, dummy: Dummy) -> str:
    """Return the element of an argument at the point, as a kernel writes it."""
    return f"{name}[0, 0{', layer' if _has_layers(dummy) else ''}]"


def _has_layers(dummy: Dummy) -> bool:
    return dummy.rank > len(_AXES)


def _offset_of(
    scope: KernelScope, node: ast.expr, parts: Sequence[ast.expr]
) -> tuple[int, int] | None:
    """Return the offset of an element from the point.

    Record an error and return None if invalid.
    """
    with scope.fixing():
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
        scope.refuse("M207", what, target, f"Write '{_own_element(name, dummy)}'.")
        return False
    return True
