"""Meshes on a device: loops over cells and dofs with one thread per iteration.

These are loops over all cells, the cells of one colour, all dofs, and the tiles of a colour.
`targets/lfric_cuda.py` checks that their iterations are independent.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Element, Range, Section
from psyclone_storage.ir.schedule import DirectiveRegion, Loop, Over, Statement
from psyclone_storage.ir.storage_access import StoragePolicy
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.unit import Assign, Do, Line
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext
from psyclone_storage.targets.native.thread_mapping import shared, without_directives

SHARED_LOOPS = frozenset({Over.CELLS, Over.DOFS, Over.CELLS_OF_COLOUR, Over.TILES_OF_COLOUR})
"""What loops count whose iterations have threads of their own."""


def on_device(meshes: Infrastructure) -> Infrastructure:
    """Return a mesh table whose loops run on device threads and whose data have separate waits."""
    contract = StoragePolicy(home=Side.DEVICE, waits_apart=True)
    return replace(meshes, beside=_beside, holding=contract)


def _beside(
    context: LoweringContext, statement: Statement, lines: tuple[Line, ...]
) -> tuple[Line, ...]:
    plain = without_directives(lines)
    loops = tuple(_loops(statement))
    found = [line for line in plain if isinstance(line, Do)]
    if loops and len(found) == len(loops):
        each = iter(loops)
        return tuple(_shared(line, next(each)) if isinstance(line, Do) else line for line in plain)
    return tuple(_filled(context, line) for line in plain)


def _loops(statement: Statement) -> Iterator[Loop]:
    """Yield the outermost loops in a statement."""
    match statement:
        case Loop():
            yield statement
        case DirectiveRegion(body=body):
            for item in body:
                yield from _loops(item)


def _shared(line: Do, loop: Loop) -> Line:
    """Return a loop with its distributed loop (itself or an inner one) marked for threads."""
    if loop.over in SHARED_LOOPS:
        return shared(line)
    inner = tuple(item for item in loop.body if isinstance(item, Loop | DirectiveRegion))
    loops = [one for item in inner for one in _loops(item)]
    if loop.over not in (Over.COLOURS, Over.TILE_COLOURS) or len(loops) != 1:
        return line
    body = tuple(_shared(one, loops[0]) if isinstance(one, Do) else one for one in line.body)
    return replace(line, body=body)


def _filled(context: LoweringContext, line: Line) -> Line:
    """Return the loop for an assignment to several dofs."""
    match line:
        case Assign(Section(base, (Range(first, last),)), value):
            if first is None or last is None:
                return line
            dof = context.counter("df")
            return shared(Do(dof, first, last, (Assign(Element(base, (dof,)), value),)))
    return line
