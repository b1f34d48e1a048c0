"""Steps on single statements of files."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.rewrite import blocks_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.transform.file_statements import RewriteStatement
from psyclone_storage.transform.kernel.arrays import ArraysToLoops, ArraysToRanges
from support.file_benches import subroutine_bench


def test_reasons_against_a_step_on_a_statement_are_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A script requests the same step for each expression of a statement."""
    bench = subroutine_bench("k = n + n\nk = k + n", "integer :: k")
    checked: list[un.Line] = []

    def check_code(self: ArraysToRanges, code: Routine) -> Iterable[Diagnostic]:
        checked.extend(code.body)
        return check(self, code)

    check = ArraysToRanges.check_code
    monkeypatch.setattr(ArraysToRanges, "check_code", check_code)
    lines = bench.code("work").body
    for line in (*lines, *lines):
        assert bench.check(RewriteStatement("work", line, ArraysToRanges("")))
    assert checked == [*lines]


def test_equal_statements_at_different_places_are_checked_apart() -> None:
    """A `where` does not allow a loop instead of its assignment."""
    body = "where (a > 0.0)\n  a(:) = 1.0\nend where\na(:) = 1.0"
    bench = subroutine_bench(body, "real :: a(n)")
    where, outside = bench.code("work").body
    (inside,) = blocks_of(where)[0]
    assert inside == outside
    steps = [RewriteStatement("work", line, ArraysToLoops("")) for line in (inside, outside)]
    assert [bool(bench.check(step)) for step in steps] == [True, False]
