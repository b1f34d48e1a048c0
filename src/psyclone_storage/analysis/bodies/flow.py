"""Data flow through a routine, computed once for all queries.

A `Flow` numbers the statements of a routine in source order, starting with 1. For each statement it
records the accesses, the def-use summary over all its paths, and the variables that are read after
it. Scalars that contain an index are substituted: after `jiv = j + 1`, `a(jiv)` accesses `a(j +
1)`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain

from psyclone_storage.analysis.bodies.accesses import (
    MemoryAccess,
    accesses_of,
    associated_lines,
    set_by_call,
    unknown_calls,
)
from psyclone_storage.analysis.bodies.def_use import (
    NOTHING,
    Jump,
    Summary,
    summary_of_sequence,
    touches_any,
    without,
)
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.shapes import is_integer
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.affine import constant_polynomial, polynomial_of
from psyclone_storage.ir.expr import Expr, Name, walk
from psyclone_storage.ir.facts import FactKind
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import AccessPath, Component, Subscripts, Variable, path_of
from psyclone_storage.ir.rewrite import blocks_of, names_in, substituted, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.scopes import host_names

_JUMP = regex(r"\bgo\s*to\b", re.IGNORECASE)
_RETURN: Jump = ("return", 0)
_OUTSIDE = "*"
"""Represents all variables that procedures may change without receiving them as arguments."""
_LOOPS = (un.Do, un.While, un.DoConcurrent, un.Forall)


@dataclass(frozen=True, slots=True)
class FlowNode:
    """A statement of a routine.

    `around` are the numbers of the enclosing constructs, outermost first, and `blocks` are the
    blocks of these constructs that contain the statement. `stop` is the number after the last
    nested statement. `values` maps keys of scalars to their known values at the start of the
    statement.
    """

    number: int
    line: un.Line
    around: tuple[int, ...]
    blocks: tuple[int, ...]
    accesses: tuple[MemoryAccess, ...]
    values: Mapping[str, Expr] = field(repr=False)
    stop: int = 0

    def seen(self, path: AccessPath) -> AccessPath:
        """Return `path` with known scalars in its subscripts replaced by their values."""
        if not self.values:
            return path
        steps = (
            step if isinstance(step, Component) else Subscripts(tuple(map(self.clear, step.items)))
            for step in path.steps
        )
        return AccessPath(path.root, tuple(steps))

    def clear(self, expr: Expr) -> Expr:
        """Return `expr` with known scalars replaced by their values."""
        return substituted(expr, self.values) if self.values else expr


@dataclass(frozen=True, slots=True)
class Item:
    """An access in the statement `node`.

    `path` is the accessed path with known scalars replaced, `variable` is the path without
    subscripts.
    """

    node: FlowNode
    access: MemoryAccess
    path: AccessPath
    variable: Variable

    @property
    def writes(self) -> bool:
        """True if the access is a write."""
        return self.access.writes


@dataclass(frozen=True)
class Flow:
    """Data flow of the statements of `code`; see the module docstring.

    `summaries` are those of the statements and `bodies` those of loop bodies. `later` are the
    variables that may be read after a loop, or after a block with a directive, with a value from
    before its end. `bodies` and `later` are indexed by the number of the statement.
    """

    code: Routine
    names: RoutineNames
    nodes: tuple[FlowNode, ...]
    summaries: tuple[Summary, ...]
    bodies: Mapping[int, Summary]
    later: Mapping[int, frozenset[Variable]]
    has_jumps: bool

    def without(self, kind: FactKind) -> Flow:
        """Return the data flow without the promises of one kind."""
        if kind not in self._without:
            names = self.names
            dofmaps = frozenset[str]() if kind is FactKind.COLUMNS else names.dofmaps
            self._without[kind] = flow_of(self.code, names.assumed - {kind}, dofmaps)
        return self._without[kind]

    @cached_property
    def _without(self) -> dict[FactKind, Flow]:
        return {}

    @property
    def loops(self) -> tuple[FlowNode, ...]:
        """The counted loops in source order."""
        return tuple(node for node in self.nodes if isinstance(node.line, un.Do))

    @cached_property
    def by_statement(self) -> Mapping[int, FlowNode]:
        """The statements by the identities of their records."""
        return {id(node.line): node for node in self.nodes}

    @cached_property
    def by_uid(self) -> Mapping[str, FlowNode]:
        """The counted loops by their uids."""
        return {node.line.uid: node for node in self.nodes if isinstance(node.line, un.Do)}

    def node(self, number: int) -> FlowNode:
        """Return the statement with this number."""
        return self.nodes[number - 1]

    def inside(self, node: FlowNode) -> tuple[FlowNode, ...]:
        """Return the statements nested in a construct."""
        return self.nodes[node.number : node.stop - 1]

    @cached_property
    def _items(self) -> tuple[tuple[Item, ...], ...]:
        return tuple(
            tuple(Item(node, one, node.seen(one.path), one.path.variable) for one in node.accesses)
            for node in self.nodes
        )

    @cached_property
    def _by_root(self) -> Mapping[str, tuple[Item, ...]]:
        found: dict[str, list[Item]] = defaultdict(list)
        for item in chain.from_iterable(self._items):
            found[item.path.root].append(item)
        return {root: tuple(items) for root, items in found.items()}

    def items_in(self, node: FlowNode) -> tuple[Item, ...]:
        """Return the accesses of the statements nested in a construct, in source order."""
        return tuple(chain.from_iterable(self._items[node.number : node.stop - 1]))

    def items_of(self, root: str) -> tuple[Item, ...]:
        """Return all accesses of the routine to the variable `root` and its components."""
        return self._by_root.get(root, ())

    def body(self, loop: FlowNode) -> Summary:
        """Return the summary of one iteration of a loop; `cycle` ends the iteration."""
        return self.bodies[loop.number].landing(("cycle", loop.number))

    def written(self, loop: FlowNode) -> frozenset[Variable]:
        """Return the variables that a construct may change, including a loop counter."""
        return self.summaries[loop.number - 1].written

    def is_read_later(self, loop: FlowNode, variable: Variable) -> bool:
        """Return whether a later read may use the value that `loop` leaves in a variable.

        The read may be in a statement after the loop, in one before it in a common outer loop, or
        in the caller of the routine.
        """
        if self.has_jumps or not self.names.is_local(variable[0]):
            return True
        return touches_any(variable, self.later[loop.number])


def flow_of(
    code: Routine,
    assumed: frozenset[FactKind] = frozenset(),
    dofmaps: frozenset[str] = frozenset(),
    former: RoutineNames | None = None,
) -> Flow:
    """Return the data flow of `code`, given promises about all its names.

    `former`, the names in an earlier version or in a part of the routine, saves time for the
    statements in common.
    """
    names = RoutineNames(code, assumed, dofmaps)
    if former is not None:
        names.inherit(former)
    has_jumps = any(map(_jumps_anywhere, walk_lines(code.body)))
    nodes = _NodeBuilder(names, copies=not has_jumps).nodes(code.body)
    summing = _SummaryBuilder(nodes, names)
    summing.block(code.body, 1)
    living = _Liveness(summing.summaries, summing.bodies, nodes)
    living.block(code.body, 1, NOTHING)
    return Flow(
        code,
        names,
        nodes,
        tuple(summing.summaries),
        summing.bodies,
        living.later,
        has_jumps,
    )


def summary_of_routine(names: RoutineNames) -> Summary:
    """Return the summary of all statements of a routine."""
    nodes = _NodeBuilder(names, copies=False).nodes(names.code.body)
    return _SummaryBuilder(nodes, names).block(names.code.body, 1).landing(_RETURN)


def summary_of_iteration(loop: un.Do, names: RoutineNames) -> Summary:
    """Return the summary of one iteration of a loop that is not part of a routine."""
    nodes = _NodeBuilder(names, copies=False).nodes((loop,))
    summing = _SummaryBuilder(nodes, names)
    summing.block((loop,), 1)
    return summing.bodies[1].landing(("cycle", 1))


def _jumps_anywhere(line: un.Line) -> bool:
    """Return whether a statement may jump to a label."""
    return isinstance(line, un.Goto) or (
        isinstance(line, un.Opaque) and bool(_JUMP.search(line.text))
    )


# ---------------------------------------------------------------------------- reaching copies


class _NodeBuilder:
    """Creates the nodes of statements, with the known values of scalars that reach them."""

    __slots__ = ("_copies", "_names", "_nodes")

    def __init__(self, names: RoutineNames, *, copies: bool) -> None:
        self._names = names
        self._copies = copies
        self._nodes: list[FlowNode] = []

    def nodes(self, lines: Iterable[un.Line]) -> tuple[FlowNode, ...]:
        """Return the nodes of all statements of a body."""
        self._block(lines, (), (), {})
        return tuple(self._nodes)

    def _block(
        self,
        lines: Iterable[un.Line],
        around: tuple[int, ...],
        blocks: tuple[int, ...],
        values: Mapping[str, Expr],
    ) -> frozenset[str]:
        """Add the nodes of a block; return the keys of the scalars that it may change."""
        changed: frozenset[str] = frozenset()
        for line in lines:
            own = self._line(line, around, blocks, values)
            changed |= own
            values = self._without(values, own)
            if self._copies and isinstance(line, un.Assign) and isinstance(line.target, Name):
                node = self._nodes[-1]
                values = self._with_copy(values, line.target, node.clear(line.value))
        return changed

    def _line(
        self,
        line: un.Line,
        around: tuple[int, ...],
        blocks: tuple[int, ...],
        values: Mapping[str, Expr],
    ) -> frozenset[str]:
        at = len(self._nodes)
        number = at + 1
        accesses = self._accesses(line, around)
        changed = frozenset(one.root for one in accesses if one.writes)
        self._nodes.append(FlowNode(number, line, around, blocks, accesses, values))
        if values:
            changed |= _changed_outside(line, self._names)
        if isinstance(line, _LOOPS):
            changed |= self._names.of_statement(line, _changed_inside)
        if isinstance(line, (*_LOOPS, un.Opaque)):
            values = self._without(values, changed)
        for which, block in enumerate(blocks_of(line)):
            changed |= self._block(block, (*around, number), (*blocks, which), values)
        known = values if isinstance(line, un.Opaque) else self._nodes[at].values
        self._nodes[at] = FlowNode(
            number, line, around, blocks, accesses, known, len(self._nodes) + 1
        )
        return changed

    def _accesses(self, line: un.Line, around: tuple[int, ...]) -> tuple[MemoryAccess, ...]:
        """Return the accesses of a statement inside the constructs `around`.

        A called procedure does not change the counter of an active loop: the Fortran standard
        forbids that.
        """
        found = accesses_of(line, self._names)
        if not isinstance(line, un.Call):
            return found
        loops = (self._nodes[number - 1].line for number in around)
        counters = {loop.variable.key for loop in loops if isinstance(loop, un.Do)}
        return tuple(one for one in found if not (one.writes and one.path.root in counters))

    def _without(self, values: Mapping[str, Expr], changed: frozenset[str]) -> Mapping[str, Expr]:
        if not values or not changed:
            return values
        return {
            key: value
            for key, value in values.items()
            if not any(
                name in changed or (_OUTSIDE in changed and self._is_seen_outside(name))
                for name in (key, *names_in(value))
            )
        }

    def _is_seen_outside(self, key: str) -> bool:
        """Return whether a procedure may change a variable that is not passed to it."""
        code = self._names.code
        if code.declared(key) is None or key in self._names.unclear:
            return True
        return key in host_names(code.contained)

    def _with_copy(
        self, values: Mapping[str, Expr], target: Name, value: Expr
    ) -> Mapping[str, Expr]:
        code = self._names.code
        declared = self._names.declaration((target.key,))
        whole = is_integer(target, code) and is_integer(value, code)
        if declared is None or declared.shape or not whole or self._names.is_shared((target.key,)):
            return values
        roots = {path.root for path in map(path_of, walk(value)) if path is not None}
        if target.key in roots or any(self._names.is_shared((root,)) for root in roots):
            return values
        return {**values, target.key: value}


def _changed_inside(line: un.Line, names: RoutineNames) -> frozenset[str]:
    """Return the keys of the variables that the statements nested in a construct may change."""
    found: set[str] = set()
    for inner in chain.from_iterable(blocks_of(line)):
        found.update(one.root for one in accesses_of(inner, names) if one.writes)
        found |= _changed_outside(inner, names)
        if isinstance(inner, un.CompoundStatement):
            found |= names.of_statement(inner, _changed_inside)
    return frozenset(found)


def _changed_outside(line: un.Line, names: RoutineNames) -> frozenset[str]:
    """Return `{_OUTSIDE}` if a statement may change variables shared with other routines."""
    calls = isinstance(line, un.Opaque) or names.of_statement(line, _calls_unknown)
    return frozenset({_OUTSIDE}) if calls else frozenset()


def _calls_unknown(line: un.Line, names: RoutineNames) -> bool:
    return any(unknown_calls((line,), names, inside=False))


# ---------------------------------------------------------------------------- summaries


class _SummaryBuilder:
    """Computes the summaries of statements, inner ones first."""

    __slots__ = ("_names", "_nodes", "bodies", "summaries")

    def __init__(self, nodes: tuple[FlowNode, ...], names: RoutineNames) -> None:
        self._nodes = nodes
        self._names = names
        self.summaries = [Summary()] * len(nodes)
        self.bodies: dict[int, Summary] = {}

    def block(self, lines: Iterable[un.Line], first: int) -> Summary:
        """Return the summary of a block whose first statement has the number `first`."""
        found = []
        for _ in lines:
            node = self._nodes[first - 1]
            self.summaries[first - 1] = self._of(node)
            found.append(self.summaries[first - 1])
            first = node.stop
        return summary_of_sequence(found)

    def _of(self, node: FlowNode) -> Summary:
        line, first = node.line, node.number + 1
        inner = []
        for block in blocks_of(line):
            inner.append(self.block(block, first))
            first += sum(1 for _ in _numbers(self._nodes, first, block))
        own = self._own(node)
        ends: tuple[Jump, ...] = (("exit", node.number),)
        match line:
            case un.Do() | un.While() | un.DoConcurrent() | un.Forall():
                body = summary_of_sequence(inner)
                if isinstance(line, un.DoConcurrent | un.Forall):
                    body = replace(body, exposed=without(body.exposed, _counters(line)))
                self.bodies[node.number] = body
                return own.then(self._repeated(node, body)).landing(*ends)
            case un.If() | un.Where():
                return own.then(_choice(inner)).landing(*ends)
            case un.Select():
                default = any(not case.guards for case in line.cases)
                found = _choice(inner[1:])
                return own.then(found if default else found.at_most()).landing(*ends)
            case un.Conditional():
                return _choice(inner).at_most()
        return own.then(summary_of_sequence(inner)).landing(*ends)

    def _repeated(self, node: FlowNode, body: Summary) -> Summary:
        body = body.landing(("cycle", node.number))
        if isinstance(node.line, un.While) and node.line.condition is None:
            return Summary(body.exposed, None, body.written, body.jumps)
        return body if _runs(node) else body.at_most()

    def _own(self, node: FlowNode) -> Summary:
        """Return the summary of a statement without nested statements."""
        line = node.line
        associated = associated_lines(line, self._names)
        if associated is not None:
            inside = _NodeBuilder(self._names, copies=False).nodes(associated)
            return _SummaryBuilder(inside, self._names).block(associated, 1)
        exposed = frozenset(one.path.variable for one in node.accesses if not one.writes)
        written = frozenset(one.path.variable for one in node.accesses if one.writes)
        sets = NOTHING
        masked = any(
            isinstance(self._nodes[at - 1].line, un.Where | un.Forall) for at in node.around
        )
        if isinstance(line, un.Assign | un.Do) and not masked:
            sets = frozenset(
                one.path.variable for one in node.accesses if one.writes and one.path.is_whole
            )
        if isinstance(line, un.Call):
            sets = frozenset((key,) for key in set_by_call(line, self._names))
        jump = self._jump(node)
        if jump is not None:
            return Summary(exposed, None, written, {jump: sets})
        if isinstance(line, un.Stop | un.Goto):
            return Summary(exposed, None if isinstance(line, un.Stop) else sets, written)
        return Summary(exposed, sets, written)

    def _jump(self, node: FlowNode) -> Jump | None:
        match node.line:
            case un.Return():
                return _RETURN
            case un.Exit(name) | un.Cycle(name):
                word = "exit" if isinstance(node.line, un.Exit) else "cycle"
                return (word, self._target(node, name))
        return None

    def _target(self, node: FlowNode, name: str) -> int:
        """Return the number of the construct to which a `cycle` or `exit` refers."""
        for number in reversed(node.around):
            line = self._nodes[number - 1].line
            if name and key_of(getattr(line, "name", "")) == key_of(name):
                return number
            if not name and isinstance(line, un.Do | un.While | un.DoConcurrent):
                return number
        return 0


def _counters(line: un.DoConcurrent | un.Forall) -> frozenset[Variable]:
    """Return the counters of a construct, which hide the variables of these names around it."""
    return frozenset((control.variable.key,) for control in line.controls)


def _numbers(nodes: tuple[FlowNode, ...], first: int, block: Iterable[un.Line]) -> Iterator[int]:
    """Yield the numbers of the statements of a block, including nested ones."""
    for _ in block:
        stop = nodes[first - 1].stop
        yield from range(first, stop)
        first = stop


def _choice(parts: list[Summary]) -> Summary:
    total = parts[0] if parts else Summary()
    for part in parts[1:]:
        total = total.or_else(part)
    return total


def _runs(node: FlowNode) -> bool:
    """Return whether a counted loop certainly has an iteration."""
    line = node.line
    if not isinstance(line, un.Do):
        return False
    parts = (line.start, line.stop, line.step)
    start, stop, step = (
        constant_polynomial(1) if part is None else polynomial_of(node.clear(part), lambda *_: None)
        for part in parts
    )
    if not step.known:
        return False
    apart = stop.minus(start).known
    return apart is not None and apart * step.known >= 0


# ---------------------------------------------------------------------------- liveness


class _Liveness:
    """Liveness of variables after each loop, computed backwards through the statements."""

    __slots__ = ("_bodies", "_landing", "_nodes", "_summaries", "later")

    def __init__(
        self, summaries: list[Summary], bodies: Mapping[int, Summary], nodes: tuple[FlowNode, ...]
    ) -> None:
        self._summaries = summaries
        self._bodies = bodies
        self._nodes = nodes
        self._landing: dict[Jump, frozenset[Variable]] = {_RETURN: NOTHING}
        self.later: dict[int, frozenset[Variable]] = {}

    def block(self, lines: Iterable[un.Line], first: int, live: frozenset[Variable]) -> None:
        """Compute the live variables after each loop of a block; `live` are those at its end."""
        numbers = []
        for _ in lines:
            numbers.append(first)
            first = self._nodes[first - 1].stop
        for number in reversed(numbers):
            self._inside(self._nodes[number - 1], live)
            summary = self._summaries[number - 1]
            jumps = (self._landing.get(jump, live) for jump in summary.jumps)
            rest = NOTHING if summary.sets is None else without(live, summary.sets)
            live = summary.exposed.union(rest, *jumps)

    def _inside(self, node: FlowNode, live: frozenset[Variable]) -> None:
        self._landing["exit", node.number] = live
        if isinstance(node.line, (*_LOOPS, un.DirectiveBlock)):
            self.later[node.number] = live
        if isinstance(node.line, _LOOPS):
            live = live | self._summaries[node.number - 1].exposed
            live = live | self._bodies[node.number].exposed
            self._landing["cycle", node.number] = live
        first = node.number + 1
        for block in blocks_of(node.line):
            self.block(block, first, live)
            first += sum(1 for _ in _numbers(self._nodes, first, block))
