"""Which loops inside a kernel may run in another order, and why not.

Two accesses depend on each other if a pair of iterations touches the same data. What cannot be told
counts as a dependence, so that it is refused (PSyclone misses `jiv = j + 1; a(jiv)`).
`dependence_tests` says which accesses touch the same data, `independence` whether iterations may
run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from psyclone_storage.analysis.bodies.accesses import irregular_lines
from psyclone_storage.analysis.bodies.dependence_tests import DependenceTests, IterationOrder
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, Item
from psyclone_storage.analysis.bodies.independence import (
    Reasons,
    element_reason,
    has_shape,
    independence_of,
    loop_variant,
    not_understood,
    scalar_reason,
)
from psyclone_storage.analysis.bodies.reductions import reduction_of
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.rewrite import first_words, names_in, place_of_line
from psyclone_storage.ir.unit import Blank, Comment, Do


def may_parallelise(loop: FlowNode, flow: Flow, *, sums: bool = False) -> Reasons:
    """Return why the iterations of `loop` must not run at the same time (T052, T062).

    Variables that each iteration sets before it reads them are no hindrance: a thread has its own,
    unless something reads what the last iteration has left. Neither are reductions, but sums and
    products of real numbers, which are rounded, need the user's word: `sums`.
    """
    found = independence_of(loop, flow)
    if sums:
        return found.reasons
    rounded = (
        Diagnostic(
            "T062",
            f"Another order of the iterations of the loop over '{counter(loop)}' rounds"
            f" '{item.name}' in another way.",
            place_of_line(loop.line),
            hint="Give 'sums' if that is all right.",
        )
        for item in found.rounded
    )
    return (*found.reasons, *rounded)


def may_swap(loop: FlowNode, flow: Flow, *, sums: bool = False) -> Reasons:
    """Return why `loop` and the loop that is all of its body must not change places.

    With `sums`, elements to which the loops do nothing but add may get their terms in another
    order, which changes the sums by rounding. T052, T062, T063.
    """
    inner = inner_node(loop, flow)
    if inner is None:
        message = f"The loop over '{counter(loop)}' holds more than one loop, or none."
        return (Diagnostic("T063", message, place_of_line(loop.line)),)
    problems = [*not_plain(loop, flow), *_bounds_depend(loop, inner, flow)]
    nest = _Nest(loop, flow, sums)
    problems += [*nest.carried(), *_left_behind(loop, inner, flow)]
    return (*problems, *nest.turned(inner))


def may_fuse_loops(first: FlowNode, second: FlowNode, flow: Flow) -> Reasons:
    """Return why two neighbouring loops over the same values must not become one (T052, T062)."""
    problems = [*not_plain(first, flow), *not_plain(second, flow)]
    changed = flow.written(first) | flow.written(second)
    problems += _bounds_change(first, _roots(changed - {(counter(first),)}))
    for variable in sorted(_scalars_between(first, second, flow)):
        problems.append(_carried_reason(second, variable))
    return (*problems, *_looks_ahead(first, second, flow))


# ---------------------------------------------------------------------------- pairs of accesses


class _Nest:
    """The accesses in a loop and what they mean for another order of its iterations."""

    __slots__ = ("_flow", "_items", "_loop", "_sums")

    def __init__(self, loop: FlowNode, flow: Flow, sums: bool) -> None:
        self._loop, self._flow, self._sums = loop, flow, sums
        self._items = flow.items_in(loop)

    def carried(self) -> Iterator[Diagnostic]:
        """Yield the plain variables that bring a value from one iteration to the next."""
        for variable in sorted(_carried(self._loop, self._flow)):
            if not self._is_reduced(variable):
                yield _carried_reason(self._loop, variable)

    def turned(self, inner: FlowNode) -> Iterator[Diagnostic]:
        """Yield the elements that two iterations touch whose order a swap would change."""
        loop, flow = self._loop, self._flow
        tests = DependenceTests(flow, loop, loop_variant(loop, flow))
        found: set[Variable] = set()
        orders = (IterationOrder(loop, loop), IterationOrder(inner, inner, earlier=True))
        for first, second in product(self._items, repeat=2):
            variable = first.variable
            if not (first.writes or second.writes) or variable in found:
                continue
            if _is_plain(first, flow) and _is_plain(second, flow):
                continue
            if tests.never(first, second, orders) or self._is_reduced(variable):
                continue
            found.add(variable)
            yield element_reason(loop, *((first, second) if first.writes else (second, first)))

    def _is_reduced(self, variable: Variable) -> bool:
        """Return whether the loop reduces a variable in a way that has no order."""
        own = [item for item in self._items if item.path.root == variable[0]]
        found = reduction_of(variable, own, self._flow)
        return found is not None and (
            found.exact or (self._sums and found.operator is Operator.PLUS)
        )


def _looks_ahead(first: FlowNode, second: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield arrays of which the second loop would touch elements before the first one has."""
    written = loop_variant(first, flow) | loop_variant(second, flow)
    tests = DependenceTests(flow, first, written)
    ahead = (IterationOrder(first, second, earlier=True),)
    found: set[Variable] = set()
    pairs = product(flow.items_in(first), flow.items_in(second))
    for one, other in pairs:
        if not (one.writes or other.writes) or one.variable in found:
            continue
        if _is_plain(one, flow) and _is_plain(other, flow):
            continue
        if not tests.never(one, other, ahead):
            found.add(one.variable)
            yield element_reason(second, *((one, other) if one.writes else (other, one)))


def _is_plain(item: Item, flow: Flow) -> bool:
    """Return whether a plain variable is touched, no element of an array and no component."""
    return not item.path.steps and not has_shape(item.path.root, flow)


# ---------------------------------------------------------------------------- plain variables


def _plain(variables: Iterable[Variable], flow: Flow) -> frozenset[Variable]:
    return frozenset(one for one in variables if len(one) == 1 and not has_shape(one[0], flow))


def _carried(loop: FlowNode, flow: Flow) -> frozenset[Variable]:
    """Return the plain variables that bring a value from one iteration to the next."""
    body = flow.body(loop)
    return _plain(body.written & body.exposed, flow)


def _scalars_between(first: FlowNode, second: FlowNode, flow: Flow) -> frozenset[Variable]:
    """Return the scalars that one loop sets and the other reads, or that both set."""
    bodies = [flow.body(loop) for loop in (first, second)]
    sets = [_plain(body.written, flow) for body in bodies]
    reads = [
        frozenset(item.variable for item in flow.items_in(loop) if not item.writes)
        for loop in (first, second)
    ]
    always = [body.sets or frozenset() for body in bodies]
    own = always[0] & always[1]
    crossing = (sets[0] & reads[1]) | (reads[0] & sets[1]) | (sets[0] & sets[1])
    exposed = _carried(first, flow) | _carried(second, flow)
    return frozenset(crossing - (own - exposed))


def _left_behind(loop: FlowNode, inner: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield scalars whose last value may be that of another iteration."""
    body = flow.body(inner)
    counters = {(counter(one),) for one in (loop, inner)}
    unsure = _plain(body.written, flow) - (body.sets or frozenset()) - counters
    for variable in sorted(unsure):
        if flow.is_read_later(loop, variable):
            yield _carried_reason(loop, variable)
    for one in (loop, inner):
        if flow.is_read_later(one, (counter(one),)):
            yield _carried_reason(loop, (counter(one),))


def _carried_reason(loop: FlowNode, variable: Variable) -> Diagnostic:
    return scalar_reason(loop, variable[0], (), place_of_line(loop.line))


# ---------------------------------------------------------------------------- conditions


def counter(loop: FlowNode) -> str:
    """Return the key of a loop's counter."""
    assert isinstance(loop.line, Do)
    return loop.line.variable.key


def inner_loop(loop: Do) -> Do | None:
    """Return the loop that is all of the body of `loop`, but for comments."""
    lines = [line for line in loop.body if not isinstance(line, Comment | Blank)]
    match lines:
        case [Do() as inner]:
            return inner
    return None


def inner_node(loop: FlowNode, flow: Flow) -> FlowNode | None:
    """Return the loop that is all of the body of `loop`, but for comments."""
    assert isinstance(loop.line, Do)
    if inner_loop(loop.line) is None:
        return None
    depth = len(loop.around) + 1
    inside = (one for one in flow.inside(loop) if isinstance(one.line, Do))
    return next(one for one in inside if len(one.around) == depth)


def not_plain(loop: FlowNode, flow: Flow) -> Reasons:
    """Return what in a loop may do anything, or may go elsewhere (T052)."""
    irregular = tuple(
        Diagnostic(
            "T052",
            f"'{first_words(node.line)}' of '{flow.code.name}' is not understood.",
            place_of_line(node.line),
        )
        for node in flow.inside(loop)
        if irregular_lines((node.line,))
    )
    return tuple(dict.fromkeys((*not_understood(flow.inside(loop), flow), *irregular)))


def _bounds(loop: FlowNode) -> list[Expr]:
    assert isinstance(loop.line, Do)
    parts = (loop.line.start, loop.line.stop, loop.line.step)
    return [part for part in parts if part is not None]


def _bounds_depend(loop: FlowNode, inner: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield that the inner loop's bounds are not the same in all iterations (T063)."""
    changing = _roots(flow.written(loop))
    for name in sorted(frozenset().union(*map(names_in, _bounds(inner))) & changing):
        message = f"The bounds of the loop over '{counter(inner)}' depend on '{name}'."
        yield Diagnostic("T063", message, place_of_line(inner.line))
    yield from _bounds_change(loop, _roots(flow.body(loop).written))


def _bounds_change(loop: FlowNode, changing: frozenset[str]) -> Iterator[Diagnostic]:
    for name in sorted(frozenset().union(*map(names_in, _bounds(loop))) & changing):
        message = f"The loop over '{counter(loop)}' changes '{name}', which is in its bounds."
        yield Diagnostic("T063", message, place_of_line(loop.line))


def _roots(variables: Iterable[Variable]) -> frozenset[str]:
    return frozenset(variable[0] for variable in variables)
