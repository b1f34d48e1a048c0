"""Steps on the loops of GOcean: what may be fused and threaded, and what may not be split."""

from __future__ import annotations

import pytest

from gocean_programs import READ, WRITE, kernel, schedule
from psyclone_storage.domain.gocean.rules import GoceanRules
from psyclone_storage.ir.schedule import HaloExchange, Loop
from psyclone_storage.ir.walk import outer_loops
from psyclone_storage.transform.asynchronous import SplitExchange
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.openmp import ParallelDo
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.step import Step

RULES = GoceanRules()
U_WRITE = "go_write, go_cu, go_pointwise"
KERNELS = {
    "copy": kernel(WRITE, READ, name="copy"),
    "copy_u": kernel(U_WRITE, READ, name="copy_u"),
    "copy_all": kernel(WRITE, READ, name="copy_all", over="go_all_pts"),
    "along": kernel("go_readwrite, go_ct, go_stencil(000,111,000)", name="along"),
    "near": kernel(WRITE, "go_read, go_ct, go_stencil(000,110,000)", name="near"),
}


def reasons(step: Step, calls: str, *, distributed: bool = False) -> list[str]:
    """Return the codes of the reasons against `step`."""
    made = schedule(KERNELS, calls, distributed=distributed)
    return [problem.code for problem in step.check(made, RULES)]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("copy(a, b), copy(c, a)", []),
        ("near(a, b), copy(c, a)", []),
        ("copy(a, b), near(c, a)", ["S009"]),
        ("near(a, b), copy(b, c)", ["S009"]),
        ("copy(a, b), copy_all(a, c)", ["S008"]),
        ("copy(a, b), copy_u(c, b)", ["S008"]),
    ],
)
def test_fusion(calls: str, expected: list[str]) -> None:
    assert reasons(FuseLoops("loop1", "loop2"), calls) == expected


def test_loops_that_do_not_go_equally_far_are_not_fused() -> None:
    fused = FuseLoops("loop1", "loop2")
    assert reasons(fused, "copy(a, b), copy_all(c, b)", distributed=True) == ["S007"]


def test_a_fused_loop_holds_both_inner_loops() -> None:
    made = FuseLoops("loop1", "loop2").apply(schedule(KERNELS, "copy(a, b), copy(c, a)"), RULES)
    (outer,) = outer_loops(made)
    assert [item.uid for item in outer.body] == ["columns@loop1", "columns@loop2"]


def test_rows_may_be_dealt_out_to_threads() -> None:
    assert reasons(ParallelDo("loop1"), "near(a, b)") == []


def test_a_field_that_is_changed_and_looked_at_races() -> None:
    assert reasons(ParallelDo("loop1"), "along(a)") == ["S010"]


def test_a_field_that_is_changed_and_looked_at_is_exchanged_before() -> None:
    made = schedule(KERNELS, "along(a), along(a)")
    exchanged = [item.uid for item in made.body if isinstance(item, HaloExchange)]
    assert exchanged == ["halo(a)@loop1", "halo(a)@loop2"]


def test_an_exchange_is_not_split() -> None:
    made = schedule(KERNELS, "near(a, b)")
    exchange = made.body[0]
    assert isinstance(exchange, HaloExchange)
    (problem,) = SplitExchange(exchange.uid).check(made, RULES)
    assert problem.code == "T032"


@pytest.mark.parametrize("step", [ColourLoop("loop1"), ComputeRedundantly("loop1")])
def test_points_have_no_colours_and_are_not_computed_twice(step: Step) -> None:
    assert reasons(step, "copy(a, b)", distributed=True)
    assert isinstance(schedule(KERNELS, "copy(a, b)").body[0], Loop)
