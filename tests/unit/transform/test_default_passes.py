"""Loops of built-ins that share fields become one loop; all others stay."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from psyclone_storage.analysis.schedules.spaces import group_on_space
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.domains.lfric.builtins import builtin
from psyclone_storage.ir.routine import KernelModule, KernelUse, Routine
from psyclone_storage.ir.schedule import KernelCall, Loop, Schedule
from psyclone_storage.ir.walk import kernel_calls, outer_loops, replaced
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.transform.default_passes import (
    MOST_FIELDS,
    with_outlined_columns,
    with_shared_loops,
)
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.openmp import ParallelDo
from unit.analysis.small import RULES, built_in, cells, dofs, scalar, schedule
from unit.transform.benches import bench

NAMES = Path(__file__).parents[2] / "compile" / "names"
TEXT = SourceText("k_mod.f90", "")
MODULE = KernelModule("k_mod", TEXT.span(0, 0), TEXT.span(0, 0))
IN_PLACE = Routine("k_code", (), (), (), MODULE, kernel_use=KernelUse(in_place=True))


def finished(*calls: KernelCall, **options: object) -> Schedule:
    planned = with_halos(schedule(*calls, **options), RULES)  # type: ignore[arg-type]
    return with_shared_loops(planned, RULES)


def loops(done: Schedule) -> list[list[str]]:
    return [[item.uid for item in loop.body] for loop in outer_loops(done)]


def test_data_of_one_space_are_found_through_others() -> None:
    made = schedule(
        built_in("x write any_space_1", "y read any_space_1"),
        built_in("z write any_space_1", "y read any_space_1"),
        built_in("a write any_space_1", "b read any_space_1"),
    )
    groups = {name: group_on_space(made, name) for name in "xyzab"}
    assert groups == {name: frozenset("xyz" if name in "xyz" else "ab") for name in "xyzab"}
    assert group_on_space(made, "absent") == group_on_space(made, None) == frozenset()


def test_groups_equal_those_of_a_search() -> None:
    chosen = random.Random(3)
    for _ in range(100):
        calls = [
            built_in(*(f"f{chosen.randrange(30)} read any_space_1" for _ in range(2)))
            for _ in range(chosen.randrange(1, 30))
        ]
        made = schedule(*calls)
        for call in calls:
            group, names = frozenset[str](), {call.args[0].datum or ""}
            while names != group:
                group = frozenset(names)
                names = group.union(
                    *(
                        {one.datum or "" for one in other.args}
                        for other in calls
                        if any(one.datum in group for one in other.args)
                    )
                )
            assert all(group_on_space(made, name) == group for name in group)


def test_the_two_spaces_of_one_kernel_stay_apart() -> None:
    made = schedule(cells("x write any_space_1", "y read any_space_2"))
    assert group_on_space(made, "x") == {"x"}
    assert group_on_space(made, "y") == {"y"}


def test_built_ins_on_one_space_share_a_loop_sums_too() -> None:
    done = finished(
        built_in("x write any_space_1", "y read any_space_1"),
        built_in("z write any_space_1", "x read any_space_1"),
        built_in(scalar("s"), "z read any_space_1"),
    )
    assert loops(done) == [["call1", "call2", "call3"]]
    assert [item.uid for item in done.body] == ["loop1", "mark(x)@loop1", "mark(z)@loop1",
                                                "reduce(s)@loop1"]  # fmt: skip


def test_a_sum_that_is_used_ends_the_loop() -> None:
    done = finished(
        built_in(scalar("s"), "x read any_space_1"),
        built_in("x write any_space_1", scalar("s", "read")),
    )
    assert loops(done) == [["call1"], ["call2"]]


def test_built_ins_without_a_common_field_stay_apart() -> None:
    done = finished(built_in("x write w3"), built_in("y write w3"))
    assert loops(done) == [["call1"], ["call2"]]


def test_loops_that_do_not_go_equally_far_stay_apart() -> None:
    done = finished(
        built_in("x write w0"), built_in("x readwrite w0", owned=True), annexed=True
    )  # fmt: skip
    assert loops(done) == [["call1"], ["call2"]]


def test_random_numbers_have_a_loop_of_their_own() -> None:
    """What stands beside them would leave vectors, and a device, for them."""
    draw = builtin("setval_random")
    assert draw is not None
    drawn = replace(built_in("x write w3"), kernel=draw)
    before, after = built_in("x write w3"), built_in("z write w3", "x read w3")
    assert loops(finished(before, drawn)) == [["call1"], ["call2"]]
    assert loops(finished(replace(drawn, uid="call1"), after)) == [["call1"], ["call2"]]
    assert loops(finished(before, after)) == [["call1", "call2"]]


def test_kernels_stay_in_loops_of_their_own() -> None:
    done = finished(built_in("x write w3"), dofs("x readwrite w3"), built_in("x readwrite w3"))
    assert loops(done) == [["call1"], ["call2"], ["call3"]]


def test_a_kernel_between_built_ins_keeps_them_apart() -> None:
    done = finished(built_in("x write w3"), cells("y write w3", "x read w3"), built_in("x inc w3"))
    assert loops(done) == [["call1"], ["call2"], ["call3"]]


def test_a_loop_takes_no_more_fields_than_a_processor_can_follow() -> None:
    chain = [
        built_in(f"f{number + 1} write w3", f"f{number} read w3") for number in range(MOST_FIELDS)
    ]
    assert [len(calls) for calls in loops(finished(*chain))] == [MOST_FIELDS - 1, 1]


def test_loops_under_a_directive_stay_as_the_recipe_has_them() -> None:
    work = bench(built_in("x write w3"), built_in("x readwrite w3"))
    work.apply(ParallelDo("loop1"))
    done = with_shared_loops(work.schedule, RULES)
    assert [len(loop.body) for loop in outer_loops(done)] == [1, 1]


def test_a_schedule_with_nothing_to_share_is_the_very_same() -> None:
    planned = with_halos(schedule(cells("u write w3"), cells("v write w3", "u read w3")), RULES)
    assert with_shared_loops(planned, RULES) is planned
    assert all(isinstance(loop, Loop) for loop in outer_loops(planned))


def test_loops_over_cells_with_kernels_in_place_are_outlined() -> None:
    planned = with_halos(schedule(cells("u write w3"), cells("v write w3", "u read w3")), RULES)
    call = kernel_calls(planned)[1]
    put = replaced(planned, call.uid, replace(call, codes=(IN_PLACE,)))
    done = with_outlined_columns(put, RULES)
    assert [loop.outlined for loop in outer_loops(done)] == [False, True]
    assert with_outlined_columns(planned, RULES) is planned


@cache
def outlined(steps: str) -> dict[str, list[bool]]:
    """Return which loops stand in procedures of their own, of each invoke with kernels in place."""
    request = CompileRequest("lfric", False, (NAMES,), steps=steps)
    build = make_compiler(default_settings(), request).compile_algorithm(NAMES / "names_mod.x90")
    return {
        one.schedule.name: [loop.outlined for loop in outer_loops(one.schedule)]
        for one in build.program.invokes
    }


@pytest.mark.parametrize("invoke", ["elements", "fields", "pointers", "chain"])
def test_data_that_may_be_one_keep_their_loop(invoke: str) -> None:
    assert outlined("fuse; inline-call")[f"invoke_{invoke}"] == [False]
    assert outlined("auto; inline-call")[f"invoke_{invoke}"] == [False]


def test_data_that_a_kernel_is_passed_together_are_apart_for_all() -> None:
    assert outlined("fuse; inline-call")["invoke_ring"] == [True]
    assert all(map(all, outlined("inline-call").values()))


def test_who_asks_for_a_procedure_says_that_two_names_are_two_fields() -> None:
    found = outlined("fuse; inline-call; outline")
    assert [found[f"invoke_{one}"] for one in ("pointers", "chain")] == [[True]] * 2
    assert [found[f"invoke_{one}"] for one in ("elements", "fields")] == [[False]] * 2
