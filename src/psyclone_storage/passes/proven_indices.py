"""Indices of Python kernels that are proven to be in range, which need no check.

    before: do k = 0, n - 1; if (k > 0) a(checked(k - 1, n) + 1) = ...
    after:  do k = 0, n - 1; if (k > 0) a(k) = ...

Facts are the bounds of loops, conditions, and assignments on the path to an index. They contain
only numbers whose computation certainly does not overflow 32 bits, as a C compiler assumes that no
computation does. Each name therefore has a range, and a number without a range has no facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.analysis.bodies import integer_ranges
from psyclone_storage.analysis.bodies.inequalities import NonNegativePolynomials
from psyclone_storage.analysis.bodies.integer_ranges import IntegerRange, range_of
from psyclone_storage.analysis.bodies.min_layers import bounds_of_layers
from psyclone_storage.analysis.bodies.reached import leaves
from psyclone_storage.analysis.bodies.shapes import changed_names, is_integer
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import (
    AffineForm,
    Polynomial,
    affine_form,
    constant_polynomial,
    symbol,
    with_offset,
)
from psyclone_storage.ir.checked import CheckedIndex, EagerChoice, EagerCondition, is_checked
from psyclone_storage.ir.interface import OF_VALUES, Dummy, LayerCount, Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    expressions_of,
    names_in,
    walk_lines,
    with_each_block,
    with_expressions,
    with_parts,
)
from psyclone_storage.ir.routine import Routine

_LARGEST_SIZE = 2**28
"""An upper bound of sizes, such as numbers of layers: eight of them exceed 32 bits."""
_CONVERSIONS = frozenset({"int", "nint", "floor", "ceiling"})
_ONE = constant_polynomial(1)
_NEGATED = {
    Operator.LESS: Operator.GREATER_EQUAL,
    Operator.LESS_EQUAL: Operator.GREATER,
    Operator.GREATER: Operator.LESS_EQUAL,
    Operator.GREATER_EQUAL: Operator.LESS,
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
}


def with_proven_indices(code: Routine, dummies: Mapping[str, Dummy]) -> Routine:
    """Return a kernel without checks of indices that are in range; `dummies` are its arguments."""
    lines = walk_lines(code.body)
    if not any(is_checked(expr) for line in lines for expr in expressions_of(line)):
        return code
    proof = _Proof(code, dummies)
    use = replace(code.kernel_use, layer_bounds=proof.bounds)
    return replace(code, body=proof.body(), kernel_use=use)


@dataclass(frozen=True, slots=True)
class _Facts:
    """Nonnegative polynomials, each with the names in it, and the ranges of variables.

    `surely` are those that do not follow from conditions.
    """

    known: tuple[tuple[Polynomial, frozenset[str]], ...] = ()
    ranges: Mapping[str, IntegerRange] = field(default_factory=dict, compare=False)
    surely: frozenset[Polynomial] = frozenset()

    def plus(self, form: AffineForm, by: int = 0, *, surely: bool = False) -> _Facts:
        """Return these facts, and the one that `form + by` is not negative."""
        names = frozenset[str]().union(*map(names_in, form.symbols.values()))
        added = form.polynomial.plus(constant_polynomial(by))
        always = self.surely | {added} if surely else self.surely
        return replace(self, known=(*self.known, (added, names)), surely=always)

    def without(self, changed: frozenset[str]) -> _Facts:
        """Return the facts that hold after the variables `changed` have other values."""
        known = tuple(one for one in self.known if not one[1] & changed)
        ranges = {key: one for key, one in self.ranges.items() if key not in changed}
        return _Facts(known, ranges, self.surely & {one for one, _ in known})

    def with_range(self, key: str, found: IntegerRange | None) -> _Facts:
        """Return these facts, and the range of a variable if it is known."""
        return self if found is None else replace(self, ranges={**self.ranges, key: found})

    def both(self, other: _Facts) -> _Facts:
        """Return the facts that hold on two paths."""
        there = set(other.known)
        known = tuple(one for one in self.known if one in there)
        ranges = {
            key: (min(one[0], also[0]), max(one[1], also[1]))
            for key, one in self.ranges.items()
            if (also := other.ranges.get(key)) is not None
        }
        return _Facts(known, ranges, self.surely & other.surely)

    def without_conditions(self) -> _Facts:
        """Return the facts that do not follow from conditions."""
        return replace(self, known=tuple(one for one in self.known if one[0] in self.surely))

    def imply(self, wanted: Polynomial) -> bool:
        """Return whether `wanted` is provably not negative."""
        return NonNegativePolynomials(tuple(one for one, _ in self.known)).imply(wanted)


class _Proof:
    """The rewrite of one kernel."""

    def __init__(self, code: Routine, dummies: Mapping[str, Dummy]) -> None:
        self._code = code
        self._counts = {
            dummy.arg: key_of(name) for name, dummy in dummies.items() if dummy.role is Role.NLAYERS
        }
        self._ranges = {
            key_of(name): integer_ranges.ALL if dummy.role in OF_VALUES else (0, _LARGEST_SIZE)
            for name, dummy in dummies.items()
            if not dummy.rank
        }
        self._written = changed_names(code.body)
        self.bounds = tuple(bounds_of_layers(code.body, dummies))

    def body(self) -> tuple[un.Line, ...]:
        """Return the statements of the kernel."""
        facts = _Facts(ranges=self._ranges)
        for count in self._counts.values():
            facts = facts.plus(affine_form(ex.Name(count)), -1, surely=True)
        return self._block(self._code.body, facts)[0]

    # ------------------------------------------------------------------ statements

    def _block(
        self, lines: tuple[un.Line, ...], facts: _Facts
    ) -> tuple[tuple[un.Line, ...], _Facts]:
        made: list[un.Line] = []
        for line in lines:
            new, facts = self._line(line, facts)
            made.append(new)
        return tuple(made), facts

    def _line(self, line: un.Line, facts: _Facts) -> tuple[un.Line, _Facts]:
        match line:
            case un.Assign(target, value):
                new = with_expressions(line, lambda one: self._expr(one, facts))
                return new, self._assigned(target, value, facts)
            case un.If():
                return self._choice(line, facts)
            case un.Do():
                return self._loop(line, facts)
            case un.While():
                after = facts.without(changed_names((line,)))
                inside = self._holds(line.condition, after) if line.condition else after
                new = with_expressions(line, lambda one: self._expr(one, after))
                return with_each_block(new, lambda block: self._block(block, inside)[0]), after
        new = with_expressions(line, lambda one: self._expr(one, facts))
        after = facts.without(changed_names((line,)))
        return with_each_block(new, lambda block: self._block(block, after)[0]), after

    def _assigned(self, target: ex.Expr, value: ex.Expr, facts: _Facts) -> _Facts:
        """Return the facts after an assignment."""
        changed = changed_names((un.Assign(target, value),))
        after = facts.without(changed)
        if not isinstance(target, ex.Name):
            return after
        if not (is_integer(target, self._code) and is_integer(value, self._code)):
            return after
        after = after.with_range(target.key, self._range(value, facts))
        if target.key in names_in(value):
            return after
        own = affine_form(target)
        for low in self._ends(value, facts, upper=False):
            after = after.plus(own.minus(low))
        for high in self._ends(value, facts, upper=True):
            after = after.plus(high.minus(own))
        return after

    def _choice(self, line: un.If, facts: _Facts) -> tuple[un.Line, _Facts]:
        rest, branches, after = facts, [], []
        for branch in line.branches:
            condition = self._expr(branch.condition, rest)
            body, end = self._block(branch.body, self._holds(branch.condition, rest))
            branches.append(replace(branch, condition=condition, body=body))
            after += [] if leaves(branch.body) else [end]
            rest = self._fails(branch.condition, rest)
        otherwise, end = self._block(line.otherwise, rest)
        after += [] if leaves(line.otherwise) else [end]
        new = replace(line, branches=tuple(branches), otherwise=otherwise)
        common = after[0] if after else facts
        for one in after[1:]:
            common = common.both(one)
        return new, common

    def _loop(self, line: un.Do, facts: _Facts) -> tuple[un.Line, _Facts]:
        changed = changed_names(line.body)
        outside = facts.without(changed | {line.variable.key})
        inside = outside
        step = 1 if line.step is None else ex.integer_value(line.step)
        if step and line.variable.key not in changed:
            counter = affine_form(line.variable)
            ends = (line.start, line.stop) if step > 0 else (line.stop, line.start)
            fixed = [not names_in(one) & (changed | {line.variable.key}) for one in ends]
            found = self._range_of_counter(line, step, facts)
            inside = inside.with_range(line.variable.key, found)
            if found and fixed[0]:
                for low in self._ends(ends[0], facts, upper=False):
                    inside = inside.plus(counter.minus(low), surely=True)
            if found and fixed[1]:
                for high in self._ends(ends[1], facts, upper=True):
                    inside = inside.plus(high.minus(counter), surely=True)
        new = with_expressions(line, lambda one: self._expr(one, facts))
        return with_each_block(new, lambda block: self._block(block, inside)[0]), outside

    def _range_of_counter(self, line: un.Do, step: int, facts: _Facts) -> IntegerRange | None:
        """Return the range of a loop counter, or None if counting may overflow."""
        first, last = self._range(line.start, facts), self._range(line.stop, facts)
        if first is None or last is None:
            return None
        low, high = min(first[0], last[0] + min(step, 0)), max(first[1], last[1] + max(step, 0))
        if low < integer_ranges.ALL[0] or high > integer_ranges.ALL[1]:
            return None
        return (first[0], last[1]) if step > 0 else (last[0], first[1])

    # ------------------------------------------------------------------ conditions

    def _holds(self, condition: ex.Expr, facts: _Facts) -> _Facts:
        """Return the facts where a condition is true."""
        match condition:
            case ex.Parenthesised(operand):
                return self._holds(operand, facts)
            case ex.Unary(Operator.NOT, operand):
                return self._fails(operand, facts)
            case ex.Binary(Operator.AND, left, right):
                return self._holds(right, self._holds(left, facts))
            case ex.Binary(op, left, right) if op in _NEGATED:
                return self._compared(op, left, right, facts)
        return facts

    def _fails(self, condition: ex.Expr, facts: _Facts) -> _Facts:
        """Return the facts where a condition is false."""
        match condition:
            case ex.Parenthesised(operand):
                return self._fails(operand, facts)
            case ex.Unary(Operator.NOT, operand):
                return self._holds(operand, facts)
            case ex.Binary(Operator.OR, left, right):
                return self._fails(right, self._fails(left, facts))
            case ex.Binary(op, left, right) if op in _NEGATED:
                return self._compared(_NEGATED[op], left, right, facts)
        return facts

    def _compared(self, op: object, left: ex.Expr, right: ex.Expr, facts: _Facts) -> _Facts:
        """Return the facts where a comparison of integers is true."""
        if not (is_integer(left, self._code) and is_integer(right, self._code)):
            return facts
        first, second = self._exact(left, facts), self._exact(right, facts)
        if first is None or second is None:
            return facts
        up, down = second.minus(first), first.minus(second)
        match op:
            case Operator.LESS:
                return facts.plus(up, -1)
            case Operator.LESS_EQUAL:
                return facts.plus(up)
            case Operator.GREATER:
                return facts.plus(down, -1)
            case Operator.GREATER_EQUAL:
                return facts.plus(down)
            case Operator.EQUAL:
                return facts.plus(up).plus(down)
            case Operator.NOT_EQUAL:
                for one in (up, down):
                    facts = facts.plus(one, -1) if facts.imply(one.polynomial) else facts
        return facts

    # ------------------------------------------------------------------ expressions

    def _expr(self, expr: ex.Expr, facts: _Facts) -> ex.Expr:
        """Return an expression without checks that `facts` prove."""
        match expr:
            case CheckedIndex(_, (index, extent)):
                inner = self._expr(index, facts)
                return inner if self._is_within(index, extent, facts) else replace(
                    expr, items=(inner, extent))  # fmt: skip
            case ex.Binary(Operator.PLUS, CheckedIndex() as checked, ex.Literal() as by):
                inner = self._expr(checked, facts)
                value = ex.integer_value(by)
                if value is None or isinstance(inner, CheckedIndex):
                    return replace(expr, left=inner)
                return with_offset(inner, value)
            case ex.Binary(Operator.AND | Operator.OR as op, left, right) if not isinstance(
                expr, EagerCondition
            ):
                rest = (self._holds if op is Operator.AND else self._fails)(left, facts)
                return replace(expr, left=self._expr(left, facts), right=self._expr(right, rest))
            case ex.CallFunction(ex.Name(key="merge"), (_, _, condition) as items) if (
                not isinstance(expr, EagerChoice)
            ):
                there = (self._holds(condition, facts), self._fails(condition, facts), facts)
                return replace(expr, items=tuple(map(self._expr, items, there)))
        return with_parts(expr, lambda part: self._expr(part, facts))

    def _is_within(self, index: ex.Expr, extent: ex.Expr, facts: _Facts) -> bool:
        """Return whether an index is not negative, and below an extent.

        NumPy computes elements of local arrays also where conditions do not hold.
        """
        if ex.integer_value(extent) is not None:
            facts = facts.without_conditions()
        facts = self._with_layers(facts)
        last = affine_form(extent).polynomial.minus(_ONE)
        if self._range(index, facts) is None:
            found = affine_form(index).polynomial
            return (
                self._is_near_single(index, extent, facts)
                and facts.imply(found)
                and facts.imply(last.minus(found))
            )
        return self._reaches(index, facts, constant_polynomial(0), upper=False) and self._reaches(
            index, facts, last, upper=True
        )

    def _with_layers(self, facts: _Facts) -> _Facts:
        """Return the facts with those about layers that the runtime checks for each call."""
        for bound in self.bounds:
            if bound.given is None or facts.imply(self._size(bound.given, -1)):
                distance = symbol(self._counts[bound.arg]).minus(self._size(bound.least))
                facts = replace(facts, known=(*facts.known, (distance, frozenset())))
        return facts

    def _size(self, count: LayerCount, times: int = 1) -> Polynomial:
        """Return a number of layers plus the constant, or minus it with `times=-1`."""
        constant = constant_polynomial(times * count.constant)
        return constant if count.arg is None else symbol(self._counts[count.arg]).plus(constant)

    def _reaches(self, expr: ex.Expr, facts: _Facts, end: Polynomial, *, upper: bool) -> bool:
        """Return whether a value is provably at most `end` if `upper`, else at least."""
        match expr:
            case ex.Binary(Operator.PLUS | Operator.MINUS as op, ex.CallFunction() as call, by) if (
                value := ex.integer_value(by)
            ) is not None:
                end = end.minus(constant_polynomial(value if op is Operator.PLUS else -value))
                return self._reaches(call, facts, end, upper=upper)
            case ex.CallFunction(ex.Name(key="merge"), items):
                true, false = self._holds(items[2], facts), self._fails(items[2], facts)
                return self._reaches(items[0], true, end, upper=upper) and self._reaches(
                    items[1], false, end, upper=upper
                )
            case ex.CallFunction(ex.Name(key="min" | "max" as key), items):
                decides = any if (key == "min") is upper else all
                return decides(self._reaches(one, facts, end, upper=upper) for one in items)
        return any(
            facts.imply(end.minus(one.polynomial) if upper else one.polynomial.minus(end))
            for one in self._ends(expr, facts, upper=upper)
        )

    def _ends(self, expr: ex.Expr, facts: _Facts, *, upper: bool) -> Iterator[AffineForm]:
        """Yield numbers that a value does not exceed, or is not below."""
        match expr:
            case ex.Parenthesised(operand):
                yield from self._ends(operand, facts, upper=upper)
            case ex.CallFunction(ex.Name(key="min" | "max" as key), items):
                if (key == "min") is upper:
                    for one in items:
                        yield from self._ends(one, facts, upper=upper)
            case ex.CallFunction(ex.Name(key="modulo"), (dividend, by)):
                size = self._exact(by, facts)
                is_exact = size is not None and self._range(dividend, facts) is not None
                if size is not None and is_exact and facts.imply(size.polynomial.minus(_ONE)):
                    yield size.shifted(-1) if upper else affine_form(ex.whole(0))
            case _ if (found := self._range(expr, facts)) is not None:
                form = affine_form(expr)
                yield form
                if not all(isinstance(one, ex.Name) for one in form.symbols.values()):
                    yield affine_form(ex.whole(found[upper]))

    def _exact(self, expr: ex.Expr, facts: _Facts) -> AffineForm | None:
        """Return the affine form of a value whose computation certainly does not overflow."""
        return None if self._range(expr, facts) is None else affine_form(expr)

    def _range(self, expr: ex.Expr, facts: _Facts) -> IntegerRange | None:
        """Return the range of a value, or None if its computation may overflow."""
        return range_of(expr, lambda part: self._known(part, facts))

    def _known(self, expr: ex.Expr, facts: _Facts) -> IntegerRange | None:
        """Return the range of one value that is not computed from integers here."""
        match expr:
            case ex.Name():
                return facts.ranges.get(expr.key)
            case ex.Element(ex.Name() as array) if array.key not in self._written:
                return integer_ranges.ALL
            case ex.CallFunction(ex.Name(key=function), (value, *_)) if function in _CONVERSIONS:
                return None if is_integer(value, self._code) else integer_ranges.ALL
        return None

    def _is_near_single(self, index: ex.Expr, extent: ex.Expr, facts: _Facts) -> bool:
        """Return whether an index is one value plus or minus small ones.

        If it is in range, that value is small, too, and the computation has not overflowed.
        """
        form, size = affine_form(index), self._range(extent, facts)
        ranges = {key: self._range(one, facts) for key, one in form.symbols.items()}
        large = [key for key, found in ranges.items() if _magnitude(found) > _LARGEST_SIZE]
        if size is None or len(large) != 1 or ranges[large[0]] is None:
            return False
        (single,) = large
        factors = dict(form.polynomial.factors)
        if factors.pop((single,)) not in {1, -1}:
            return False
        most = _magnitude(size) + sum(
            abs(factor) * (_magnitude(ranges[term[0]]) if term else 1)
            for term, factor in factors.items()
        )

        def known(part: ex.Expr) -> IntegerRange | None:
            is_single = affine_form(part).symbols.keys() == {single}
            return (-most, most) if is_single else self._known(part, facts)

        return range_of(index, known) is not None


def _magnitude(found: IntegerRange | None) -> int:
    """Return the greatest absolute value in a range, or of any integer."""
    return max(map(abs, found or integer_ranges.ALL))
