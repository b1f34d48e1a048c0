"""Sizes of arrays in bytes, as numbers or as Fortran expressions, for reports of transfers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.device_program import ProcedureName, ProgramArray
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.pipeline.program_tree import ProgramTree


@dataclass(frozen=True, slots=True)
class ArraySizes:
    """Computes the sizes of the arrays of a call tree; `modules` are those of its files."""

    tree: ProgramTree
    modules: Mapping[str, Routine]

    def of(self, array: ProgramArray) -> int | str:
        """Return the bytes of an array, as an expression if its extents are variables."""
        name = ProcedureName(array.module, array.procedure)
        code = self.tree.uses.code(name) if array.procedure else self.modules[array.module]
        item = code.declared(array.name)
        whole = f"storage_size({array.name}) / 8 * size({array.name})"
        if item is None or not isinstance(item.type, ScalarType):
            return whole
        finder = self.tree.uses.finder
        scope = CScope(code, ModuleContext(finder.offered, lambda *_: ()))
        size = _size_of_element(item.type, scope)
        extents = next(self._allocated(array), item.shape)
        parts = [_length(one, scope) for one in extents]
        if size is None or None in parts:
            return whole
        number = size * prod(one for one in parts if isinstance(one, int))
        words = [one for one in parts if isinstance(one, str)]
        return " * ".join((str(number), *words)) if words else number

    def of_element(self, array: ProgramArray) -> int | None:
        """Return the bytes of an element of an array, None if they are not known."""
        name = ProcedureName(array.module, array.procedure)
        code = self.tree.uses.code(name) if array.procedure else self.modules[array.module]
        item = code.declared(array.name)
        if item is None or not isinstance(item.type, ScalarType):
            return None
        scope = CScope(code, ModuleContext(self.tree.uses.finder.offered, lambda *_: ()))
        return _size_of_element(item.type, scope)

    def _allocated(self, array: ProgramArray) -> Iterator[tuple[ex.Expr, ...]]:
        """Yield the extents of an array in `allocate` statements, if these are all equal."""
        found = {
            path.subscripts
            for lines in self.tree.allocated.values()
            for line, data in lines
            for key, one in data
            for path in filter(None, map(path_of, line.arrays))
            if one == array and path.root == key and isinstance(line, un.Allocate)
        }
        if len(found) == 1 and () not in found:
            yield from found


def _size_of_element(kind: ScalarType, scope: CScope) -> int | None:
    """Return the bytes of a number, None for characters and unknown kinds."""
    if kind.intrinsic is Intrinsic.CHARACTER:
        return None
    parts = 2 if kind.intrinsic is Intrinsic.COMPLEX else 1
    try:
        return parts * (4 if kind.kind is None else scope.kind(kind.kind))
    except PrintError:
        return None


def _length(extent: ex.Expr, scope: CScope) -> int | str | None:
    """Return the length of a dimension as a number or as text, None if it is not written."""
    lower: ex.Expr | None = None
    upper: ex.Expr | None = extent
    if isinstance(extent, ex.Range):
        lower, upper = extent.lower, extent.upper
    if upper is None or isinstance(upper, ex.Star):
        return None
    first, last = 1 if lower is None else scope.integer(lower), scope.integer(upper)
    if first is not None and last is not None:
        return max(0, last - first + 1)
    text = ex.spell(upper)
    if first is None:
        return f"({text} - ({'' if lower is None else ex.spell(lower)}) + 1)"
    if first == 1:
        return text if isinstance(upper, ex.Name) else f"({text})"
    return f"({text} {'+' if first < 1 else '-'} {abs(1 - first)})"
