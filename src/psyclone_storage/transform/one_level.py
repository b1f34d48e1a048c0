"""A version of a cell loop for columns with one level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from psyclone_storage.analysis.bodies.fp_contraction import (
    against_one_level,
    counts_levels,
    gathered,
)
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Loop, Schedule, Statement
from psyclone_storage.ir.unit import Blank, Comment
from psyclone_storage.ir.walk import kernel_calls, outer_loops_of, place_of
from psyclone_storage.transform.outline import is_in_place
from psyclone_storage.transform.step import ReplacesLoop

_MOST_LINES = 60
"""Loops with more statements are not written twice."""
_OF_CELLS = (Role.CELL, Role.CELL_MAP, Role.DOFMAP, Role.STENCIL_MAP)


@dataclass(frozen=True, slots=True)
class VersionForOneLevel(ReplacesLoop):
    """Generate a second version of a cell loop for columns with one level.

    Surface fields have one level, for which loops over levels cost more than their bodies. A test
    before the loop selects the version in which the number of levels is the constant 1, so the
    compiler removes the loops over levels. For other numbers of levels nothing changes. Apply it
    after `outline`. Both versions give bit-identical results.

    Rejected for loops that are not outlined or not over cells; if a kernel is not inlined, or has
    no innermost loop over levels; for long kernels; and if results could differ because a compiler
    contracts adjacent multiplications and additions. That is possible if a product is assigned and
    added later, is written twice, or is loop-invariant; if the innermost loop, without levels,
    accumulates products, unless cells are coloured, which changes the order of such sums anyway; if
    the number of levels is part of a value; if a constant assigned to a variable is a factor of a
    product, a divisor or subtracted from a product; and for powers and functions such as `exp`.

    before: call invoke_0_loop1(nlayers, ...)
    after:  if (nlayers == 1) then; call invoke_0_loop1_one_level(...); else; call ...
    """

    name: ClassVar[str] = "version-one-level"

    @classmethod
    def candidates(cls, item: Statement) -> Iterable[Loop]:
        """Return every outermost loop over cells."""
        return (loop for loop in outer_loops_of(item) if loop.over.starts_cells)

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if no version for one level can be generated."""
        if loop.one_level:
            message = f"'{loop.uid}' has a procedure for one level already."
            return (Diagnostic("T082", message, place_of(loop)),)
        if not loop.outlined:
            message = f"'{loop.uid}' does not stand in a procedure of its own."
            hint = "Apply 'outline' first."
            return (Diagnostic("T093", message, place_of(loop), hint=hint),)
        return tuple(
            Diagnostic("T093", f"{why}.", place_of(loop)) for why in dict.fromkeys(_against(loop))
        )

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the loop marked for a second version."""
        return replace(loop, one_level=True)


def _against(loop: Loop) -> Iterator[str]:
    if not loop.over.starts_cells:
        yield f"'{loop.uid}' is not over cells"
        return
    written = 0
    for call in kernel_calls(loop):
        if not is_in_place(call):
            yield f"'{call.kernel.name}' is called, and its loops are not in '{loop.uid}'"
            continue
        code = call.codes[0]
        lines = [line for line in walk_lines(code.body) if not isinstance(line, Comment | Blank)]
        written += len(lines)
        yield from _about_code(call, code, in_colours=loop.over.in_sequence)
    if written > _MOST_LINES:
        yield f"'{loop.uid}' has {written} statements, of which {_MOST_LINES} are written twice"


def _about_code(call: KernelCall, code: Routine, *, in_colours: bool) -> Iterator[str]:
    """Yield reasons why results of a kernel might differ; colouring permits other sum orders."""
    pairs = list(zip(map(key_of, code.dummies), call.dummies, strict=True))
    layers = next((key for key, dummy in pairs if dummy.role is Role.NLAYERS), None)
    if layers is None or not counts_levels(code, layers):
        yield f"No innermost loop of '{code.name}' counts the levels"
        return
    of_cells = {key for key, dummy in pairs if dummy.role in _OF_CELLS}
    sums = () if in_colours else gathered(code, layers)
    for why in (*against_one_level(code, layers, of_cells), *sums):
        yield f"Bits of '{code.name}' may depend on a version: {why}"
