"""Which loops may run in parallel, asked one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.analysis.schedules.races import changes_shared_dofs, check_races
from psyclone_storage.analysis.schedules.reduction import (
    ReducedScalar,
    check_reductions_in_region,
    reductions_in,
)
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.schedule import KernelCall, Loop, Over
from psyclone_storage.ir.walk import outer_loops
from unit.analysis.small import RULES, cells, dofs, operator, scalar, schedule


def reasons(call: KernelCall, over: Over | None = None) -> list[str]:
    tree = schedule(call)
    (loop,) = outer_loops(tree)
    loop = loop if over is None else replace(loop, over=over)
    return [reason.message for reason in check_races(tree, RULES, loop)]


@pytest.mark.parametrize(
    ("call", "races"),
    [
        (cells("u inc w0"), True),
        (cells("u readinc w2"), True),
        (cells("u inc any_space_1"), True),
        (cells("u write w0"), False),
        (cells("u readwrite w3", "v read w0"), False),
        (cells(operator("op", "write")), False),
        (dofs("u readwrite w0"), False),
        (dofs(scalar("s"), "u read w0"), False),
    ],
)
def test_cells_race_where_they_add_to_shared_dofs(call: KernelCall, races: bool) -> None:
    assert bool(reasons(call)) is races
    assert reasons(call, Over.CELLS_OF_COLOUR) == []


def test_tiles_of_one_colour_do_not_race_but_their_cells_do() -> None:
    assert reasons(cells("u inc w0"), Over.TILES_OF_COLOUR) == []
    assert len(reasons(cells("u inc w0"), Over.CELLS_OF_TILE)) == 1


@pytest.mark.parametrize("over", [Over.CELLS, Over.CELLS_OF_COLOUR, Over.CELLS_OF_TILE])
def test_neighbours_that_are_written_are_not_looked_at(over: Over) -> None:
    (message,) = reasons(cells("u write w3", "u read w3 stencil 1"), over)
    assert message == (
        "Iterations of 'loop1' race: 'k1_type' looks at neighbours in 'u', which 'k1_type' writes."
    )


def test_colours_follow_one_another_and_a_domain_is_called_once() -> None:
    assert "have to follow one another" in reasons(cells("u inc w0"), Over.COLOURS)[0]
    assert "calls its kernel once" in reasons(cells("u write w3"), Over.DOMAIN)[0]


@pytest.mark.parametrize(
    ("call", "shared"),
    [
        (cells("u write w0"), True),
        (cells("u inc w2"), True),
        (cells("u write w3", "v read w0"), False),
        (cells(operator("op", "write"), "v read w0"), False),
    ],
)
def test_shared_dofs_are_changed_by_writes_on_continuous_spaces(
    call: KernelCall, shared: bool
) -> None:
    (loop,) = outer_loops(schedule(call))
    assert changes_shared_dofs(RULES, loop) is shared


def loops(*calls: KernelCall) -> tuple[Loop, ...]:
    return outer_loops(schedule(*calls))


def test_reductions_are_found_with_their_operation() -> None:
    (loop,) = loops(dofs(scalar("s"), "u read w0"))
    assert reductions_in(loop) == (ReducedScalar("s", ReductionOp.SUM),)


def may_share(*calls: KernelCall) -> tuple[Diagnostic, ...]:
    made = schedule(*calls)
    return check_reductions_in_region(made, outer_loops(made))


def test_loops_that_use_what_one_reduces_do_not_share_a_region() -> None:
    summed, user = dofs(scalar("s"), "u read w0"), dofs("v write w0", scalar("s", "read"))
    other = dofs(scalar("t"), "u read w0")
    assert [reason.code for reason in may_share(summed, user)] == ["S012"]
    assert [reason.code for reason in may_share(user, summed)] == ["S012"]
    assert [reason.code for reason in may_share(summed, summed)] == ["S012"]
    assert may_share(summed, other) == ()
