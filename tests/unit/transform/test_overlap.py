"""Exchanges that run while loops do, and the recipe that does all that may be done."""

from __future__ import annotations

from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.walk import find
from psyclone_storage.transform.asynchronous import OverlapExchange, SplitExchange, UnpinExchange
from psyclone_storage.transform.catalogue import apply_request, read_steps
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.profile import AddProfileRegion
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.step import needs_code
from unit.analysis.small import built_in, cells, dofs, uids
from unit.transform.benches import bench, refused

STENCIL = cells("v write w3", "u read w3 stencil 1")
APART = cells("w write w3", "x read w3", iteration=Iteration.OWNED_CELL_COLUMN)


def test_a_start_stops_at_the_write_of_what_it_sends() -> None:
    work = bench(dofs("u write w3"), APART, dofs("y write w3"), STENCIL)
    work.apply(OverlapExchange("halo(u)@loop4"))
    names = [uid for uid in uids(work.schedule) if not uid.startswith("mark")]
    assert names == [
        "loop1", "start(halo(u)@loop4)", "loop2", "loop3", "finish(halo(u)@loop4)", "loop4"
    ]  # fmt: skip


def test_a_start_stops_at_a_loop_that_reads_the_halo() -> None:
    work = bench(APART, cells("y write w3", "u read w0"), APART, STENCIL_ON_W0, annexed=True)
    work.apply(OverlapExchange("halo(u)@loop4"))
    names = [uid for uid in uids(work.schedule) if not uid.startswith("mark")]
    assert names[:3] == ["loop1", "loop2", "start(halo(u)@loop4)"]


STENCIL_ON_W0 = cells("v write w3", "u read w0 stencil 1")


def test_nothing_to_run_meanwhile() -> None:
    work = bench(dofs("u write w3"), STENCIL)
    assert refused(work, OverlapExchange("halo(u)@loop2")) == ["T033"]
    assert refused(work, OverlapExchange("loop1")) == ["T004"]


def test_auto_does_what_may_be_done() -> None:
    """These kernels have no code that a step might look into."""
    work = bench(built_in("u write w3"), APART, cells("z inc w0"), STENCIL)
    for request in read_steps("auto"):
        if not needs_code(request.step):
            apply_request(work, request)
    assert check_finished(work.schedule) == ()
    names = [applied.step.name for applied in work.history]
    assert set(names) == {"colour", "openmp-do", "openmp-parallel", "outline", "overlap"}
    assert find(work.schedule, "start(halo(u)@loop4)") is not None


def test_an_exchange_that_was_split_is_given_back() -> None:
    """By either end, and both ends of that split alone go."""
    before = bench(dofs("u write w3"), STENCIL, dofs("u write w3"), STENCIL).schedule
    for end in ("start", "finish"):
        work = bench(dofs("u write w3"), STENCIL, dofs("u write w3"), STENCIL)
        work.apply(SplitExchange("halo(u)@loop2"))
        work.apply(SplitExchange("halo(u)@loop4"))
        work.apply(UnpinExchange(f"{end}(halo(u)@loop4)"))
        work.apply(UnpinExchange(f"{end}(halo(u)@loop2)"))
        assert work.schedule == before


def test_an_exchange_that_is_given_back_is_as_deep_as_it_has_to_be() -> None:
    work = bench(dofs("u write w3"), cells("v write w3", "u read w3 stencil 1"))
    work.apply(SplitExchange("halo(u)@loop2"))
    work.apply(ComputeRedundantly("loop2", 1))
    work.apply(UnpinExchange("start(halo(u)@loop2)"))
    exchanges = [uid for uid in uids(work.schedule) if uid.startswith("halo")]
    assert exchanges == ["halo(u)@loop2"]
    assert str(work["halo(u)@loop2"].depth) != "1"
    work.apply(SplitExchange("halo(u)@loop2"))
    work.apply(ComputeRedundantly("loop1", 2))
    work.apply(UnpinExchange("finish(halo(u)@loop2)"))
    assert [uid for uid in uids(work.schedule) if "halo(u)" in uid] == []


def test_what_is_not_given_back() -> None:
    work = bench(dofs("u write w3"), STENCIL)
    assert refused(work, UnpinExchange("halo(u)@loop2")) == ["T035"]
    assert refused(work, UnpinExchange("loop1")) == ["T004"]
    assert refused(work, UnpinExchange("halo(v)@loop2")) == ["T003"]
    work.apply(AddProfileRegion("halo(u)@loop2", "halo(u)@loop2"))
    assert refused(work, UnpinExchange("halo(u)@loop2")) == ["T035"]
