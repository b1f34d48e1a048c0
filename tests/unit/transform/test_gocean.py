"""Steps on the loops of GOcean: what may be fused and threaded, and what may not be split."""

from __future__ import annotations

import pytest

from gocean_programs import READ, WRITE, kernel, schedule
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.loop_versions import taken_apart
from psyclone_storage.ir.schedule import DirectiveRegion, HaloExchange, Loop, Over, Schedule
from psyclone_storage.ir.walk import kernel_calls, outer_loops, statements
from psyclone_storage.transform.asynchronous import SplitExchange
from psyclone_storage.transform.bounds import ConstantLoopBounds
from psyclone_storage.transform.catalogue import apply_request, read_steps
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseLoops
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.openacc import AccLoop
from psyclone_storage.transform.openmp import ParallelDo
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.swap import SwapLoops
from psyclone_storage.transform.tile import StripMineLoop, TileColumns, TileLoops
from psyclone_storage.transform.workbench import Workbench

RULES = GoceanRules()
U_WRITE = "go_write, go_cu, go_pointwise"
KERNELS = {
    "copy": kernel(WRITE, READ, name="copy"),
    "copy_u": kernel(U_WRITE, READ, name="copy_u"),
    "copy_all": kernel(WRITE, READ, name="copy_all", over="go_all_pts"),
    "copy_inner": kernel(WRITE, READ, name="copy_inner", over="go_inner_pts"),
    "along_j": kernel("go_readwrite, go_ct, go_stencil(000,010,010)", name="along_j"),
    "along": kernel("go_readwrite, go_ct, go_stencil(000,111,000)", name="along"),
    "near": kernel(WRITE, "go_read, go_ct, go_stencil(000,110,000)", name="near"),
    "south": kernel(WRITE, "go_read, go_ct, go_stencil(000,010,010)", name="south"),
    "south_of_u": kernel(WRITE, "go_read, go_cu, go_stencil(000,010,010)", name="south_of_u"),
    "north": kernel(WRITE, "go_read, go_ct, go_stencil(010,010,000)", name="north"),
    "north_west": kernel("go_readwrite, go_ct, go_stencil(100,010,000)", name="north_west"),
    "along_both": kernel("go_readwrite, go_ct, go_stencil(000,110,010)", name="along_both"),
    "south_west": kernel("go_readwrite, go_ct, go_stencil(000,010,100)", name="south_west"),
    "mean": kernel(WRITE, "go_readwrite, go_r_scalar, go_pointwise", name="mean"),
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
        ("copy(a, b), near(c, a)", []),
        ("near(a, b), copy(b, c)", []),
        ("copy(a, b), south(c, a)", ["S009"]),
        ("copy(a, b), north(c, a)", ["S009"]),
        ("south(a, b), copy(b, c)", ["S009"]),
        ("north(a, b), copy(b, c)", ["S009"]),
        ("mean(a, s), copy(c, b)", []),
        ("mean(a, s), mean(c, s)", ["S009", "S009"]),
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


def test_points_race_in_the_direction_in_which_they_are_looked_at() -> None:
    rows, columns = ParallelDo("loop1"), ParallelDo("columns@loop1")
    assert reasons(rows, "along(a)") == []
    assert reasons(columns, "along(a)") == ["S010"]
    assert reasons(rows, "south_west(a)") == ["S010"]
    assert reasons(columns, "south_west(a)") == []


def test_threads_share_columns_in_one_region_where_rows_go_in_order() -> None:
    made = schedule(KERNELS, "copy(a, b), south_west(a)", distributed=False)
    work = Workbench(made, RULES)
    for request in read_steps("openmp-do; openmp-parallel"):
        apply_request(work, request)
    assert check_finished(work.schedule) == ()
    (region,) = (item for item in work.schedule.body if isinstance(item, DirectiveRegion))
    assert [item.uid for item in region.body] == ["omp-do(loop1)", "loop2"]
    (_, rows) = region.body
    assert isinstance(rows, Loop)
    assert [item.uid for item in rows.body] == ["omp-do(columns@loop2)"]


@pytest.mark.parametrize("uid", ["loop1", "columns@loop1"])
def test_a_scalar_that_changes_with_each_point_races(uid: str) -> None:
    assert reasons(ParallelDo(uid), "mean(a, s)") == ["S010"]


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


# ---------------------------------------------------------------------------- nests


@pytest.mark.parametrize("step", [SwapLoops("loop1"), TileLoops("loop1", 4, 8)])
@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("near(a, b)", []),
        ("along(a)", []),
        ("south_west(a)", []),
        ("north_west(a)", ["S014"]),
        ("mean(a, s)", ["S014"]),
    ],
)
def test_what_speaks_against_another_order_of_points(
    step: Step, calls: str, expected: list[str]
) -> None:
    assert reasons(step, calls) == expected


def test_swapped_loops_keep_their_names() -> None:
    made = SwapLoops("loop1").apply(schedule(KERNELS, "copy(a, b)"), RULES)
    outer, inner = loops(made)
    assert (outer.uid, outer.over) == ("columns@loop1", Over.COLUMNS)
    assert (inner.uid, inner.over) == ("loop1", Over.ROWS)
    assert SwapLoops("columns@loop1").apply(made, RULES) == schedule(KERNELS, "copy(a, b)")


def test_loops_are_swapped_for_threads_where_columns_alone_may_be_shared() -> None:
    assert reasons(SwapLoops("loop1", for_threads=True), "along_j(a)") == []
    assert reasons(SwapLoops("loop1", for_threads=True), "copy(a, b)") == ["T082"]
    assert reasons(SwapLoops("loop1", for_threads=True), "south_west(a)") == ["T082"]
    assert set(reasons(SwapLoops("loop1", for_threads=True), "mean(a, s)")) == {"S014", "T082"}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("along_j(a)", []),
        ("copy(a, b)", ["T082"]),
        ("along(a)", ["T082"]),
        ("along_both(a)", ["T082"]),
        ("south_west(a)", ["T082"]),
        ("north_west(a)", ["T082"]),
        ("mean(a, s)", ["T082"]),
    ],
)
def test_columns_are_tiled_where_they_alone_may_be_shared(calls: str, expected: list[str]) -> None:
    assert reasons(TileColumns("loop1"), calls) == expected


def test_tiles_of_columns_keep_their_rows_in_order() -> None:
    made = TileColumns("loop1", 16).apply(schedule(KERNELS, "along_j(a)"), RULES)
    assert [(loop.uid, loop.over.value, loop.tile) for loop in loops(made)] == [
        ("columns@loop1", "tiles of columns", 16),
        ("loop1", "rows", 0),
        ("tile(columns@loop1)", "columns of a tile", 16),
    ]
    found = [ParallelDo(loop.uid).check(made, RULES) for loop in loops(made)]
    assert [[reason.code for reason in one] for one in found] == [[], ["S010"], []]
    assert [reason.code for reason in TileColumns("loop1").check(made, RULES)] == ["T016"]


def test_only_rows_hold_columns_to_tile() -> None:
    made = SwapLoops("loop1").apply(schedule(KERNELS, "along_j(a)"), RULES)
    (problem,) = TileColumns("columns@loop1").check(made, RULES)
    assert (problem.code, problem.message) == (
        "T016",
        "'columns@loop1' counts columns, not rows.",
    )


def test_tiles_are_around_their_points() -> None:
    made = TileLoops("loop1", 4, 8).apply(schedule(KERNELS, "copy(a, b)"), RULES)
    assert [(loop.uid, loop.over.value, loop.tile) for loop in loops(made)] == [
        ("loop1", "tiles of rows", 4),
        ("columns@loop1", "tiles of columns", 8),
        ("tile(loop1)", "rows of a tile", 4),
        ("tile(columns@loop1)", "columns of a tile", 8),
    ]


def test_chunks_are_for_any_order() -> None:
    chunked = StripMineLoop("loop1", 4)
    assert reasons(chunked, "north_west(a)") == []
    made = chunked.apply(schedule(KERNELS, "copy(a, b)"), RULES)
    assert [loop.uid for loop in loops(made)] == ["loop1", "chunk(loop1)", "columns@loop1"]


@pytest.mark.parametrize(
    ("uid", "races"),
    [
        ("loop1", True),
        ("columns@loop1", False),
        ("tile(loop1)", True),
        ("tile(columns@loop1)", False),
    ],
)
def test_tiles_race_as_their_points_do(uid: str, races: bool) -> None:
    made = TileLoops("loop1").apply(schedule(KERNELS, "south(a, b), along_j(a)"), RULES)
    made = TileLoops("loop2").apply(made, RULES)
    uid = uid.replace("loop1", "loop2")
    assert [item.code for item in ParallelDo(uid).check(made, RULES)] == ["S010"] * races


@pytest.mark.parametrize(
    "step", [TileLoops("loop1", 0), TileLoops("loop1", 8, -1), StripMineLoop("loop1", 0)]
)
def test_a_tile_has_points(step: Step) -> None:
    assert reasons(step, "copy(a, b)") == ["T017"]


def test_a_tile_has_columns() -> None:
    assert reasons(TileColumns("loop1", 0), "along_j(a)") == ["T017"]


@pytest.mark.parametrize("step", [SwapLoops("loop1"), TileLoops("loop1"), TileColumns("loop1")])
def test_nothing_stands_between_the_loops_of_a_nest(step: Step) -> None:
    made = FuseLoops("loop1", "loop2").apply(schedule(KERNELS, "copy(a, b), copy(c, a)"), RULES)
    (problem,) = step.check(made, RULES)
    assert problem.code == "T016"
    assert problem.hint == "Fuse 'columns@loop1' and 'columns@loop2' first."


@pytest.mark.parametrize("step", [SwapLoops("columns@loop1"), TileLoops("columns@loop1")])
def test_a_nest_begins_with_its_outer_loop(step: Step) -> None:
    assert reasons(step, "copy(a, b)") == ["T016"]


@pytest.mark.parametrize(
    "step",
    [SwapLoops("loop1"), TileLoops("loop1"), TileColumns("loop1"), StripMineLoop("loop1")],
)
def test_a_loop_under_a_directive_keeps_its_shape(step: Step) -> None:
    made = ParallelDo("loop1").apply(schedule(KERNELS, "copy(a, b)"), RULES)
    assert "T007" in [problem.code for problem in step.check(made, RULES)]


# ---------------------------------------------------------------------------- fusing in order


def test_rows_that_wait_for_each_other_are_fused_on_request() -> None:
    assert reasons(FuseLoops("loop1", "loop2", in_order=True), "copy(a, b), south(c, a)") == []
    assert reasons(FuseLoops("loop1", "loop2", in_order=True), "copy(a, b), north(c, a)") == [
        "S009"
    ]


def test_rows_of_different_tiles_are_not_fused() -> None:
    made = TileLoops("loop1", 4).apply(schedule(KERNELS, "copy(a, b), copy(c, b)"), RULES)
    made = TileLoops("loop2", 8).apply(made, RULES)
    (problem,) = FuseLoops("loop1", "loop2").check(made, RULES)
    assert problem.code == "S007"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("copy(a, b), copy(c, a)", []),
        ("copy(a, b), near(c, a)", ["S009"]),
    ],
)
def test_columns_are_fused_inside_of_rows(calls: str, expected: list[str]) -> None:
    made = FuseLoops("loop1", "loop2").apply(schedule(KERNELS, calls, distributed=False), RULES)
    step = FuseLoops("columns@loop1", "columns@loop2")
    assert [problem.code for problem in step.check(made, RULES)] == expected


def test_no_halo_is_read_of_what_the_same_loop_writes() -> None:
    fused = FuseLoops("loop1", "loop2", in_order=True)
    assert reasons(fused, "copy(a, b), near(c, a)", distributed=True) == ["S009"]
    assert reasons(fused, "near(a, b), copy(b, c)", distributed=True) == []


# ---------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("step", "calls", "distributed", "expected"),
    [
        (ConstantLoopBounds("loop1"), "copy(a, b)", False, []),
        (ConstantLoopBounds("loop1"), "copy(a, b)", True, []),
        (ConstantLoopBounds("loop1"), "copy_u(a, b)", False, ["T018"]),
        (ConstantLoopBounds("loop1", of_table=True), "copy_u(a, b)", False, []),
        (ConstantLoopBounds("loop1", of_table=True), "copy_u(a, b)", True, ["T018"]),
        (ConstantLoopBounds("loop1", of_table=True), "copy_inner(a, b)", False, ["T018"]),
    ],
)
def test_bounds_are_constant_where_the_table_has_those_of_the_field(
    step: Step, calls: str, distributed: bool, expected: list[str]
) -> None:
    assert reasons(step, calls, distributed=distributed) == expected


def test_loops_with_other_bounds_are_not_fused() -> None:
    made = ConstantLoopBounds("loop1").apply(schedule(KERNELS, "copy(a, b), copy(c, b)"), RULES)
    (problem,) = FuseLoops("loop1", "loop2").check(made, RULES)
    assert problem.code == "S008"
    made = ConstantLoopBounds("loop2").apply(made, RULES)
    assert FuseLoops("loop1", "loop2").check(made, RULES) == ()


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("copy(a, b), copy_u(c, b)", []),
        ("copy(a, b), copy_all(a, c)", ["S008"]),
        ("copy(a, b), south(c, a)", ["S009"]),
        ("copy_u(a, b), south_of_u(c, a)", ["S009"]),
    ],
)
def test_bounds_may_be_compared_when_the_program_runs(calls: str, expected: list[str]) -> None:
    fused = FuseLoops("loop1", "loop2", tested=True)
    assert reasons(fused, calls) == expected


def test_a_test_that_is_not_needed_or_never_holds_is_not_made() -> None:
    made = schedule(KERNELS, "copy(a, b), copy(c, b)", distributed=False)
    (fused,) = FuseLoops("loop1", "loop2", tested=True).apply(made, RULES).body
    assert isinstance(fused, Loop)
    assert fused.parts == ()
    made = schedule(KERNELS, "copy(a, b), copy_u(c, b)", distributed=False)
    for uid in ("loop1", "loop2"):
        made = ConstantLoopBounds(uid, of_table=True).apply(made, RULES)
    (problem,) = FuseLoops("loop1", "loop2", tested=True).check(made, RULES)
    assert problem.code == "S008"


def test_a_fused_loop_knows_what_it_was_made_of() -> None:
    made = schedule(KERNELS, "copy(a, b), copy_u(c, b), copy(d, b)", distributed=False)
    for second in ("loop2", "loop3"):
        made = FuseLoops("loop1", second, tested=True).apply(made, RULES)
    (fused,) = made.body
    assert isinstance(fused, Loop)
    assert [part.call for part in fused.parts] == ["copy@loop1", "copy_u@loop2", "copy@loop3"]
    columns = FuseLoops("columns@loop1", "columns@loop2", tested=True).apply(made, RULES)
    first, second = taken_apart_once(columns)
    assert first == [["copy@loop1"], ["copy_u@loop2"], ["copy@loop3"]]
    assert all(not loop.parts for loop in second)


def taken_apart_once(made: Schedule) -> tuple[list[list[str]], list[Loop]]:
    """Return the calls of each part of the one loop of a schedule, and the loops around them."""
    (fused,) = made.body
    assert isinstance(fused, Loop)
    parts = taken_apart(fused)
    inside = [item for part in parts for item in (part, *statements(part))]  # type: ignore[arg-type]
    calls = [[call.uid for call in kernel_calls(part)] for part in parts]  # type: ignore[arg-type]
    return calls, [item for item in inside if isinstance(item, Loop)]


def test_what_stands_beside_a_fused_loop_comes_in_turn() -> None:
    made = schedule(KERNELS, "copy(a, b), copy(c, b), copy_u(d, b), copy(e, b)", distributed=False)
    made = FuseLoops("loop2", "loop3", tested=True).apply(made, RULES)
    region = DirectiveRegion("team", Directive.OMP_PARALLEL, made.body)
    parts = [[call.uid for call in kernel_calls(part)] for part in taken_apart(region)]  # type: ignore[arg-type]
    assert parts == [["copy@loop1"], ["copy@loop2"], ["copy_u@loop3"], ["copy@loop4"]]


def test_bounds_of_a_loop_that_was_fused_under_a_test_stay_as_they_are() -> None:
    made = schedule(KERNELS, "copy(a, b), copy_u(c, b)", distributed=False)
    made = FuseLoops("loop1", "loop2", tested=True).apply(made, RULES)
    problem, *_ = ConstantLoopBounds("loop1", of_table=True).check(made, RULES)
    assert problem.code == "T018"
    assert "before they are fused" in problem.hint


def loops(made: Schedule) -> list[Loop]:
    """Return all loops, from outside to inside."""
    return [item for item in statements(made) if isinstance(item, Loop)]


@pytest.mark.parametrize(
    ("calls", "loop", "together"),
    [
        ("copy(a, b)", "loop1", 2),
        ("along(a)", "loop1", 1),
        ("along_j(a)", "loop1", None),
        ("along_j(a)", "columns@loop1", 1),
        ("south_west(a)", "loop1", None),
    ],
)
def test_a_device_shares_as_many_loops_as_may_be(
    calls: str, loop: str, together: int | None
) -> None:
    made = schedule(KERNELS, calls)
    step = AccLoop(loop, collapse=0)
    if together is None:
        assert "S010" in reasons(step, calls)
        return
    done = step.apply(made, RULES)
    shared = [item for item in statements(done) if isinstance(item, DirectiveRegion)]
    assert [item.options.collapse for item in shared] == [together]


def test_columns_that_may_be_shared_are_swapped_outwards_for_a_device() -> None:
    bench = Workbench(schedule(KERNELS, "along_j(a)", distributed=False), RULES)
    for request in read_steps("swap-loops{for_threads=true}; acc-loop{collapse=0}; acc-parallel"):
        apply_request(bench, request)
    (region,) = bench.schedule.body
    assert isinstance(region, DirectiveRegion)
    assert [loop.over for loop in outer_loops(region)] == [Over.COLUMNS]
