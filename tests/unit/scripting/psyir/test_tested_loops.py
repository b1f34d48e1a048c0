"""Loops that are independent under a condition, which is tested when they start."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.analysis.bodies.verdict import VerdictStatus
from psyclone_storage.ir.expr import spell
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

HEAD = """\
module columns_mod
  implicit none
contains
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    integer :: k
    do k = -60, 60
      call shifted(k, 30, b, n, mode)
      a(1 + modulo(k, n), 1 + modulo(k, m)) = b(2)
    end do
  end subroutine advance
  subroutine shifted(k, last, y, n, mode)
    integer, intent(in) :: k, last, n, mode
    real, intent(inout) :: y(n)
    real :: x(-200:200), z(40, 40), t
    integer :: i, j, l, p
    x = [(sin(real(i)), i = -200, 200)]
    z = 1; t = 0; l = 0
"""
TAIL = """\
    y(1) = y(1) + sum(x * [(cos(real(p)), p = -200, 200)]) + sum(z) + t + l
    y(2) = x(7) + x(k) * 3 + z(2, 3)
  end subroutine shifted
end module columns_mod
"""
TESTED = {
    "a distance": ("do i = 1, last\n x(i) = x(i + k) + 1\nend do\n", 3),
    "a distance behind": ("do i = 1, last\n x(i - k) = x(i) * 2\nend do\n", 3),
    "downwards, by two": ("do i = last, 1, -2\n x(i) = x(i + k) + 1\nend do\n", 3),
    "every third element": ("do i = 1, last\n x(3 * i) = x(3 * i + k) + 1\nend do\n", 3),
    "one element of all": ("do i = 1, last\n x(i) = x(k) + i\nend do\n", 2),
    "a private scalar": ("do i = 1, last\n t = x(i + k)\n x(i) = t * t\nend do\nt = 0\n", 3),
    "in a loop": (
        "do j = 1, 3\n do i = 1, last\n  x(i) = x(i + k) + j\n end do\nend do\n", 3,
    ),
    "a distance that is computed": (
        "l = 2 * k\ndo i = 1, last\n x(i) = x(i + l) + 1\nend do\n", 3,
    ),
}  # fmt: skip


def _inner(loops: list[Loop]) -> Loop:
    return next(one for one in reversed(loops) if one.variable.name == "i")


@pytest.mark.parametrize("name", TESTED)
def test_threads_share_the_loop_if_the_condition_holds(name: str, tmp_path: Path) -> None:
    """For all distances the values are those of one thread; the condition is in the directive."""
    statements, count = TESTED[name]
    text = HEAD + statements + TAIL
    tree = tree_on_bench(text)
    loop = _inner(tree.routines[1].walk(Loop))
    line = loop.line()
    assert tree.bench is not None
    verdict = tree.bench.verdict("shifted", line.uid)  # type: ignore[attr-defined]
    assert verdict.status is VerdictStatus.TESTED
    assert not verdict.is_independent
    assert verdict.condition is not None
    assert spell(verdict.condition).count(".or.") == count - 1
    TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(loop)
    result = finished(tree)
    assert " if(" in result
    before = output_of(text, tmp_path / "before", 1)
    assert output_of(result, tmp_path / "after", 4) == before


CARRIED = {
    "a distance that varies": "do i = 1, last\n x(i) = x(i + l) + 1\n l = l + 1\nend do\n",
    "a certain distance, too": "do i = 2, last\n x(i) = x(i + k) + x(i - 1)\nend do\n",
    "a sum": "do i = 1, last\n x(i) = x(i + k)\n t = t + x(i)\nend do\n",
    "an unknown place": "do i = 1, last\n x(mod(i * k, 50)) = i\nend do\n",
    "a table of places": "do i = 1, last\n x(i) = x(int(y(1)) + i)\nend do\n",
    "an early end": "do i = 1, last\n if (x(i) > 3) exit\n x(i) = x(i + k)\nend do\n",
}


@pytest.mark.parametrize("name", CARRIED)
def test_no_condition_suffices(name: str) -> None:
    tree = tree_on_bench(HEAD + CARRIED[name] + TAIL)
    loop = _inner(tree.routines[1].walk(Loop))
    with pytest.raises(TransformationError):
        TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(loop)
    assert finished(tree) == HEAD + CARRIED[name] + TAIL


def test_only_directives_with_a_team_of_their_own_have_the_condition() -> None:
    """A loop in a region, or two loops together, would need the condition elsewhere."""
    statements = TESTED["a distance"][0]
    tree = tree_on_bench(HEAD + statements + TAIL)
    loop = _inner(tree.routines[1].walk(Loop))
    with pytest.raises(TransformationError):
        TRANSFORMATIONS["OMPLoopTrans"]().apply(loop)
