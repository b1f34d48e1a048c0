"""What invokes ask of storages: which data, where, how long, and whether they are brought."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gocean_programs import schedule as grid_schedule
from properties.random_storage_access import CODES, KERNELS, mesh_code
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.coherence.explain import explain_storage_access
from psyclone_storage.coherence.storage_access import (
    KernelKnowledge,
    check_storage_policy,
    plan_storage_access,
)
from psyclone_storage.domains.gocean.arguments import build_gocean_dummies as grid_dummies
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.storage_access import (
    AcquireData,
    PrefetchData,
    ReleaseData,
    StoragePlan,
    StoragePolicy,
    TouchData,
)
from psyclone_storage.ir.transfer import Side
from psyclone_storage.transform.openacc import AccKernels
from psyclone_storage.transform.openacc_data import AccEnterData, AccUpdate
from unit.analysis.small import RULES, built_in, cells, dofs, schedule
from unit.transform.benches import bench

HERE = StoragePolicy(at_once=False)
ACTING = StoragePolicy(at_once=False, through_exchanges=False, directives_act=True)
GRIDS = KernelKnowledge(GoceanRules(), lambda kernel: CODES[kernel.name], grid_dummies)


EVEN = KernelKnowledge(
    RULES, lambda kernel: mesh_code(replace(kernel, name="kernel0_type")), build_lfric_dummies
)
"""Knowledge of kernels that write all that they are passed."""


def acquired(plan: StoragePlan) -> dict[str, AcquireData]:
    return {action.datum: action for action in plan.acquired}


def on_grid(calls: str) -> dict[str, AcquireData]:
    return acquired(
        plan_storage_access(grid_schedule(KERNELS, calls, distributed=False), GRIDS, HERE)
    )


@pytest.mark.parametrize(
    ("call", "covered"),
    [
        ("always1write0", Fresh.MAYBE),
        ("both1write0", Fresh.MAYBE),
        ("late1write0", Fresh.MAYBE),
        ("always0write0", Fresh.NO),
        ("always1readwrite0", Fresh.NO),
        ("some1write0", Fresh.NO),
        ("leaves1write0", Fresh.NO),
        ("looks1write0", Fresh.NO),
        ("turns1write0", Fresh.NO),
        ("chooses1write0", Fresh.NO),
        ("tests1write0", Fresh.NO),
    ],
)
def test_a_field_on_a_grid_is_not_brought_if_all_its_points_are_written(
    call: str, covered: Fresh
) -> None:
    """Its halo may be wider than its region, which is known at run time."""
    found = on_grid(f"{call}(a, b)")
    assert (found["a"].writes, found["a"].covered) == (True, covered)
    assert (found["b"].writes, found["b"].covered) == (False, Fresh.NO)


def test_code_that_cannot_be_read_promises_nothing() -> None:
    made = grid_schedule(KERNELS, "always1write0(a, b)", distributed=False)
    unknown = replace(GRIDS, codes_of=lambda _: ())
    assert acquired(plan_storage_access(made, unknown, HERE))["a"].covered is Fresh.NO


def test_what_is_read_before_it_is_overwritten_is_brought() -> None:
    assert on_grid("always1write0(b, a), always1write0(a, c)")["a"].covered is Fresh.NO
    assert on_grid("always1write0(a, c), always1write0(b, a)")["a"].covered is Fresh.MAYBE


def test_built_ins_and_discontinuous_fields_are_overwritten_where_metadata_say_so() -> None:
    def covered(*calls: object) -> Fresh:
        made = schedule(*calls)  # type: ignore[arg-type]
        return acquired(plan_storage_access(made, EVEN, HERE))["u"].covered

    assert covered(built_in("u write any_space_1")) is Fresh.YES
    assert covered(built_in("u readwrite any_space_1")) is Fresh.NO
    assert covered(dofs("u write w3")) is Fresh.YES
    assert covered(cells("u write w3")) is Fresh.MAYBE
    assert covered(cells("v read w3", "u write w3")) is Fresh.MAYBE
    assert covered(cells("v read w3", "u write any_discontinuous_space_1")) is Fresh.NO
    assert covered(cells("u write any_discontinuous_space_1", "v read w3")) is Fresh.MAYBE
    assert covered(cells("u write w2")) is Fresh.NO
    assert covered(cells("u readwrite w3")) is Fresh.NO
    assert covered(cells("u write w3 fine", "v read w3 coarse")) is Fresh.NO


def test_code_with_conditions_does_not_keep_the_promise_of_its_metadata() -> None:
    made = schedule(cells("u write w3"))
    odd = KernelKnowledge(
        RULES, lambda kernel: mesh_code(replace(kernel, name="kernel1_type")), build_lfric_dummies
    )
    found = acquired(plan_storage_access(made, odd, HERE))["u"]
    assert (found.covered, found.why) == (Fresh.NO, "k1_type may leave values as they are")


def test_metadata_that_say_write_do_not_promise_all_levels() -> None:
    """A kernel that leaves out the lowest level keeps what was there: it has to be brought."""
    low = KernelKnowledge(
        RULES, lambda kernel: mesh_code(replace(kernel, name="kernel2_type")), build_lfric_dummies
    )
    found = acquired(plan_storage_access(schedule(cells("u write w3")), low, HERE))["u"]
    assert found.covered is Fresh.NO
    assert found.why.endswith("may leave values as they are")


def three_sides() -> Schedule:
    """Return loops on the device, the host and the device; the host reads u late."""
    work = bench(
        cells("u readwrite w3"), cells("v readwrite w3"), cells("w readwrite w3", "u read w3"),
        cells("u readwrite w3"),
    )  # fmt: skip
    for loop in ("loop1", "loop4"):
        work.apply(AccKernels(loop, loop))
    return work.schedule


def placed(plan: StoragePlan, datum: str) -> list[tuple[str, type, Side]]:
    return [
        (place, type(action), action.side)
        for place, action, _ in plan.insertions
        if action.datum == datum
    ]


def test_a_datum_is_held_where_it_is_used_and_brought_when_its_last_writer_has_ended() -> None:
    made = three_sides()
    plan = plan_storage_access(made, EVEN, ACTING)
    device, host = Side.DEVICE, Side.HOST
    assert placed(plan, "u") == [
        ("acc-kernels(loop1)", AcquireData, device),
        ("mark(u)@loop1", TouchData, device),
        ("mark(u)@loop1", ReleaseData, device),
        ("mark(u)@loop1", PrefetchData, host),
        ("loop3", AcquireData, host),
        ("mark(w)@loop3", ReleaseData, host),
        ("acc-kernels(loop4)", AcquireData, device),
        ("end", TouchData, device),
        ("end", ReleaseData, device),
    ]
    text = explain_storage_access("small", plan)
    assert "u: brought to the host early, before mark(u)@loop1\n  stale:   since call1\n" in text
    assert "u: read on the host\n  for:     call3\n" in text
    assert "  brought: if it is stale there, as k3_type reads it\n" in text


def test_where_directives_do_nothing_each_datum_is_acquired_once() -> None:
    made = three_sides()
    plan = plan_storage_access(made, EVEN, StoragePolicy(home=Side.DEVICE))
    assert [(one.datum, one.side) for one in plan.acquired] == [
        ("u", Side.DEVICE), ("v", Side.DEVICE), ("w", Side.DEVICE),
    ]  # fmt: skip


def test_an_exchange_ends_what_is_held_unless_it_may_happen_meanwhile() -> None:
    work = bench(cells("u readwrite w3"), cells("v readwrite w3", "u read w3 stencil 1"))
    made = work.schedule
    exchange = "halo(u)@loop2"
    assert exchange in [item.uid for item in made.body]
    apart = placed(plan_storage_access(made, EVEN, ACTING), "u")
    assert [(place, kind) for place, kind, _ in apart] == [
        ("loop1", AcquireData),
        ("mark(u)@loop1", TouchData),
        ("mark(u)@loop1", ReleaseData),
        ("loop2", AcquireData),
        ("mark(v)@loop2", ReleaseData),
    ]
    assert [kind for _, kind, _ in placed(plan_storage_access(made, EVEN, HERE), "u")] == [
        AcquireData, TouchData, ReleaseData,
    ]  # fmt: skip


def test_what_may_be_one_object_is_written_and_brought_with_the_other() -> None:
    made = schedule(built_in("u write any_space_1"), cells("w readwrite w3", "v read w3"))
    data = tuple(
        replace(one, may_alias=tuple({"u": "v", "v": "u"}.get(one.name, ""))) for one in made.data
    )
    found = acquired(plan_storage_access(replace(made, data=data), EVEN, HERE))
    assert {name: (one.writes, one.covered, one.may_be) for name, one in found.items()} == {
        "u": (True, Fresh.YES, ("v",)),
        "v": (True, Fresh.NO, ("u",)),
        "w": (True, Fresh.NO, ()),
    }


def test_nothing_else_may_keep_copies_on_a_device() -> None:
    """Steps that ask for copies of their own are refused where directives make some: S116."""
    work = bench(cells("u readwrite w3"), cells("v readwrite w3"))
    work.apply(AccKernels("loop1", "loop1"))
    assert check_storage_policy(work.schedule, ACTING) == ()
    work.apply(AccEnterData(work.schedule.name))
    (problem,) = check_storage_policy(work.schedule, ACTING)
    assert (problem.code, problem.hint) == (
        "S116",
        "Leave out the step: a storage brings what a region on a device needs.",
    )
    work.apply(AccUpdate("end"))
    assert {one.code for one in check_storage_policy(work.schedule, ACTING)} == {"S116"}
    assert check_storage_policy(work.schedule, StoragePolicy()) == ()


def test_a_queue_is_nothing_that_a_storage_knows() -> None:
    work = bench(cells("u readwrite w3"))
    work.apply(AccKernels("loop1", "loop1", False, 1))
    (problem,) = check_storage_policy(work.schedule, ACTING)
    assert problem.code == "S116"
