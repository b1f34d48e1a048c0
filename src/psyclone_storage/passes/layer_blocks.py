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
from psyclone_storage.analysis.bodies.shapes import changed_names
from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_in, names_of_line, walk_lines, with_each_block
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.passes.scratch import Scratch

LAYERS = 32
"""The number of layers in a block: a few vectors, and few enough for local arrays in a cache."""
_SIZE = ex.whole(LAYERS)
_MOST_VALUES = 16
"""Values of a layer that are stored between the two loops."""
_Jump = un.Exit | un.Cycle | un.Return


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
    if step not in (1, -1) or any(isinstance(line, _Jump) for line in walk_lines(loop.body)):
        return None
    if names_in(loop.stop) & changed_names(loop.body):
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
    kind = scratch.code.symbol(line.variable.key).type
    if passed is None or not isinstance(kind, ScalarType):
        return (line,)
    down = line.step is not None and ex.integer_value(line.step) == -1
    block, end = (
        scratch.variable(f"{line.variable.text}_{word}", kind) for word in ("block", "end")
    )
    distance = (block, line.variable) if down else (line.variable, block)
    position = ex.Binary(Operator.PLUS, ex.Binary(Operator.MINUS, *distance), ex.whole(1))
    stored = [
        (ex.Name(name), ex.Element(scratch.variable(f"{name}_ahead", type_, (_SIZE,)), (position,)))
        for name, type_ in passed
    ]
    inner = replace(line, start=block, stop=end, uid="")
    loops = (
        replace(inner, body=(*before, *(un.Assign(to, value) for value, to in stored))),
        replace(inner, body=(*(un.Assign(value, to) for value, to in stored), *after)),
    )
    return (_over_blocks(line, (block, end), loops, down=down),)


def _over_blocks(
    line: un.Do, names: tuple[ex.Name, ex.Name], loops: tuple[un.Do, ...], *, down: bool
) -> un.Do:
    """Return the loop over blocks; `names` are the first and the last layer of a block."""
    block, end = names
    furthest = ex.Binary(Operator.MINUS if down else Operator.PLUS, block, ex.whole(LAYERS - 1))
    last = un.Assign(end, ex.intrinsic("max" if down else "min", furthest, line.stop))
    step = ex.Unary(Operator.MINUS, _SIZE) if down else _SIZE
    return un.Do(block, line.start, line.stop, (last, *loops), step)


def _passed(
    before: tuple[un.Line, ...], after: tuple[un.Line, ...], code: Routine, loop: un.Do
) -> list[tuple[str, ScalarType]] | None:
    """Return the scalars set ahead that other statements use.

    None if there are too many, or if other statements use an array that is set ahead.
    """
    inside = set(map(id, walk_lines((loop,))))
    others = (line for line in walk_lines(code.body) if id(line) not in inside)
    used = frozenset[str]().union(*map(names_of_line, (*walk_lines(after), *others)))
    keys = sorted({
        line.target.key
        for line in walk_lines(before)
        if isinstance(line, un.Assign) and isinstance(line.target, ex.Name)
    } & used)  # fmt: skip
    declared = [code.declared(key) for key in keys]
    found = [
        (item.name, item.type)
        for item in declared
        if item is not None and isinstance(item.type, ScalarType) and not item.shape
    ]
    return found if len(found) == len(keys) and len(keys) <= _MOST_VALUES else None
