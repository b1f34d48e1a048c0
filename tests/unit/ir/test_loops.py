"""Addresses of loops: one each, and the same after other loops have changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from psyclone_storage.base.records import replace
from psyclone_storage.ir.loops import addressed, loops_of, with_lines_for
from psyclone_storage.ir.routine import Routine
from psyclone_storage.passes.loops import (
    fuse_loops,
    jam_loops,
    strip_mine_loop,
    swap_loops,
    tile_loops,
)
from unit.transform.kernel.kernel_benches import bench, module

BODY = """do j = 1, 4
do i = 1, 3
x(i, j) = 1.0
end do
end do
do j = 1, 4
a(j) = 0.0
end do"""


def code(body: str = BODY) -> Routine:
    made = bench(module(body, "real :: x(3, 4)\ninteger :: i, j"))
    return made.codes_of("call1")[0]


def told(given: Routine) -> list[tuple[str, str]]:
    return [(loop.uid, loop.variable.text) for loop in loops_of(given)]


def test_each_loop_has_an_address_when_it_is_read() -> None:
    assert told(code()) == [("loop1", "j"), ("loop2", "i"), ("loop3", "j")]


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (lambda one: swap_loops(one, 1), [("loop2", "i"), ("loop1", "j"), ("loop3", "j")]),
        (
            lambda one: strip_mine_loop(one, 1, 2),
            [("loop4", "j_chunk"), ("loop1", "j"), ("loop2", "i"), ("loop3", "j")],
        ),
        (
            lambda one: tile_loops(one, 1, 2, 2),
            [("loop4", "j_chunk"), ("loop5", "i_chunk"), ("loop1", "j"), ("loop2", "i"),
             ("loop3", "j")],
        ),
        (lambda one: fuse_loops(one, 1), [("loop1", "j"), ("loop2", "i")]),
        (
            lambda one: jam_loops(one, 1, 2),
            [("loop1", "j"), ("loop2", "i"), ("loop4", "j"), ("loop5", "i"), ("loop3", "j")],
        ),
    ],
    ids=["swap", "chunk", "tile", "fuse", "jam"],
)  # fmt: skip
def test_a_step_leaves_each_loop_its_address(
    change: Callable[[Routine], Routine], after: list[tuple[str, str]]
) -> None:
    assert told(change(code())) == after


def test_equal_loops_are_told_apart() -> None:
    same = "do i = 1, 3\na(i) = 0.0\nend do"
    given = code(f"{same}\n{same}")
    first, second = loops_of(given)
    assert first == second
    assert with_lines_for(given, {second.uid: ()}).body == (first,)


def test_of_copies_the_first_keeps_the_address() -> None:
    given = code("do i = 1, 3\na(i) = 0.0\nend do")
    twice = addressed(replace(given, body=given.body * 3))
    assert [address for address, _ in told(twice)] == ["loop1", "loop2", "loop3"]
    assert addressed(twice) is twice
    assert addressed(replace(given, body=())).body == ()
