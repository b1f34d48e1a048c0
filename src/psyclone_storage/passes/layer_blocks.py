"""Kernels that compute what needs no other layer ahead, in blocks of layers.

    before: do k = 1, n; x = a(k) / b(k); s = s + x; c(k) = s
    after:  do k_block = 1, n, 32
              k_end = min(k_block + 31, n)
              do k = k_block, k_end; x = a(k) / b(k); x_ahead(k - k_block + 1) = x
              do k = k_block, k_end; x = x_ahead(k - k_block + 1); s = s + x; c(k) = s

The first inner loop can be vectorised. If scalars are all that layers need of each other, only the
statements that set these are executed one layer after the other (`analysis.bodies.layer_stages`):

    before: do k = 1, n; s = s + a(k) / b; if (k > 1) c(k) = c(k) + s / d
    after:  ...
              do k = k_block, k_end; x_ahead(k - k_block + 1) = a(k) / b
              do k = k_block, k_end; s = s + x_ahead(k - k_block + 1); s_at(k - k_block + 2) = s
              do k = max(k_block, 2), k_end; c(k) = c(k) + s_at(k - k_block + 2) / d

The other loops are split by range (`passes.loop_ranges`) and can be vectorised. Each value
undergoes the same operations, so results are bit-identical.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from psyclone_storage.analysis.bodies.columns import (
    is_slow,
    scalars_set_by,
    serial_loops,
    statements_ahead,
)
from psyclone_storage.analysis.bodies.flow import flow_of
from psyclone_storage.analysis.bodies.layer_stages import (
    LaterLine,
    LayerStages,
    layer_stages,
)
from psyclone_storage.analysis.bodies.shapes import changed_names
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import affine_form, simplified
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    everywhere,
    names_in,
    names_inside,
    names_of_line,
    substituted,
    walk_lines,
    with_each_block,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.passes.loop_ranges import RangePart, loop_over, parts_of_loop
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
    flow = flow_of(code)
    loops = {
        id(node.line): (ahead, layer_stages(node, flow))
        for node in serial_loops(flow)
        if isinstance(node.line, un.Do) and (ahead := _worth_it(node.line))
    }
    if not loops:
        return code
    scratch = Scratch(code)

    def block(lines: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        nonlocal scratch
        made: list[un.Line] = []
        for line in lines:
            if id(line) not in loops:
                made.append(with_each_block(line, block))
                continue
            assert isinstance(line, un.Do)
            ahead, stages = loops[id(line)]
            attempt = Scratch(scratch.code)
            in_stages = stages and _in_stages(line, stages, attempt)
            if in_stages:
                scratch = attempt
            made.append(in_stages or _in_blocks(line, ahead, scratch))
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
    # The counter of blocks goes up to 32 beyond the last layer, which must not exceed 32 bits.
    if not any(_uses_layer(line, loop.variable.key) for line in loop.body):
        return None
    ahead = statements_ahead(loop)
    slow = any(is_slow(line) for line in loop.body if id(line) in ahead)
    return ahead if slow else None


def _uses_layer(line: un.Line, counter: str) -> bool:
    """Return whether a statement certainly accesses an element at the counter of a loop.

    The loop then has no more iterations than an array has elements: fewer than 2**31 - 32.
    """
    if not isinstance(line, un.Assign):
        return False
    parts = [part for expr in (line.target, line.value) for part in ex.walk(expr)]
    return not any(map(_may_skip, parts)) and any(
        _is_at_layer(index, counter)
        for part in parts
        if isinstance(part, ex.Element)
        for index in part.items
    )


def _may_skip(expr: ex.Expr) -> bool:
    """Return whether a part of an expression may remain without a value."""
    match expr:
        case ex.Binary(op) if op in (Operator.AND, Operator.OR):
            return True
        case ex.CallFunction(ex.Name(key="merge")):
            return True
    return False


def _is_at_layer(index: ex.Expr, counter: str) -> bool:
    """Return whether an index is the counter plus a constant, and elements such as dofs."""
    terms = affine_form(index).terms
    others = [term for times, term in terms if times != 1 or not _is_name(term, counter)]
    return len(others) < len(terms) and all(isinstance(term, ex.Element) for term in others)


def _is_name(expr: ex.Expr, key: str) -> bool:
    return isinstance(expr, ex.Name) and expr.key == key


@dataclass(frozen=True, slots=True)
class _Block:
    """The variables of a block: its first layer executed, its last one, and layers in order."""

    line: un.Do
    first: ex.Name
    last: ex.Name

    @property
    def is_down(self) -> bool:
        """True if layers are executed from the last to the first."""
        return self.line.step is not None and ex.integer_value(self.line.step) == -1

    @property
    def ends(self) -> tuple[ex.Name, ex.Name]:
        """The least and the greatest layer."""
        return (self.last, self.first) if self.is_down else (self.first, self.last)

    def position(self, shift: int = 1) -> ex.Expr:
        """Return the index of a layer in local arrays, counted from the least layer."""
        distance = ex.Binary(Operator.MINUS, self.line.variable, self.ends[0])
        return ex.Binary(Operator.PLUS, distance, ex.whole(shift))

    def serial(self, *lines: un.Line) -> un.Do:
        """Return the loop over the layers of the block, in order."""
        return replace(self.line, start=self.first, stop=self.last, body=lines, uid="")

    def all(self, *inside: un.Line) -> un.Do:
        """Return the loop over all blocks."""
        operator = Operator.MINUS if self.is_down else Operator.PLUS
        furthest = ex.Binary(operator, self.first, ex.whole(LAYERS - 1))
        function = "max" if self.is_down else "min"
        last = un.Assign(self.last, ex.intrinsic(function, furthest, self.line.stop))
        step = ex.Unary(Operator.MINUS, _SIZE) if self.is_down else _SIZE
        return un.Do(self.first, self.line.start, self.line.stop, (last, *inside), step)


def _new_block(line: un.Do, kind: ScalarType, scratch: Scratch) -> _Block:
    names = (f"{line.variable.text}_{word}" for word in ("block", "end"))
    first, last = (scratch.variable(name, kind) for name in names)
    return _Block(line, first, last)


def _in_blocks(line: un.Do, ahead: frozenset[int], scratch: Scratch) -> un.Do:
    """Return a loop over blocks of layers with two loops over the layers of a block."""
    before = tuple(one for one in line.body if id(one) in ahead)
    after = tuple(one for one in line.body if id(one) not in ahead)
    passed = _passed(before, after, scratch.code, line)
    kind = scratch.code.symbol(line.variable.key).type
    if passed is None or not isinstance(kind, ScalarType):
        return line
    block = _new_block(line, kind, scratch)
    arrays = _arrays(passed, block, scratch)
    return block.all(
        block.serial(*before, *(un.Assign(array, ex.Name(key)) for key, array in arrays.items())),
        block.serial(*(un.Assign(ex.Name(key), array) for key, array in arrays.items()), *after),
    )


def _arrays(
    scalars: Iterable[tuple[str, ScalarType]], block: _Block, scratch: Scratch
) -> dict[str, ex.Expr]:
    """Return elements of new arrays, for the values of scalars in all layers of a block."""
    return {
        key_of(name): ex.Element(
            scratch.variable(f"{name}_ahead", type_, (_SIZE,)), (block.position(),)
        )
        for name, type_ in scalars
    }


def _in_stages(line: un.Do, stages: LayerStages, scratch: Scratch) -> un.Do | None:
    """Return a loop over blocks with loops for the stages; None if too many values are stored."""
    code = scratch.code
    kind = code.symbol(line.variable.key).type
    serial = _local_scalars({key for one in stages.rest for key in one.before | one.after}, code)
    if serial is None or not isinstance(kind, ScalarType):
        return None
    block = _new_block(line, kind, scratch)
    history = _History(block, serial, scratch)
    later = tuple(one for later in stages.rest for one in history.seen_by(later))
    first, rest = (
        parts_of_loop(lines, line, changed_names((line,)), code) for lines in (stages.first, later)
    )
    passed = _local_scalars(_passed_between((*first, *rest), stages.serial), code)
    if passed is None or len(passed) + len(serial) > _MOST_VALUES:
        return None
    values = _arrays(passed, block, scratch)

    def complete(lines: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        used = frozenset[str]().union(*map(names_inside, lines))
        loads = (load for load in stages.loads if names_in(load.target) & used)
        return everywhere((*loads, *lines), lambda expr: substituted(expr, values))

    def loop(part: RangePart) -> un.Line:
        return loop_over(part.range, line.variable, *block.ends, complete(part.lines))

    in_order = block.serial(*complete(stages.serial), *history.stored)
    return block.all(*map(loop, first), *history.begun, in_order, *map(loop, rest))


class _History:
    """Arrays with the values of serial scalars before and after each layer of a block."""

    def __init__(
        self, block: _Block, scalars: Iterable[tuple[str, ScalarType]], scratch: Scratch
    ) -> None:
        shape = (ex.whole(LAYERS + 1),)
        self._arrays = {
            key_of(name): scratch.variable(f"{name}_at", type_, shape) for name, type_ in scalars
        }
        self._before, self._after = map(block.position, (2, 1) if block.is_down else (1, 2))
        start = substituted(self._before, {block.line.variable.key: block.first})
        self.begun = self._assigned(simplified(start))
        self.stored = self._assigned(self._after)

    def _assigned(self, position: ex.Expr) -> tuple[un.Line, ...]:
        """Return the assignments that store the present values of the scalars."""
        return tuple(
            un.Assign(ex.Element(array, (position,)), ex.Name(key))
            for key, array in self._arrays.items()
        )

    def seen_by(self, later: LaterLine) -> tuple[un.Line, ...]:
        """Return a statement with elements of the arrays instead of the scalars."""
        values: dict[str, ex.Expr] = {
            key: ex.Element(self._arrays[key], (position,))
            for keys, position in ((later.before, self._before), (later.after, self._after))
            for key in keys
        }
        return everywhere((later.line,), lambda expr: substituted(expr, values))


def _passed_between(parts: Iterable[RangePart], serial: tuple[un.Line, ...]) -> frozenset[str]:
    """Return the scalars with which parts pass values to each other or to serial statements."""
    parts = tuple(parts)
    assigned = scalars_set_by(line for part in parts for line in part.lines)
    named = Counter(
        key
        for group in (serial, *(part.lines for part in parts))
        for key in frozenset[str]().union(*map(names_inside, group))
    )
    return frozenset(key for key in assigned if named[key] > 1)


def _passed(
    before: tuple[un.Line, ...], after: tuple[un.Line, ...], code: Routine, loop: un.Do
) -> list[tuple[str, ScalarType]] | None:
    """Return the scalars set ahead that other statements use.

    None if there are too many, or if other statements use an array that is set ahead.
    """
    inside = set(map(id, walk_lines((loop,))))
    others = (line for line in walk_lines(code.body) if id(line) not in inside)
    used = frozenset[str]().union(*map(names_of_line, (*walk_lines(after), *others)))
    found = _local_scalars(scalars_set_by(before) & used, code)
    return found if found is not None and len(found) <= _MOST_VALUES else None


def _local_scalars(keys: Iterable[str], code: Routine) -> list[tuple[str, ScalarType]] | None:
    """Return the names and types of variables, None if one is no local scalar."""
    declared = [code.declared(key) for key in sorted(keys) if key not in code.dummy_keys]
    found = [
        (item.name, item.type)
        for item in declared
        if item is not None and isinstance(item.type, ScalarType) and not item.shape
    ]
    return found if len(found) == len(frozenset(keys)) else None
