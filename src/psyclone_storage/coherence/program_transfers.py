"""Transfer planner for programs: the cheapest copies between host and device over a call tree.

A transfer may precede each step and end each block. Transfers in loops count `LOOP` times, those in
branches `BRANCH` times, and those of a procedure as often as others call it. Among equal costs,
transfers are as late as possible.

The planner computes, for each procedure and each of its arrays, the least cost of each effect that
transfers can give the procedure (`copy_effects.py`). Effects of blocks are composed of those of
their steps, and a call has the effects of the called procedure. Therefore each procedure is
searched once for each array, callees first.

A procedure is compiled once, so all its calls have one effect. Arrays that are passed to each other
are planned together: if the cheapest plan needs several effects of a procedure, each of them is
tried (branch and bound).

An argument may be only a part of an array. The procedure may transfer the part, but the rest of the
array stays in the state from entry: a copy is valid at exit if it is valid for both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.coherence.copy_effects import (
    COPIES,
    NOTHING,
    PASSED,
    BlockOutcome,
    CopyEffect,
    at_exit,
    contracts_of,
    effect_of,
    effect_of_transfer,
    effect_of_use,
    leaves_as_much,
    of_a_part,
    of_choice,
    of_loop,
    of_sequence,
    starting_with,
)
from psyclone_storage.ir.device_program import (
    ChoiceStep,
    FixedStates,
    JumpStep,
    Position,
    ProcedureName,
    ProgramArray,
    ProgramCall,
    ProgramProcedure,
    ProgramStep,
    ProgramTransfer,
    RepeatStep,
    StepSequence,
    Valid,
    WorkStep,
    nested_steps,
)
from psyclone_storage.ir.facts import FactKind
from psyclone_storage.ir.transfer import Side

LOOP, BRANCH = 8.0, 0.5
"""Weights of the costs in a loop and in a branch."""
_MOST_SEARCHES = 2000
"""The number of combinations of effects that are tried for arrays that are passed to each other."""
_USUAL = (1, 2)
"""The copies before usual calls: one is valid."""


_History = tuple["_History", object] | None
"""What happens on the cheapest way to a state: transfers, and the effects of calls."""


class _Route(NamedTuple):
    """The transfers with the least cost for an effect."""

    cost: float
    history: _History = None


class _ArrayNode(NamedTuple):
    """An array in a procedure."""

    procedure: ProcedureName
    datum: ProgramArray


class _Taken(NamedTuple):
    """A call on a way, with the effect that it needs."""

    node: _ArrayNode
    effect: CopyEffect


_Ways = dict[BlockOutcome, _Route]
_Table = dict[CopyEffect, _Route]
_Fixed = dict[_ArrayNode, CopyEffect]
"""Effects that are chosen for procedures with several calls."""
_Choices = tuple[tuple[_ArrayNode, CopyEffect], ...]
_Solution = tuple[float, Mapping[_ArrayNode, _Table]]
"""The cost of a plan, and the effects that calls of each procedure need, with their transfers."""


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """The transfers of a program.

    `infeasible` are arrays for which there is no plan. `states` are the contracts that the
    transfers of open procedures allow. For `inexact` arrays, other transfers may cost less.
    """

    transfers: tuple[ProgramTransfer, ...] = ()
    infeasible: frozenset[ProgramArray] = frozenset()
    states: Mapping[ProcedureName, Mapping[ProgramArray, FixedStates]] = field(default_factory=dict)
    inexact: frozenset[ProgramArray] = frozenset()


def plan_program(
    procedures: Iterable[ProgramProcedure],
    closed: frozenset[ProcedureName],
    opened: frozenset[ProcedureName] = frozenset(),
    assumed: frozenset[FactKind] = frozenset(),
) -> ProgramPlan:
    """Return the transfers for a call tree.

    `procedures` are those of the tree, callers first. Callers of those in `closed`, such as the
    root, are unknown: copies on the host are valid at entry and at exit. Callers of those in
    `opened` are planned later, and obey any contract. `assumed` are facts about all arrays.
    """
    return _ProgramPlanner(tuple(procedures), closed, opened, assumed).plan()


class _ProgramPlanner:
    """Plans the arrays of a program; see the docstring of the module."""

    def __init__(
        self,
        procedures: tuple[ProgramProcedure, ...],
        closed: frozenset[ProcedureName],
        opened: frozenset[ProcedureName],
        assumed: frozenset[FactKind],
    ) -> None:
        self._writes_parts = FactKind.UNWRITTEN_UNUSED not in assumed
        self.procedures = {one.name: one for one in procedures}
        self._closed = closed
        self._opened = opened
        self._parts, self._scattered = _parts_of(procedures)
        self._tables: dict[tuple[_ArrayNode, _Choices], _Table] = {}
        self._callers: dict[_ArrayNode, dict[_ArrayNode, None]] = defaultdict(dict)
        self._calls: dict[_ArrayNode, int] = defaultdict(int)
        self._shared: dict[_ArrayNode, frozenset[_ArrayNode]] = {}
        self._count_calls()
        self._weights = self._executions()

    def _count_calls(self) -> None:
        """Note the arrays of callers that are passed as each array, and the number of calls."""
        for procedure in self.procedures.values():
            for call in nested_steps(procedure.body):
                if not isinstance(call, ProgramCall):
                    continue
                for outer, every in call.by_outer.items():
                    inside = {
                        _ArrayNode(name, one.inner): None
                        for name, one in every
                        if one.inner in self.procedures[name].data
                    }
                    for node in inside:
                        self._callers[node][_ArrayNode(procedure.name, outer)] = None
                        self._calls[node] += 1

    def _executions(self) -> Mapping[ProcedureName, float]:
        """Return the estimated number of executions of each procedure."""
        found: dict[ProcedureName, float] = defaultdict(float)
        called = {one.procedure for one in self._calls}
        for name, procedure in self.procedures.items():
            if name in self._closed or name not in called:
                found[name] += 1.0
            for call, weight in _weighted_calls(procedure.body, found[name]):
                for one in call.procedures:
                    found[one] += weight / len(call.procedures)
        return found

    def plan(self) -> ProgramPlan:
        """Plan all arrays, those that are passed to each other together."""
        lost: set[ProgramArray] = set()
        inexact: set[ProgramArray] = set()
        found: dict[_ArrayNode, tuple[ProgramTransfer, ...]] = {}
        chosen: dict[_ArrayNode, tuple[CopyEffect, float]] = {}
        for nodes in self._components():
            solutions, is_exact = self._solved(nodes)
            if not solutions:
                lost.update(self._without_plan(nodes))
                continue
            inexact.update(() if is_exact else (one.datum for one in nodes))
            for one, needed in solutions[-1][1].items():
                ((effect, way),) = needed.items()
                items = _flat(way.history)
                found[one] = tuple(two for two in items if isinstance(two, ProgramTransfer))
                chosen[one] = effect, way.cost
            self._tables.clear()
        transfers = tuple(chain.from_iterable(found[one] for one in self._ordered(found)))
        states = self._states(chosen, found)
        return ProgramPlan(transfers, frozenset(lost), states, frozenset(inexact))

    def _ordered(self, nodes: Iterable[_ArrayNode]) -> list[_ArrayNode]:
        """Return arrays of procedures, callers first."""
        order = {name: at for at, name in enumerate(self.procedures)}
        return sorted(nodes, key=lambda one: (order[one.procedure], one.datum))

    def _states(
        self,
        chosen: Mapping[_ArrayNode, tuple[CopyEffect, float]],
        transfers: Mapping[_ArrayNode, tuple[ProgramTransfer, ...]],
    ) -> dict[ProcedureName, dict[ProgramArray, FixedStates]]:
        """Return the contracts of open procedures with their transfers, without own arrays."""
        found: dict[ProcedureName, dict[ProgramArray, FixedStates]] = {}
        for name in self.procedures:
            if name not in self._opened:
                continue
            own = self.procedures[name]
            found[name] = {}
            for datum in sorted(own.data - own.left):
                node = _ArrayNode(name, datum)
                if node in chosen:
                    effect, cost = chosen[node]
                    is_bad = bool(transfers[node]) and self._has_gaps(node)
                    part = of_a_part(effect) if self._writes_parts else effect
                    parts = {} if is_bad else dict.fromkeys(contracts_of(part), cost)
                    whole = dict.fromkeys(contracts_of(effect), cost)
                    found[name][datum] = FixedStates(whole, parts)
        return found

    # ------------------------------------------------------------------------ components

    def _components(self) -> Iterator[tuple[_ArrayNode, ...]]:
        """Yield the arrays of procedures that are passed to each other, callers first."""
        every = [
            _ArrayNode(name, datum)
            for name, procedure in self.procedures.items()
            if procedure.fixed is None
            for datum in sorted(procedure.data)
        ]
        known = frozenset(every)
        linked: dict[_ArrayNode, list[_ArrayNode]] = defaultdict(list)
        for node, callers in self._callers.items():
            for one in callers:
                linked[node].append(one)
                linked[one].append(node)
        seen: set[_ArrayNode] = set()
        for node in every:
            if node in seen:
                continue
            seen.add(node)
            queue = [node]
            for one in queue:
                new = [other for other in linked[one] if other not in seen and other in known]
                seen.update(new)
                queue += new
            yield tuple(self._ordered(queue))

    def _without_plan(self, nodes: tuple[_ArrayNode, ...]) -> Iterator[ProgramArray]:
        """Yield arrays because of which some have no plan."""
        empty = [one for one in nodes if not self._table(one, ())]
        for one in empty[-1:] or nodes[:1]:
            yield one.datum
        self._tables.clear()

    def _solved(self, nodes: tuple[_ArrayNode, ...]) -> tuple[list[_Solution], bool]:
        """Return plans of some arrays, the cheapest last, and whether no other costs less."""
        self._note_shared(nodes)
        found: list[_Solution] = []
        stack: list[tuple[float, _Fixed]] = [(0.0, {})]
        tried = 0
        while stack:
            bound, fixed = stack.pop()
            if found and (bound >= found[-1][0] or tried > _MOST_SEARCHES):
                continue
            solution = self._relaxed(nodes, fixed)
            if solution is None or (found and solution[0] >= found[-1][0]):
                continue
            clash = next((one for one in nodes if len(solution[1].get(one, ())) > 1), None)
            if clash is None:
                found.append(solution)
                continue
            effects = self._table(clash, self._restricting(clash, fixed))
            tried += len(effects)
            choices = [{**fixed, clash: effect} for effect in effects]
            bounds = [(one, self._relaxed(nodes, one)) for one in choices]
            new = [(known[0], one) for one, known in bounds if known is not None]
            stack += sorted(new, key=lambda one: -one[0])
        return found, tried <= _MOST_SEARCHES

    def _note_shared(self, nodes: tuple[_ArrayNode, ...]) -> None:
        """Note the arrays with several calls that each array depends on."""
        below: dict[_ArrayNode, set[_ArrayNode]] = {one: set() for one in nodes}
        for one in reversed(nodes):
            if self._calls[one] > 1 or one.procedure in self._closed:
                below[one].add(one)
            for caller in self._callers.get(one, ()):
                below[caller] |= below[one]
        self._shared = {one: frozenset(found) for one, found in below.items()}

    def _restricting(self, node: _ArrayNode, fixed: _Fixed) -> _Choices:
        """Return the chosen effects on which the transfers of a procedure depend."""
        own = self._shared.get(node, frozenset())
        return tuple(item for item in fixed.items() if item[0] in own)

    def _relaxed(self, nodes: tuple[_ArrayNode, ...], fixed: _Fixed) -> _Solution | None:
        """Return the cheapest plan if only some procedures need one effect for all calls."""
        used: dict[_ArrayNode, _Table] = defaultdict(dict)
        total = 0.0
        queue: list[_Taken] = []
        for node in nodes:
            if self._callers.get(node) and node.procedure not in self._closed:
                continue
            options = self._options(node, self._table(node, self._restricting(node, fixed)))
            if not options:
                return None
            cost, effect = options[0]
            total += cost * self._weights[node.procedure]
            queue.append(_Taken(node, effect))
        while queue:
            node, effect = queue.pop()
            if effect not in used[node]:
                way = self._table(node, self._restricting(node, fixed))[effect]
                used[node][effect] = way
                queue += [one for one in _flat(way.history) if isinstance(one, _Taken)]
        return total, used

    def _options(self, node: _ArrayNode, table: _Table) -> list[tuple[float, CopyEffect]]:
        """Return the effects that fit the unknown callers of a procedure, cheapest first."""
        procedure = self.procedures[node.procedure]
        is_fresh, is_left = node.datum in procedure.fresh, node.datum in procedure.left
        found: list[tuple[float, float, CopyEffect]] = []
        for effect, way in table.items():
            if node.procedure in self._opened - self._closed:
                # A caller transfers to make both copies valid, and needs one afterwards.
                usual = is_fresh or any(effect[one] > 0 for one in _USUAL)
                if is_left or effect[3] > 0:
                    found.append((way.cost + (not usual), way.cost, effect))
                continue
            after = effect[3 if is_fresh else 1]
            if after >= 0 and (is_left or after & COPIES[Valid.HOST]):
                found.append((way.cost, way.cost, effect))
        return [(cost, effect) for cost, _, effect in sorted(found, key=lambda one: one[:2])]

    # ------------------------------------------------------------------------ procedures

    def _table(self, node: _ArrayNode, fixed: _Choices) -> _Table:
        """Return the least cost of each effect of a procedure, with effects that are chosen."""
        key = node, fixed
        if key not in self._tables:
            table = self._searched(node, dict(fixed))
            for one, effect in fixed:
                if one == node:
                    table = {effect: table[effect]} if effect in table else {}
            self._tables[key] = table
        return self._tables[key]

    def _has_gaps(self, node: _ArrayNode) -> bool:
        """Return whether a procedure may not transfer an argument that is a part of an array."""
        return not self._writes_parts or node.datum in self.procedures[node.procedure].scattered

    def _moves(self, node: _ArrayNode) -> bool:
        """Return whether a procedure can transfer an array."""
        if node.datum in self.procedures[node.procedure].unmoved or node.datum in self._scattered:
            return False
        return node.datum not in self._parts or not self._has_gaps(node)

    def _searched(self, node: _ArrayNode, fixed: _Fixed) -> _Table:
        procedure = self.procedures[node.procedure]
        start = NOTHING
        is_known = node.procedure in self._closed or node.procedure not in self._opened
        if not self._callers.get(node) and is_known:
            start = starting_with(3 if node.datum in procedure.fresh else 1)
        place = _PlanContext(node, fixed, moves=self._moves(node))
        table: _Table = {}
        for outcome, way in self._block(place, procedure.body, start).items():
            effect = at_exit(outcome)
            if effect not in table or way.cost < table[effect].cost:
                table[effect] = way
        return table

    # ------------------------------------------------------------------------ statements

    def _block(self, place: _PlanContext, body: StepSequence, start: CopyEffect = NOTHING) -> _Ways:
        """Return the cheapest transfers for each outcome of a block."""
        ways = {BlockOutcome(start): _Route(0.0)}
        last: ProgramStep | None = None
        for step in body.steps_with(place.node.datum):
            # A construct follows the step for its conditions, which has the same position.
            follows = last is not None and step.line is last.line and step.line is not None
            last = step
            ways = self._moved(place, ways, None if follows else place.before(step, body))
            ways = _cheapest(_combined(ways, self._step(place, step), of_sequence))
            if all(one.after is None for one in ways):
                return ways
        # The last step without a line, the condition of a loop, follows the end of its block.
        is_condition = bool(body.steps) and body.steps[-1].line is None
        return _cheapest(self._moved(place, ways, None if is_condition else place.at_end(body)))

    def _moved(self, place: _PlanContext, ways: _Ways, position: Position | None) -> _Ways:
        """Return the ways after possible transfers at a position."""
        if position is None or not place.moves:
            return ways
        found = dict(ways)
        for side in Side:
            transfer = ProgramTransfer(place.node.datum, side, position, place.weight)
            move = BlockOutcome(effect_of_transfer(side))
            for outcome, way in ways.items():
                new = None if outcome.after is None else of_sequence(outcome, move)
                if new is None or new == outcome:
                    continue
                cost = way.cost + place.weight
                if new not in found or cost <= found[new].cost:
                    found[new] = _Route(cost, (way.history, transfer))
        return found

    def _step(self, place: _PlanContext, step: ProgramStep) -> _Ways:
        """Return the outcomes of one step."""
        match step:
            case WorkStep(side, uses):
                return {BlockOutcome(effect_of_use(side, uses[place.node.datum])): _Route(0.0)}
            case ProgramCall():
                return self._called(place, step)
            case ChoiceStep(branches, complete):
                inner = place.inside(BRANCH)
                found = None if complete else {PASSED: _Route(0.0)}
                for one in branches:
                    ways = self._block(inner, one)
                    found = ways if found is None else _combined(found, ways, of_choice)
                    found = _cheapest(found)
                return found or {}
            case RepeatStep(body):
                ways = self._block(place.inside(LOOP), body)
                changed = ((of_loop(one, id(step.line)), way) for one, way in ways.items())
                return _least((one, way) for one, way in changed if one is not None)
            case JumpStep(loop, again):
                target = (None if loop is None else id(loop), again)
                return {BlockOutcome(None, ((target, NOTHING),)): _Route(0.0)}

    def _called(self, place: _PlanContext, call: ProgramCall) -> _Ways:
        every = call.by_outer.get(place.node.datum, ())
        found: _Ways | None = None
        for name in call.procedures:
            # An array may be passed as several arguments.
            inside: dict[ProgramArray, bool] = {}
            for other, one in every:
                if other == name and one.inner in self.procedures[name].data:
                    is_part = not one.whole or place.node.datum in self._scattered
                    inside[one.inner] = inside.get(one.inner, False) or is_part
            own: _Ways = {PASSED: _Route(0.0)}
            for number, (inner, part) in enumerate(sorted(inside.items())):
                factor = place.weight / len(call.procedures)
                more = self._of_argument(place, _ArrayNode(name, inner), factor, part=part)
                own = _cheapest(_combined(own, more, of_choice)) if number else more
            found = own if found is None else _cheapest(_combined(found, own, of_choice))
        return found or {}

    def _of_argument(
        self, place: _PlanContext, node: _ArrayNode, factor: float, *, part: bool
    ) -> _Ways:
        """Return the outcomes of a call for one argument."""
        known = self.procedures[node.procedure].fixed
        if known is not None:
            states = known[node.datum]
            contracts = states.part if part else states.whole
            if not contracts:
                return {}
            return {BlockOutcome(effect_of(contracts)): _Route(min(contracts.values()) * factor)}
        table = self._table(node, self._restricting(node, place.fixed))
        is_part = part and self._writes_parts
        return _least(
            (
                BlockOutcome(of_a_part(effect) if is_part else effect),
                _Route(way.cost * factor, (None, _Taken(node, effect))),
            )
            for effect, way in table.items()
        )


@dataclass(frozen=True, slots=True)
class _PlanContext:
    """The array in a procedure, the weight of a block, and the effects chosen for procedures.

    Without `moves`, there are no transfers.
    """

    node: _ArrayNode
    fixed: _Fixed
    weight: float = 1.0
    moves: bool = True

    def inside(self, factor: float) -> _PlanContext:
        return replace(self, weight=self.weight * factor)

    def before(self, step: ProgramStep, body: StepSequence) -> Position:
        if step.line is None:
            return self.at_end(body)
        return Position(self.node.procedure, step.line, -1, id(step.line))

    def at_end(self, body: StepSequence) -> Position:
        return Position(self.node.procedure, body.line, body.block, id(body.line))


def _least(ways: Iterable[tuple[BlockOutcome, _Route]]) -> _Ways:
    """Return the cheapest way to each outcome."""
    found: _Ways = {}
    for outcome, way in ways:
        if outcome not in found or way.cost < found[outcome].cost:
            found[outcome] = way
    return found


def _combined(
    first: _Ways, second: _Ways, join: Callable[[BlockOutcome, BlockOutcome], BlockOutcome | None]
) -> _Ways:
    """Return the cheapest ways through two parts."""
    found: _Ways = {}
    for one, way in first.items():
        for other, added in second.items():
            outcome = join(one, other)
            if outcome is None:
                continue
            cost = way.cost + added.cost
            if outcome not in found or cost < found[outcome].cost:
                rest = added.history
                found[outcome] = _Route(cost, way.history if rest is None else (way.history, rest))
    return found


def _cheapest(ways: _Ways) -> _Ways:
    """Return the ways without those for which another costs as little and has a better outcome."""
    if len(ways) == 1:
        return ways
    return {
        outcome: way
        for outcome, way in ways.items()
        if not any(
            other.cost <= way.cost and better is not outcome and leaves_as_much(better, outcome)
            for better, other in ways.items()
        )
    }


def _weighted_calls(body: StepSequence, weight: float) -> Iterator[tuple[ProgramCall, float]]:
    """Yield the calls in a block with their estimated numbers."""
    for step in body.steps:
        match step:
            case ProgramCall():
                yield step, weight
            case ChoiceStep(branches):
                for one in branches:
                    yield from _weighted_calls(one, weight * BRANCH)
            case RepeatStep(inner):
                yield from _weighted_calls(inner, weight * LOOP)


def _parts_of(
    procedures: Iterable[ProgramProcedure],
) -> tuple[frozenset[ProgramArray], frozenset[ProgramArray]]:
    """Return the arguments that are only parts of arrays, and those that may not be contiguous."""
    every = tuple(procedures)
    scattered = frozenset[ProgramArray]().union(*(one.scattered for one in every))
    passed = [
        one
        for procedure in every
        for call in nested_steps(procedure.body)
        if isinstance(call, ProgramCall)
        for each in call.passed
        for one in each
    ]
    parts = frozenset(one.inner for one in passed if not one.whole)
    found: set[ProgramArray] = set(parts & scattered)
    while (
        new := {one.inner for one in passed if one.inner in scattered and one.outer in found}
        - found
    ):
        found |= new
    return parts, frozenset(found)


def _flat(history: _History) -> Iterator[object]:
    """Yield the items of a history, and of those in it, in order."""
    items: list[object] = []
    while history is not None:
        history, item = history
        items.append(item)
    for item in reversed(items):
        if isinstance(item, tuple) and not isinstance(item, _Taken):
            yield from _flat(item)
        elif item is not None:
            yield item
