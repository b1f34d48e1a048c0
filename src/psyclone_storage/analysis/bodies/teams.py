"""Teams of threads: statements that all threads execute, and loops without a barrier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.analysis.bodies.accesses import unknown_calls, values_in_bound
from psyclone_storage.analysis.bodies.def_use import touches_any
from psyclone_storage.analysis.bodies.dependence_tests import DependenceTests, IterationOrder
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode
from psyclone_storage.analysis.bodies.independence import check_nodes_understood
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.private_copies import may_be_copied
from psyclone_storage.analysis.bodies.verdict import called_by, called_procedures
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive, Sharing
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.loops import bounds_of_loop, have_same_bounds
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.rewrite import first_words, place_of_line

_OF_LOOPS = (Directive.OMP_DO, Directive.OMP_LOOP)
_END_REGION = "End the region before the statement, or put it under 'omp-single'."
_OWN_THREADS = "Put the loop under 'openmp-parallel-do' instead."


class Team:
    """A parallel region with statements that all threads execute.

    Such a statement may only assign values that are equal for all threads, to scalars of the
    routine; each thread then has its own copy.
    """

    def __init__(
        self,
        flow: Flow,
        node: FlowNode,
        planned: Mapping[int, un.DirectiveBlock],
        problems: list[Diagnostic],
    ) -> None:
        self._flow = flow
        self._planned = planned
        self._node = node
        self._problems = problems
        inside = flow.inside(node)
        self._shared = [one for one in inside if _shares_work(one.line)]
        numbers = {one.number for one in self._shared}
        within = {at for one in self._shared for at in range(one.number, one.stop)}
        self._serial = [one for one in inside if one.number not in within | numbers]

    def with_private(self, block: un.DirectiveBlock) -> un.DirectiveBlock:
        """Return the block with its private variables; record errors."""
        flow = self._flow
        if not self._shared:
            self._refuse(block, "No statement in the parallel region shares work.")
            return block
        written = self._written_together()
        own: dict[Variable, FlowNode] = {}
        for node in self._serial:
            self._check_statement(node, written)
            for one in node.accesses:
                if one.writes:
                    own.setdefault(one.path.variable, node)
        self._check_copies()
        for at, node in enumerate(self._shared):
            if _waits_not(node.line):
                self._check_without_barrier(node, at)
        exposed = flow.summaries[self._node.number - 1].exposed
        for variable, node in own.items():
            self._check_private(variable, node, written, exposed)
        declared = (flow.names.declaration(one) for one in own)
        names = (one.name for one in declared if one is not None)
        return replace(block, private=tuple(sorted(names, key=key_of)))

    def _written_together(self) -> frozenset[Variable]:
        """Return the non-private variables that worksharing blocks may write."""
        found: set[Variable] = set()
        for node in self._shared:
            block = self._planned.get(node.number)
            own = frozenset(key_of(name) for name in block.private) if block else frozenset()
            found |= {
                one
                for one in self._flow.summaries[node.number - 1].written
                if one[0] not in own and one[0] not in _counters_in(node, self._flow)
            }
            found |= {(key_of(name),) for name in (block.firstprivate if block else ())}
        return frozenset(found)

    def _check_copies(self) -> None:
        """Check that no clause contains the counter of a serial loop in the region.

        OpenMP makes the counter of a serial loop private in the region.
        """
        loops = (one.line for one in self._flow.inside(self._node) if isinstance(one.line, un.Do))
        among = {id(loop) for one in self._shared for loop in _loops_shared_by(one.line)}
        counters = {loop.variable.key for loop in loops if id(loop) not in among}
        for node in self._shared:
            block = self._planned.get(node.number)
            if block is None:
                continue
            combined = (name for name, _ in block.reductions)
            for name in (*block.firstprivate, *block.lastprivate, *combined):
                if key_of(name) in counters:
                    message = f"'{name}' counts a serial loop, so it is private in the region."
                    self._refuse(node.line, message, hint=_OWN_THREADS)

    def _check_without_barrier(self, node: FlowNode, at: int) -> None:
        """Check that a block is independent of all blocks that may run before the next barrier."""
        for other in self._before_barrier(node, at):
            name = conflict_between(node, other, self._planned, self._flow)
            if name is None:
                continue
            message = "A called procedure may access data before the next barrier."
            if name:
                message = f"Without a barrier threads may write and access '{name}' at once."
            self._refuse(node.line, message, hint="Leave out 'nowait', or use 'single'.")
            return

    def _before_barrier(self, node: FlowNode, at: int) -> Iterator[FlowNode]:
        """Yield the blocks that threads may execute between a block and the next barrier."""
        inner = [one for one in node.around if one > self._node.number]
        repeated = any(not isinstance(self._flow.node(one).line, un.If) for one in inner)
        for other in self._shared[at + 1 :]:
            yield other
            follows = (other.around, other.blocks) == (node.around, node.blocks)
            at_top = other.around[-1] == self._node.number and not repeated
            if (follows or at_top) and not _waits_not(other.line):
                return
        if repeated:
            yield from self._shared

    def _check_statement(self, node: FlowNode, written: frozenset[Variable]) -> None:
        line, names = node.line, self._flow.names
        if isinstance(line, un.Comment | un.Blank | un.Continue):
            return
        if not isinstance(line, un.Assign | un.If | un.Do | un.Select) or any(
            unknown_calls((line,), names, inside=False)
        ):
            self._refuse(line, f"All threads would run '{first_words(line)}'.")
            return
        for one in node.accesses:
            variable = one.path.variable
            if one.writes:
                continue
            aliased = names.is_shared(variable) and any(map(names.is_shared, written))
            if aliased or touches_any(variable, written):
                text = "%".join(variable)
                message = (
                    f"Threads write '{text}' in the region, and '{first_words(line)}' reads it."
                )
                self._refuse(line, message)

    def _check_private(
        self,
        variable: Variable,
        node: FlowNode,
        written: frozenset[Variable],
        exposed: frozenset[Variable],
    ) -> None:
        name, flow = "%".join(variable), self._flow
        if not may_be_copied(variable, flow):
            self._refuse(node.line, f"All threads would write '{name}'.")
        elif touches_any(variable, exposed):
            self._refuse(node.line, f"'{name}' has a value from before the region.")
        elif flow.is_read_later(self._node, variable):
            self._refuse(node.line, f"'{name}' is read after the region.")
        elif touches_any(variable, written):
            self._refuse(node.line, f"'{name}' is private, and a loop in the region writes it.")

    def _refuse(self, line: un.Line, message: str, *, hint: str = _END_REGION) -> None:
        self._problems.append(Diagnostic("T027", message, place_of_block(line), hint=hint))


def conflict_between(
    first: FlowNode, second: FlowNode, planned: Mapping[int, un.DirectiveBlock], flow: Flow
) -> str | None:
    """Return a variable for which two blocks must not run concurrently, None without one.

    Two shared loops are compared by elements, other blocks by variables. The result is an empty
    string if a procedure that the blocks call may access any variable.
    """
    touched, written = touched_by(first, planned, flow)
    more, changed = touched_by(second, planned, flow)
    shared = flow.names.is_shared
    found = sorted(
        "%".join(one)
        for mine, others in ((written, more), (changed, touched))
        for one in mine
        if touches_any(one, others) or (shared(one) and any(map(shared, others)))
    )
    if found and _share_no_element(first, second, touched | more, flow):
        return None
    if found:
        return found[0]
    calls = any(called_procedures(one, flow) - HARMLESS for one in (first, second))
    return "" if calls else None


def _share_no_element(
    first: FlowNode, second: FlowNode, touched: frozenset[Variable], flow: Flow
) -> bool:
    """Return whether two shared loops certainly write no element that the other one accesses.

    A thread runs the same iterations of two loops with the same bounds and the same schedule
    `static`, so an element that only equal iterations share does not matter.
    """
    loops = [next(_loops_shared_by(one.line), None) for one in (first, second)]
    called = {name for node in flow.nodes for name in called_by(node.line, flow)}
    if first is second or None in loops or called - HARMLESS:
        return False
    if any(check_nodes_understood(flow.inside(one), flow) for one in (first, second)):
        return False
    accesses = [one for node in flow.nodes for one in node.accesses]
    written = frozenset(
        one.path.variable
        for one in accesses
        if one.writes or flow.names.is_shared(one.path.variable)
    )
    nodes = [one for one in flow.loops if any(one.line is loop for loop in loops)]
    tests = DependenceTests(flow, nodes[0], written)
    orders: list[tuple[IterationOrder, ...]] = [()]
    if _run_alike(first, second, written, flow.names):
        mine, other = nodes if nodes[0].line is loops[0] else nodes[::-1]
        orders = [(IterationOrder(mine, other),), (IterationOrder(mine, other, earlier=True),)]
    return all(
        tests.never(one, other, order)
        for one in flow.items_in(first)
        if one.variable in touched
        for other in flow.items_in(second)
        if other.variable in touched and (one.writes or other.writes)
        for order in orders
    )


def _run_alike(
    first: FlowNode, second: FlowNode, written: frozenset[Variable], names: RoutineNames
) -> bool:
    """Return whether each thread certainly runs the same iterations of two shared loops."""
    blocks = (first.line, second.line)
    one, other = (next(_loops_shared_by(block)) for block in blocks)
    mine, theirs = (line.options for line in blocks if isinstance(line, un.DirectiveBlock))
    changed = {variable[0] for variable in written}
    return (
        first.around[-1:] == second.around[-1:]
        and mine.schedule is not None
        and mine.schedule.rule is Sharing.STATIC
        and mine.schedule == theirs.schedule
        and mine.collapse == theirs.collapse == 1
        and have_same_bounds(one, other)
        and not any(values_in_bound(part, names) & changed for part in bounds_of_loop(one))
    )


def touched_by(
    node: FlowNode, planned: Mapping[int, un.DirectiveBlock], flow: Flow
) -> tuple[frozenset[Variable], frozenset[Variable]]:
    """Return the non-private variables that a block accesses, and those that it writes."""
    block = planned.get(node.number)
    own = {key_of(name) for name in block.private} if block else set()
    own |= _counters_in(node, flow)
    summary = flow.summaries[node.number - 1]

    def outside(variables: frozenset[Variable]) -> frozenset[Variable]:
        return frozenset(one for one in variables if one[0] not in own)

    return outside(summary.exposed | summary.written), outside(summary.written)


def _counters_in(node: FlowNode, flow: Flow) -> frozenset[str]:
    """Return the counters of the loops in a block, unless one thread executes it."""
    assert isinstance(node.line, un.DirectiveBlock)
    if node.line.directive.is_of_one_thread:
        return frozenset()
    loops = (one.line for one in flow.inside(node) if isinstance(one.line, un.Do))
    return frozenset(loop.variable.key for loop in loops)


def _loops_shared_by(block: un.Line) -> Iterator[un.Do]:
    """Yield the loops whose iterations a block distributes, outermost first."""
    assert isinstance(block, un.DirectiveBlock)
    lines, left = block.body, block.options.collapse
    while left and block.directive in _OF_LOOPS:
        loop = next((one for one in lines if isinstance(one, un.Do)), None)
        if loop is None:
            return
        yield loop
        lines, left = loop.body, left - 1


def _waits_not(line: un.Line) -> bool:
    """Return whether there is no barrier at the end of a block."""
    return isinstance(line, un.DirectiveBlock) and (
        line.options.nowait or line.directive is Directive.OMP_MASTER
    )


def _shares_work(line: un.Line) -> bool:
    return isinstance(line, un.DirectiveBlock) and line.directive in (
        *_OF_LOOPS,
        Directive.OMP_SINGLE,
        Directive.OMP_MASTER,
    )


def place_of_block(line: un.Line) -> Span | None:
    """Return the position of a statement, or of the first one in a block."""
    if isinstance(line, un.DirectiveBlock):
        return next((place for one in line.body if (place := place_of_block(one))), None)
    return place_of_line(line)
