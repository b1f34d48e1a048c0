"""Loops in kernels that a device shares: what is written, and each reason against it."""

from __future__ import annotations

import pytest

from psyclone_storage.base.records import replace
from psyclone_storage.ir.routine import KernelUse
from psyclone_storage.transform.hoist import MoveInvariantBounds
from psyclone_storage.transform.kernel.code import with_called_codes
from psyclone_storage.transform.kernel.inline import InlineCall
from psyclone_storage.transform.kernel.routine import MakeAccRoutine
from psyclone_storage.transform.kernel.share import ShareInKernel
from psyclone_storage.transform.openacc import AccLoop, AccParallel
from psyclone_storage.transform.swap import SwapInKernel
from psyclone_storage.transform.tile import StripMineInKernel
from psyclone_storage.transform.workbench import Workbench
from unit.analysis.small import cells
from unit.transform.benches import refused
from unit.transform.kernel.kernel_benches import bench, module, printed

DECLARED = "real :: x(3, 4), t\ninteger :: i, j, k"
CALL = "call1"


def work(body: str, parallelism: str = "vector") -> Workbench:
    """Return a bench with a kernel that was made for a device."""
    made = bench(module(body, DECLARED))
    made.apply(MakeAccRoutine(CALL, parallelism))
    return made


def test_lanes_share_a_loop_and_have_scalars_of_their_own() -> None:
    body = "do j = 1, 4\nt = x(1, j)\ndo i = 1, 3\nx(i, j) = t\nend do\nend do"
    text = printed(work(body), ShareInKernel(CALL))
    assert "!$acc routine vector" in text
    assert text[text.index("do j = 1, 4") - 1] == "!$acc loop vector independent private(i, t)"


def test_levels_from_the_outside_to_the_inside() -> None:
    made = work("do j = 1, 4\ndo i = 1, 3\nx(i, j) = 1.0\nend do\nend do", "gang")
    made.apply(ShareInKernel(CALL, 1, "gang"))
    assert refused(made, ShareInKernel(CALL, 2, "gang")) == ["T084"]
    text = printed(made, ShareInKernel(CALL, 2))
    assert [line for line in text if "acc loop" in line] == [
        "!$acc loop gang independent private(i)", "!$acc loop vector independent",
    ]  # fmt: skip
    assert refused(made, ShareInKernel(CALL, 1, "vector")) == ["T084"]


def test_an_outer_loop_takes_more_than_one_in_it() -> None:
    made = work("do j = 1, 4\ndo i = 1, 3\nx(i, j) = 1.0\nend do\nend do", "gang")
    made.apply(ShareInKernel(CALL, 2, "worker"))
    assert refused(made, ShareInKernel(CALL, 1, "vector")) == ["T084"]
    made.apply(ShareInKernel(CALL, 1, "gang"))


def test_statements_under_a_directive_stay_as_they_are() -> None:
    made = work("do j = 1, 4\ndo i = 1, 3\nx(i, j) = 1.0\nend do\nend do")
    made.apply(ShareInKernel(CALL))
    for step in (
        SwapInKernel(CALL),
        StripMineInKernel(CALL),
        MoveInvariantBounds(CALL),
        InlineCall(CALL),
    ):
        assert refused(made, step) == ["T007"]


REFUSED = {
    "a counter that is used later": ("do k = 1, n\na(k) = 0.0\nend do\na(1) = k", "T062"),
    "a sum": ("do k = 1, n\nt = t + a(k)\nend do", "T062"),
    "a value that is used later": ("do k = 1, n\nt = a(k)\nend do\na(1) = t", "T062"),
    "a value of the iteration before": (
        "do j = 1, 4\nif (j > 1) a(j) = t\ndo k = 1, 3\nt = x(k, j)\nend do\nend do", "T062",
    ),
    "neighbours": ("do k = 2, n\na(k) = a(k - 1)\nend do", "T062"),
    "no loop": ("a(1) = 0.0", "T064"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "code"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(body: str, code: str) -> None:
    number = body.count("do j") + 1
    assert set(refused(work(body), ShareInKernel(CALL, number))) == {code}


def test_the_kernel_must_be_made_for_it() -> None:
    body = "do k = 1, n\na(k) = 0.0\nend do"
    assert refused(bench(module(body, DECLARED)), ShareInKernel(CALL)) == ["T081"]
    assert refused(work(body, "seq"), ShareInKernel(CALL)) == ["T081"]
    assert refused(work(body), ShareInKernel(CALL, level="gang")) == ["T081"]
    assert refused(work(body), ShareInKernel(CALL, level="seq")) == ["T057"]
    work(body, "gang").apply(ShareInKernel(CALL))


@pytest.mark.parametrize("clauses", ["", " independent", " seq", " gang"])
def test_a_directive_of_the_author_leaves_the_loop_to_that(clauses: str) -> None:
    body = f"!$acc loop{clauses}\ndo j = 1, 4\ndo i = 1, 3\nx(i, j) = 1.0\nend do\nend do"
    assert refused(work(body, "gang"), ShareInKernel(CALL, 1, "gang")) == ["T084"]


@pytest.mark.parametrize(
    ("clauses", "codes"), [("", ["T084"]), (" independent", ["T084"]), (" seq", []), (" gang", [])]
)
def test_a_loop_in_one_of_the_author_gets_what_that_leaves(clauses: str, codes: list[str]) -> None:
    body = f"!$acc loop{clauses}\ndo j = 1, 4\ndo i = 1, 3\nx(i, j) = 1.0\nend do\nend do"
    found = work(body, "gang").check(ShareInKernel(CALL, 2, "vector"))
    assert [problem.code for problem in found] == codes


def inlined(body: str, loop: AccLoop) -> Workbench:
    """Return a bench with a kernel that is inlined in a region of OpenACC with `loop`."""
    called = bench(module(body, DECLARED), cells("v write w3"))
    code = replace(called.codes_of(CALL)[0], kernel_use=KernelUse(in_place=True))
    schedule = with_called_codes(called.schedule, CALL, (code,))
    made = Workbench(schedule, called.rules, called._source)
    assert "T081" in refused(made, ShareInKernel(CALL))
    made.apply(loop)
    made.apply(AccParallel("acc-loop(loop1)", "acc-loop(loop1)"))
    return made


def test_an_inlined_kernel_gets_what_the_loop_around_it_leaves() -> None:
    body = "do k = 1, n\na(k) = 0.0\nend do"
    made = inlined(body, AccLoop("loop1", gang=True))
    assert refused(made, ShareInKernel(CALL, level="gang")) == ["T084"]
    made.apply(ShareInKernel(CALL))
    assert refused(made, ShareInKernel(CALL)) == ["T084"]
    assert refused(inlined(body, AccLoop("loop1")), ShareInKernel(CALL)) == ["T084"]


def test_a_loop_in_order_around_an_inlined_kernel_leaves_all_levels() -> None:
    made = inlined("do k = 1, n\na(k) = 0.0\nend do", AccLoop("loop1", sequential=True))
    made.apply(ShareInKernel(CALL, level="gang"))


def test_no_clause_names_what_is_passed_to_an_inlined_kernel() -> None:
    own = "t = 0.0\ndo k = 1, n\nt = max(t, a(k))\nend do\na(1) = t"
    inlined(own, AccLoop("loop1", gang=True)).apply(ShareInKernel(CALL))
    passed = "do k = 1, n\na(1) = max(a(1), x(1, 1))\nend do"
    assert refused(inlined(passed, AccLoop("loop1", gang=True)), ShareInKernel(CALL)) == ["T084"]
