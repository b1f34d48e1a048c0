"""Footprints of the loops of a subroutine, from its statements.

Two accesses depend on each other if they may overlap in a pair of iterations. An undecidable case
counts as a dependence, so that the transformation is rejected (PSyclone misses `jiv = j + 1;
a(jiv)`). The module `dependence_tests` decides which accesses overlap, `independence` whether
iterations may run concurrently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from psyclone_storage.analysis.bodies.accesses import (
    irregular_lines,
    unknown_functions,
    values_in_bound,
)
from psyclone_storage.analysis.bodies.dependence_tests import DependenceTests, IterationOrder
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, Item, flow_of
from psyclone_storage.analysis.bodies.independence import (
    check_nodes_understood,
    element_reason,
    has_shape,
    independence_of,
    loop_variant,
    rounded_reason,
    scalar_reason,
)
from psyclone_storage.analysis.bodies.reductions import reduction_of
from psyclone_storage.analysis.footprints import NO_ASSERTIONS, Reasons, UserAssertions
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.expr import whole_number
from psyclone_storage.ir.loops import bounds_of_loop, following_loop, have_same_bounds
from psyclone_storage.ir.nests import inner_loop
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.rewrite import first_words, place_of_line
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Do


@dataclass(frozen=True, slots=True)
class CodeFootprint:
    """The footprint of a loop of a subroutine, from its statements (T052, T062, T063)."""

    flow: Flow
    loop: FlowNode
    assertions: UserAssertions = NO_ASSERTIONS

    @property
    def line(self) -> Do:
        """The loop statement."""
        assert isinstance(self.loop.line, Do)
        return self.loop.line

    @property
    def inner(self) -> CodeFootprint | None:
        """The inner loop, if it is the only statement of the body except for comments."""
        node = inner_node(self.loop, self.flow)
        return None if node is None else replace(self, loop=node)

    @property
    def following(self) -> CodeFootprint | None:
        """The loop directly after this one, if it has the same bounds."""
        line = following_loop(self.flow.code, self.line)
        if line is None or not have_same_bounds(self.line, line):
            return None
        node = next(
            one
            for one in self.flow.loops
            if one.number >= self.loop.stop and one.around == self.loop.around
        )
        return replace(self, loop=node)

    def check_nested(self) -> Reasons:
        """Return a diagnostic unless the body is exactly one loop."""
        if inner_node(self.loop, self.flow) is not None:
            return ()
        message = f"The loop over '{counter(self.loop)}' holds more than one loop, or none."
        return (Diagnostic("T063", message, place_of_line(self.line)),)

    def check_known(self) -> Reasons:
        """Return the statements with unknown effects and those that may leave the loop."""
        return check_plain(self.loop, self.flow)

    def check_bounds(self) -> Reasons:
        """Return reasons why the bounds of this or the inner loop may change between iterations."""
        inner = inner_node(self.loop, self.flow)
        return () if inner is None else tuple(_bounds_depend(self.loop, inner, self.flow))

    def check_order(self) -> Reasons:
        """Return the dependences that prevent exchanging this loop with the inner loop.

        If sums may be rounded in another order, sum reductions are not reported.
        """
        inner = inner_node(self.loop, self.flow)
        if inner is None:
            return ()
        left = _left_behind(self.loop, inner, self.flow)
        return (*self._carried(), *left, *self._reversed(inner))

    def check_strips(self) -> Reasons:
        """Return reasons why the loop cannot be strip-mined."""
        return tuple(self._against_strips())

    def check_alike(self, other: CodeFootprint | None) -> Reasons:
        """Return reasons why this loop and `other`, after it, cannot have common iterations."""
        place = self.line.place
        if other is None:
            message = f"No loop with the same bounds follows the one over '{_text(self)}'."
            return (Diagnostic("T063", message, place),)
        for one in (self, other):
            if self.flow.is_read_later(other.loop, (counter(one.loop),)):
                message = f"The value of '{_text(one)}' is used after its loop."
                return (Diagnostic("T063", message, place),)
        return ()

    def check_ahead(self, other: CodeFootprint) -> Reasons:
        """Return the dependences that fusing this loop with `other` would violate."""
        first, second, flow = self.loop, other.loop, self.flow
        changed = flow.written(first) | flow.written(second)
        return (
            *_bounds_change(first, _roots(changed - {(counter(first),)}), flow),
            *(
                _carried_reason(second, variable)
                for variable in sorted(_scalars_between(first, second, flow))
            ),
            *_looks_ahead(first, second, flow),
        )

    def check_concurrent(self) -> Reasons:
        """Return reasons why the iterations must not run concurrently.

        Variables that can be private do not matter, nor do reductions, except for rounded sums and
        products of real numbers.
        """
        found = independence_of(self.loop, self.flow)
        if self.assertions.sums:
            return found.reasons
        return (*found.reasons, *(rounded_reason(self.loop, item) for item in found.rounded))

    def _against_strips(self) -> Iterator[Diagnostic]:
        line, loop, flow = self.line, self.loop, self.flow
        if line.step is not None and whole_number(line.step) != 1:
            message = f"The loop over '{_text(self)}' does not count by one."
            yield Diagnostic("T063", message, line.place)
        yield from _unknown_bounds(loop, flow)
        for name in sorted(
            values_in_bound(line.stop, flow.names) & _roots(flow.body(loop).written)
        ):
            message = f"The loop over '{_text(self)}' changes '{name}', which is in its bounds."
            yield Diagnostic("T063", message, line.place)
        if flow.is_read_later(loop, (line.variable.key,)):
            message = f"The value of '{_text(self)}' is used after its loop."
            yield Diagnostic("T063", message, line.place)

    def _carried(self) -> Iterator[Diagnostic]:
        """Yield problems for scalars that transfer a value from one iteration to the next."""
        for variable in sorted(_carried(self.loop, self.flow)):
            if not self._is_reduced(variable):
                yield _carried_reason(self.loop, variable)

    def _reversed(self, inner: FlowNode) -> Iterator[Diagnostic]:
        """Yield problems for elements whose order of accesses a loop interchange would change."""
        loop, flow = self.loop, self.flow
        tests = DependenceTests(flow, loop, loop_variant(loop, flow))
        found: set[Variable] = set()
        orders = (IterationOrder(loop, loop), IterationOrder(inner, inner, earlier=True))
        for first, second in product(flow.items_in(loop), repeat=2):
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
        """Return whether the loop only reduces a variable, in any order of the terms."""
        items = self.flow.items_in(self.loop)
        own = [item for item in items if item.path.root == variable[0]]
        found = reduction_of(variable, own, self.loop, self.flow)
        return found is not None and (
            found.exact or (self.assertions.sums and found.operator is Operator.PLUS)
        )


def footprints_of(code: Routine) -> tuple[CodeFootprint, ...]:
    """Return the footprints of the loops of `code`, in source order."""
    flow = flow_of(code)
    return tuple(CodeFootprint(flow, loop) for loop in flow.loops)


def _text(nest: CodeFootprint) -> str:
    return nest.line.variable.text


# ---------------------------------------------------------------------------- pairs of accesses


def _looks_ahead(first: FlowNode, second: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield arrays with elements that, once fused, the second loop accesses before the first."""
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
    """Return whether an access is to a plain scalar variable."""
    return not item.path.steps and not has_shape(item.path.root, flow)


# ---------------------------------------------------------------------------- plain variables


def _plain(variables: Iterable[Variable], flow: Flow) -> frozenset[Variable]:
    return frozenset(one for one in variables if len(one) == 1 and not has_shape(one[0], flow))


def _carried(loop: FlowNode, flow: Flow) -> frozenset[Variable]:
    """Return the scalars that transfer a value from one iteration to the next."""
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
    """Yield problems for scalars whose final value depends on the order of iterations."""
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
    """Return the key of a loop counter."""
    return _line(loop).variable.key


def _line(loop: FlowNode) -> Do:
    assert isinstance(loop.line, Do)
    return loop.line


def inner_node(loop: FlowNode, flow: Flow) -> FlowNode | None:
    """Return the inner loop if it is the only statement of `loop` except for comments."""
    assert isinstance(loop.line, Do)
    if inner_loop(loop.line) is None:
        return None
    depth = len(loop.around) + 1
    inside = (one for one in flow.inside(loop) if isinstance(one.line, Do))
    return next(one for one in inside if len(one.around) == depth)


def check_plain(loop: FlowNode, flow: Flow) -> Reasons:
    """Return the problems of statements with unknown effects or jumps (T052)."""
    irregular = tuple(
        Diagnostic(
            "T052",
            f"'{first_words(node.line)}' of '{flow.code.name}' is not understood.",
            place_of_line(node.line),
        )
        for node in flow.inside(loop)
        if irregular_lines((node.line,))
    )
    return tuple(dict.fromkeys((*check_nodes_understood(flow.inside(loop), flow), *irregular)))


def _bounds_depend(loop: FlowNode, inner: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield problems for bounds that change between iterations (T063)."""
    changing = _roots(flow.written(loop))
    for name in sorted(_names_in_bounds(inner, flow) & changing):
        message = f"The bounds of the loop over '{counter(inner)}' depend on '{name}'."
        yield Diagnostic("T063", message, place_of_line(inner.line))
    yield from _unknown_bounds(inner, flow)
    yield from _bounds_change(loop, _roots(flow.body(loop).written), flow)


def _unknown_bounds(loop: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield problems for functions in the bounds of a loop that may return other values (T063)."""
    for bound in bounds_of_loop(_line(loop)):
        for name in unknown_functions(bound, flow.names):
            message = f"The bounds of the loop over '{counter(loop)}' call '{name}'."
            yield Diagnostic("T063", message, place_of_line(loop.line))


def _names_in_bounds(loop: FlowNode, flow: Flow) -> frozenset[str]:
    bounds = bounds_of_loop(_line(loop))
    return frozenset[str]().union(*(values_in_bound(bound, flow.names) for bound in bounds))


def _bounds_change(loop: FlowNode, changing: frozenset[str], flow: Flow) -> Iterator[Diagnostic]:
    yield from _unknown_bounds(loop, flow)
    for name in sorted(_names_in_bounds(loop, flow) & changing):
        message = f"The loop over '{counter(loop)}' changes '{name}', which is in its bounds."
        yield Diagnostic("T063", message, place_of_line(loop.line))


def _roots(variables: Iterable[Variable]) -> frozenset[str]:
    return frozenset(variable[0] for variable in variables)
