"""Verdicts on loops: whether the iterations may run concurrently, with which clauses, and why.

The proofs are those of `independence`. A verdict adds the user's promises, those which the proof
needed, and promises that would change a negative verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import reduce
from itertools import combinations

from psyclone_storage.analysis.bodies.accesses import unknown_procedures
from psyclone_storage.analysis.bodies.dependence_tests import DependenceTests
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.independence import (
    Conflict,
    Independence,
    LoopPromises,
    has_shape,
    independence_of,
    loop_variant,
    rounded_reason,
)
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.reductions import Extreme, LoopReduction, Reducing
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import Polynomial
from psyclone_storage.ir.facts import ASSUMPTIONS, Fact, FactKind, Facts, names_of_kind, of_routine
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.rewrite import expressions_of, names_in, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.symbols import Procedure
from psyclone_storage.ir.types import Intent, Intrinsic, ScalarType
from psyclone_storage.ir.unit import Call, Do, Line

_OPERATIONS: dict[Reducing, ReductionOp] = {
    Operator.PLUS: ReductionOp.SUM,
    Operator.TIMES: ReductionOp.PRODUCT,
    Operator.AND: ReductionOp.AND,
    Operator.OR: ReductionOp.OR,
    Operator.EQUIVALENT: ReductionOp.EQUIVALENT,
    Operator.NOT_EQUIVALENT: ReductionOp.NOT_EQUIVALENT,
    Extreme.LEAST: ReductionOp.MIN,
    Extreme.LARGEST: ReductionOp.MAX,
}


class VerdictStatus(Enum):
    """The answer to whether the iterations of a loop may run concurrently."""

    INDEPENDENT = "independent"
    TESTED = "independent under a run-time test"
    """Iterations may run concurrently if a condition holds when the loop starts."""
    CARRIED = "carried"
    """Iterations may access the same data."""
    UNKNOWN = "unknown"
    """A statement may have arbitrary effects."""


@dataclass(frozen=True, slots=True)
class Clauses:
    """The data clauses that make iterations independent; names as declared, sorted.

    `arrays` are the private variables that are arrays.
    """

    private: tuple[str, ...] = ()
    firstprivate: tuple[str, ...] = ()
    lastprivate: tuple[str, ...] = ()
    reductions: tuple[LoopReduction, ...] = ()
    arrays: tuple[str, ...] = ()

    @property
    def operations(self) -> tuple[tuple[str, ReductionOp], ...]:
        """The reduction variables with their operations, sorted."""
        found = ((one.name, _OPERATIONS[one.operator]) for one in self.reductions)
        return tuple(sorted(found, key=lambda pair: (pair[1].value, pair[0])))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to whether the iterations of a loop may run concurrently, with the proof.

    An independent loop needs the `clauses` and the facts in `assumptions`; the facts in `unneeded`
    are promises that the proof did not need. For other loops there are `reasons`, and `blocking`
    are the pairs of accesses among them. If there is a `condition`, the loop is independent with
    the `clauses` whenever the condition holds at its start.
    """

    status: VerdictStatus
    clauses: Clauses = Clauses()
    reasons: Reasons = ()
    assumptions: Facts = ()
    blocking: tuple[Conflict, ...] = ()
    unneeded: Facts = ()
    condition: ex.Expr | None = None

    @property
    def is_independent(self) -> bool:
        """True if the iterations may run concurrently."""
        return self.status is VerdictStatus.INDEPENDENT


def flow_with(code: Routine, facts: Facts = (), former: RoutineNames | None = None) -> Flow:
    """Return the data flow of a routine, given promises about procedures and pointers.

    `former`, the names in an earlier version or in a part of the routine, saves time.
    """
    own = of_routine(facts, code.key)
    assumed = frozenset(one.kind for one in own if one.kind in ASSUMPTIONS)
    promised = _with_promised(code, names_of_kind(own, FactKind.PURE))
    dofmaps = names_of_kind(own, FactKind.COLUMNS)
    return flow_of(promised, assumed, dofmaps, former)


def verdict_of(
    loop: FlowNode, flow: Flow, facts: Facts = (), *, values: bool = True, sums: bool = True
) -> Verdict:
    """Return the verdict on `loop` in `flow`, the result of `flow_with` for the same facts.

    With `values`, variables may be `firstprivate` and `lastprivate`. Without `sums`, the order of
    terms in sums and products of real numbers must be preserved.
    """
    assert isinstance(loop.line, Do)
    own = of_routine(facts, flow.code.key, loop.line.uid)
    promises = LoopPromises(
        names_of_kind(own, FactKind.IGNORED, loop.line.uid),
        names_of_kind(own, FactKind.PRIVATE, loop.line.uid),
        any(one.kind is FactKind.INDEPENDENT for one in own),
        values,
    )
    found = independence_of(loop, flow, promises)
    reasons = found.reasons
    if not sums:
        reasons += tuple(rounded_reason(loop, one) for one in found.rounded)
    status = VerdictStatus.INDEPENDENT
    if reasons:
        known = all(reason.code == "T062" for reason in reasons)
        status = VerdictStatus.CARRIED if known else VerdictStatus.UNKNOWN
        # Other reasons may follow from types that are not found.
        reasons = tuple(one for one in reasons if one.code == "T100") or reasons
        if known and values and len(reasons) == len(found.blocking):
            tested = _tested(loop, flow, promises, found)
            if tested is not None:
                return replace(tested, reasons=reasons, blocking=found.blocking)
    used = tuple(_used(own, found, loop, flow)) if own else ()
    unneeded = tuple(_unneeded(own, used, loop, flow)) if own and not reasons else ()
    return Verdict(status, _clauses(found, flow), reasons, used, found.blocking, unneeded)


def _tested(
    loop: FlowNode, flow: Flow, promises: LoopPromises, carried: Independence
) -> Verdict | None:
    """Return the verdict on a loop with a run-time test, None if no test suffices.

    The condition is a disjunction of inequalities, each of which is proved to suffice.
    """
    pair = carried.blocking[0]
    tests = DependenceTests(flow, loop, loop_variant(loop, flow))
    found: list[ex.Expr] = []
    clauses: Clauses | None = None
    for tested in tests.conditions(pair.first, pair.second):
        if not all(_can_be_tested(key, flow) for one in tested for key in one.symbols):
            continue
        made = independence_of(loop, flow, replace(promises, tested=tested))
        own = _clauses(made, flow)
        if made.reasons or made.rounded or (clauses is not None and own != clauses):
            continue
        clauses = own
        found.append(_comparison(tested))
    if clauses is None:
        return None
    either = reduce(lambda left, right: ex.Binary(Operator.OR, left, right), found)
    return Verdict(VerdictStatus.TESTED, clauses, condition=either)


def _can_be_tested(key: str, flow: Flow) -> bool:
    """Return whether a symbol of a polynomial is an integer that certainly has a value."""
    declared = flow.names.declaration((key,)) if key.isidentifier() else None
    return (
        declared is not None
        and isinstance(declared.type, ScalarType)
        and declared.type.intrinsic is Intrinsic.INTEGER
        and not declared.shape
        and not declared.words & {"optional", "pointer", "allocatable", "volatile"}
        and key not in flow.names.unclear | flow.names.aliases
    )


def _comparison(tested: tuple[Polynomial, ...]) -> ex.Expr:
    """Return the condition that the polynomial `tested[0]` is nonnegative.

    With a second polynomial, which is its negative, the condition is that both are zero.
    """
    terms: tuple[list[ex.Expr], list[ex.Expr]] = ([], [])
    for names, factor in sorted(tested[0].factors.items()):
        parts: list[ex.Expr] = [ex.Name(one) for one in names]
        if abs(factor) != 1 or not parts:
            parts.insert(0, ex.whole(abs(factor)))
        product = reduce(lambda left, right: ex.Binary(Operator.TIMES, left, right), parts)
        terms[factor < 0].append(product)
    left, right = (
        reduce(lambda one, other: ex.Binary(Operator.PLUS, one, other), side or [ex.whole(0)])
        for side in terms
    )
    relation = Operator.EQUAL if len(tested) > 1 else Operator.GREATER_EQUAL
    return ex.Binary(relation, left, right)


def cures_of(
    loop: FlowNode, code: Routine, facts: Facts, flow_given: Callable[[Facts], Flow]
) -> Facts:
    """Return the smallest set of promises that makes a loop independent; empty if none does.

    `loop` is a node of the flow of `code`, and `flow_given` returns this flow with promises, as
    `flow_with` does. The promises concern unknown procedures, pointer
    components and the variables of blocking pairs. No promise is proposed that is certainly false:
    that iterations do not access one element, if they do at a constant distance, or that a variable
    is private, if it is read after the loop.
    """
    assert isinstance(loop.line, Do)
    flow = flow_given(facts)
    lines = [node.line for node in flow.inside(flow.node(loop.number))]
    unknown = sorted(unknown_procedures(lines, flow.names))
    pure = [Fact(FactKind.PURE, name, code.key) for name in unknown if name.isidentifier()]
    made = {one.kind for one in facts}
    wanted = [FactKind.DISTINCT_POINTERS]
    if not all(map(str.isidentifier, unknown)):
        wanted.append(FactKind.DATA_COMPONENTS)
    new = [Fact(kind) for kind in wanted if kind not in made]
    tried = (chosen for count in range(len(new) + 1) for chosen in combinations(new, count))
    cured = (_cured(loop, flow_given, facts, [*pure, *chosen]) for chosen in tried)
    found = sorted((one for one in cured if one is not None), key=len)
    return tuple(found[0]) if found else ()


def _cured(
    loop: FlowNode, flow_given: Callable[[Facts], Flow], facts: Facts, tried: list[Fact]
) -> list[Fact] | None:
    """Return the promises `tried` and those about blocking pairs; None if insufficient."""
    assert isinstance(loop.line, Do)
    flow = flow_given((*facts, *tried))
    node = flow.node(loop.number)
    verdict = verdict_of(node, flow, (*facts, *tried))
    if verdict.is_independent:
        return tried
    tests = DependenceTests(flow, node, loop_variant(node, flow))
    blocking: dict[str, Fact] = {}
    for pair in verdict.blocking:
        name = pair.first.variable[0]
        kind = FactKind.IGNORED
        if (distance := tests.distance(pair.first, pair.second)) is not None:
            if distance or flow.is_read_later(node, pair.first.variable):
                return None
            if _reads_first(pair.first.variable, node, flow):
                return None
            kind = FactKind.PRIVATE
        blocking[name] = Fact(kind, name, flow.code.key, loop.line.uid)
    found = [*tried, *blocking.values()]
    return found if verdict_of(node, flow, (*facts, *found)).is_independent else None


def _reads_first(variable: Variable, loop: FlowNode, flow: Flow) -> bool:
    """Return whether each iteration certainly reads a variable before it may set it."""
    for node in flow.inside(loop):
        own = [item for item in node.accesses if item.path.variable == variable]
        if flow.summaries[node.number - 1].jumps:
            return False
        if node.around[-1:] == (loop.number,) and any(not item.writes for item in own):
            return True
        if any(item.writes for item in own):
            return False
    return False


def _clauses(found: Independence, flow: Flow) -> Clauses:
    def spelled(keys: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted((_spelled(key, flow) for key in keys), key=key_of))

    arrays = [key for key in found.private if has_shape(key, flow)]
    reductions = tuple(replace(one, name=_spelled(one.name, flow)) for one in found.reductions)
    return Clauses(
        spelled(found.private),
        spelled(found.firstprivate),
        spelled(found.lastprivate),
        reductions,
        spelled(arrays),
    )


def _spelled(key: str, flow: Flow) -> str:
    declared = flow.names.declaration((key,))
    return key if declared is None or declared.key != key else declared.name


def _used(own: Facts, found: Independence, loop: FlowNode, flow: Flow) -> Iterator[Fact]:
    """Yield the promises that the analysis of a loop relied on."""
    called = called_procedures(loop, flow)
    procedures = {one.name: one for one in flow.code.module.procedures}
    for fact in own:
        key = key_of(fact.name)
        if fact.kind is FactKind.PURE:
            if key in called and key in procedures and _is_promised(procedures[key]):
                yield fact
        elif fact.kind in ASSUMPTIONS or fact.kind is FactKind.COLUMNS:
            if not found.reasons and _is_needed(fact, loop, flow):
                yield fact
        elif fact.kind in found.used or key in found.used:
            yield fact


def _unneeded(own: Facts, used: Facts, loop: FlowNode, flow: Flow) -> Iterator[Fact]:
    """Yield the promises about an independent loop or its procedures that no proof used."""
    called = called_procedures(loop, flow)
    for fact in own:
        about = fact.loop or (fact.kind is FactKind.PURE and key_of(fact.name) in called)
        if about and fact not in used:
            yield fact


def _is_needed(fact: Fact, loop: FlowNode, flow: Flow) -> bool:
    """Return whether the proof for a loop fails without the promises of one kind.

    A promise about a dofmap is only needed if a subscript of a written variable contains the
    dofmap.
    """
    if fact.kind is FactKind.COLUMNS:
        written = flow.written(loop)
        items = (one for one in flow.items_in(loop) if one.variable in written)
        subscripts = (part for one in items for part in one.path.subscripts)
        if not any(key_of(fact.name) in names_in(part) for part in subscripts):
            return False
    without = flow.without(fact.kind)
    return bool(independence_of(without.node(loop.number), without, _VALUES).reasons)


_VALUES = LoopPromises(values=True)


def called_procedures(node: FlowNode, flow: Flow) -> frozenset[str]:
    """Return the keys of the procedures that the statements in a construct call."""
    return frozenset(name for one in flow.inside(node) for name in called_by(one.line, flow))


def called_by(line: Line, flow: Flow) -> Iterator[str]:
    """Yield the keys of the procedures that a statement itself calls."""
    if isinstance(line, Call) and isinstance(line.procedure, ex.Name):
        yield line.procedure.key
    for expr in expressions_of(line):
        for part in ex.walk(expr):
            if isinstance(part, ex.Index) and (name := flow.names.function_called(part)):
                yield name


# ---------------------------------------------------------------------------- promised procedures


def _is_promised(procedure: Procedure) -> bool:
    """Return whether a procedure is known only by a promise."""
    return procedure.place.start == procedure.place.stop


def _with_promised(code: Routine, pure: frozenset[str]) -> Routine:
    """Return `code` with the procedures that are promised to change only their arguments."""
    names = RoutineNames(code)
    known = ((key, names.procedure(key)) for key in pure)
    wanted = {key for key, one in known if one is None or not one.pure}
    if not wanted:
        return code
    nowhere = replace(code.module.routine, stop=code.module.routine.start)
    calls: dict[str, list[Call]] = {}
    for line in walk_lines(code.body):
        if isinstance(line, Call) and isinstance(line.procedure, ex.Name):
            calls.setdefault(line.procedure.key, []).append(line)
    promised = []
    for key in sorted(wanted):
        found = names.procedure(key, promised=True) if key in calls else None
        dummies = found.dummies if found else _dummies(calls.get(key, ()))
        scalars = found.scalars if found else frozenset[str]()
        promised.append(
            Procedure(key, frozenset(), nowhere, key not in calls, True, dummies, scalars)
        )
    others = (one for one in code.module.procedures if one.name not in wanted)
    return replace(code, module=replace(code.module, procedures=(*others, *promised)))


def _dummies(calls: Iterable[Call]) -> tuple[tuple[str, Intent | None], ...]:
    """Return dummy arguments with unknown intents for the arguments of some calls."""
    found = tuple(calls)
    count = max((len(call.args) for call in found), default=0)
    keywords = {arg.key for call in found for arg in call.args if isinstance(arg, ex.Keyword)}
    names = (*(f"?{at}" for at in range(max(count, 1))), *sorted(keywords))
    return tuple((name, None) for name in names)
