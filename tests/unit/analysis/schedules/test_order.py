"""What may change places, what may share a loop, and why not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.analysis.footprints import UserAssertions
from psyclone_storage.analysis.schedules.nests import check_fuse_neighbours
from psyclone_storage.analysis.schedules.order import check_move
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import HaloExchange
from unit.analysis.small import RULES, Passed, cells, dofs, halo, scalar, schedule

THREE = schedule(
    dofs("a write w3"), dofs("b write w3"), dofs("c write w3", "a read w3"), annexed=True
)


def codes(reasons: object) -> list[str]:
    return [reason.code for reason in reasons]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("uid", "target", "after", "expected"),
    [
        ("loop2", "loop1", False, []),
        ("loop1", "loop2", True, []),
        ("loop1", "loop3", False, []),
        ("loop1", "loop3", True, ["S004"]),
        ("loop3", "loop1", False, ["S004"]),
        ("loop3", "loop1", True, []),
        ("loop4", "loop1", False, ["S003"]),
    ],
)
def test_a_statement_passes_what_does_not_depend_on_it(
    uid: str, target: str, after: bool, expected: list[str]
) -> None:
    assert codes(check_move(THREE, uid, target, after=after)) == expected


def test_the_reason_names_the_data_and_the_kind_of_dependence() -> None:
    (reason,) = check_move(THREE, "loop3", "loop1")
    assert reason.message == "'loop3' cannot pass 'loop1': for 'a' this is a read after write."
    assert reason.hint == "Keep 'loop1' before 'loop3'."


def test_neighbours_may_change_places() -> None:
    assert check_move(THREE, "loop1", "loop2", after=True) == ()
    assert check_move(THREE, "loop2", "loop1") == ()


def fused(first: Passed | str, second: Passed | str, *, over: str = "cells") -> list[str]:
    """Return the codes against fusing a loop with `first` and one with `second` on x and y."""
    if over == "dofs":
        pair = schedule(dofs("x write w0", first), dofs("y write w0", second))
    else:
        pair = schedule(
            (cells("x write w3", first), halo(1)), (cells("y write w3", second), halo(1))
        )
    return codes(check_fuse_neighbours(pair, RULES, "loop1", "loop2"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("u read w3", "u read w3 stencil 1"),
        ("u write w3", "u read w3"),
        ("u read w3", "u write w3"),
        ("u readwrite w3", "u readwrite w3"),
        ("u write w0", "u read w0"),
        ("u inc w0", "u inc w0"),
    ],
)
def test_loops_over_cells_fuse_if_cells_do_not_see_each_other(first: str, second: str) -> None:
    assert fused(first, second) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("u write w3", "u read w3 stencil 1"),
        ("u read w3 stencil 1", "u write w3"),
        ("u inc w0", "u read w0"),
        ("u inc w0", "u readinc w0"),
        ("u read w0", "u inc w0"),
        ("u write w0", "u inc w0"),
        ("u inc any_space_1", "u read any_space_1"),
    ],
)
def test_loops_over_cells_do_not_fuse_if_a_neighbour_would_see_half_the_work(
    first: str, second: str
) -> None:
    assert fused(first, second) == ["S009"]


def test_loops_over_dofs_of_one_space_fuse_whatever_they_do() -> None:
    assert fused("u readwrite w0", "u readwrite w0", over="dofs") == []


def test_a_sum_is_not_known_inside_the_loop_that_forms_it() -> None:
    assert fused(scalar("s"), scalar("s", "read"), over="dofs") == ["S009"]


def test_stencils_keep_loops_apart_without_distributed_memory_too() -> None:
    pair = schedule(
        cells("u write w3"), cells("y write w3", "u read w3 stencil 1"), distributed=False
    )
    assert codes(check_fuse_neighbours(pair, RULES, "loop1", "loop2")) == ["S009"]


def test_loops_that_are_unlike_do_not_fuse() -> None:
    one = schedule(cells("a write w3"), dofs("b write w3"), (cells("c write w3"), halo(2)))
    assert codes(check_fuse_neighbours(one, RULES, "loop1", "loop2")) == ["S007"]
    assert codes(check_fuse_neighbours(one, RULES, "loop2", "loop3")) == ["S007"]
    assert codes(check_fuse_neighbours(one, RULES, "loop1", "loop3")) == ["S005"]
    assert codes(check_fuse_neighbours(one, RULES, "loop1", "loop9")) == ["S003"]


def test_bounds_of_unknown_spaces_are_equal_only_on_someones_word() -> None:
    builtins = schedule(dofs("a write any_space_1"), dofs("b write any_space_1"))
    assert codes(check_fuse_neighbours(builtins, RULES, "loop1", "loop2")) == ["S008"]
    assert (
        check_fuse_neighbours(builtins, RULES, "loop1", "loop2", UserAssertions(same_space=True))
        == ()
    )


def test_bounds_from_the_same_field_are_equal() -> None:
    builtins = schedule(dofs("a write any_space_1"), dofs("a readwrite any_space_1"))
    assert check_fuse_neighbours(builtins, RULES, "loop1", "loop2") == ()


def test_fields_with_other_numbers_of_values_are_not_on_one_space() -> None:
    """The kernel has both on W3, but one of them has four values at each dof."""
    both = cells("s write w3", "a read w3", "b read w3 data 4")
    loops = (dofs("a readwrite any_space_1"), dofs("b readwrite any_space_1"))
    assert codes(check_fuse_neighbours(schedule(*loops, both), RULES, "loop1", "loop2")) == ["S008"]
    alike = cells("s write w3", "a read w3 data 4", "b read w3 data 4")
    assert check_fuse_neighbours(schedule(*loops, alike), RULES, "loop1", "loop2") == ()


def test_a_space_by_name_does_not_hide_what_another_call_says_of_a_field() -> None:
    loops = (dofs("a readwrite w3"), dofs("b readwrite w3"))
    assert check_fuse_neighbours(schedule(*loops), RULES, "loop1", "loop2") == ()
    said = schedule(*loops, cells("s write w3", "b read w3 data 4"))
    assert codes(check_fuse_neighbours(said, RULES, "loop1", "loop2")) == ["S008"]


def test_loops_over_coarse_cells_need_the_same_coarse_field() -> None:
    kernel = cells("c write w3 coarse", "f read w3 fine")
    other = cells("d write w3 coarse", "f read w3 fine")
    assert codes(check_fuse_neighbours(schedule(kernel, other), RULES, "loop1", "loop2")) == [
        "S008"
    ]


def test_a_statement_may_stay_where_it_is() -> None:
    assert check_move(THREE, "loop1", "loop1") == ()


def test_only_loops_become_one() -> None:
    made = schedule(dofs("a write w3"))
    exchange = HaloExchange("halo", "a", None, Depth.of(1), guarded=False, pinned=True)
    both = replace(made, body=(exchange, *made.body))
    assert codes(check_fuse_neighbours(both, RULES, "halo", "loop1")) == ["S006"]
