"""Loops whose iterations are independent, without conditions on the counter.

    before: do k = 1, n; x = a(k) / b; if (k > 1) x = x + a(k - 1); c(k) = x
    after:  do k = 1, n;         x_layers(k) = a(k) / b
            do k = max(1, 2), n; x_layers(k) = x_layers(k) + a(k - 1)
            do k = 1, n;         c(k) = x_layers(k)

Each statement with a condition on the counter gets a loop over the iterations that execute it. The
loops can be vectorised, and no iteration is computed differently. No statement is copied, except
those after `else` where the counter is not the only condition.
"""

from __future__ import annotations

from psyclone_storage.analysis.bodies.counter_ranges import ConditionRange, ranges_of_condition
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import with_offset
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.routine import Routine

_MOST_PARTS = 12
"""Loops that replace one loop."""
_LARGEST_BOUND = 2**30
"""A bound whose neighbours have 32 bits."""


@dataclass(frozen=True, slots=True)
class RangePart:
    """Statements that are executed for a range of the counter."""

    range: ConditionRange
    lines: tuple[un.Line, ...]


def parts_of_loop(
    lines: tuple[un.Line, ...], loop: un.Do, changed: frozenset[str], code: Routine
) -> tuple[RangePart, ...]:
    """Return parts that together execute the statements of independent iterations.

    `lines` are those of an iteration, `loop` has the bounds, and `changed` are the names that the
    loop changes. Parts are executed one after the other, each one for all iterations in its range.
    """
    down = loop.step is not None and (ex.integer_value(loop.step) or 0) < 0
    first, last = (loop.stop, loop.start) if down else (loop.start, loop.stop)
    splitter = _Splitter(loop.variable.key, changed, code, ConditionRange((first,), (last,)))
    parts = tuple(splitter.parts(lines, ConditionRange()))
    return parts if len(parts) <= _MOST_PARTS else (RangePart(ConditionRange(), lines),)


@dataclass(frozen=True, slots=True)
class _Splitter:
    counter: str
    changed: frozenset[str]
    code: Routine
    loop: ConditionRange

    def parts(self, lines: tuple[un.Line, ...], here: ConditionRange) -> list[RangePart]:
        """Return the parts of statements that are executed in the range `here`."""
        made: list[RangePart] = []
        group: list[un.Line] = []
        for line in lines:
            pieces = self._pieces(line) if isinstance(line, un.If) else None
            if pieces is None:
                group.append(line)
                continue
            made += [RangePart(here, tuple(group))] if group else []
            group = []
            for piece in pieces:
                there = here.both(piece.range)
                if len(made) <= _MOST_PARTS and not there.both(self.loop).is_empty:
                    made += self.parts(piece.lines, there.within(self.loop))
        return [*made, RangePart(here, tuple(group))] if group else made

    def _pieces(self, choice: un.If) -> list[RangePart] | None:
        """Return the branches of a choice by the counter, None for other choices."""
        first, *others = choice.branches
        rest = choice.otherwise
        if others:
            rest = (replace(choice, branches=tuple(others)),)
        own: ex.Expr | None = None
        asked: ex.Expr | None = None
        for condition in _operands(first.condition):
            if ranges_of_condition(condition, self.counter, self.changed, self.code) is None:
                asked = _joined(asked, condition)
            else:
                own = _joined(own, condition)
        if own is None:
            return None
        found = ranges_of_condition(own, self.counter, self.changed, self.code)
        if found is None or choice.name:
            return None
        body = first.body
        if asked is not None:
            body = (un.If((un.Branch(asked, body),), rest),)
        true, false = found
        pieces = [RangePart(one, body) for one in true]
        return pieces + ([RangePart(one, rest) for one in false] if rest else [])


def _operands(condition: ex.Expr) -> list[ex.Expr]:
    """Return the conditions that all have to be true."""
    match condition:
        case ex.Parenthesised(operand):
            return _operands(operand)
        case ex.Binary(Operator.AND, left, right):
            return [*_operands(left), *_operands(right)]
    return [condition]


def _joined(first: ex.Expr | None, second: ex.Expr) -> ex.Expr:
    return second if first is None else ex.Binary(Operator.AND, first, second)


def loop_over(
    part: ConditionRange, counter: ex.Name, low: ex.Expr, high: ex.Expr, body: tuple[un.Line, ...]
) -> un.Line:
    """Return the loop over the part of the counters from `low` to `high` that are in a range.

    No bound overflows: where a bound is not a constant, a condition comes before the computation of
    its neighbour.
    """
    guards = [ex.Binary(Operator.LESS, one, high) for one in part.above if not _is_small(one)]
    guards += [ex.Binary(Operator.GREATER, one, low) for one in part.below if not _is_small(one)]
    lows = (low, *part.least, *(with_offset(one, 1) for one in part.above))
    highs = (high, *part.most, *(with_offset(one, -1) for one in part.below))
    first = lows[0] if len(lows) == 1 else ex.intrinsic("max", *lows)
    last = highs[0] if len(highs) == 1 else ex.intrinsic("min", *highs)
    made: un.Line = un.Do(counter, first, last, body)
    for guard in guards:
        made = un.If((un.Branch(guard, (made,)),))
    return made


def _is_small(bound: ex.Expr) -> bool:
    value = ex.integer_value(bound)
    return value is not None and abs(value) < _LARGEST_BOUND
