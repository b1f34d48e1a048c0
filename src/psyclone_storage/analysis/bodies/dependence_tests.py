"""Dependence tests for two accesses in different iterations of a loop.

Each access gets its own symbols for loop counters and other variables that the loop changes: those
of the first end with `#1`, those of the second with `#2`. The two accesses never overlap if a pair
of their subscripts can never be equal, given the bounds of the enclosing loops and the order of the
iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise, product, takewhile

from psyclone_storage.analysis.bodies.def_use import touches_any
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, Item
from psyclone_storage.analysis.bodies.inequalities import NonNegativePolynomials, may_be_zero
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.ranks import is_scalar
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import (
    Polynomial,
    affine_form,
    constant_polynomial,
    difference,
    polynomial_of,
    symbol,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.paths import AccessPath, Subscripts, Variable, aligned, path_of, prefixes
from psyclone_storage.ir.unit import Do

_FIRST, _SECOND = "#1", "#2"


@dataclass(frozen=True, slots=True)
class IterationOrder:
    """The assumption that one access is executed in a later iteration than another one.

    `first` and `second` are the loops around the first and the second access: the same loop, or two
    loops with equal bounds and steps. The second access is the later one, or with `earlier` the
    first one.
    """

    first: FlowNode
    second: FlowNode
    earlier: bool = False


def condition_to_run(loop: Do) -> ex.Expr | bool | None:
    """Return the condition under which `loop` has an iteration; True if it always has.

    Return None if the sign of the step is unknown.
    """
    step = 1 if loop.step is None else affine_form(loop.step).known
    if not step:
        return None
    low, high = (loop.start, loop.stop) if step > 0 else (loop.stop, loop.start)
    apart = difference(high, low)
    return True if apart is not None and apart >= 0 else ex.Binary(Operator.LESS_EQUAL, low, high)


@dataclass(slots=True)
class Symbols:
    """Integer expressions as polynomials, and the variables on which their symbols depend."""

    flow: Flow
    _found: dict[ex.Expr, Polynomial] = field(default_factory=dict)
    _variables: dict[str, frozenset[Variable] | None] = field(default_factory=dict)

    def polynomial(self, expr: ex.Expr) -> Polynomial:
        """Return `expr` as a polynomial."""
        if expr not in self._found:
            self._found[expr] = polynomial_of(expr, self._note)
        return self._found[expr]

    def _note(self, key: str, expr: ex.Expr) -> None:
        if key in self._variables:
            return
        paths = (path_of(part) for part in ex.walk(expr))
        known = {path.variable for path in paths if path is not None}
        names = self.flow.names
        brackets = (part for part in ex.walk(expr) if isinstance(part, ex.Index))
        calls = (word for part in brackets if (word := names.function_called(part)) is not None)
        unclear = any(
            word in names.statement_functions
            or names.procedure(word)
            or not names.is_harmless(word)
            for word in calls
        )
        self._variables[key] = None if unclear else frozenset(known)

    def changes(self, key: str, written: frozenset[Variable]) -> bool:
        """Return whether a symbol may have another value after a change of `written`.

        Raises `InternalError` for a symbol that is not part of a polynomial created here.
        """
        if key not in self._variables:
            raise InternalError(f"Nothing is known about the symbol '{key}'.")
        variables = self._variables[key]
        return variables is None or any(touches_any(one, written) for one in variables)

    def is_fixed(self, value: Polynomial, written: frozenset[Variable]) -> bool:
        """Return whether a polynomial is unaffected by changes of `written`."""
        return not any(self.changes(key, written) for key in value.symbols)


@dataclass(frozen=True, slots=True)
class CounterRange:
    """The values of a loop counter: `first`, `first + step`, ... up to `last`, if known.

    Each value is at least all of `starts` and at most all of `ends` (in the direction of the step).
    There are several if a bound is the maximum or minimum of some values. `symbolic` is a step with
    an unknown value.
    """

    name: str
    first: Polynomial | None
    last: Polynomial | None
    starts: tuple[Polynomial, ...]
    ends: tuple[Polynomial, ...]
    step: int | None
    symbolic: Polynomial | None = None

    def range_of(self, value: Polynomial) -> Iterator[Polynomial]:
        """Yield the nonnegative polynomials that express that `value` is within the bounds."""
        if self.step is None:
            return
        for start in self.starts:
            yield _signed(value.minus(start), self.step)
        for end in self.ends:
            yield _signed(end.minus(value), self.step)


def _signed(value: Polynomial, step: int) -> Polynomial:
    return value if step > 0 else constant_polynomial(0).minus(value)


def counter_of(loop: FlowNode, flow: Flow, symbols: Symbols) -> CounterRange:
    """Return the values of a loop counter, as far as they are known inside the loop."""
    line = loop.line
    assert isinstance(line, Do)
    written = flow.written(loop)
    step = (
        constant_polynomial(1) if line.step is None else symbols.polynomial(loop.clear(line.step))
    )
    known = step.known or None
    upward = known is None or known > 0

    def fixed(*parts: ex.Expr) -> tuple[Polynomial, ...]:
        values = map(symbols.polynomial, parts)
        return tuple(value for value in values if symbols.is_fixed(value, written))

    start, stop = loop.clear(line.start), loop.clear(line.stop)
    starts = fixed(*_alternatives(start, "max" if upward else "min"))
    ends = fixed(*_alternatives(stop, "min" if upward else "max"))
    (first, last) = (next(iter(fixed(part)), None) for part in (start, stop))
    symbolic = step if step.known is None and symbols.is_fixed(step, written) else None
    return CounterRange(line.variable.key, first, last, starts, ends, known, symbolic)


def _alternatives(expr: ex.Expr, function: str) -> tuple[ex.Expr, ...]:
    """Return `expr` after its arguments if it is a call of `function`."""
    if isinstance(expr, ex.CallFunction) and ex.intrinsic_called(expr) == function:
        plain = not any(isinstance(item, ex.Keyword) for item in expr.items)
        return (*expr.items, expr) if plain else (expr,)
    return (expr,)


class DependenceTests:
    """Dependence tests for pairs of accesses in different iterations of the loop `around`.

    `written` are the variables that may have other values in other iterations. The polynomials in
    `tested` are known to be nonnegative.
    """

    __slots__ = ("_around", "_counters", "_flow", "_symbols", "_written", "tested")

    def __init__(
        self,
        flow: Flow,
        around: FlowNode,
        written: frozenset[Variable],
        tested: tuple[Polynomial, ...] = (),
    ) -> None:
        self.tested = tested
        self._flow = flow
        self._around = around
        self._symbols = Symbols(flow)
        self._written = written
        self._counters: dict[int, CounterRange] = {}

    def never(self, first: Item, second: Item, orders: tuple[IterationOrder, ...]) -> bool:
        """Return whether two accesses never overlap in iterations of the given orders."""
        if first.access.of_shape is not second.access.of_shape:
            return True
        if not self._flow.names.may_share(first.variable, second.variable):
            return True
        if first.path.root != second.path.root:
            return False
        pairs = aligned(first.path, second.path)
        if pairs is None:
            return not self._may_point(first.variable, second.variable)
        if not self._stays(first, second):
            return False
        return bool(pairs) and _AccessPair(self, first, second, pairs).never(orders)

    def distance(self, first: Item, second: Item) -> int | None:
        """Return the distance in counter values between two accesses to the same element.

        It is 0 if all iterations access the same element or plain variable, and None if the
        distance is unknown or differs between iterations.
        """
        pairs = aligned(first.path, second.path)
        if first.variable != second.variable or pairs is None:
            return None
        if not pairs:
            declared = self._flow.names.declaration(first.variable)
            return None if first.path.steps or declared is None or declared.shape else 0
        if any(isinstance(part, ex.Range) for pair in pairs for part in pair):
            return None
        name = self.counter(self._around).name
        found: set[int] = set()
        for one, other in pairs:
            value = self.value(one, _FIRST).minus(self.value(other, _SECOND))
            factor = value.factors.get((name + _FIRST,), 0)
            counted = symbol(name + _FIRST).minus(symbol(name + _SECOND))
            rest = value.minus(counted.times(constant_polynomial(factor))).known
            if rest is None or (rest % factor if factor else rest):
                return None
            if factor:
                found.add(abs(rest // factor))
        return None if len(found) > 1 else next(iter(found), 0)

    def conditions(self, first: Item, second: Item) -> Iterator[tuple[Polynomial, ...]]:
        """Yield run-time conditions under which two accesses may never conflict.

        Each condition is a tuple of polynomials that must all be nonnegative. It concerns one
        subscript, whose values in two iterations differ by an amount that the loop does not change.
        The caller must prove that the condition suffices.
        """
        loop = self.counter(self._around)
        if loop.first is None or loop.last is None or not loop.step:
            return
        low, high = (loop.first, loop.last) if loop.step > 0 else (loop.last, loop.first)
        for mine, other in aligned(first.path, second.path) or ():
            if isinstance(mine, ex.Range) or isinstance(other, ex.Range):
                continue
            apart = self.value(mine, _FIRST).minus(self.value(other, _SECOND))
            factors = [apart.factors.get((loop.name + mark,), 0) for mark in (_FIRST, _SECOND)]
            for factor, mark in zip(factors, (_FIRST, _SECOND), strict=True):
                apart = apart.minus(symbol(loop.name + mark).times(constant_polynomial(factor)))
            if apart.known is None:
                yield from _apart(apart, factors, low, high)

    def _may_point(self, first: Variable, second: Variable) -> bool:
        """Return whether two components of a variable may alias each other through a pointer."""
        names = self._flow.names
        alike = takewhile(lambda two: two[0] == two[1], zip(first, second, strict=False))
        shared = sum(1 for _ in alike)
        return first[0] in names.aliases or any(
            names.is_pointer(part) and not (names.distinct_pointers and len(part) > 1)
            for one in (first, second)
            for part in prefixes(one)
            if len(part) > shared
        )

    def _stays(self, first: Item, second: Item) -> bool:
        """Return whether the pointers after subscripts in both paths, if any, are the same."""
        one, other = map(self._holder, (first, second))
        if not one.steps and not other.steps:
            return True
        if one.variable != other.variable or len(one.subscripts) != len(other.subscripts):
            return False
        pairs = zip(one.subscripts, other.subscripts, strict=True)
        return all(is_scalar(part, self._flow.names) for part in one.subscripts) and all(
            self.value(left, _FIRST).minus(self.value(right, _SECOND)).known == 0
            for left, right in pairs
        )

    def _holder(self, item: Item) -> AccessPath:
        """Return the path up to the last pointer component after subscripts, or an empty path."""
        steps = item.path.steps
        variable: Variable = (item.path.root,)
        indexed, length = False, 0
        for at, step in enumerate(steps, 1):
            if isinstance(step, Subscripts):
                indexed = True
                continue
            variable = (*variable, step.key)
            if indexed and self._flow.names.is_pointer(variable):
                length = at
        return AccessPath(item.path.root, steps[:length])

    @property
    def names(self) -> RoutineNames:
        """The names in the routine."""
        return self._flow.names

    def counter(self, loop: FlowNode) -> CounterRange:
        """Return the values of a loop counter."""
        if loop.number not in self._counters:
            self._counters[loop.number] = counter_of(loop, self._flow, self._symbols)
        return self._counters[loop.number]

    def first_value(self, loop: FlowNode, mark: str) -> Polynomial:
        """Return the first value of a loop counter; a new symbol if it is unknown."""
        found = self.counter(loop).first
        if found is not None:
            return self.marked(found, mark)
        return symbol(f"{loop.number}!" + ("" if loop is self._around else mark))

    def bounds(self, loop: FlowNode, mark: str) -> list[Polynomial]:
        """Return the inequalities between a marked loop counter and its bounds."""
        found = self.counter(loop)
        starts, ends = (
            tuple(self.marked(value, mark) for value in values)
            for values in (found.starts, found.ends)
        )
        return list(replace(found, starts=starts, ends=ends).range_of(symbol(found.name + mark)))

    def loops_around(self, node: FlowNode) -> list[FlowNode]:
        """Return the counted loops around a statement, from the analysed loop inwards."""
        inner = (self._flow.node(number) for number in node.around)
        first = self._around.number
        return [one for one in inner if one.number >= first and isinstance(one.line, Do)]

    def marked(self, value: Polynomial, mark: str) -> Polynomial:
        """Return a polynomial in which all symbols that may vary have the mark `mark`."""

        def change(key: str) -> str:
            return key + mark if self._symbols.changes(key, self._written) else key

        return value.renamed(change)

    def value(self, expr: ex.Expr, mark: str) -> Polynomial:
        """Return an expression as a marked polynomial."""
        return self.marked(self._symbols.polynomial(expr), mark)


class _AccessPair:
    """Two accesses, and the subscript pairs that must be equal where they overlap."""

    __slots__ = ("_equal", "_first", "_tests", "_ranges", "_second")

    def __init__(
        self,
        tests: DependenceTests,
        first: Item,
        second: Item,
        pairs: tuple[tuple[ex.Expr, ex.Expr], ...],
    ) -> None:
        self._tests = tests
        self._first, self._second = first, second
        self._equal: list[Polynomial] = []
        self._ranges: list[Polynomial] = []
        written = aligned(first.access.path, second.access.path) or ()
        for (one, other), parts in zip(pairs, written, strict=True):
            names = tests.names
            if all(isinstance(part, ex.Range) or is_scalar(part, names) for part in parts):
                self._compare(one, other)
            else:
                self._compare_cells(one, other)

    def _compare(self, one: ex.Expr, other: ex.Expr) -> None:
        """Record an equation for equal subscripts, or inequalities for overlapping ranges."""
        value = self._tests.value
        self._compare_cells(one, other)
        if not isinstance(one, ex.Range) and not isinstance(other, ex.Range):
            self._equal.append(value(one, _FIRST).minus(value(other, _SECOND)))
            return
        ends = [_ends(one, value, _FIRST), _ends(other, value, _SECOND)]
        for (low, _), (_, high) in (ends, ends[::-1]):
            if low is not None and high is not None:
                self._ranges.append(low.minus(high))

    def _compare_cells(self, one: ex.Expr, other: ex.Expr) -> None:
        """Record that subscripts with dofs of cells are equal only in one cell.

        If both offsets are scalars, the offsets to the same dof are then equal.
        """
        value, names, pair = self._tests.value, self._tests.names, (one, other)
        first, second = (_dof_in(part, names) for part in pair)
        if first is None or second is None or not ex.same(first.base, second.base):
            return
        if not all(is_scalar(item, names) for part in (first, second) for item in part.items):
            return
        self._equal.append(value(first.items[1], _FIRST).minus(value(second.items[1], _SECOND)))
        same = ex.same(first.items[0], second.items[0])
        plain = all(is_scalar(part, names) for part in pair)
        if same and plain and ex.integer_value(first.items[0]):
            apart = value(pair[0], _FIRST).minus(value(first, _FIRST))
            self._equal.append(apart.minus(value(pair[1], _SECOND)).plus(value(second, _SECOND)))

    def never(self, orders: tuple[IterationOrder, ...]) -> bool:
        if any(value.known for value in self._equal):
            return True
        if any(self._is_turned(value, order) for value in self._equal for order in orders):
            return True
        if any(not may_be_zero(self._counted(value)) for value in self._equal):
            return True
        return all(self._excluded(facts) for facts in self._facts(orders))

    def _is_turned(self, value: Polynomial, order: IterationOrder) -> bool:
        """Return whether a difference is a multiple of the difference of the loop counters."""
        one, other = map(self._tests.counter, (order.first, order.second))
        factors = value.factors
        ahead, behind = factors.get((other.name + _SECOND,)), factors.get((one.name + _FIRST,))
        return len(factors) == 2 and ahead is not None and behind == -ahead

    def _excluded(self, facts: NonNegativePolynomials) -> bool:
        one = constant_polynomial(1)
        told = facts.and_zero(self._equal)
        if any(told.imply(apart.minus(one)) for apart in self._ranges):
            return True
        for at, value in enumerate(self._equal):
            others = (*self._equal[:at], *self._equal[at + 1 :])
            if facts.and_zero(others).exclude_zero(value):
                return True
        return False

    def _counted(self, value: Polynomial) -> Polynomial:
        """Return a difference with each counter of step s replaced by `first + s * n`.

        The common divisor of the coefficients is then visible.
        """
        for item, mark in ((self._first, _FIRST), (self._second, _SECOND)):
            for loop in self._tests.loops_around(item.node):
                counter = self._tests.counter(loop)
                if counter.step in (None, 1, -1):
                    continue
                first = self._tests.first_value(loop, mark)
                steps = symbol(f"{loop.number}{mark}").times(constant_polynomial(counter.step or 1))
                value = value.replaced({counter.name + mark: first.plus(steps)})
        return value

    def _facts(self, orders: tuple[IterationOrder, ...]) -> Iterator[NonNegativePolynomials]:
        """Yield the known inequalities for each combination of counter orders."""
        known: list[Polynomial] = [*self._tests.tested]
        trips: list[Polynomial] = []
        for item, mark in ((self._first, _FIRST), (self._second, _SECOND)):
            for loop in self._tests.loops_around(item.node):
                own = self._tests.bounds(loop, mark)
                known += own
                trips += [one.plus(other) for one, other in pairwise(own[:2])]
        ways = [self._ways(order) for order in orders]
        for chosen in product(*ways):
            facts = NonNegativePolynomials((*chain.from_iterable(chosen), *known))
            if any(value.degree > 1 for value in (*self._equal, *self._ranges)):
                more = (
                    one.times(trip)
                    for one in (*chain.from_iterable(chosen), *trips)
                    for trip in trips
                )
                facts = facts.and_these((*trips, *more))
            yield facts

    def _ways(self, order: IterationOrder) -> list[tuple[Polynomial, ...]]:
        """Return the least difference of the counters, for each possible sign of the step."""
        one, other = map(self._tests.counter, (order.first, order.second))
        ahead = symbol(other.name + _SECOND).minus(symbol(one.name + _FIRST))
        if order.earlier:
            ahead = constant_polynomial(0).minus(ahead)
        step, least = one.symbolic, constant_polynomial(1)
        if step is not None:
            back = constant_polynomial(0).minus(step)
            return [
                (ahead.minus(step), step.minus(least)),
                (step.minus(ahead), back.minus(least)),
            ]
        least = constant_polynomial(abs(one.step or 1))
        forward, backward = (
            (ahead.minus(least),),
            (constant_polynomial(0).minus(ahead).minus(least),),
        )
        if one.step is None:
            return [forward, backward]
        return [forward] if one.step > 0 else [backward]


def _apart(
    rest: Polynomial, factors: list[int], low: Polynomial, high: Polynomial
) -> Iterator[tuple[Polynomial, ...]]:
    """Yield conditions for two subscripts to differ.

    The subscripts differ by `rest` plus multiples (`factors`) of counters between `low` and `high`.
    """
    zero, one = constant_polynomial(0), constant_polynomial(1)
    if factors[0] == -factors[1] and factors[0]:
        span = high.minus(low).times(constant_polynomial(abs(factors[0]))).plus(one)
        yield (rest.minus(span),)
        yield (zero.minus(rest).minus(span),)
        yield (rest, zero.minus(rest))
    elif sorted(map(abs, factors)) == [0, 1]:
        place = rest.times(constant_polynomial(-sum(factors)))
        yield (low.minus(place).minus(one),)
        yield (place.minus(high).minus(one),)


def _dof_in(expr: ex.Expr, names: RoutineNames) -> ex.Index | None:
    """Return the dofmap entry in a subscript that consists of a dof of a cell plus an offset.

    Both ends of a range must belong to the same cell.
    """
    if not names.dofmaps:
        return None
    if isinstance(expr, ex.Range):
        low, high = (
            None if end is None else _dof_in(end, names) for end in (expr.lower, expr.upper)
        )
        if low is None or high is None or expr.step is not None:
            return None
        is_same = ex.same(low.base, high.base) and ex.same(low.items[1], high.items[1])
        return low if is_same else None
    found: list[ex.Index] = []
    inside: set[str] = set()
    for term in _terms(expr):
        if isinstance(term, ex.Index) and _is_dof(term, names):
            found.append(term)
            continue
        inside |= {part.key for part in ex.walk(term) if isinstance(part, ex.Name)}
    return found[0] if len(found) == 1 and not inside & names.dofmaps else None


def _is_dof(expr: ex.Index, names: RoutineNames) -> bool:
    base = expr.base
    return (
        isinstance(base, ex.Name)
        and base.key in names.dofmaps - names.aliases
        and len(expr.items) == 2
    )


def _terms(expr: ex.Expr) -> Iterator[ex.Expr]:
    """Yield the terms of a sum; a subtracted term has a minus sign."""
    match expr:
        case ex.Binary(Operator.PLUS, left, right):
            yield from _terms(left)
            yield from _terms(right)
        case ex.Binary(Operator.MINUS, left, right):
            yield from _terms(left)
            yield ex.Unary(Operator.MINUS, right)
        case _:
            yield expr


def _ends(
    expr: ex.Expr, value: Callable[[ex.Expr, str], Polynomial], mark: str
) -> tuple[Polynomial | None, Polynomial | None]:
    """Return the lowest and the highest subscript, None for an unknown one."""
    if not isinstance(expr, ex.Range):
        only = value(expr, mark)
        return only, only
    low = None if expr.lower is None else value(expr.lower, mark)
    high = None if expr.upper is None else value(expr.upper, mark)
    if expr.step is None:
        return low, high
    step = value(expr.step, mark).known
    if not step:
        return None, None
    return (low, high) if step > 0 else (high, low)
