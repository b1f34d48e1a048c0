"""Fusion and moves: what they give, and that nothing is read too early or too late."""

from __future__ import annotations

from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.schedule import HaloExchange, Loop, Phase
from psyclone_storage.transform.asynchronous import SplitExchange
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.move import MoveStatement
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import cells, dofs, uids
from unit.transform.benches import bench, refused

# ---------------------------------------------------------------------------- fusion


def test_the_fused_loop_keeps_the_first_name_and_both_bodies() -> None:
    work = bench(cells("u write w3"), cells("v write w3", "w read w3 stencil 1"))
    work.apply(FuseLoops("loop1", "loop2"))
    loop = work["loop1"]
    assert isinstance(loop, Loop)
    assert [item.uid for item in loop.body] == ["call1", "call2"]
    assert uids(work.schedule)[:2] == ["halo(w)@loop1", "loop1"]


def test_a_stencil_on_what_the_first_loop_writes_is_refused() -> None:
    work = bench(cells("u write w3"), cells("v write w3", "u read w3 stencil 1"), distributed=False)
    assert refused(work, FuseLoops("loop1", "loop2")) == ["S009"]


def test_loops_that_do_not_go_equally_far_are_refused() -> None:
    work = bench(cells("u write w3"), cells("v inc w0"))
    assert refused(work, FuseLoops("loop1", "loop2")) == ["S007"]


def test_any_space_needs_the_word_of_the_user() -> None:
    work = bench(dofs("u write any_space_1"), dofs("v write any_space_1"))
    assert refused(work, FuseLoops("loop1", "loop2")) == ["S008"]
    work.apply(FuseLoops("loop1", "loop2", same_space=True))


def test_a_loop_that_is_not_there_is_refused() -> None:
    assert refused(bench(dofs("u write w3")), FuseLoops("loop1", "loop2")) == ["T003"]


# ---------------------------------------------------------------------------- moves


def split() -> Workbench:
    """Return a schedule whose second loop can overlap with the exchange for the third."""
    work = bench(
        dofs("u write w3"),
        cells("w write w3", "x read w3", iteration=Iteration.OWNED_CELL_COLUMN),
        cells("v write w3", "u read w3 stencil 1"),
    )
    work.apply(SplitExchange("halo(u)@loop3"))
    return work


def test_both_ends_of_an_exchange_are_pinned_and_ask_the_same_test() -> None:
    work = split()
    ends = [item for item in work.schedule.body if isinstance(item, HaloExchange)]
    assert [end.uid for end in ends] == ["start(halo(u)@loop3)", "finish(halo(u)@loop3)"]
    assert [end.phase for end in ends] == [Phase.START, Phase.FINISH]
    assert all(end.pinned for end in ends)
    assert len({(end.guarded, end.depth) for end in ends}) == 1


def test_a_start_moves_to_before_independent_work() -> None:
    work = split()
    work.apply(MoveStatement("start(halo(u)@loop3)", "loop2"))
    assert uids(work.schedule)[2:6] == [
        "start(halo(u)@loop3)", "loop2", "mark(w)@loop2", "finish(halo(u)@loop3)"
    ]  # fmt: skip


def test_a_start_stays_after_the_write_of_what_it_sends() -> None:
    work = split()
    assert refused(work, MoveStatement("start(halo(u)@loop3)", "loop1")) == ["S004"]


def test_a_finish_stays_before_its_reader_and_after_its_start() -> None:
    work = split()
    assert refused(work, MoveStatement("finish(halo(u)@loop3)", "loop3", after=True)) == ["S004"]
    start = "start(halo(u)@loop3)"
    assert refused(work, MoveStatement("finish(halo(u)@loop3)", start)) == ["S004"]


def test_no_loop_reads_a_halo_during_its_exchange() -> None:
    work = bench(
        cells("w write w3", "u read w0"),
        cells("v write w3", "u read w0 stencil 1"),
        annexed=True,
    )
    assert refused(work, MoveStatement("halo(u)@loop2", "loop1")) == ["S004"]
    work.apply(SplitExchange("halo(u)@loop2"))
    assert refused(work, MoveStatement("start(halo(u)@loop2)", "loop1")) == ["T031"]


def test_no_step_makes_a_loop_touch_a_halo_during_its_exchange() -> None:
    work = bench(
        cells("w write w3", "u read w3"),
        cells("v write w3", "u read w3 stencil 1"),
    )
    work.apply(SplitExchange("halo(u)@loop2"))
    work.apply(MoveStatement("start(halo(u)@loop2)", "loop1"))
    assert refused(work, ComputeRedundantly("loop1", 1)) == ["T031"]


def test_an_exchange_that_is_moved_stays_there() -> None:
    work = bench(dofs("x write w3"), cells("v write w3", "u read w3 stencil 1"))
    work.apply(MoveStatement("halo(u)@loop2", "loop1"))
    assert uids(work.schedule)[0] == "halo(u)@loop2"
    work.apply(ComputeRedundantly("loop1", 1))
    assert uids(work.schedule)[0] == "halo(u)@loop2"


def test_components_of_a_vector_pass_each_other() -> None:
    work = bench(cells("v write w3", "u read w3 stencil 1"), vectors={"u": 2})
    for number in (1, 2):
        work.apply(SplitExchange(f"halo(u[{number}])@loop1"))
    work.apply(MoveStatement("start(halo(u[2])@loop1)", "start(halo(u[1])@loop1)"))
    assert uids(work.schedule)[0] == "start(halo(u[2])@loop1)"


def test_a_dependent_loop_is_not_moved() -> None:
    work = bench(dofs("u write w3"), dofs("v write w3", "u read w3"), dofs("x write w3"))
    assert refused(work, MoveStatement("loop2", "loop1")) == ["S004"]
    work.apply(MoveStatement("loop3", "loop1"))
    loops = [item.uid for item in work.schedule.body if isinstance(item, Loop)]
    assert loops == ["loop3", "loop1", "loop2"]


def test_derived_statements_are_no_place_to_move_to() -> None:
    work = bench(dofs("u write w3"), dofs("x write w3"))
    assert refused(work, MoveStatement("loop2", "mark(u)@loop1")) == ["T013"]
    assert refused(work, MoveStatement("mark(u)@loop1", "loop1")) == ["T013"]


def test_only_whole_exchanges_are_split() -> None:
    work = split()
    assert refused(work, SplitExchange("start(halo(u)@loop3)")) == ["T030"]
    assert refused(work, SplitExchange("loop1")) == ["T004"]
    assert refused(work, SplitExchange("halo(u)@loop3")) == ["T003"]
