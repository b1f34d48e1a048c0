"""Plans of transfers for programs: no use of an old copy, and no plan that costs less."""

from __future__ import annotations

import itertools
import random

import pytest

from psyclone_storage.base.records import replace
from psyclone_storage.coherence.check_programs import check_program, executed
from psyclone_storage.coherence.program_transfers import BRANCH, LOOP, plan_program
from psyclone_storage.ir.device_program import (
    ChoiceStep,
    Contract,
    CopyUse,
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
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.unit import Comment, Line

ROOT, LEAF = ProcedureName("m", "root"), ProcedureName("m", "leaf")
A, B, DUMMY = ProgramArray("m", "", "a"), ProgramArray("m", "", "b"), ProgramArray("m", "leaf", "x")
READ, WRITE, PART, CHANGE = (
    CopyUse(True, False),
    CopyUse(False, True),
    CopyUse(True, True),
    CopyUse(True, True),
)


def line() -> Line:
    return Comment("a place")


def work(side: Side, use: CopyUse, datum: ProgramArray = A) -> WorkStep:
    return WorkStep(side, {datum: use}, line())


def host(use: CopyUse, datum: ProgramArray = A) -> WorkStep:
    return work(Side.HOST, use, datum)


def device(use: CopyUse, datum: ProgramArray = A) -> WorkStep:
    return work(Side.DEVICE, use, datum)


def loop(*steps: ProgramStep) -> RepeatStep:
    own = line()
    return RepeatStep(StepSequence(steps, own, 0), own)


def choice(*branches: tuple[ProgramStep, ...], complete: bool = False) -> ChoiceStep:
    own = line()
    found = tuple(StepSequence(one, own, at) for at, one in enumerate(branches))
    return ChoiceStep(found, complete, own)


def root(*steps: ProgramStep) -> ProgramProcedure:
    return ProgramProcedure(ROOT, StepSequence(steps))


def transfers_of(*procedures: ProgramProcedure) -> tuple[ProgramTransfer, ...]:
    plan = plan_program(procedures, frozenset({ROOT}))
    assert not plan.infeasible
    return plan.transfers


def sides(*procedures: ProgramProcedure) -> list[str]:
    return [one.to.value for one in transfers_of(*procedures)]


def test_data_of_a_loop_go_to_the_device_once() -> None:
    assert sides(root(host(WRITE), loop(device(CHANGE)), host(READ))) == ["device", "host"]


def test_a_transfer_in_a_rare_branch_stays_there() -> None:
    steps = (device(WRITE), loop(device(CHANGE), choice((host(READ),))))
    (there, back) = transfers_of(root(*steps))
    assert (there.to, back.to) == (Side.HOST, Side.HOST)
    assert there.weight == LOOP * BRANCH


def test_what_the_device_writes_completely_does_not_go_there() -> None:
    assert sides(root(host(CHANGE), device(WRITE), host(READ))) == ["host"]


def test_the_caller_of_the_root_gets_valid_values() -> None:
    assert sides(root(device(PART))) == ["device", "host"]


def test_local_data_stay_on_the_device() -> None:
    local = ProgramArray("m", "root", "work")
    procedure = ProgramProcedure(
        ROOT, StepSequence((device(PART, local), device(READ, local))),
        frozenset({local}), frozenset({local}),
    )  # fmt: skip
    assert sides(procedure) == []


def call(whole: bool = True, outer: ProgramArray = A) -> ProgramCall:
    return ProgramCall((LEAF,), ((Passed(DUMMY, outer, whole),),), line())


def test_callers_keep_data_on_the_device_for_a_procedure() -> None:
    leaf = ProgramProcedure(LEAF, StepSequence((device(CHANGE, DUMMY),)))
    plan = plan_program((root(loop(call()), host(READ)), leaf), frozenset({ROOT}))
    assert [one.datum for one in plan.transfers] == [A, A]
    assert not check_program((root(loop(call()), host(READ)), leaf), plan.transfers[:0], [])


def test_a_procedure_has_one_contract_for_all_callers() -> None:
    """One caller has the data on the host, the others on the device."""
    leaf = ProgramProcedure(LEAF, StepSequence((device(CHANGE, DUMMY),)))
    tree = root(loop(call()), host(CHANGE, B), call(outer=B), host(READ, B))
    procedures = (tree, leaf)
    plan = plan_program(procedures, frozenset({ROOT}))
    assert check_program(procedures, plan.transfers, [ROOT]) is None
    assert len(plan.transfers) == 4


def test_a_part_of_an_array_moves_with_the_whole_array() -> None:
    leaf = ProgramProcedure(LEAF, StepSequence((device(WRITE, DUMMY),)))
    procedures = (root(loop(call(whole=False)), host(READ)), leaf)
    plan = plan_program(procedures, frozenset({ROOT}))
    assert [(one.datum, one.to.value) for one in plan.transfers] == [(A, "device"), (A, "host")]


def test_a_procedure_transfers_a_part_and_restores_the_copy_of_the_rest() -> None:
    """The caller has the array on the device; the procedure reads a part on the host."""
    leaf = ProgramProcedure(LEAF, StepSequence((choice((host(READ, DUMMY),)),)))
    procedures = (root(loop(device(CHANGE), call(whole=False)), host(READ)), leaf)
    plan = plan_program(procedures, frozenset({ROOT}))
    assert {one.datum: one.to for one in plan.transfers if one.weight < LOOP} == {
        A: Side.HOST, DUMMY: Side.HOST,
    }  # fmt: skip

    assert check_program(procedures, plan.transfers, [ROOT]) is None
    assert_each_is_needed(procedures, plan.transfers)


def test_a_procedure_returns_a_part_to_the_side_of_the_rest() -> None:
    """A device region changes a part of an array whose rest is valid on the host alone."""
    leaf = ProgramProcedure(LEAF, StepSequence((device(WRITE, DUMMY),)))
    procedures = (root(host(CHANGE), call(whole=False), host(READ)), leaf)
    plan = plan_program(procedures, frozenset({ROOT}))
    assert [(one.datum, one.to.value) for one in plan.transfers] == [(DUMMY, "host")]
    assert check_program(procedures, plan.transfers, [ROOT]) is None
    assert_each_is_needed(procedures, plan.transfers)


def test_a_part_with_gaps_is_not_transferred() -> None:
    steps = StepSequence((device(PART, DUMMY), host(PART, DUMMY)))
    leaf = ProgramProcedure(LEAF, steps, scattered=frozenset({DUMMY}))
    assert plan_program((root(loop(call(whole=False))), leaf), frozenset({ROOT})).infeasible
    assert not plan_program((root(loop(call())), leaf), frozenset({ROOT})).infeasible


def test_a_procedure_does_not_transfer_what_it_cannot_name() -> None:
    leaf = ProgramProcedure(LEAF, StepSequence((device(PART), host(READ))), unmoved=frozenset({A}))
    both = ProgramCall((LEAF,), ((Passed(A, A),),), line())
    assert plan_program((root(both), leaf), frozenset({ROOT})).infeasible
    above = ProgramProcedure(ROOT, StepSequence((host(CHANGE), both)), unmoved=frozenset({A}))
    leaf = ProgramProcedure(LEAF, StepSequence((device(PART), host(READ))))
    plan = plan_program((above, leaf), frozenset({ROOT}))
    assert {one.position.procedure for one in plan.transfers} == {LEAF}
    assert check_program((above, leaf), plan.transfers, [ROOT]) is None


def test_procedures_with_unknown_callers_start_and_end_on_the_host() -> None:
    leaf = ProgramProcedure(LEAF, StepSequence((device(CHANGE, DUMMY),)))
    procedures = (root(loop(call())), leaf)
    plan = plan_program(procedures, frozenset({ROOT, LEAF}))
    assert {one.datum for one in plan.transfers} == {DUMMY}
    assert check_program(procedures, plan.transfers, [ROOT, LEAF]) is None


def test_a_jump_leaves_a_loop_with_valid_copies() -> None:
    own = line()
    inside = (device(CHANGE), choice((host(CHANGE), JumpStep(own, line=line()))), device(CHANGE))
    procedure = root(RepeatStep(StepSequence(inside, own, 0), own), host(READ))
    transfers = transfers_of(procedure)
    assert check_program((procedure,), transfers, [ROOT]) is None
    assert_each_is_needed((procedure,), transfers)


def test_a_return_hands_over_valid_copies() -> None:
    procedure = root(device(CHANGE), choice((JumpStep(line=line()),)), device(CHANGE), host(READ))
    transfers = transfers_of(procedure)
    assert check_program((procedure,), transfers, [ROOT]) is None
    assert_each_is_needed((procedure,), transfers)


# ---------------------------------------------------------------------------- random programs


def assert_each_is_needed(
    procedures: tuple[ProgramProcedure, ...], transfers: tuple[ProgramTransfer, ...]
) -> None:
    for at in range(len(transfers)):
        without = (*transfers[:at], *transfers[at + 1 :])
        assert check_program(procedures, without, [ROOT], 400) is not None, transfers[at]


def random_steps(
    rng: random.Random, data: tuple[ProgramArray, ...], depth: int, around: tuple[Line, ...] = ()
) -> tuple[ProgramStep, ...]:
    found: list[ProgramStep] = []
    for _ in range(rng.randrange(1, 4)):
        kind = rng.random()
        if kind < 0.6 or depth == 0:
            use = CopyUse(rng.random() < 0.6, rng.random() < 0.5)
            found.append(work(rng.choice(list(Side)), use, rng.choice(data)))
        elif kind < 0.75:
            own = line()
            inside = random_steps(rng, data, depth - 1, (*around, own))
            found.append(RepeatStep(StepSequence(inside, own, 0), own))
        elif kind < 0.92:
            own = line()
            blocks = [
                random_steps(rng, data, depth - 1, around) for _ in range(rng.randrange(1, 3))
            ]
            branches = tuple(StepSequence(one, own, at) for at, one in enumerate(blocks))
            found.append(ChoiceStep(branches, rng.random() < 0.5, own))
        elif around and rng.random() < 0.7:
            jump = JumpStep(rng.choice(around), again=rng.random() < 0.5, line=line())
            found.append(choice((jump,)))
        else:
            found.append(choice((JumpStep(line=line()),)))
    return tuple(found)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_use_no_old_copy_and_need_each_transfer(seed: int) -> None:
    rng = random.Random(seed)
    procedures = (root(*random_steps(rng, (A, B), 3)),)
    transfers = transfers_of(*procedures)
    assert check_program(procedures, transfers, [ROOT], 300) is None


def random_tree(rng: random.Random, *, parts: bool = False) -> tuple[ProgramProcedure, ...]:
    """Return procedures that call the next ones, with one or two arrays, or parts of these."""
    names = [ROOT, *(ProcedureName("m", f"p{at}") for at in range(rng.randrange(1, 4)))]
    dummies = {name: tuple(ProgramArray("m", name.name, key) for key in "xy") for name in names[1:]}
    found = []
    for at, name in enumerate(names):
        data = dummies.get(name, (A, B))
        steps = list(random_steps(rng, data, 2))
        for inner in names[at + 1 :]:
            passed = [Passed(one, rng.choice(data)) for one in dummies[inner][:1]]
            passed += [Passed(dummies[inner][1], one) for one in data if one != passed[0].outer][:1]
            if parts:
                passed = [replace(one, whole=rng.random() < 0.7) for one in passed]
            step: ProgramStep = ProgramCall((inner,), (tuple(passed),), line())
            if rng.random() < 0.5:
                step = loop(step)
            steps.insert(rng.randrange(len(steps) + 1), step)
        found.append(ProgramProcedure(name, StepSequence(tuple(steps))))
    return tuple(found)


@pytest.mark.parametrize("seed", range(60))
def test_random_call_trees_use_no_old_copy(seed: int) -> None:
    """Half of the trees pass parts of arrays."""
    procedures = random_tree(random.Random(seed), parts=seed % 2 == 1)
    plan = plan_program(procedures, frozenset({ROOT}))
    assert not plan.infeasible
    assert check_program(procedures, plan.transfers, [ROOT], 200) is None


@pytest.mark.parametrize("seed", range(60))
def test_dropping_a_transfer_is_detected(seed: int) -> None:
    procedures = random_tree(random.Random(seed), parts=seed % 2 == 1)
    assert_each_is_needed(procedures, plan_program(procedures, frozenset({ROOT})).transfers)


def planned_alone(
    procedures: tuple[ProgramProcedure, ...],
) -> tuple[tuple[ProgramTransfer, ...], dict[ProgramArray, str]]:
    """Plan each procedure alone, those that it calls first, of which only contracts are known.

    Return the transfers, and the arrays without a plan, with those that are linked to them.
    """
    finished: dict[ProcedureName, ProgramProcedure] = {}
    transfers: list[ProgramTransfer] = []
    lost: dict[ProgramArray, str] = {}
    for procedure in reversed(procedures):
        own, states = procedure.without(frozenset(lost)), None
        while states is None:
            known = (own, *(one.without(frozenset(lost)) for one in finished.values()))
            is_root = procedure.name == ROOT
            closed, opened = (frozenset({ROOT}), frozenset()) if is_root else (
                frozenset[ProcedureName](), frozenset({procedure.name}))  # fmt: skip
            plan = plan_program(known, closed, opened)
            if not plan.infeasible:
                states = plan.states.get(procedure.name, {})
                transfers += plan.transfers
                continue
            lost |= dict.fromkeys(linked(procedures, plan.infeasible), "")
            own = procedure.without(frozenset(lost))
        finished[procedure.name] = ProgramProcedure(
            procedure.name, StepSequence(), procedure.fresh, procedure.left, states
        )
    return tuple(one for one in transfers if one.datum not in lost), lost


def linked(
    procedures: tuple[ProgramProcedure, ...], data: frozenset[ProgramArray]
) -> set[ProgramArray]:
    pairs = [
        {one.inner, one.outer}
        for procedure in procedures
        for step in nested_steps(procedure.body)
        if isinstance(step, ProgramCall)
        for one in step.passed[0]
    ]
    found = set(data)
    while new := {one for pair in pairs if pair & found for one in pair} - found:
        found |= new
    return found


@pytest.mark.parametrize("seed", range(60))
def test_procedures_that_are_planned_alone_use_no_old_copy(seed: int) -> None:
    """A caller knows only the contracts of what it calls; half of the trees pass parts."""
    rng = random.Random(seed)
    procedures = random_tree(rng, parts=seed % 2 == 1)
    transfers, lost = planned_alone(procedures)
    known = tuple(one.without(frozenset(lost)) for one in procedures)
    assert check_program(known, transfers, [ROOT], 300) is None
    assert not lost


def test_a_contract_is_the_cheapest_for_usual_callers() -> None:
    """A rare read on the host does not require both copies at entry."""
    rare = choice((host(READ, DUMMY),))
    leaf = ProgramProcedure(LEAF, StepSequence((rare, device(CHANGE, DUMMY))))
    plan = plan_program((leaf,), frozenset(), frozenset({LEAF}))
    states = plan.states[LEAF][DUMMY]
    assert states.whole == {
        Contract(Valid.DEVICE, Valid.DEVICE): BRANCH, Contract(Valid.BOTH, Valid.DEVICE): BRANCH,
    }  # fmt: skip
    assert states.part == states.whole


@pytest.mark.parametrize("has_gaps", [False, True])
def test_a_procedure_transfers_a_part_that_it_knows_as_a_whole(has_gaps: bool) -> None:
    """If the part may not be contiguous, procedures to which it is passed on cannot transfer it."""
    inner = ProcedureName("m", "inner")
    one, other = ProgramArray("m", "inner", "y"), DUMMY
    between = ProgramCall((inner,), ((Passed(one, other),),), line())
    data = frozenset({one, other}) if has_gaps else frozenset[ProgramArray]()
    leaf = ProgramProcedure(LEAF, StepSequence((between,)), scattered=data)
    steps = StepSequence((device(CHANGE, one), host(READ, one)))
    last = ProgramProcedure(inner, steps, scattered=data)
    procedures = (root(call(whole=False), device(READ), host(READ)), leaf, last)
    plan = plan_program(procedures, frozenset({ROOT}))
    assert bool(plan.infeasible) is has_gaps
    if not has_gaps:
        assert check_program(procedures, plan.transfers, [ROOT]) is None
        assert_each_is_needed(procedures, plan.transfers)


@pytest.mark.parametrize("gaps", [False, True])
def test_the_checker_detects_a_transfer_of_a_part_with_gaps(gaps: bool) -> None:
    data = frozenset({DUMMY}) if gaps else frozenset[ProgramArray]()
    leaf = ProgramProcedure(LEAF, StepSequence((device(CHANGE, DUMMY),)), scattered=data)
    procedures = (root(call(whole=False), host(READ)), leaf)
    step = leaf.body.steps[0]
    assert step.line is not None
    there = ProgramTransfer(DUMMY, Side.DEVICE, Position(LEAF, step.line, -1, id(step.line)))
    back = ProgramTransfer(DUMMY, Side.HOST, Position(LEAF, None, 0, id(None)))
    assert (check_program(procedures, (there, back), [ROOT]) is None) is not gaps
    assert check_program(procedures, (there,), [ROOT]) is not None


def positions(procedure: ProgramProcedure, body: StepSequence) -> list[Position]:
    found = []
    for step in body.steps:
        if step.line is not None:
            found.append(Position(procedure.name, step.line, -1, id(step.line)))
        inner = step.branches if isinstance(step, ChoiceStep) else ()
        inner = (step.body,) if isinstance(step, RepeatStep) else inner
        for one in inner:
            found += positions(procedure, one)
    return [*found, Position(procedure.name, body.line, body.block, id(body.line))]


def weights(body: StepSequence, factor: float = 1.0) -> dict[int, float]:
    found = {}
    for step in body.steps:
        found[id(step.line)] = factor
        if isinstance(step, ChoiceStep):
            for one in step.branches:
                found |= {(id(step.line), one.block): factor * BRANCH}  # type: ignore[dict-item]
                found |= weights(one, factor * BRANCH)
        if isinstance(step, RepeatStep):
            found |= {(id(step.line), 0): factor * LOOP}  # type: ignore[dict-item]
            found |= weights(step.body, factor * LOOP)
    return found


def assert_no_plan_costs_less(procedures: tuple[ProgramProcedure, ...]) -> None:
    """Try all sets of transfers that cost less than those of the plan."""
    plan = plan_program(procedures, frozenset({ROOT}))
    assert not plan.infeasible
    assert not plan.inexact
    assert check_program(procedures, plan.transfers, [ROOT], 300) is None
    calls = executions(procedures)
    own = sum(one.weight * calls[one.position.procedure] for one in plan.transfers)
    choices: list[ProgramTransfer] = []
    for procedure in procedures:
        known = weights(procedure.body)
        for at in positions(procedure, procedure.body):
            key = at.key if at.block < 0 else (at.key, at.block)
            weight = known.get(key, 1.0) * calls[procedure.name]  # type: ignore[call-overload]
            for datum in sorted(procedure.data):
                choices += [ProgramTransfer(datum, side, at, weight) for side in Side]
    cheapest = sorted(one.weight for one in choices)
    for number in range(len(choices) + 1):
        if sum(cheapest[:number]) >= own:
            break
        for some in itertools.combinations(choices, number):
            if sum(one.weight for one in some) < own:
                assert check_program(procedures, some, [ROOT], 300) is not None, some


def executions(procedures: tuple[ProgramProcedure, ...]) -> dict[ProcedureName, float]:
    """Return the estimated number of executions of each procedure; callers are first."""
    found = dict.fromkeys((one.name for one in procedures), 0.0) | {ROOT: 1.0}
    for procedure in procedures:
        known = weights(procedure.body, found[procedure.name])
        for step in nested_steps(procedure.body):
            if isinstance(step, ProgramCall):
                for name in step.procedures:
                    found[name] += known[id(step.line)] / len(step.procedures)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_no_plan_costs_less(seed: int) -> None:
    rng = random.Random(seed)
    procedure = root(*random_steps(rng, (A,), 1))
    while len(positions(procedure, procedure.body)) > 5:
        procedure = root(*random_steps(rng, (A,), 1))
    assert_no_plan_costs_less((procedure,))


def small_tree(rng: random.Random) -> tuple[ProgramProcedure, ...]:
    """Return a root that calls a procedure twice, also through another one."""
    middle, y = ProcedureName("m", "middle"), ProgramArray("m", "middle", "y")

    def calls(outer: ProgramArray, number: int) -> list[ProgramStep]:
        found: list[ProgramStep] = []
        for _ in range(number):
            step: ProgramStep = call(rng.random() < 0.8, outer)
            kind = rng.random()
            found.append(loop(step) if kind < 0.3 else choice((step,)) if kind < 0.5 else step)
        return found

    def mixed(steps: list[ProgramStep], datum: ProgramArray, number: int) -> StepSequence:
        for _ in range(number):
            use = CopyUse(rng.random() < 0.7, rng.random() < 0.5)
            steps.insert(rng.randrange(len(steps) + 1), work(rng.choice(list(Side)), use, datum))
        return StepSequence(tuple(steps))

    through = rng.random() < 0.5
    inside = calls(A, 1 + (not through))
    if through:
        inside.append(ProgramCall((middle,), ((Passed(y, A),),), line()))
    found = [ProgramProcedure(ROOT, mixed(inside, A, rng.randrange(1, 3)))]
    if through:
        found.append(ProgramProcedure(middle, mixed(calls(y, 1), y, rng.randrange(2))))
    leaf = StepSequence(random_steps(rng, (DUMMY,), 1)[:2])
    return (*found, ProgramProcedure(LEAF, leaf))


@pytest.mark.parametrize("seed", range(40))
def test_no_plan_of_a_tree_with_shared_procedures_costs_less(seed: int) -> None:
    rng = random.Random(seed)
    procedures = small_tree(rng)
    while sum(len(positions(one, one.body)) for one in procedures) > 8:
        procedures = small_tree(rng)
    assert_no_plan_costs_less(procedures)


def test_the_time_grows_with_the_size_of_a_tree() -> None:
    """Each of 40 procedures calls the next one twice, in branches that are nested four deep."""
    names = [ROOT, *(ProcedureName("m", f"p{at}") for at in range(40))]
    data = [A, *(ProgramArray("m", name.name, "x") for name in names[1:])]
    found = []
    for at, name in enumerate(names):
        steps: tuple[ProgramStep, ...] = (device(CHANGE, data[at]), host(READ, data[at]))
        if at + 1 < len(names):
            inner = Passed(data[at + 1], data[at])
            steps += tuple(ProgramCall((names[at + 1],), ((inner,),), line()) for _ in range(2))
        for _ in range(4):
            steps = (loop(choice(steps, (host(READ, data[at]),))),)
        found.append(ProgramProcedure(name, StepSequence(steps)))
    plan = plan_program(found, frozenset({ROOT}))
    assert not plan.infeasible | plan.inexact
    assert {one.datum for one in plan.transfers} == {*data}


def test_executions_count_transfers() -> None:
    procedure = root(loop(device(CHANGE)))
    execution = executed((procedure,), transfers_of(procedure), random.Random(1))
    assert execution.run(ROOT) is None
    assert execution.moved == 2
