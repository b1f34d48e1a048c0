"""Conversion of statements in Python kernels to typed code.

This module also determines which local variables certainly have a value after each statement. A
`return` ends the kernel for the current point. A loop iterates over a `range`. Its loop variable
has no value after the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Expr, Name, integer_value
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Branch, Cycle, Do, Exit, If, Line, Return
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.assignments import (
    assign_before,
    assigned_local,
    in_temporaries,
    read_annotated,
    read_assignment,
    read_augmented,
)
from psyclone_storage.languages.python.parse.compile_time import (
    UNKNOWN_VALUE,
    folded_condition,
    is_int,
    value_of,
    written,
)
from psyclone_storage.languages.python.parse.constructs import unsupported
from psyclone_storage.languages.python.parse.expressions import (
    read_apart,
    read_condition,
    read_number,
)
from psyclone_storage.languages.python.parse.operations import LARGEST
from psyclone_storage.languages.python.parse.scope import (
    A_VALUE,
    CountedRange,
    KernelScope,
    LoopPlace,
    OpenLoop,
    TypedExpression,
    both,
)
from psyclone_storage.languages.python.parse.sequences import (
    MOST_ITEMS,
    LiveElement,
    iterated_items,
    sequence_items,
)
from psyclone_storage.languages.python.parse.tree import names_in_tree
from psyclone_storage.languages.python.parse.weak_types import UNKNOWN_NUMBER
from psyclone_storage.languages.python.parse.while_loops import (
    CountedCondition,
    counted_condition,
    iterations,
    own_jumps,
    stored_names,
)

_REAL, _WHOLE, _TRUTH = Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL
_STATEMENTS = "Write assignments, 'if', 'for ... in range(...)' and 'return'."


def read_block(scope: KernelScope, body: Iterable[ast.stmt]) -> tuple[Line, ...]:
    """Return the statements of `body`; errors are recorded in `scope`."""
    lines: list[Line] = []
    for node in body:
        reader = _READERS.get(type(node))
        scope.before, around = [], scope.before
        if reader is None:
            scope.refuse("P051", unsupported(node), node, _STATEMENTS)
        else:
            made = reader(scope, node)
            lines += [*scope.before, *made]
        scope.before = around
    return tuple(lines)


# ---------------------------------------------------------------------------- control


def _if(scope: KernelScope, node: ast.If, test: TypedExpression | None = None) -> list[Line]:
    """Return a choice with all its branches; the state after it is the join of all branches.

    A branch that depends on the iteration of an unrolled loop alone is chosen now. `test` is the
    first condition if it has been read.
    """
    folded = folded_condition(scope, node.test)
    if folded is not None:
        return [*read_block(scope, node.body if folded else node.orelse)]
    current = scope.current
    test = test or read_condition(scope, node.test)
    branches: list[Branch] = []
    left: frozenset[str] | None = None
    last: tuple[Line, ...] = ()
    one, is_open = node, True
    while is_open:
        before, scope.current = scope.known, dict(current)
        with scope.reached(None):
            body = read_block(scope, one.body)
        branches.append(Branch(test.expr, body, place=scope.tree.span(one)))
        left, scope.known = both(left, scope.known), before
        scope.current = dict(current)
        is_open = False
        match one.orelse:
            case [ast.If() as other] if folded_condition(scope, other.test) is None:
                test, needed = read_apart(scope, other.test, read_condition)
                if needed:
                    # What has to be done before the condition is done where it is reached.
                    with scope.reached(None):
                        last = (*needed, *_if(scope, other, test))
                else:
                    one, is_open = other, True
            case _:
                with scope.reached(None):
                    last = read_block(scope, one.orelse)
    scope.known = both(left, scope.known)
    scope.current = current
    _forget_values(scope, [node])
    return [If(tuple(branches), last, extent=scope.tree.span(node))]


def _forget_values(scope: KernelScope, body: list[ast.stmt]) -> None:
    """Note that the values of what statements assign are not known any more."""
    waiting = [*stored_names(body)]
    while waiting:
        name = waiting.pop()
        scope.current.pop(name, None)
        waiting += scope.parts.get(name, ())


def _for(scope: KernelScope, node: ast.For) -> list[Line]:
    if node.orelse:
        what = "'else' clauses of loops are not supported in kernels."
        scope.refuse("P051", what, node.orelse[0])
    counted = scope.access.counted(scope, node.iter)
    place = _place_of(scope, node)
    if counted is None and (place in scope.unrolled or not _is_range(scope, node)):
        return _unrolled(scope, node)
    bounds = counted or _range(scope, node)
    target = node.target
    if not isinstance(target, ast.Name):
        scope.refuse("P051", "A loop over a range counts one name.", target)
        return []
    with scope.fixing():
        can_unroll = counted is None and value_of(scope, node.iter) is not UNKNOWN_VALUE
    scope.loops.append(OpenLoop(place if can_unroll else None))
    _forget_values(scope, node.body)
    made = _counted_loop(scope, node, target, bounds)
    scope.loops.pop()
    _forget_values(scope, node.body)
    return made


def _counted_loop(
    scope: KernelScope, node: ast.For, target: ast.Name, bounds: CountedRange | None
) -> list[Line]:
    name = scope.code(target.id)
    counter = assigned_local(
        scope, target, TypedExpression(Name(name), _WHOLE, kinds=UNKNOWN_NUMBER)
    )
    if counter is not None and (known := scope.locals[name].type) is not _WHOLE:
        scope.refuse(
            "P054", f"'{target.id}' is {A_VALUE[known or _REAL]}, and cannot count.", target
        )
    before = scope.known
    scope.counters.append(name)
    scope.from_one -= {name}
    scope.from_one |= {name} if bounds is not None and bounds.from_one else set()
    jumps = any(isinstance(one, ast.Break | ast.Continue) for one in ast.walk(node))
    certain = None
    if scope.certain is not None and bounds is not None and bounds.taken and not jumps:
        certain = {**scope.certain, name: bounds}
    if bounds is not None:
        scope.ranges[name] = bounds
    with scope.reached(certain):
        body = read_block(scope, node.body)
    scope.counters.pop()
    scope.ranges.pop(name, None)
    after = scope.known if bounds is not None and bounds.taken and not jumps else before
    scope.known = None if after is None else after - {name}
    if before is not None and scope.known is None:
        scope.known = before - {name}
    if counter is None or bounds is None:
        return []
    span = scope.tree.span(node)
    first, last, step = bounds.first, bounds.last, bounds.step
    return [Do(Name(name), first, last, body, step, place=span, extent=span)]


def _place_of(scope: KernelScope, node: ast.stmt) -> LoopPlace:
    """Return the place of a loop, which is the same when the kernel is read again."""
    return scope.tree.source.name, node.lineno, node.col_offset


def _is_range(scope: KernelScope, node: ast.For) -> bool:
    call = node.iter
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return False
    return call.func.id == "range" and "range" not in scope.offered.bound


def _unrolled(scope: KernelScope, node: ast.For) -> list[Line]:
    """Return the statements of a loop over a sequence, once for each item."""
    with scope.fixing():
        items = iterated_items(scope, node.iter)
        items = None if items is None else [_written_if_known(scope, one) for one in items]
    if items is None:
        if _is_range(scope, node) and scope.needs_unrolling():
            return []
        what = f"Loops over '{scope.text(node.iter)}' are not supported in kernels."
        hint = "Write 'for name in range(first, end)', or loop over a tuple or a table."
        scope.refuse("P051", what, node.iter, hint)
        return []
    made = [*scope.before]
    scope.before = []
    if rebound := _names_of_live(items) & stored_names(node.body):
        what = f"'{min(rebound)}' is assigned in a loop over its elements."
        scope.refuse("P051", what, node.iter, "Assign to an array with another name.")
        return []
    if len(items) > 1 and not all(value_of(scope, one) is not UNKNOWN_VALUE for one in items):
        value, lines = in_temporaries(scope, items, node, live=True)
        items, made = value.elts, [*made, *lines]
    _forget_values(scope, node.body)
    with _copies(scope, node) as copies:
        for item in items:
            copies.add(partial(_one_copy, scope, node, item))
    _forget_values(scope, [node])
    if scope.known is not None:
        scope.known -= {scope.code(name) for name in names_in_tree(node.target)}
    return [*made, *copies.lines()]


def _written_if_known(scope: KernelScope, item: ast.expr) -> ast.expr:
    """Return the value of an item, which the loop may change, if it is known."""
    value = value_of(scope, item)
    return item if value is UNKNOWN_VALUE else written(value, item)


def _names_of_live(items: list[ast.expr]) -> set[str]:
    """Return the names of arrays whose elements a loop reads when it reaches them."""
    parts = (part for item in items for part in ast.walk(item))
    return {
        part.value.id
        for part in parts
        if isinstance(part, ast.Subscript)
        and isinstance(part.ctx, LiveElement)
        and isinstance(part.value, ast.Name)
    }


def _one_copy(scope: KernelScope, node: ast.For, item: ast.expr) -> tuple[Line, ...]:
    """Return the statements of one iteration of a loop over a sequence."""
    before = dict(scope.literals)
    lines = _bind(scope, node, node.target, item)
    body = read_block(scope, node.body)
    scope.literals = before
    return *lines, *body


def _bind(scope: KernelScope, node: ast.For, target: ast.expr, item: ast.expr) -> list[Line]:
    """Return the assignment of an item to the target of a loop; a constant needs none."""
    value = value_of(scope, item)
    if isinstance(target, ast.Name) and value is not UNKNOWN_VALUE:
        name = target.id
        counts = scope.code(name) in scope.counters or name in scope.literals
        if counts or name in scope.arguments:
            what = f"'{name}' counts the loop around." if counts else f"'{name}' is an argument."
            scope.refuse("P051", what, target, "Use another name.")
            return []
        scope.literals = {**scope.literals, target.id: value}
        return []
    if isinstance(target, ast.Tuple | ast.List):
        parts = sequence_items(scope, item)
        if parts is None or len(parts) != len(target.elts):
            what = f"'{scope.text(item)}' is no sequence of {len(target.elts)} items."
            scope.refuse("P051", what, target)
            return []
        return [line for one, part in zip(target.elts, parts, strict=True)
                for line in _bind(scope, node, one, part)]  # fmt: skip
    return assign_before(scope, ast.copy_location(ast.Assign([target], item), node))


@dataclass(slots=True)
class _UnrolledLoop:
    """The copies of an unrolled loop; jumps leave constructs around them that run once."""

    scope: KernelScope
    node: ast.For | ast.While
    loop: OpenLoop
    once: Name | None
    known: frozenset[str] | None
    made: list[Line] = field(default_factory=list)

    def add(self, read_copy: Callable[[], tuple[Line, ...]]) -> None:
        """Add the statements of an iteration."""
        scope = self.scope
        scope.known = self.known if self.once is not None else scope.known
        before = scope.known
        if self.loop.following:
            _forget_values(scope, self.node.body)
        body = read_copy()
        if self.loop.following and self.once is not None:
            body = (self._construct(self.loop.following, body),)
        self.made += body
        if self.once is not None:
            scope.known = before

    def _construct(self, name: str, body: tuple[Line, ...]) -> Line:
        one = nodes.signed_integer(1)
        assert self.once is not None
        return Do(self.once, one, one, body, name=name, place=self.scope.tree.span(self.node))

    def lines(self) -> list[Line]:
        """Return all copies."""
        if self.loop.leave and self.once is not None:
            return [self._construct(self.loop.leave, tuple(self.made))]
        return self.made


@contextmanager
def _copies(
    scope: KernelScope, node: ast.For | ast.While, *, leaves: bool = False
) -> Iterator[_UnrolledLoop]:
    """Read the copies of an unrolled loop, which its condition may leave if it `leaves`."""
    jumps = own_jumps(node)
    leave = scope.fresh_name("leave") if leaves or ast.Break in jumps else ""
    following = scope.fresh_name("next") if ast.Continue in jumps else ""
    loop = OpenLoop(None, leave, following)
    span = scope.tree.span(node)
    once = scope.fresh("once", _WHOLE, span) if leave or following else None
    scope.loops.append(loop)
    with scope.reached(None if once is not None else scope.certain):
        yield _UnrolledLoop(scope, node, loop, once, scope.known)
    scope.loops.pop()


def _while(scope: KernelScope, node: ast.While) -> list[Line]:
    """Return a loop with a provable bound as a counted one that its condition leaves."""
    if node.orelse:
        what = "'else' clauses of loops are not supported in kernels."
        scope.refuse("P051", what, node.orelse[0])
    found = counted_condition(scope, node)
    if found is None:
        what = "'while' statements without a provable bound are not supported in kernels."
        hint = "Count the iterations: 'while n < 20 and ...', with 'n += 1' in the loop."
        scope.refuse("P051", what, node.test, hint)
        return []
    with scope.fixing():
        start, limit = value_of(scope, _loaded(found.counter, node)), value_of(scope, found.limit)
    is_known = is_int(start) and is_int(limit)
    place = _place_of(scope, node)
    if is_known and place in scope.unrolled:
        return _unrolled_while(scope, node, found, (start, limit))
    scope.loops.append(OpenLoop(place if is_known else None))
    bound = _bound_of(scope, node, found, start if is_int(start) else None)
    _forget_values(scope, node.body)
    before = scope.known
    body = () if found.complete else _leaving(scope, node, "")
    with scope.reached(None):
        body = (*body, *read_block(scope, node.body))
    scope.known = before
    scope.loops.pop()
    _forget_values(scope, node.body)
    if bound is None:
        return []
    span = scope.tree.span(node)
    trip = scope.fresh("trip", _WHOLE, span)
    return [Do(trip, nodes.signed_integer(1), bound, body, place=span, extent=span)]


def _loaded(name: str, place: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), place)


def _bound_of(
    scope: KernelScope, node: ast.While, found: CountedCondition, start: int | None
) -> Expr | None:
    """Return how often a loop runs at most, as an expression where it begins."""
    counter = read_number(scope, _loaded(found.counter, node.test))
    limit = read_number(scope, found.limit)
    if counter.type is not _WHOLE or limit.type is not _WHOLE:
        if counter.type is not None and limit.type is not None:
            what = f"'{found.counter}' and its limit are not both integers."
            scope.refuse("P054", what, node.test)
        return None
    first = counter.expr if start is None else nodes.signed_integer(start)
    known = integer_value(first), integer_value(limit.expr)
    if known[0] is not None and known[1] is not None:
        count = iterations(found, known[0], known[1])
    else:
        count = max(abs(one or 0) for one in known) * 2
    if count > LARGEST:
        what = f"'{scope.text(node.test)}' counts too far for the integers of a kernel."
        scope.refuse("P051", what, node.test, _OF_32_BITS)
        return None
    if None not in known:
        return nodes.signed_integer(count)
    ends = (limit.expr, first) if found.step > 0 else (first, limit.expr)
    size = abs(found.step)
    distance = nodes.parenthesized(
        nodes.binary_operation("-", ends[0], nodes.parenthesized(ends[1]))
    )
    more = size if found.inclusive else size - 1
    if more:
        distance = nodes.binary_operation("+", distance, nodes.signed_integer(more))
    if size == 1:
        return distance
    return nodes.binary_operation("/", distance, nodes.signed_integer(size))


def _unrolled_while(
    scope: KernelScope, node: ast.While, found: CountedCondition, ends: tuple[int, int]
) -> list[Line]:
    """Return the statements of a loop once for each iteration that it can have."""
    start, limit = ends
    count = iterations(found, start, limit)
    if count > MOST_ITEMS:
        what = f"The loop has {count} iterations, too many for offsets that depend on its counter."
        scope.refuse("P051", what, node.test)
        return []
    with _copies(scope, node, leaves=not found.complete) as copies:
        for number in range(count):
            value = start + number * found.step
            copies.add(partial(_copy_of_while, scope, node, found, copies.loop, value))
    if not found.complete or own_jumps(node):
        _forget_values(scope, node.body)
    return copies.lines()


def _copy_of_while(
    scope: KernelScope, node: ast.While, found: CountedCondition, loop: OpenLoop, value: int
) -> tuple[Line, ...]:
    scope.current[found.counter] = value
    made = () if found.complete else _leaving(scope, node, loop.leave)
    return *made, *read_block(scope, node.body)


def _leaving(scope: KernelScope, node: ast.While, name: str) -> tuple[Line, ...]:
    """Return the statements that leave a loop if its condition does not hold."""
    around, scope.before = scope.before, []
    test = read_condition(scope, node.test)
    left = If((Branch(nodes.unary_operation(test.expr, ".not."), (Exit(name),)),))
    made, scope.before = (*scope.before, left), around
    return made


def _range(scope: KernelScope, node: ast.For) -> CountedRange | None:
    call = node.iter
    if not isinstance(call, ast.Call):
        return None
    if call.keywords or not 1 <= len(call.args) <= _ALL_OF_RANGE:
        scope.refuse("P051", "A 'range' has one to three bounds.", call)
        return None
    values = [read_number(scope, one) for one in call.args]
    if any(value.type is not _WHOLE for value in values):
        if all(value.type is not None for value in values):
            scope.refuse("P054", "The bounds of a 'range' are integers.", call)
        return None
    first = values[0].expr if len(values) > 1 else nodes.signed_integer(0)
    behind = values[min(1, len(values) - 1)].expr
    by = values[2].expr if len(values) == _ALL_OF_RANGE else None
    step = 1 if by is None else integer_value(by)
    if not step:
        scope.refuse("P051", "The step of a 'range' is a number that is written out.", call)
        return None
    start, stop = integer_value(first), integer_value(behind)
    if stop is not None and not -LARGEST <= stop + step <= LARGEST + 1:
        what = f"The counter of '{scope.text(call)}' leaves the integers of a kernel at the end."
        scope.refuse("P051", what, call, _OF_32_BITS)
        return None
    turns = start is not None and stop is not None and bool(range(start, stop, step))
    return CountedRange(first, _before(behind, step), by, turns)


_ALL_OF_RANGE = 3
_OF_32_BITS = "Integers of kernels have 32 bits: use smaller bounds."


def _before(behind: Expr, step: int) -> Expr:
    """Return the last value that a loop can reach before the exclusive end `behind`."""
    value = integer_value(behind)
    if value is not None:
        return nodes.signed_integer(value - 1 if step > 0 else value + 1)
    return nodes.binary_operation("-" if step > 0 else "+", behind, nodes.signed_integer(1))


def _return(scope: KernelScope, node: ast.Return) -> list[Line]:
    if node.value is not None:
        what = "A kernel returns nothing: what it computes it writes into its arguments."
        scope.refuse("P051", what, node)
    scope.known = None
    return [Return(place=scope.tree.span(node))]


def _jump(scope: KernelScope, node: ast.Break | ast.Continue) -> list[Line]:
    scope.known = None
    loop = scope.loops[-1] if scope.loops else OpenLoop()
    place = scope.tree.span(node)
    if isinstance(node, ast.Break):
        return [Exit(loop.leave, place=place)]
    # A construct that runs once has no next iteration: its end is where the next one begins.
    return [Exit(loop.following, place=place)] if loop.following else [Cycle(place=place)]


def _expression(scope: KernelScope, node: ast.Expr) -> list[Line]:
    """Return the statements of an inlined call statement; record an error for other expressions."""
    if isinstance(node.value, ast.Call) and scope.helpers is not None:
        found = scope.helpers.statements(scope, node.value)
        if found is not None:
            return found
    scope.refuse("P051", unsupported(node), node, _STATEMENTS)
    return []


def _pass(_scope: KernelScope, _node: ast.Pass) -> list[Line]:
    return []


_READERS: Mapping[type[ast.stmt], Callable[[KernelScope, Any], list[Line]]] = {
    ast.Assign: read_assignment,
    ast.AnnAssign: read_annotated,
    ast.AugAssign: read_augmented,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.Return: _return,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Expr: _expression,
    ast.Pass: _pass,
}
