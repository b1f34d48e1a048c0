"""Transfer planner for programs: the cheapest copies between host and device over a call tree.

Arrays are independent, so each is planned alone. Its state is the set of valid copies: host, device
or both. A dynamic program over the structure of a procedure gives the least cost to get from a
state at entry to a state at exit; a transfer may precede each step and end each block. A loop
starts and ends each iteration in the same state, and all branches of a choice end in the same
state. Costs of loop bodies count `LOOP` times, those of branches `BRANCH` times. Among equal costs,
transfers are as late as possible.

A procedure is compiled once. Therefore it has one contract for each array, a state at entry and a
state at exit, which all its callers meet. Contracts are chosen from the root downwards, so that the
callers of a procedure are planned before it.

An argument may be only a part of an array. The procedure may transfer the part, but the rest of the
array stays in the state from entry: a copy is valid at exit if it is valid for both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product
from typing import NamedTuple

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.device_program import (
    ChoiceStep,
    Contract,
    FixedStates,
    JumpStep,
    Passed,
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
from psyclone_storage.ir.unit import Line

LOOP, BRANCH = 8.0, 0.5
"""Weights of the costs in a loop and in a branch."""


_ONLY = {Side.HOST: Valid.HOST, Side.DEVICE: Valid.DEVICE}
_MISSING = {Valid.HOST: Side.DEVICE, Valid.DEVICE: Side.HOST}
_ANY = tuple(Valid)


_History = tuple["_History", object] | None
"""What happens on the cheapest way to a state: transfers, and the contracts of calls."""


class _Route(NamedTuple):
    """The cheapest way to a state."""

    cost: float
    history: _History = None

    def plus(self, cost: float, *items: object) -> _Route:
        history = self.history
        for item in items:
            history = (history, item)
        return _Route(self.cost + cost, history)


_Routes = dict[Valid | None, _Route]
"""The cheapest way to each state; `None` is reached by jumps, so that no step follows."""


class _CallChoice(NamedTuple):
    """A call on a way, with the states before and after it."""

    call: ProgramCall
    contract: Contract


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """The transfers of a program, and the contracts of its procedures.

    `infeasible` are arrays for which there is no plan. `states` are all contracts that the
    transfers of open procedures allow.
    """

    transfers: tuple[ProgramTransfer, ...] = ()
    contracts: Mapping[tuple[ProcedureName, ProgramArray], Contract] = field(default_factory=dict)
    infeasible: frozenset[ProgramArray] = frozenset()
    states: Mapping[ProcedureName, Mapping[ProgramArray, FixedStates]] = field(default_factory=dict)


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
    """Plans array after array; see the docstring of the module."""

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
        self._contracts: dict[tuple[ProcedureName, ProgramArray], Contract] = {}
        self._codes: dict[tuple[ProcedureName, ProgramArray], tuple[ProgramTransfer, ...]] = {}
        self._tables: dict[tuple[ProcedureName, ProgramArray, bool], dict[Contract, _Route]] = {}
        self._steps: dict[tuple[int, ProgramArray], tuple[ProgramStep, ...]] = {}
        self._callers = self._calls_of()

    def _calls_of(
        self,
    ) -> Mapping[tuple[ProcedureName, ProgramArray], list[tuple[ProcedureName, ProgramArray]]]:
        """Return, for each array of a procedure, the arrays of callers that are passed as it."""
        found: dict[tuple[ProcedureName, ProgramArray], list[tuple[ProcedureName, ProgramArray]]]
        found = defaultdict(list)
        for procedure in self.procedures.values():
            for call in nested_steps(procedure.body):
                if isinstance(call, ProgramCall):
                    for name, each in zip(call.procedures, call.passed, strict=True):
                        for one in each:
                            found[name, one.inner].append((procedure.name, one.outer))
        return found

    def plan(self) -> ProgramPlan:
        lost: set[ProgramArray] = set()
        own = [one for one in self.procedures.values() if one.fixed is None]
        for procedure in own:
            for datum in sorted(procedure.data):
                contract = self._contract_of(procedure, datum)
                if contract is None:
                    lost.add(datum)
                else:
                    self._fix(procedure.name, datum, contract)
        for name, datum in reversed(self._contracts):
            self._forget(name, datum)
            way = self._table(name, datum).get(self._contracts[name, datum])
            if way is None:
                lost.add(datum)
            else:
                found = (one for one in _flat(way.history) if isinstance(one, ProgramTransfer))
                self._codes[name, datum] = tuple(found)
                self._forget(name, datum)
        transfers = chain.from_iterable(reversed(self._codes.values()))
        states = {one.name: self._states(one) for one in own if one.name in self._opened}
        return ProgramPlan(tuple(transfers), self._contracts, frozenset(lost), states)

    def _states(self, procedure: ProgramProcedure) -> dict[ProgramArray, FixedStates]:
        """Return the contracts of a procedure with its transfers, without its own arrays."""
        costs = {
            part: {
                datum: {one: way.cost for one, way in self._table(*key, part=part).items()}
                for datum in sorted(procedure.data - procedure.left)
                if (key := (procedure.name, datum)) in self._codes
            }
            for part in (False, True)
        }
        return {one: FixedStates(whole, costs[True][one]) for one, whole in costs[False].items()}

    def _forget(self, name: ProcedureName, datum: ProgramArray) -> None:
        for part in (False, True):
            self._tables.pop((name, datum, part), None)

    # ------------------------------------------------------------------------ contracts

    def _contract_of(self, procedure: ProgramProcedure, datum: ProgramArray) -> Contract | None:
        """Return the contract for which the procedure and its callers cost least together."""
        table = self._table(procedure.name, datum)
        callers = self._callers.get((procedure.name, datum), [])
        if procedure.name in self._opened - self._closed and not callers:
            is_fresh = datum in procedure.fresh

            def cost_of(one: Contract) -> tuple[float, float]:
                # Usually one copy is valid before a call: a caller transfers to make both valid.
                extra = one.entry is Valid.BOTH and not is_fresh
                return table[one].cost + extra, table[one].cost

            return min(table, key=cost_of, default=None)
        if procedure.name in self._closed or not callers:
            entries = _ANY if datum in procedure.fresh else (Valid.HOST,)
            exits = _ANY if datum in procedure.left else (Valid.HOST, Valid.BOTH)
            allowed = [one for one in table if one.entry in entries and one.exit in exits]
            return min(allowed, key=lambda one: table[one].cost, default=None)
        costs = {}
        for one in table:
            self._fix(procedure.name, datum, one)
            if (cost := self._cost_of_callers(procedure.name, datum)) is not None:
                costs[one] = cost
            self._fix(procedure.name, datum, None)
        return min(costs, key=lambda one: costs[one], default=None)

    def _cost_of_callers(self, name: ProcedureName, datum: ProgramArray) -> float | None:
        """Return the cost of all callers of a procedure, None if one has no way any more."""
        total = 0.0
        for caller, outer in dict.fromkeys(self._callers[name, datum]):
            own = self._contracts.get((caller, outer))
            way = None if own is None else self._table(caller, outer).get(own)
            if way is None:
                return None
            total += way.cost
        return total

    def _fix(self, name: ProcedureName, datum: ProgramArray, contract: Contract | None) -> None:
        """Fix the contract of a procedure, or do not, and forget the ways that depend on it."""
        if contract is None:
            del self._contracts[name, datum]
        else:
            self._contracts[name, datum] = contract
        for key in ((name, datum), *self._callers.get((name, datum), ())):
            self._forget(*key)

    def _table(
        self, name: ProcedureName, datum: ProgramArray, *, part: bool = False
    ) -> dict[Contract, _Route]:
        """Return the cheapest way for each contract that is possible for an array.

        These are all that the transfers of a procedure allow, once they are known, otherwise the
        one that was chosen. The argument may be a `part` of an array.
        """
        key, fixed = (name, datum, part), self.procedures[name].fixed
        if key not in self._tables:
            if fixed is not None:
                costs = fixed[datum].part if part else fixed[datum].whole
                self._tables[key] = {one: _Route(cost) for one, cost in costs.items()}
            elif part and self._codes.get((name, datum)) and self._has_gaps(name, datum):
                self._tables[key] = {}
            else:
                self._tables[key] = self._searched(name, datum, part=part)
        return self._tables[key]

    def _has_gaps(self, name: ProcedureName, datum: ProgramArray) -> bool:
        """Return whether a procedure may not transfer an argument that is a part of an array."""
        return not self._writes_parts or datum in self.procedures[name].scattered

    def _moves(self, name: ProcedureName, datum: ProgramArray) -> bool:
        """Return whether a procedure can transfer an array."""
        if datum in self.procedures[name].unmoved or datum in self._scattered:
            return False
        return datum not in self._parts or not self._has_gaps(name, datum)

    def _searched(
        self, name: ProcedureName, datum: ProgramArray, *, part: bool
    ) -> dict[Contract, _Route]:
        body, code = self.procedures[name].body, self._codes.get((name, datum))
        table: dict[Contract, _Route] = {}
        for entry, wanted in product(_ANY, _ANY if body.has_jumps else (None,)):
            env: dict[tuple[int | None, bool], Valid] = {}
            if wanted is not None:
                env[None, False] = wanted
            moves = self._moves(name, datum)
            place = _PlanContext(name, datum, env, fixed=code, moves=moves)
            ways = self._sequence(place, body, {entry: _Route(0.0)})
            if set(ways) == {None} and wanted is not None:
                ways = {wanted: ways[None]}
            table |= {
                Contract(entry, state): way
                for state, way in ways.items()
                if state is not None
                and wanted in (None, state)
                and (not part or not self._writes_parts or entry in (state, Valid.BOTH))
            }
        own = self._contracts.get((name, datum))
        if own is not None and code is None:
            return {own: table[own]} if own in table else {}
        return table

    # ------------------------------------------------------------------------ ways

    def _sequence(self, place: _PlanContext, body: StepSequence, ways: _Routes) -> _Routes:
        """Return the ways from the start of a block to its end."""
        last: ProgramStep | None = None
        for step in self._steps_with(place.datum, body):
            # A construct follows the step for its conditions, which has the same position.
            follows = last is not None and step.line is last.line and step.line is not None
            last = step
            ways = self._moved(place, ways, None if follows else place.before(step, body))
            ways = self._step(place, step, ways)
            if not ways.keys() - {None}:
                return ways
        # The last step without a line, the condition of a loop, follows the end of its block.
        is_condition = bool(body.steps) and body.steps[-1].line is None
        return self._moved(place, ways, None if is_condition else place.at_end(body))

    def _steps_with(self, datum: ProgramArray, body: StepSequence) -> tuple[ProgramStep, ...]:
        """Return the steps of a block that use an array or contain jumps."""
        key = id(body), datum
        if key not in self._steps:
            found = (one for one in body.steps if datum in one.data or _has_jumps(one))
            self._steps[key] = tuple(found)
        return self._steps[key]

    def _moved(self, place: _PlanContext, ways: _Routes, position: Position | None) -> _Routes:
        """Return the ways after possible transfers at a position, and copies left to be stale."""
        if place.fixed is not None:
            for one in place.fixed:
                if one.position == position:
                    ways = _after_transfer(one, ways)
            return _weakened(ways)
        found = dict(ways)
        for state, way in ways.items():
            if state in _MISSING and position is not None and place.moves:
                moved = ProgramTransfer(place.datum, _MISSING[state], position, place.weight)
                new = way.plus(place.weight, moved)
                known = found.get(Valid.BOTH)
                if known is None or new.cost <= known.cost:
                    found[Valid.BOTH] = new
        return _weakened(found)

    def _step(self, place: _PlanContext, step: ProgramStep, ways: _Routes) -> _Routes:
        found: _Routes = {None: ways[None]} if None in ways else {}
        for state, way in ways.items():
            if state is None:
                continue
            for after, added in self._after(place, step, state).items():
                new = way.plus(added.cost, added.history)
                if after not in found or new.cost < found[after].cost:
                    found[after] = new
        return found

    def _after(self, place: _PlanContext, step: ProgramStep, state: Valid) -> _Routes:
        """Return the ways from a state through one step."""
        match step:
            case WorkStep(side, uses):
                use = uses[place.datum]
                if use.needs and not state.has(side):
                    return {}
                written = Valid.BOTH if use.undefined else _ONLY[side]
                return {written if use.writes else state: _Route(0.0)}
            case ProgramCall():
                return self._called(place, step, state)
            case ChoiceStep(branches, complete):
                return self._chosen(place, branches, state, complete=complete)
            case RepeatStep(body):
                inner = place.inside(LOOP, step.line, state)
                ways = self._sequence(inner, body, {state: _Route(0.0)})
                if state in ways:
                    return {state: ways[state]}
                return {state: ways[None]} if set(ways) == {None} else {}
            case JumpStep(loop, again):
                wanted = place.env.get((None if loop is None else id(loop), again))
                return {None: _Route(0.0)} if wanted in (None, state) else {}

    def _chosen(
        self,
        place: _PlanContext,
        branches: tuple[StepSequence, ...],
        state: Valid,
        *,
        complete: bool,
    ) -> _Routes:
        inner = place.inside(BRANCH)
        ways = [self._sequence(inner, one, {state: _Route(0.0)}) for one in branches]
        if not complete:
            ways.append({one: _Route(0.0) for one in _ANY if one is state or state is Valid.BOTH})
        found: _Routes = {}
        for after in (*_ANY, None):
            parts = [_ending(one, after) for one in ways]
            if all(part is not None for part in parts) and (
                after is None or any(after in one for one in ways)
            ):
                whole = _Route(0.0)
                for part in parts:
                    assert part is not None
                    whole = whole.plus(part.cost, part.history)
                found[after] = whole
        return found

    def _called(self, place: _PlanContext, call: ProgramCall, state: Valid) -> _Routes:
        found: _Routes = {}
        for after in _ANY:
            contract = Contract(state, after)
            costs = [
                self._cost_of_call(place, name, each, contract)
                for name, each in zip(call.procedures, call.passed, strict=True)
            ]
            if all(cost is not None for cost in costs):
                total = sum(cost or 0.0 for cost in costs) * place.weight / len(costs)
                found[after] = _Route(total, (None, _CallChoice(call, contract)))
        return found

    def _cost_of_call(
        self,
        place: _PlanContext,
        name: ProcedureName,
        passed: tuple[Passed, ...],
        contract: Contract,
    ) -> float | None:
        """Return the cost of transfers in a called procedure, None if it has no such contract."""
        used = self.procedures[name].data
        inner: dict[ProgramArray, bool] = {}
        for one in passed:
            if one.outer == place.datum and one.inner in used:
                is_part = not one.whole or place.datum in self._scattered
                inner[one.inner] = inner.get(one.inner, False) or is_part
        if not inner:
            return 0.0 if contract.entry is contract.exit else None
        total = 0.0
        for datum, part in sorted(inner.items()):
            way = self._table(name, datum, part=part).get(contract)
            if way is None:
                return None
            total += way.cost
        return total


@dataclass(frozen=True, slots=True)
class _PlanContext:
    """The array, its procedure and constructs: the weight, and the states where jumps arrive.

    If the transfers of the procedure are `fixed`, there are no others. Without `moves`, there are
    none.
    """

    procedure: ProcedureName
    datum: ProgramArray
    env: Mapping[tuple[int | None, bool], Valid]
    weight: float = 1.0
    fixed: tuple[ProgramTransfer, ...] | None = None
    moves: bool = True

    def inside(
        self, factor: float, loop: Line | None = None, state: Valid | None = None
    ) -> _PlanContext:
        env = self.env
        if loop is not None and state is not None:
            env = {**env, (id(loop), True): state, (id(loop), False): state}
        return replace(self, env=env, weight=self.weight * factor)

    def before(self, step: ProgramStep, body: StepSequence) -> Position:
        if step.line is None:
            return self.at_end(body)
        return Position(self.procedure, step.line, -1, id(step.line))

    def at_end(self, body: StepSequence) -> Position:
        return Position(self.procedure, body.line, body.block, id(body.line))


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


def _after_transfer(transfer: ProgramTransfer, ways: _Routes) -> _Routes:
    """Return the ways after a transfer; it must not replace the only valid copy."""
    found: _Routes = {}
    for state, way in ways.items():
        if state is None or state.has(transfer.to.other):
            after = None if state is None else Valid.BOTH
            new = way if state is None else way.plus(transfer.weight, transfer)
            if after not in found or new.cost < found[after].cost:
                found[after] = new
    return found


def _weakened(ways: _Routes) -> _Routes:
    """Return the ways, and those that leave one of two valid copies to become stale."""
    found, both = dict(ways), ways.get(Valid.BOTH)
    for state in _MISSING:
        if both is not None and (state not in found or both.cost < found[state].cost):
            found[state] = both
    return found


def _ending(ways: _Routes, state: Valid | None) -> _Route | None:
    """Return the way to a state, or the way of a branch that never reaches its end."""
    if state in ways:
        return ways[state]
    return ways[None] if set(ways) == {None} else None


def _has_jumps(step: ProgramStep) -> bool:
    match step:
        case ChoiceStep(branches):
            return any(one.has_jumps for one in branches)
        case RepeatStep(body):
            return body.has_jumps
    return isinstance(step, JumpStep)


def _flat(history: _History) -> Iterator[object]:
    """Yield the items of a history, and of those in it, in order."""
    items: list[object] = []
    while history is not None:
        history, item = history
        items.append(item)
    for item in reversed(items):
        if isinstance(item, tuple) and not isinstance(item, _CallChoice):
            yield from _flat(item)
        elif item is not None:
            yield item
