"""Kernels that compute what needs no other layer ahead, in blocks of layers.

    before: do k = 1, n; x = a(k) / b(k); s = s + x; c(k) = s
    after:  do k_block = 1, n, 32
              k_end = min(k_block + 31, n)
              do k = k_block, k_end; x = a(k) / b(k); x_ahead(k - k_block + 1) = x
              do k = k_block, k_end; x = x_ahead(k - k_block + 1); s = s + x; c(k) = s

The first inner loop can be vectorised. Each value undergoes the same operations, so results are
bit-identical.
"""

from __future__ import annotations

from psyclone_storage.analysis.bodies.columns import is_slow, serial_loops, statements_ahead
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_of_line, walk_lines, with_each_block
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.passes.scratch import Scratch

LAYERS = 32
"""The number of layers in a block: a few vectors, and few enough for local arrays in a cache."""
_MOST_VALUES = 16
"""Values of a layer that are stored between the two loops."""
_JUMPS = un.Exit | un.Cycle | un.Return


def with_layer_blocks(code: Routine) -> Routine:
    """Return a kernel with divisions that need no other layer in loops of their own.

    The result is `code` itself if no loop has such divisions.
    """
    loops = {id(loop): ahead for loop in serial_loops(code) if (ahead := _worth_it(loop))}
    if not loops:
        return code
    scratch = Scratch(code)

    def block(lines: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        made: list[un.Line] = []
        for line in lines:
            ahead = loops.get(id(line))
            if ahead is None:
                made.append(with_each_block(line, block))
            else:
                made += _blocks(line, ahead, scratch)
        return tuple(made)

    body = block(code.body)
    return code if body == code.body else linked(replace(scratch.code, body=body))


def _worth_it(loop: un.Do) -> frozenset[int] | None:
    """Return the statements to be computed ahead; None if that gains nothing or is unclear."""
    step = 1 if loop.step is None else ex.integer_value(loop.step)
    if step not in (1, -1) or any(isinstance(line, _JUMPS) for line in walk_lines(loop.body)):
        return None
    ahead = statements_ahead(loop)
    slow = any(is_slow(line) for line in loop.body if id(line) in ahead)
    return ahead if slow else None


def _blocks(line: un.Line, ahead: frozenset[int], scratch: Scratch) -> tuple[un.Line, ...]:
    """Return a loop over blocks of layers with two loops over the layers of a block."""
    assert isinstance(line, un.Do)
    before = tuple(one for one in line.body if id(one) in ahead)
    after = tuple(one for one in line.body if id(one) not in ahead)
    passed = _passed(before, after, scratch.code, line)
    if passed is None:
        return (line,)
    counter, down = line.variable, line.step is not None and ex.integer_value(line.step) == -1
    kind = scratch.code.symbol(counter.key).type
    assert isinstance(kind, ScalarType)
    block = scratch.variable(f"{counter.text}_block", kind)
    end = scratch.variable(f"{counter.text}_end", kind)
    distance = (block, counter) if down else (counter, block)
    position = ex.Binary(
        Operator.PLUS, ex.Binary(Operator.MINUS, *distance), ex.whole(1)
    )
    stored = [
        (ex.Name(item.name), ex.Element(
            scratch.variable(f"{item.name}_ahead", item.type, (ex.whole(LAYERS),)), (position,)))
        for item in passed if isinstance(item.type, ScalarType)
    ]  # fmt: skip
    furthest = ex.Binary(Operator.MINUS if down else Operator.PLUS, block, ex.whole(LAYERS - 1))
    last = un.Assign(end, ex.intrinsic("max" if down else "min", furthest, line.stop))
    first = replace(line, start=block, stop=end, uid="",
                    body=(*before, *(un.Assign(to, value) for value, to in stored)))  # fmt: skip
    second = replace(line, start=block, stop=end, uid="",
                     body=(*(un.Assign(value, to) for value, to in stored), *after))  # fmt: skip
    size = ex.Unary(Operator.MINUS, ex.whole(LAYERS)) if down else ex.whole(LAYERS)
    return (un.Do(block, line.start, line.stop, (last, first, second), size),)


def _passed(
    before: tuple[un.Line, ...], after: tuple[un.Line, ...], code: Routine, loop: un.Do
) -> list[un.Declare] | None:
    """Return the scalars set ahead that other statements use; None if there are too many."""
    inside = set(map(id, walk_lines((loop,))))
    others = (line for line in walk_lines(code.body) if id(line) not in inside)
    used = frozenset[str]().union(*map(names_of_line, (*walk_lines(after), *others)))
    keys = sorted({
        line.target.key
        for line in walk_lines(before)
        if isinstance(line, un.Assign) and isinstance(line.target, ex.Name)
    } & used)  # fmt: skip
    declared = [code.declared(key) for key in keys]
    found = [item for item in declared if item is not None and not item.shape]
    return found if len(found) == len(keys) and len(keys) <= _MOST_VALUES else None
