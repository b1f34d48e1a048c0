"""Indices of Python kernels that are proven to be in range, which need no check.

    before: do k = 0, n - 1; if (k > 0) a(checked(k - 1, n) + 1) = ...
    after:  do k = 0, n - 1; if (k > 0) a(k) = ...

Facts are the bounds of loops, conditions, and assignments on the path to an index. They contain
only numbers that certainly fit into 32 bits: sizes, counters, constants, and single values of data,
but no sums of data, which could overflow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.analysis.bodies.inequalities import NonNegativePolynomials
from psyclone_storage.analysis.bodies.min_layers import bounds_of_layers
from psyclone_storage.analysis.bodies.reached import leaves
from psyclone_storage.analysis.bodies.shapes import changed_names, is_integer
from psyclone_storage.base.records import dataclass, replace
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

_MOST = 2**24
"""The largest constant in a fact: sums of several of them have 32 bits."""
_MOST_SYMBOLS = 3
_ONE = constant_polynomial(1)
_TURNED = {
    Operator.LESS: Operator.GREATER_EQUAL,
    Operator.LESS_EQUAL: Operator.GREATER,
    Operator.GREATER: Operator.LESS_EQUAL,
    Operator.GREATER_EQUAL: Operator.LESS,
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
}


def with_proven_indices(code: Routine, dummies: Mapping[str, Dummy]) -> Routine:
    """Return a kernel without checks of indices that are in range; `dummies` are its arguments."""
    if not any(
        isinstance(part, ex.WrappedIndex)
        for line in walk_lines(code.body)
        for expr in expressions_of(line)
        for part in ex.walk(expr)
    ):
        return code
    proof = _Proof(code, dummies)
    use = replace(code.kernel_use, layer_bounds=proof.bounds)
    return replace(code, body=proof.body(), kernel_use=use)


@dataclass(frozen=True, slots=True)
class _Facts:
    """Nonnegative polynomials, each with the names in it, and variables without large values.

    `surely` are those that do not follow from conditions.
    """

    known: tuple[tuple[Polynomial, frozenset[str]], ...] = ()
    small: frozenset[str] = frozenset()
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
        return _Facts(known, self.small - changed, self.surely & {one for one, _ in known})

    def both(self, other: _Facts) -> _Facts:
        """Return the facts that hold on two paths."""
        there = set(other.known)
        known = tuple(one for one in self.known if one in there)
        return _Facts(known, self.small & other.small, self.surely & other.surely)

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
        self._sizes = frozenset(
            key_of(name)
            for name, dummy in dummies.items()
            if dummy.role not in OF_VALUES and not dummy.rank
        )
        self.bounds = tuple(bounds_of_layers(code.body, dummies))

    def body(self) -> tuple[un.Line, ...]:
        """Return the statements of the kernel."""
        facts = _Facts(small=self._sizes)
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
        if not isinstance(target, ex.Name) or target.key in names_in(value):
            return after
        if not (is_integer(target, self._code) and is_integer(value, self._code)):
            return after
        if self._is_small(value, facts):
            after = replace(after, small=after.small | {target.key})
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
            if all(self._is_small(one, facts) for one in ends) and abs(step) < _MOST:
                inside = replace(inside, small=inside.small | {line.variable.key})
            if fixed[0]:
                for low in self._ends(ends[0], facts, upper=False):
                    inside = inside.plus(counter.minus(low), surely=True)
            if fixed[1]:
                for high in self._ends(ends[1], facts, upper=True):
                    inside = inside.plus(high.minus(counter), surely=True)
        new = with_expressions(line, lambda one: self._expr(one, facts))
        return with_each_block(new, lambda block: self._block(block, inside)[0]), outside

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
            case ex.Binary(op, left, right) if op in _TURNED:
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
            case ex.Binary(op, left, right) if op in _TURNED:
                return self._compared(_TURNED[op], left, right, facts)
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
            case ex.WrappedIndex(_, (index, extent)):
                inner = self._expr(index, facts)
                return inner if self._is_within(index, extent, facts) else replace(
                    expr, items=(inner, extent))  # fmt: skip
            case ex.Binary(Operator.PLUS, ex.WrappedIndex() as checked, ex.Literal() as by):
                inner = self._expr(checked, facts)
                value = ex.integer_value(by)
                if value is None or isinstance(inner, ex.WrappedIndex):
                    return replace(expr, left=inner)
                return with_offset(inner, value)
            case ex.Binary(Operator.AND | Operator.OR as op, left, right):
                rest = (self._holds if op is Operator.AND else self._fails)(left, facts)
                return replace(expr, left=self._expr(left, facts), right=self._expr(right, rest))
            case ex.CallFunction(ex.Name(key="merge"), (_, _, condition) as items):
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
        if self._is_near_single(index, facts):
            found = affine_form(index).polynomial
            return facts.imply(found) and facts.imply(last.minus(found))
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
                abs(value := ex.integer_value(by) or _MOST) < _MOST
            ):
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
            case ex.CallFunction(ex.Name(key="modulo"), (_, by)):
                size = self._exact(by, facts)
                if size is not None and facts.imply(size.polynomial.minus(_ONE)):
                    yield size.shifted(-1) if upper else affine_form(ex.whole(0))
            case _ if (form := self._exact(expr, facts)) is not None:
                yield form

    def _exact(self, expr: ex.Expr, facts: _Facts) -> AffineForm | None:
        """Return the affine form of a value whose computation certainly does not overflow."""
        if self._is_small(expr, facts) or self._is_single(expr):
            return affine_form(expr)
        return None

    def _is_single(self, expr: ex.Expr) -> bool:
        """Return whether an expression is one value, without arithmetic."""
        return isinstance(expr, ex.Name | ex.Element)

    def _is_near_single(self, expr: ex.Expr, facts: _Facts) -> bool:
        """Return whether an expression is one value plus or minus small ones.

        If it is in range, its computation has not overflowed.
        """
        form = affine_form(expr)
        large = [one for one in form.symbols.values() if not _is_of(one, facts.small)]
        return (
            _has_small_factors(expr, form) and all(map(self._is_single, large)) and len(large) == 1
        )

    def _is_small(self, expr: ex.Expr, facts: _Facts) -> bool:
        """Return whether an expression has only few and small terms."""
        form = affine_form(expr)
        return _has_small_factors(expr, form) and all(
            _is_of(one, facts.small) for one in form.symbols.values()
        )


def _is_of(expr: ex.Expr, names: frozenset[str]) -> bool:
    return isinstance(expr, ex.Name) and expr.key in names


def _has_small_factors(expr: ex.Expr, form: AffineForm) -> bool:
    """Return whether the terms of an integer expression are few, with small constants."""
    literals = (ex.integer_value(part) for part in ex.walk(expr) if isinstance(part, ex.Literal))
    factors = (factor for monomial, factor in form.polynomial.factors.items() if monomial)
    return (
        all(value is not None and abs(value) <= _MOST for value in literals)
        and all(abs(factor) == 1 for factor in factors)
        and len(form.symbols) <= _MOST_SYMBOLS
    )
