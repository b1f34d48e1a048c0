"""Loop transformations in subroutines: swap, strip-mine, tile, fuse, unroll and jam.

Each function takes a subroutine and the number of a loop in it, counted from 1 in source order, and
applies a rewrite of `passes.nests`. `analysis.footprints` checks legality.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.analysis.bodies.flow import flow_of
from psyclone_storage.analysis.bodies.independence import independence_of
from psyclone_storage.analysis.bodies.shapes import type_of_values
from psyclone_storage.base.records import replace
from psyclone_storage.ir.affine import simplified
from psyclone_storage.ir.directive import AccLoopDirective, DeviceLevel
from psyclone_storage.ir.expr import Binary, Expr, Name, intrinsic, whole
from psyclone_storage.ir.loops import addressed, following_loop, loops_of, with_lines_for
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import everywhere, rewritten, substituted, unnamed
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import DirectiveLine, Do, Line
from psyclone_storage.passes.nests import (
    Strips,
    fuse,
    inner_of,
    strip_mine,
    swap,
    tile,
)
from psyclone_storage.passes.scratch import INTEGER, Scratch

# ---------------------------------------------------------------------------- loops of subroutines


def swap_loops(code: Routine, number: int) -> Routine:
    """Return `code` with loop `number` and its inner loop swapped."""
    return rewrite_loop(code, number, lambda loop: (swap(loop),))


def strip_mine_loop(code: Routine, number: int, size: int) -> Routine:
    """Return `code` with loop `number` strip-mined into strips of `size` iterations."""
    return _with_strips(code, number, (size,), strip_mine)


def tile_loops(code: Routine, number: int, size: int, inner: int) -> Routine:
    """Return `code` with loop `number` and its inner loop tiled by `size` x `inner`."""
    return _with_strips(code, number, (size, inner), tile)


def fuse_loops(code: Routine, number: int) -> Routine:
    """Return `code` with loop `number` fused with the following loop."""
    code = addressed(code)
    first = loops_of(code)[number - 1]
    second = following_loop(code, first)
    assert second is not None
    values: dict[str, Expr] = {second.variable.key: first.variable}
    body = everywhere(second.body, lambda expr: substituted(expr, values))
    fused = fuse(first, replace(second, body=body))
    return with_lines_for(code, {first.uid: (fused,), second.uid: ()})


def jam_loops(code: Routine, number: int, factor: int) -> Routine:
    """Return `code` with unroll-and-jam of loop `number` by `factor`."""
    return rewrite_loop(code, number, lambda loop: _jam(loop, factor))


def share_loop(code: Routine, number: int, level: DeviceLevel) -> Routine:
    """Return `code` with an OpenACC `loop` directive that distributes a loop over `level`."""
    flow = flow_of(code)
    found = independence_of(flow.loops[number - 1], flow)
    reductions = tuple((one.operator.spelling, one.name) for one in found.reductions)
    shared = AccLoopDirective((level,), found.private, reductions)
    return rewrite_loop(code, number, lambda loop: (DirectiveLine(meaning=shared), loop))


def rewrite_loop(code: Routine, number: int, rewrite: Callable[[Do], tuple[Line, ...]]) -> Routine:
    """Return `code` with loop `number` replaced by the result of `rewrite`."""
    code = addressed(code)
    loop = loops_of(code)[number - 1]
    return with_lines_for(code, {loop.uid: rewrite(loop)})


def _with_strips(
    code: Routine, number: int, sizes: tuple[int, ...], rewrite: Callable[[Do, Strips[Do]], Do]
) -> Routine:
    """Return `code` with a loop replaced by the strip-mined or tiled nest of `rewrite`.

    `sizes` are those of the strips of the loops, the outer one first.
    """
    scratch = Scratch(code)
    left = iter(sizes)

    def strips(loop: Do) -> tuple[Do, Do]:
        size = next(left)
        kind = type_of_values(loop.variable, scratch.code) or INTEGER
        counter = scratch.variable(f"{loop.variable.text}_chunk", kind)
        last: Expr = Binary(Operator.PLUS, counter, whole(size - 1)) if size > 1 else counter
        stop = intrinsic("min", last, loop.stop)
        inside = Do(loop.variable, counter, stop, loop.body, name=loop.name, uid=loop.uid)
        return Do(counter, loop.start, loop.stop, (), whole(size)), inside

    changed = rewrite_loop(code, number, lambda loop: (rewrite(loop, strips),))
    return replace(scratch.code, body=changed.body)


def _jam(outer: Do, factor: int) -> tuple[Line, ...]:
    inner = inner_of(outer)
    copies = tuple(
        line for shift in range(factor) for line in _shifted(inner.body, outer.variable, shift)
    )
    count = simplified(
        Binary(Operator.PLUS, Binary(Operator.MINUS, outer.stop, outer.start), whole(1))
    )
    left = intrinsic("mod", count, whole(factor))
    start = Binary(Operator.PLUS, Binary(Operator.MINUS, outer.stop, left), whole(1))
    stop = simplified(Binary(Operator.MINUS, outer.stop, whole(factor - 1)))
    together = Do(
        outer.variable,
        outer.start,
        stop,
        (replace(inner, body=copies),),
        whole(factor),
        uid=outer.uid,
    )
    rest = rewritten((replace(outer, start=start),), lambda line: (unnamed(line),))
    return (together, *rest)


def _shifted(lines: tuple[Line, ...], variable: Name, shift: int) -> tuple[Line, ...]:
    """Return `lines` as executed `shift` iterations later.

    Copies of a named construct have no name.
    """
    later = {variable.key: Binary(Operator.PLUS, variable, whole(shift))} if shift else {}
    changed = everywhere(lines, lambda expr: substituted(expr, later))
    return rewritten(changed, lambda line: (unnamed(line),)) if shift else changed
