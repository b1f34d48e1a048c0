"""Variables whose allocation status or shape changes in loops.

The size, bounds and allocation status of most variables stay the same in a routine, so that inquiry
functions read nothing. An inquiry about a variable that a statement in a loop may reallocate reads
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from psyclone_storage.analysis.bodies.shapes import rank_of
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.paths import Subscripts, Variable, path_of, prefixes
from psyclone_storage.ir.rewrite import blocks_of, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import DerivedType

OF_SHAPE = frozenset({"allocated", "associated", "lbound", "shape", "size", "ubound"})
"""Inquiry functions whose value changes if a statement reallocates their argument."""

_LOOPS = (un.Do, un.While, un.DoConcurrent)
_MOVED = frozenset({"allocatable", "pointer"})


@dataclass(frozen=True)
class Reallocations:
    """The variables that the statements of a routine may reallocate.

    `declaration` and `components` are functions of its names. `unclear` are names that may have
    attributes from separate statements.
    """

    code: Routine
    declaration: Callable[[Variable], un.Declare | None]
    components: Callable[[DerivedType], tuple[un.Declare, ...]]
    unclear: frozenset[str]

    @cached_property
    def in_loops(self) -> frozenset[str]:
        """The variables that statements in loops may reallocate.

        After a jump to a label, each statement may be in a loop.
        """
        jumps = any(isinstance(line, un.Goto | un.Label) for line in walk_lines(self.code.body))
        return frozenset(
            root for line in _repeated(self.code.body, inside=jumps) for root in self._by(line)
        )

    def _by(self, line: un.Line) -> Iterator[str]:
        if isinstance(line, un.Assign):
            if self.may_be_by(line):
                path = path_of(line.target)
                if path is not None:
                    yield path.root
        elif isinstance(line, un.Call):
            for arg in line.args:
                path = path_of(arg.value if isinstance(arg, ex.Keyword) else arg)
                if path is not None and self.is_possible(path.variable):
                    yield path.root

    def may_be_by(self, line: un.Assign) -> bool:
        """Return whether an assignment may change a shape, allocation status or pointer."""
        path = path_of(line.target)
        if path is None:
            return False
        declared = self.declaration(path.variable)
        is_part = bool(path.steps) and isinstance(path.steps[-1], Subscripts)
        if declared is None or (len(path.variable) == 1 and path.root in self.unclear):
            is_array = declared is not None and bool(declared.shape)
            return not is_part and (not is_array or rank_of(line.value, self.code) != 0)
        if isinstance(declared.type, DerivedType) and self._is_moved(declared, ()):
            return True
        if is_part or "allocatable" not in declared.words:
            return False
        return not declared.shape or rank_of(line.value, self.code) != 0

    def is_possible(self, variable: Variable) -> bool:
        """Return whether a variable, or a part of it, may be allocatable or a pointer."""
        declared = self.declaration(variable)
        if declared is None or (len(variable) == 1 and variable[0] in self.unclear):
            return True
        return bool(_MOVED & declared.words) or self._is_moved(declared, ())

    def is_allocated(self, variable: Variable) -> bool:
        """Return whether a variable may be or belong to something that has to be allocated."""
        for part in prefixes(variable):
            declared = self.declaration(part)
            if declared is None or _MOVED & declared.words:
                return True
        return variable[0] in self.unclear

    def _is_moved(self, item: un.Declare, around: tuple[DerivedType, ...]) -> bool:
        """Return whether a variable may have allocatable components or pointer components."""
        if not isinstance(item.type, DerivedType):
            return False
        parts = self.components(item.type)
        if not parts or item.polymorphic or item.type in around:
            return True
        within = (*around, item.type)
        return any(_MOVED & part.words or self._is_moved(part, within) for part in parts)


def _repeated(lines: Iterable[un.Line], *, inside: bool) -> Iterator[un.Line]:
    """Yield the statements in loops; all statements if `inside`."""
    for line in lines:
        if inside:
            yield line
        for block in blocks_of(line):
            yield from _repeated(block, inside=inside or isinstance(line, _LOOPS))
