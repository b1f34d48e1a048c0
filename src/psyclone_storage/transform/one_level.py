"""A second procedure of a loop over cells, for columns of one level."""

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
from psyclone_storage.ir.walk import kernel_calls, outer_loops, place_of
from psyclone_storage.transform.outline import is_in_place
from psyclone_storage.transform.step import ReplacesLoop

_MOST_LINES = 60
"""Loops with more statements are not written twice."""
_OF_CELLS = (Role.CELL, Role.CELL_MAP, Role.DOFMAP, Role.STENCIL_MAP)


@dataclass(frozen=True, slots=True)
class VersionForOneLevel(ReplacesLoop):
    """Give a loop over cells a second procedure, for columns of one level.

    Surface fields have one level, and loops over one level cost more than their bodies. If the
    number of levels is one, which is tested once for the loop, the program calls a procedure in
    which the compiler knows this: loops over levels disappear there. For all other numbers nothing
    changes. Apply it after `outline`. Results are bit-identical for both procedures.

    Refused for loops that are not in a procedure of their own, or not over cells; where a kernel is
    called, or none of its innermost loops counts the levels; for long kernels; and where bits could
    depend on it, as a compiler contracts adjacent multiplications and additions: where a product is
    assigned to be added to later, is written twice, or is invariant in a loop; where products are
    added to the same variable or element by the innermost loop without levels, unless cells have
    colours, which give such sums another order anyway; where the number of levels is part of a
    value, or a constant that a statement assigns is a factor of a product, divides or is subtracted
    from one; for powers, and functions like `exp`.

    before: call invoke_0_loop1(nlayers, ...)
    after:  if (nlayers == 1) then; call invoke_0_loop1_one_level(...); else; call ...
    """

    name: ClassVar[str] = "version-one-level"

    @classmethod
    def candidates(cls, schedule: Schedule) -> Iterable[Loop]:
        """Return every loop over cells that no other loop is around."""
        return (loop for loop in outer_loops(schedule) if loop.over.starts_cells)

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return all reasons against a second procedure."""
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
        """Return the second procedure asked for."""
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
    """Yield why the bits of a kernel may be others; colours give its sums another order anyway."""
    pairs = list(zip(map(key_of, code.dummies), call.dummies, strict=True))
    layers = next((key for key, dummy in pairs if dummy.role is Role.NLAYERS), None)
    if layers is None or not counts_levels(code, layers):
        yield f"No innermost loop of '{code.name}' counts the levels"
        return
    of_cells = {key for key, dummy in pairs if dummy.role in _OF_CELLS}
    sums = () if in_colours else gathered(code, layers)
    for why in (*against_one_level(code, layers, of_cells), *sums):
        yield f"Bits of '{code.name}' may depend on a version: {why}"
