"""Ranges of a loop counter in which a condition holds, such as `k > 0 .and. k < n - 1`.

Conditions compare the counter itself with bounds that the loop does not change. A range has no
computed ends, as `n - 1` may overflow where `k < n` does not.
"""

from __future__ import annotations

from psyclone_storage.analysis.bodies.shapes import type_of_values
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import difference
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.routine import Routine

_MOST_RANGES = 4
_TURNED: dict[object, Operator] = {
    Operator.LESS: Operator.GREATER,
    Operator.LESS_EQUAL: Operator.GREATER_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.GREATER_EQUAL: Operator.LESS_EQUAL,
    Operator.EQUAL: Operator.EQUAL,
    Operator.NOT_EQUAL: Operator.NOT_EQUAL,
}


@dataclass(frozen=True, slots=True)
class ConditionRange:
    """Values of a counter: at least and at most some bounds, above and below others."""

    least: tuple[ex.Expr, ...] = ()
    most: tuple[ex.Expr, ...] = ()
    above: tuple[ex.Expr, ...] = ()
    below: tuple[ex.Expr, ...] = ()

    def both(self, other: ConditionRange) -> ConditionRange:
        """Return the values in two ranges."""
        return ConditionRange(
            _joined(self.least, other.least),
            _joined(self.most, other.most),
            _joined(self.above, other.above),
            _joined(self.below, other.below),
        )

    @property
    def is_empty(self) -> bool:
        """True if there is provably no value in the range."""
        lows = [(one, 0) for one in self.least] + [(one, 1) for one in self.above]
        highs = [(one, 0) for one in self.most] + [(one, -1) for one in self.below]
        for low, up in lows:
            for high, down in highs:
                space = difference(high, low)
                if space is not None and space + down - up < 0:
                    return True
        return False

    def within(self, loop: ConditionRange) -> ConditionRange:
        """Return this range without bounds that all values of the range `loop` satisfy."""

        def is_new(bound: ex.Expr, ends: tuple[ex.Expr, ...], sign: int, least: int) -> bool:
            spaces = (difference(end, bound) for end in ends)
            return not any(one is not None and sign * one >= least for one in spaces)

        return replace(
            self,
            least=tuple(one for one in self.least if is_new(one, loop.least, 1, 0)),
            most=tuple(one for one in self.most if is_new(one, loop.most, -1, 0)),
            above=tuple(one for one in self.above if is_new(one, loop.least, 1, 1)),
            below=tuple(one for one in self.below if is_new(one, loop.most, -1, 1)),
        )


Ranges = tuple[ConditionRange, ...]
"""Disjoint ranges."""


def _joined(first: tuple[ex.Expr, ...], second: tuple[ex.Expr, ...]) -> tuple[ex.Expr, ...]:
    return tuple({ex.canonical(one): one for one in (*first, *second)}.values())


def ranges_of_condition(
    condition: ex.Expr, counter: str, changed: frozenset[str], code: Routine
) -> tuple[Ranges, Ranges] | None:
    """Return the ranges of a counter in which a condition is true, and in which it is false.

    `counter` is a key. The function returns None if the condition depends on more than the counter
    and bounds without names in `changed`, or if there would be too many ranges.
    """
    kind = code.symbol(counter).type

    def bound(expr: ex.Expr) -> bool:
        if ex.integer_value(expr) is not None:
            return True
        return _is_bound(expr, changed | {counter}) and type_of_values(expr, code) == kind

    def found(expr: ex.Expr) -> tuple[Ranges, Ranges] | None:
        match expr:
            case ex.Parenthesised(operand):
                return found(operand)
            case ex.Unary(Operator.NOT, operand):
                inner = found(operand)
                return None if inner is None else (inner[1], inner[0])
            case ex.Binary(Operator.AND | Operator.OR as op, left, right):
                first, second = found(left), found(right)
                if first is None or second is None:
                    return None
                if op is Operator.AND:
                    return _both(first, second)
                false, true = _both((first[1], first[0]), (second[1], second[0]))
                return true, false
            case ex.Binary(op, ex.Name(key=key), right) if key == counter and bound(right):
                return _compared(op, right)
            case ex.Binary(op, left, ex.Name(key=key)) if key == counter and bound(left):
                return _compared(_TURNED.get(op), left)
        return None

    ranges = found(condition)
    if ranges is None or max(map(len, ranges)) > _MOST_RANGES:
        return None
    return ranges


def _is_bound(expr: ex.Expr, changed: frozenset[str]) -> bool:
    """Return whether an integer is a sum of constants and names that a loop does not change."""
    if ex.integer_value(expr) is not None:
        return True
    match expr:
        case ex.Name(key=key):
            return key not in changed
        case ex.Parenthesised(operand):
            return _is_bound(operand, changed)
        case ex.Binary(Operator.PLUS | Operator.MINUS, left, right):
            return _is_bound(left, changed) and _is_bound(right, changed)
    return False


def _both(first: tuple[Ranges, Ranges], second: tuple[Ranges, Ranges]) -> tuple[Ranges, Ranges]:
    """Return the ranges in which two conditions are true, and the other ones."""
    true = tuple(one.both(other) for one in first[0] for other in second[0])
    false = tuple(one.both(other) for one in first[0] for other in second[1])
    return true, (*first[1], *false)


def _compared(op: object, bound: ex.Expr) -> tuple[Ranges, Ranges] | None:
    """Return the ranges in which `counter op bound` is true, and in which it is false."""
    here = (bound,)
    least, most = ConditionRange(least=here), ConditionRange(most=here)
    above, below = ConditionRange(above=here), ConditionRange(below=here)
    equal = ConditionRange(least=here, most=here)
    match op:
        case Operator.LESS:
            return (below,), (least,)
        case Operator.LESS_EQUAL:
            return (most,), (above,)
        case Operator.GREATER:
            return (above,), (most,)
        case Operator.GREATER_EQUAL:
            return (least,), (below,)
        case Operator.EQUAL:
            return (equal,), (below, above)
        case Operator.NOT_EQUAL:
            return (below, above), (equal,)
    return None
