"""The decision tables of halos: how far loops run, what they read, what they leave (spec 6)."""

from __future__ import annotations

import pytest

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.domains.lfric.rules import iteration_argument
from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.region import NOTHING, WHOLE, Depth, describe_depth
from psyclone_storage.ir.rules import HaloLeft, HaloNeed
from psyclone_storage.ir.schedule import Extent, KernelCall, Loop, Reach, Schedule
from unit.analysis.small import (
    RULES,
    Passed,
    call,
    cells,
    dofs,
    halo,
    matrices,
    operator,
    scalar,
    schedule,
)

OWNED, ANNEXED = Extent(Reach.OWNED), Extent(Reach.ANNEXED)
HALO_ONLY = Extent(Reach.HALO_ONLY, Depth.of(2))
EVERYWHERE = Extent(Reach.HALO, WHOLE)


def loop_of(made: Schedule) -> tuple[Loop, KernelCall]:
    loop = made.body[0]
    assert isinstance(loop, Loop)
    one = loop.body[0]
    assert isinstance(one, KernelCall)
    return loop, one


# ---------------------------------------------------------------------------- how far


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (cells("a write w3", "b read w0"), OWNED),
        (cells("a readwrite wtheta"), OWNED),
        (cells("a readwrite any_discontinuous_space_1"), OWNED),
        (cells("a inc w0"), halo(1)),
        (cells("a readinc any_space_1"), halo(1)),
        (cells("a write w0"), OWNED),
        (cells("a write any_space_1", "b write w3"), OWNED),
        (cells("a write w0", "b readwrite w3"), halo(1)),
        (cells("a write w0", "b inc w2"), halo(1)),
        (cells("a write w3", operator("op", "write")), halo(1)),
        (cells("a write w3", operator("op", "read")), OWNED),
        (dofs("a write w0", owned=True), OWNED),
        (dofs(scalar("s"), "a read w0"), OWNED),
        (call(0, "a write w3", iteration=Iteration.DOMAIN), OWNED),
        (call(0, "a inc w0", iteration=Iteration.OWNED_CELL_COLUMN), OWNED),
        (call(0, "a write w3", iteration=Iteration.OWNED_AND_HALO_CELL_COLUMN, depth="2"), halo(2)),
        (call(0, "a write w3", iteration=Iteration.HALO_CELL_COLUMN, depth="2"), HALO_ONLY),
        (call(0, "a write w0", iteration=Iteration.OWNED_AND_HALO_DOF, depth="2"), halo(2)),
        (call(0, "a write w0", iteration=Iteration.OWNED_AND_HALO_DOF, depth="0"), ANNEXED),
        (cells("c read w3 coarse", "f write w3 fine"), OWNED),
        (cells("c read w3 coarse", "f inc w2 fine"), halo(1)),
        (cells("c inc w2 coarse", "f read w3 fine"), halo(1)),
    ],
)
def test_loops_run_as_far_as_their_results_need(kernel: KernelCall, expected: Extent) -> None:
    for annexed in (True, False):
        assert RULES.initial_extent(kernel, schedule(annexed=annexed)) == expected


def test_loops_over_dofs_compute_annexed_ones_if_those_are_kept_clean() -> None:
    kernel = dofs("a write w0")
    assert RULES.initial_extent(kernel, schedule(annexed=True)) == ANNEXED
    assert RULES.initial_extent(kernel, schedule(annexed=False)) == OWNED


def test_a_serial_loop_runs_over_all_there_is_but_halo_kernels_have_nothing_to_do() -> None:
    serial = schedule(distributed=False)
    assert RULES.initial_extent(cells("a inc w0"), serial) == Extent(Reach.ALL)
    assert RULES.initial_extent(dofs("a write w0"), serial) == Extent(Reach.ALL)
    mask = call(0, "a write w3", iteration=Iteration.HALO_CELL_COLUMN, depth="2")
    assert RULES.initial_extent(mask, serial).reach is Reach.HALO_ONLY


@pytest.mark.parametrize(
    ("kernel", "position"),
    [
        (cells("a write w3", "b write any_space_1", "c write w0"), 2),
        (cells("a write w3", "b write any_space_1", "c read w0"), 1),
        (cells("a read w0", "b readwrite w3"), 1),
        (cells("a inc w0", operator("op", "write")), 1),
        (cells("f inc w2 fine", "c read w3 coarse"), 1),
        (dofs(scalar("s"), "a read w3", "b read w0"), 1),
    ],
)
def test_the_argument_that_needs_the_largest_loop_gives_the_bounds(
    kernel: KernelCall, position: int
) -> None:
    assert iteration_argument(kernel.kernel) == position


def test_a_kernel_of_scalars_alone_has_no_bounds() -> None:
    with pytest.raises(ValueError, match="neither a field nor an operator"):
        iteration_argument(cells(scalar("s", "read")).kernel)


# ---------------------------------------------------------------------------- what is read


def need(passed: str, extent: Extent, **options: object) -> HaloNeed:
    """Return what a loop needs of its second argument."""
    made = schedule((cells("a write w3", passed, **options), extent))
    return RULES.halo_need(made, *loop_of(made), 1)


def text(found: HaloNeed) -> str:
    return describe_depth(found.depth) + (" annexed" if found.annexed else "")


@pytest.mark.parametrize(
    ("passed", "extent", "expected"),
    [
        ("u read w3", OWNED, "0"),
        ("u read w0", OWNED, "0 annexed"),
        ("u read any_space_1", OWNED, "0 annexed"),
        ("u readwrite w3", OWNED, "0"),
        ("u write w0", OWNED, "0"),
        ("u read w3 stencil 2", OWNED, "2"),
        ("u read w0 stencil reach", OWNED, "reach annexed"),
        ("u inc w0", OWNED, "0"),
        ("u readinc w0", OWNED, "0 annexed"),
        ("u read w3", halo(2), "2"),
        ("u readwrite w3", halo(2), "2"),
        ("u write w3", halo(2), "0"),
        ("u inc w0", halo(1), "0 annexed"),
        ("u inc w0", halo(3), "2 annexed"),
        ("u readinc w0", halo(1), "1 annexed"),
        ("u read w3 stencil 2", halo(1), "3"),
        ("u read w3 stencil reach", halo(2), "reach + 2"),
        ("u read w3", EVERYWHERE, "whole"),
        ("u inc w0", EVERYWHERE, "whole - 1 annexed"),
        ("u read w3 fine", halo(1), "2"),
        ("u read w0 fine", OWNED, "0 annexed"),
        ("u inc w0 fine", halo(1), "1 annexed"),
    ],
)
def test_loops_over_cells_read(passed: str, extent: Extent, expected: str) -> None:
    assert text(need(passed, extent)) == expected


def test_kernels_for_halo_cells_look_along_the_halo() -> None:
    options = {"iteration": Iteration.HALO_CELL_COLUMN, "depth": "2"}
    assert text(need("u read w3 stencil 1", HALO_ONLY, **options)) == "2"
    assert text(need("u read w3 stencil 3", HALO_ONLY, **options)) == "3"
    assert text(need("u read w3 stencil reach", HALO_ONLY, **options)) == "max(2, reach)"


@pytest.mark.parametrize(
    ("passed", "extent", "expected"),
    [
        ("u read w0", OWNED, "0"),
        ("u read w0", ANNEXED, "0 annexed"),
        ("u read w3", ANNEXED, "0"),
        ("u readwrite w0", halo(2), "2 annexed"),
        ("u read w3", halo(2), "2"),
    ],
)
def test_loops_over_dofs_read(passed: str, extent: Extent, expected: str) -> None:
    made = schedule((dofs("a write w3", passed), extent))
    assert text(RULES.halo_need(made, *loop_of(made), 1)) == expected


def test_only_increments_carry_what_is_stale() -> None:
    assert need("u inc w0", halo(1)).carried
    assert need("u inc w0", halo(3)).carried
    assert not need("u readinc w0", halo(1)).carried
    assert not need("u read w0", halo(1)).carried


def test_nothing_is_exchanged_of_operators_or_in_one_process() -> None:
    made = schedule((cells("a write w3", operator("op", "read")), halo(1)))
    assert not RULES.halo_need(made, *loop_of(made), 1).anything
    serial = schedule(cells("a write w3", "u read w3 stencil 2"), distributed=False)
    assert not RULES.halo_need(serial, *loop_of(serial), 1).anything


# ---------------------------------------------------------------------------- what is left


def left(passed: str, extent: Extent, *, over_dofs: bool = False) -> HaloLeft:
    kernel = dofs(passed) if over_dofs else cells(passed)
    made = schedule((kernel, extent))
    return RULES.halo_left(made, *loop_of(made), 0)


@pytest.mark.parametrize(
    ("passed", "extent", "clean", "annexed"),
    [
        ("u write w3", OWNED, NOTHING, Fresh.YES),
        ("u write w0", OWNED, NOTHING, Fresh.YES),
        ("u inc w0", OWNED, NOTHING, Fresh.NO),
        ("u write w3", halo(2), Depth.of(2), Fresh.YES),
        ("u write w0", halo(2), Depth.of(2), Fresh.YES),
        ("u inc w0", halo(1), NOTHING, Fresh.YES),
        ("u inc w0", halo(2), Depth.of(1), Fresh.YES),
        ("u readinc w0", halo(2), Depth.of(1), Fresh.YES),
        ("u inc w0", EVERYWHERE, WHOLE.minus(1), Fresh.YES),
        ("u write w3", EVERYWHERE, WHOLE, Fresh.YES),
        ("u write w3 fine", halo(1), Depth.of(2), Fresh.YES),
        ("u inc w0 fine", halo(1), Depth.of(1), Fresh.YES),
        ("u inc w0", HALO_ONLY, NOTHING, Fresh.NO),
    ],
)
def test_loops_over_cells_leave(passed: str, extent: Extent, clean: Depth, annexed: Fresh) -> None:
    found = left(passed, extent)
    assert (found.clean, found.annexed, found.keeps_beyond) == (clean, annexed, False)


def test_kernels_for_halo_cells_leave_deeper_levels_of_discontinuous_fields_alone() -> None:
    assert left("u write w3", HALO_ONLY).keeps_beyond
    assert left("u write w3", HALO_ONLY).clean == Depth.of(2)
    assert not left("u write w0", HALO_ONLY).keeps_beyond


@pytest.mark.parametrize(
    ("passed", "extent", "clean", "annexed"),
    [
        ("u write any_space_1", OWNED, NOTHING, Fresh.NO),
        ("u write w3", OWNED, NOTHING, Fresh.YES),
        ("u write any_space_1", ANNEXED, NOTHING, Fresh.YES),
        ("u write any_space_1", halo(3), Depth.of(3), Fresh.YES),
    ],
)
def test_loops_over_dofs_leave(passed: str, extent: Extent, clean: Depth, annexed: Fresh) -> None:
    found = left(passed, extent, over_dofs=True)
    assert (found.clean, found.annexed) == (clean, annexed)


# ---------------------------------------------------------------------------- the whole invoke


def test_a_field_that_some_call_knows_to_be_discontinuous_has_no_annexed_dofs() -> None:
    made = schedule(
        dofs("u write any_space_1", "v read any_space_1"),
        cells("u readwrite w3", "w read w0", "v read any_w2"),
        cells("x write any_discontinuous_space_1", "w read w3"),
    )
    assert RULES.without_annexed(made) == {"u", "x"}


@pytest.mark.parametrize(
    ("passed", "extent", "codes"),
    [
        (operator("op", "read"), halo(1), []),
        (operator("op", "read"), OWNED, []),
        (operator("op", "read"), halo(2), ["S001"]),
        (operator("op", "readwrite"), halo("reach"), ["S001"]),
        (operator("op", "read"), EVERYWHERE, ["S001"]),
        (operator("op", "write"), EVERYWHERE, ["S001"]),
        (operator("op", "write"), halo(2), ["S001"]),
        (matrices("1"), OWNED, []),
        (matrices("reach"), OWNED, []),
        (matrices("2"), OWNED, ["S001"]),
        (matrices("2"), Extent(Reach.ALL), []),
        (matrices("1"), halo(1), ["S001"]),
        (matrices("reach"), halo(1), ["S001"]),
        ("u read w3 stencil 1", halo(2), []),
        ("u read w3 stencil 1", EVERYWHERE, ["S002"]),
        ("u read w3", EVERYWHERE, []),
    ],
)
def test_loops_must_not_run_beyond_what_their_arguments_hold(
    passed: Passed | str, extent: Extent, codes: list[str]
) -> None:
    made = schedule((cells("a write w3", passed), extent))
    problems = RULES.check_extent(*loop_of(made))
    assert [problem.code for problem in problems] == codes
    assert all(problem.hint for problem in problems)
