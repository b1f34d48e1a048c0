"""Clauses of directives that steps add one after another."""

from __future__ import annotations

import pytest

from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive, RegionOptions
from psyclone_storage.ir.facts import Fact, FactKind
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.transform import file_bench
from support.file_benches import printed, share, subroutine_bench

NEST = (
    """do j = 1, n
  do i = 1, n
    a(i, j) = b(i, j)
  end do
end do
do j = 1, n
  b(1, j) = a(1, j)
end do""",
    "integer :: i, j\nreal :: a(n, n), b(n, n)",
)


def test_a_promise_after_a_directive_changes_its_clauses() -> None:
    """The clauses of the first loop are derived again, although only the second gets a block."""
    body = "do i = 1, n\n  a(i) = a(i + m)\nend do\ndo i = 1, n\n  b(i) = 1.0\nend do"
    bench = subroutine_bench(body, "integer :: i, m\nreal :: a(2 * n), b(n)\nm = int(b(1))")
    share(bench, options=RegionOptions())
    assert " if(" in printed(bench)
    bench.assume(Fact(FactKind.IGNORED, "a", "work", "loop1"))
    share(bench, "loop2")
    assert " if(" not in printed(bench)
    assert printed(bench).count("!$omp parallel do") == 2


def test_each_directive_is_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Separate parallel loops keep the clauses that their own steps derived."""
    bench = subroutine_bench(*NEST)
    share(bench, "loop1")
    share(bench, "loop3")
    fresh = bench.code("work")
    monkeypatch.setattr(file_bench, "plan_regions", None)
    assert bench.planned(fresh).code is fresh
    assert bench.unfinished() == ()


def test_a_directive_in_a_parallel_loop_is_planned_with_it() -> None:
    """The clauses of the outer block are derived again."""
    bench = subroutine_bench(*NEST)
    share(bench, "loop1")
    share(bench, "loop2", Directive.OMP_SIMD)
    lines = walk_lines(bench.planned(bench.code("work")).code.body)
    blocks = [line for line in lines if isinstance(line, un.DirectiveBlock)]
    assert [block.analysed for block in blocks] == [True, True]
