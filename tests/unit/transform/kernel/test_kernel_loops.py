"""When loops and array assignments inside a kernel may be rewritten, and when not."""

from __future__ import annotations

import pytest

from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.transform.fuse import FuseInKernel
from psyclone_storage.transform.hoist import MoveInvariantAssignments, MoveInvariantBounds
from psyclone_storage.transform.jam import JamInKernel
from psyclone_storage.transform.kernel.arrays import ArraysToLoops, ArraysToRanges
from psyclone_storage.transform.kernel.intrinsics import IntrinsicsToCode
from psyclone_storage.transform.step import Step
from psyclone_storage.transform.swap import SwapInKernel
from psyclone_storage.transform.tile import StripMineInKernel, TileInKernel
from unit.transform.benches import refused
from unit.transform.kernel.kernel_benches import bench, codes, module, printed

DECLARED = "real :: x(3, 4), y(3, 4), t\ninteger :: i, j, k\nreal, pointer :: p(:), q(:)"
CALL = "call1"


def lines(step: Step, body: str) -> list[str]:
    """Return the statements that `step` makes of `body`."""
    text = printed(bench(module(body, DECLARED)), step)
    found = [line for line in text if "::" not in line]
    return found[1:-1]


def nest(body: str, inner: str = "1, 3") -> str:
    return f"do j = 1, 3\ndo i = {inner}\n{body}\nend do\nend do"


def test_swapped() -> None:
    assert lines(SwapInKernel(CALL), nest("x(i, j) = y(i, j)")) == [
        "do i = 1, 3",
        "do j = 1, 3",
        "x(i, j) = y(i, j)",
        "end do",
        "end do",
    ]


def test_an_index_in_a_scalar_is_seen_through() -> None:
    assert lines(SwapInKernel(CALL), nest("k = j + 1\nx(i, k) = x(i - 1, j)"))[0] == "do i = 1, 3"


def test_tiled() -> None:
    assert lines(TileInKernel(CALL, size=2), nest("x(i, j) = y(i, j)"))[:4] == [
        "do j_chunk = 1, 3, 2",
        "do i_chunk = 1, 3, 2",
        "do j = j_chunk, min(j_chunk + 1, 3)",
        "do i = i_chunk, min(i_chunk + 1, 3)",
    ]


def test_iterations_run_together() -> None:
    assert lines(JamInKernel(CALL, factor=2), nest("x(i, j) = y(i, j)")) == [
        "do j = 1, 2, 2",
        "do i = 1, 3",
        "x(i, j) = y(i, j)",
        "x(i, j + 1) = y(i, j + 1)",
        "end do",
        "end do",
        "do j = 3 - mod(3, 2) + 1, 3",
        "do i = 1, 3",
        "x(i, j) = y(i, j)",
        "end do",
        "end do",
    ]


def test_a_number_of_iterations_that_is_not_known() -> None:
    found = lines(
        JamInKernel(CALL, factor=4), "do j = 2, n\ndo i = 1, 3\nx(i, j) = t\nend do\nend do"
    )
    assert [line for line in found if line.startswith("do j")] == [
        "do j = 2, n - 3, 4",
        "do j = n - mod(n - 1, 4) + 1, n",
    ]


def test_fused_with_one_counter() -> None:
    body = "do i = 1, 3\nx(i, 1) = 1.0\nend do\ndo j = 1, 3\ny(j, 1) = x(j, 1)\nend do"
    assert lines(FuseInKernel(CALL), body) == [
        "do i = 1, 3",
        "x(i, 1) = 1.0",
        "y(i, 1) = x(i, 1)",
        "end do",
    ]


def test_what_does_not_change_leaves_the_loop_if_it_runs() -> None:
    assert lines(
        MoveInvariantAssignments(CALL), "do i = 1, n\nt = 2.0 * y(1, 1)\nx(i, 1) = t\nend do"
    ) == [
        "if (1 <= n) then",
        "t = 2.0 * y(1, 1)",
        "end if",
        "do i = 1, n",
        "x(i, 1) = t",
        "end do",
    ]


def test_bounds_leave_the_loop() -> None:
    assert lines(MoveInvariantBounds(CALL), "do i = n + 1, 2 * n\na(i) = 0.0\nend do")[:3] == [
        "loop_start = n + 1",
        "loop_stop = 2 * n",
        "do i = loop_start, loop_stop",
    ]


def test_ranges_are_written() -> None:
    assert lines(ArraysToRanges(CALL), "x = y * t") == ["x(:, :) = y(:, :) * t"]


def test_a_maximum_in_a_later_condition_is_computed_there() -> None:
    body = "if (n > 1) then\nt = 1.0\nelse if (max(t, 2.0) > 1.0) then\nt = 3.0\nend if"
    found = lines(IntrinsicsToCode(CALL), body)
    assert found.index("else") < found.index("res_max = t")


SWAPS = {
    "an index in a scalar": (nest("k = j + 1\nx(i, k) = x(i + 1, j)"), ["T062"]),
    "an index of another kind": (nest("k = k + 1\nx(i, k) = y(i, j)"), ["T062"]),
    "a sum": (nest("t = t + x(i, j)"), ["T062"]),
    "a value left behind": (
        nest("if (x(i, j) > 0.0) then\nt = x(i, j)\nend if") + "\nx(1, 1) = t",
        ["T062"],
    ),
    "a counter left behind": (f"{nest('x(i, j) = 0.0')}\nt = i", ["T062"]),
    "bounds": (nest("x(i, j) = 0.0", "1, j"), ["T063"]),
    "two statements": (nest("x(i, j) = 0.0").replace("do i", "t = 1.0\ndo i", 1), ["T063"]),
    "a procedure": (nest("call f(x(i, j))"), ["T052", "T062"]),
    "an unknown function": (nest("x(i, j) = f(y(i, j))"), ["T052", "T062"]),
    "an index by another array": (nest("x(m(i), j) = x(m(j), i)"), ["T062"]),
    "pointers": (nest("p(i) = q(j)"), ["T062"]),
}


@pytest.mark.parametrize(("body", "codes"), SWAPS.values(), ids=SWAPS)
def test_swaps_that_are_refused(body: str, codes: list[str]) -> None:
    work = bench(module(body, f"{DECLARED}\ninteger :: m(4)"))
    assert sorted(set(refused(work, SwapInKernel(CALL)))) == codes


@pytest.mark.parametrize("terms", ["y(i, j)", "y(i, j) - t"])
def test_sums_in_another_order_are_the_users_word(terms: str) -> None:
    declared = f"{DECLARED}\ninteger :: m(4)"
    work = bench(module(nest(f"x(m(i), 1) = x(m(i), 1) + {terms}"), declared))
    assert set(refused(work, SwapInKernel(CALL))) == {"T062"}
    found = printed(work, SwapInKernel(CALL, sums=True))
    assert [line for line in found if line.startswith("do")] == ["do i = 1, 3", "do j = 1, 3"]


NO_SUMS = {
    "also set": "x(m(i), 1) = x(m(i), 1) + y(i, j)\nx(i, 1) = t",
    "also read": "x(m(i), 1) = x(m(i), 1) + y(i, j)\ny(i, j) = x(j, 1)",
    "in a condition": "if (x(i, 1) > t) x(m(i), 1) = x(m(i), 1) + t",
    "two elements": "x(m(i), 1) = x(m(j), 1) + y(i, j)",
    "in its own term": "x(m(i), 1) = x(m(i), 1) + x(i, j)",
    "a product": "x(m(i), 1) = x(m(i), 1) * y(i, j)",
    "a pointer": "p(m(i)) = p(m(i)) + y(i, j)",
}


@pytest.mark.parametrize("body", NO_SUMS.values(), ids=NO_SUMS)
def test_what_is_no_sum_keeps_its_order(body: str) -> None:
    work = bench(module(nest(body), f"{DECLARED}\ninteger :: m(4)"))
    assert set(refused(work, SwapInKernel(CALL, sums=True))) == {"T062"}


@pytest.mark.parametrize(
    ("step", "body", "code"),
    [
        (StripMineInKernel(CALL), "do i = 1, n, 2\na(i) = 0.0\nend do", "T063"),
        (StripMineInKernel(CALL), "do i = 1, k\nk = 2\nend do", "T063"),
        (StripMineInKernel(CALL), "do i = 1, n\na(i) = 0.0\nend do\nk = i", "T063"),
        (StripMineInKernel(CALL), "do i = 1, n\nif (a(i) > 0.0) exit\nend do", "T052"),
        (StripMineInKernel(CALL, 2), "do i = 1, n\na(i) = 0.0\nend do", "T064"),
        (StripMineInKernel(CALL, 0), "do i = 1, n\na(i) = 0.0\nend do", "T064"),
        (StripMineInKernel(CALL, 1, 0), "do i = 1, n\na(i) = 0.0\nend do", "T017"),
        (TileInKernel(CALL, 1, 0), nest("x(i, j) = 0.0"), "T017"),
        (JamInKernel(CALL, 1, 1), nest("x(i, j) = 0.0"), "T017"),
        (JamInKernel(CALL), "do i = 1, n\na(i) = 0.0\nend do", "T063"),
        (JamInKernel(CALL), nest("x(i, j) = 0.0").replace("1, 3", "1, 3, 2"), "T063"),
        (JamInKernel(CALL), nest("x(i + 1, j) = x(i, j + 1)"), "T062"),
        (FuseInKernel(CALL), nest("x(i, j) = 0.0"), "T063"),
        (FuseInKernel(CALL), "do i = 1, 3\nend do\ndo i = 1, 4\nend do", "T063"),
        (
            FuseInKernel(CALL),
            "do i = 1, 3\nx(i, 1) = 0.0\nend do\ndo i = 1, 3\ny(i, 1) = x(i + 1, 1)\nend do",
            "T062",
        ),
        (MoveInvariantAssignments(CALL), "do i = 1, n\nt = a(i)\nend do", "T067"),
        (MoveInvariantAssignments(CALL), "do i = 1, n\nx(i, 1) = t\nt = 1.0\nend do", "T067"),
        (
            MoveInvariantAssignments(CALL),
            "do i = 1, n\nt = 1.0\nx(i, 1) = t\nt = 2.0\nend do",
            "T067",
        ),
        (MoveInvariantBounds(CALL), "do i = 1, n\nend do", "T067"),
        (ArraysToLoops(CALL), "t = 1.0", "T067"),
        (ArraysToLoops(CALL), "x(1, 2:3) = x(2, 1:2)", "T061"),
        (ArraysToLoops(CALL), "x = x / sum(x)", "T061"),
        (ArraysToLoops(CALL), "p(1:3) = q(1:3)", "T061"),
        (ArraysToLoops(CALL), "x = f(y)", "T060"),
        (ArraysToLoops(CALL), "x = y(:, 1)", "T060"),
        (ArraysToRanges(CALL), "x(:, :) = t", "T067"),
        (IntrinsicsToCode(CALL, "cos"), "t = cos(t)", "T041"),
        (IntrinsicsToCode(CALL), "t = cos(t)", "T067"),
        (IntrinsicsToCode(CALL), "x = abs(y)", "T060"),
        (IntrinsicsToCode(CALL), "t = sum(x, 1)", "T060"),
        (IntrinsicsToCode(CALL), "t = max(t, 1.0d0)", "T060"),
        (IntrinsicsToCode(CALL), "t = sum(unknown)", "T060"),
        (IntrinsicsToCode(CALL), "t = abs(unknown)", "T060"),
    ],
)
def test_what_is_refused(step: Step, body: str, code: str) -> None:
    assert set(refused(bench(module(body, DECLARED)), step)) == {code}


LOST = "use lost_mod, only: table, f"


@pytest.mark.parametrize("body", ["x(:, 1) = table", "x(:, 1) = y(:, 1) * table", "x = f(y)"])
def test_a_name_of_a_module_that_is_not_found_may_be_an_array(body: str) -> None:
    work = bench(module(body, DECLARED, above=LOST))
    (reason,) = work.check(ArraysToLoops(CALL))
    assert reason.code == "T060"
    assert reason.span is not None
    assert reason.span.text == body


def test_arguments_of_a_function_are_passed_as_they_are() -> None:
    work = bench(module("t = f(x) + sum(x)\nx = t", DECLARED, above=LOST))
    work.apply(ArraysToRanges(CALL))
    assert "t = f(x) + sum(x(:, :))" in [line.strip() for line in emit_code(codes(work)[0])]


def test_a_function_with_a_name_of_the_language_is_none_of_it() -> None:
    own = "contains\nreal function max(a, b)\nreal :: a, b\nmax = a + b\nend function"
    text = module("t = max(x(1, 1), 2.0)", DECLARED).replace(
        "end subroutine", f"{own}\nend subroutine"
    )
    assert refused(bench(text), IntrinsicsToCode(CALL)) == ["T067"]
    module_s = module("t = max(x(1, 1), 2.0)", DECLARED, below=own.removeprefix("contains\n"))
    assert refused(bench(module_s), IntrinsicsToCode(CALL)) == ["T067"]
