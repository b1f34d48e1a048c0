"""Steps for devices and tasks: what they make, and each reason against them."""

from __future__ import annotations

import pytest

from psyclone_storage.ir.transfer import TaskWait, Update
from psyclone_storage.ir.walk import statements
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.kernel.inline import InlineCall
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.openacc import AccData, AccKernels, AccLoop, AccParallel
from psyclone_storage.transform.openacc_data import AccEnterData, AccUpdate
from psyclone_storage.transform.openmp import OpenParallelRegion
from psyclone_storage.transform.openmp_target import OpenTarget, TeamsDo
from psyclone_storage.transform.openmp_tasks import (
    AwaitTasks,
    MakeTask,
    OpenMaster,
    OpenSingle,
    TaskLoop,
)
from psyclone_storage.transform.profile import AddProfileRegion
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import cells, dofs, draw, scalar
from unit.transform.benches import bench, codes, refused
from unit.transform.kernel.kernel_benches import bench as kernel_bench
from unit.transform.kernel.kernel_benches import module
from unit.transform.kernel.test_inline_call import call as kernel_call


def chain() -> Workbench:
    """Return a bench with loop1, which writes u, and loop2, which reads u and writes v."""
    return bench(cells("u write w3"), cells("v write w3", "u read w3"))


def test_gangs_do_not_wait_for_each_other_but_kernels_do() -> None:
    work = chain()
    assert refused(work, AccParallel("loop1", "loop2")) == ["T080"]
    work.apply(AccKernels("loop1", "loop2"))
    assert refused(work, AccKernels("loop1", "loop2")) != []


@pytest.mark.parametrize("access", ["inc", "readinc"])
def test_a_device_shares_no_loop_whose_cells_race(access: str) -> None:
    work = bench(cells(f"u {access} w0"))
    assert refused(work, AccLoop("loop1")) == ["S010"]
    assert work.check(AccLoop("loop1", sequential=True)) == ()
    work.apply(ColourLoop("loop1"))
    assert refused(work, AccParallel("loop1", "loop1")) == ["S011"]
    work.apply(AccLoop("cells(loop1)"))
    work.apply(AccParallel("acc-loop(cells(loop1))", "acc-loop(cells(loop1))"))


def test_the_host_counts_no_colours_while_a_queue_reads_them() -> None:
    work = bench(cells("u inc w0"))
    work.apply(ColourLoop("loop1"))
    inner = "cells(loop1)"
    assert refused(work, AccKernels(inner, inner, queue=1)) == ["T084"]
    assert work.check(AccKernels(inner, inner)) == ()
    assert work.check(AccKernels("loop1", "loop1", queue=1)) == ()


def test_a_loop_for_gangs_in_no_region_is_unfinished() -> None:
    work = bench(dofs("u readwrite w3"))
    work.apply(AccLoop("loop1", gang=True, vector=True))
    assert codes(check_finished(work.schedule)) == ["T026"]
    assert refused(bench(dofs("u write w3")), AccLoop("loop1", sequential=True, gang=True)) == [
        "T084"
    ]


@pytest.mark.parametrize(("nowait", "reasons"), [(True, ["T080"]), (False, [])])
def test_one_thread_does_not_begin_a_colour_before_another_has_ended(
    nowait: bool, reasons: list[str]
) -> None:
    work = bench(cells("u inc w0"))
    work.apply(ColourLoop("loop1"))
    work.apply(OpenSingle("cells(loop1)", "cells(loop1)", nowait))
    work.apply(OpenParallelRegion("loop1", "loop1"))
    problems = check_finished(work.schedule)
    assert codes(problems) == reasons
    assert all("wait for itself, an iteration before" in one.message for one in problems)


def test_the_first_thread_does_what_it_does_in_order_but_no_other_waits_for_it() -> None:
    work = bench(cells("u inc w0"), cells("v write w3", "u read w0"))
    work.apply(ColourLoop("loop1"))
    work.apply(OpenMaster("cells(loop1)", "cells(loop1)"))
    alone = Workbench(work.schedule, work.rules)
    alone.apply(OpenParallelRegion("loop1", "loop1"))
    assert check_finished(alone.schedule) == ()
    work.apply(OpenSingle("loop2", "loop2"))
    work.apply(OpenParallelRegion("loop1", "omp-single(loop2)"))
    assert codes(check_finished(work.schedule)) == ["T080"]


def test_gangs_would_all_do_a_loop_that_runs_in_order() -> None:
    work = bench(dofs("u readwrite w3"))
    work.apply(AccLoop("loop1", sequential=True))
    alone = Workbench(work.schedule, work.rules)
    alone.apply(AccKernels("acc-loop(loop1)", "acc-loop(loop1)"))
    assert "T027" not in codes(check_finished(alone.schedule))
    work.apply(AccParallel("acc-loop(loop1)", "acc-loop(loop1)", default_present=False))
    work.apply(AccEnterData(work.schedule.name))
    assert "T027" in codes(check_finished(work.schedule))


def test_an_update_inside_a_region_of_a_profiler_is_not_asked_for_again() -> None:
    work = bench(dofs("u write w3"))
    work.apply(AccKernels("loop1", "loop1"))
    work.apply(AccUpdate("end"))
    work.apply(AddProfileRegion(work.schedule.body[0].uid, work.schedule.body[-1].uid))
    assert refused(work, AccUpdate("end")) == ["T082"]


def test_data_must_be_there_and_are_entered_once() -> None:
    work = bench(dofs("u readwrite w3"))
    work.apply(AccLoop("loop1"))
    work.apply(AccParallel("acc-loop(loop1)", "acc-loop(loop1)"))
    assert "T083" in codes(check_finished(work.schedule))
    work.apply(AccEnterData(work.schedule.name))
    assert "T083" not in codes(check_finished(work.schedule))
    assert refused(work, AccEnterData(work.schedule.name)) == ["T082"]
    assert refused(work, AccEnterData("another")) == ["T003"]


def test_without_a_clause_the_compiler_moves_the_data_of_a_parallel_region() -> None:
    work = bench(dofs("u readwrite w3"))
    work.apply(AccLoop("loop1"))
    work.apply(AccParallel("acc-loop(loop1)", "acc-loop(loop1)", default_present=False))
    assert "T083" not in codes(check_finished(work.schedule))


@pytest.mark.parametrize(
    ("body", "above", "reasons"),
    [
        ("a(n) = 1.0", "", []),
        ("a(n) = planet_radius", "use planet_mod, only: planet_radius", ["T055"]),
        ("write(*, *) 'here'", "", ["T052"]),
    ],
)
def test_statements_in_place_are_compiled_for_the_device_with_their_region(
    body: str, above: str, reasons: list[str]
) -> None:
    before, behind = (kernel_bench(module(body, above=above), kernel_call()) for _ in range(2))
    before.apply(InlineCall("call1"))
    steps = (AccLoop("loop1", sequential=True), AccKernels("loop1", "loop1"))
    for step in steps:
        assert list(codes(before.check(step))) == reasons
    behind.apply(AccKernels("loop1", "loop1"))
    behind.apply(InlineCall("call1"))
    assert codes(check_finished(behind.schedule)) == reasons


def test_nothing_in_a_data_region_runs_on_the_host_or_in_a_queue() -> None:
    work = chain()
    work.apply(AccKernels("loop1", "loop1", queue=1))
    assert refused(work, AccData("acc-kernels(loop1)", "loop2")) == ["T084"]
    work.undo()
    work.apply(AccData("loop1", "loop2"))
    assert refused(work, AccKernels("loop1", "loop1", queue=1)) == ["T084"]
    work.apply(AccKernels("loop1", "loop1"))
    assert "T086" in codes(check_finished(work.schedule))


def test_the_host_is_updated_before_it_reads_and_the_device_at_the_end() -> None:
    work = chain()
    work.apply(AccKernels("loop1", "loop1"))
    updates = [item for item in work.schedule.body if isinstance(item, Update)]
    assert [(item.uid, item.guarded, item.writer) for item in updates] == [
        ("update-host(u)@loop2", True, "acc-kernels(loop1)"),
        ("update-host(v)@loop2", True, ""),
        ("update-device(v)@end", True, "loop2"),
    ]
    work.apply(AccEnterData(work.schedule.name))
    guarded = {item.uid: item.guarded for item in statements(work.schedule)
               if isinstance(item, Update)}  # fmt: skip
    assert guarded["update-host(u)@loop2"] is False


def test_a_copy_that_is_asked_for_stays() -> None:
    work = chain()
    work.apply(AccKernels("loop1", "loop2"))
    work.apply(AccUpdate("end"))
    assert [item.uid for item in work.schedule.body if isinstance(item, Update)] == [
        "asked-host(u)@end",
        "asked-host(v)@end",
    ]
    assert refused(work, AccUpdate("end")) == ["T082"]
    assert refused(work, AccUpdate("end", "nowhere")) == ["T084"]
    assert refused(work, AccUpdate("end", data="w")) == ["T088"]
    assert refused(work, AccUpdate("loop1")) == ["T013"]


@pytest.mark.parametrize("step", [TaskLoop("loop1"), MakeTask("loop1")])
def test_tasks_do_not_sum(step: TaskLoop | MakeTask) -> None:
    assert refused(bench(dofs(scalar("s"), "u read w3")), step) == ["T087"]


def test_random_numbers_come_from_the_host() -> None:
    assert refused(bench(draw("u")), AccKernels("loop1", "loop1")) == ["T087"]


def test_a_task_of_random_numbers_waits_for_another() -> None:
    work = bench(draw("u"), draw("v"))
    work.apply(MakeTask("loop1"))
    work.apply(MakeTask("loop2"))
    work.apply(OpenSingle("omp-task(loop1)", "omp-task(loop2)"))
    work.apply(OpenParallelRegion("omp-single(omp-task(loop1))", "omp-single(omp-task(loop1))"))
    assert codes(check_finished(work.schedule)) == ["T080"]
    work.apply(AwaitTasks("omp-single(omp-task(loop1))"))
    assert not check_finished(work.schedule)


def test_tasks_are_awaited_where_something_depends_on_them() -> None:
    work = chain()
    work.apply(TaskLoop("loop1", nogroup=True))
    work.apply(MakeTask("loop2"))
    work.apply(OpenSingle("omp-taskloop(loop1)", "omp-task(loop2)"))
    assert codes(check_finished(work.schedule)) == ["T026", "T080"]
    work.apply(AwaitTasks("omp-single(omp-taskloop(loop1))"))
    work.apply(OpenParallelRegion("omp-single(omp-taskloop(loop1))",
                                  "omp-single(omp-taskloop(loop1))"))  # fmt: skip
    assert check_finished(work.schedule) == ()
    waits = [item.uid for item in statements(work.schedule) if isinstance(item, TaskWait)]
    assert waits == ["task-wait@omp-task(loop2)"]
    assert refused(work, AwaitTasks("omp-single(omp-taskloop(loop1))")) == ["T082"]


@pytest.mark.parametrize(
    "one", [OpenSingle("loop1", "loop1", nowait=True), OpenMaster("loop1", "loop1")]
)
def test_what_follows_a_thread_that_nobody_waits_for_may_not_depend_on_it(
    one: OpenSingle | OpenMaster,
) -> None:
    work = chain()
    work.apply(one)
    work.apply(OpenSingle("loop2", "loop2"))
    first = "omp-single(loop1)" if isinstance(one, OpenSingle) else "omp-master(loop1)"
    work.apply(OpenParallelRegion(first, "omp-single(loop2)"))
    assert codes(check_finished(work.schedule)) == ["T080"]


def test_teams_are_all_that_a_target_holds() -> None:
    work = chain()
    work.apply(TeamsDo("loop1"))
    assert codes(check_finished(work.schedule)) == ["T026"]
    assert refused(work, OpenTarget("omp-teams-do(loop1)", "loop2")) == ["T089"]
    work.apply(OpenTarget("omp-teams-do(loop1)", "omp-teams-do(loop1)"))
    assert codes(check_finished(work.schedule)) == ["T081"]
