"""Array assignments and `where` constructs as loops over elements: equal bits, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.containers import Routine
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.statements import Assignment
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

HEAD = """\
module columns_mod
  implicit none
contains
  subroutine advance(n, m, a, b, mode)
    integer, value :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    real :: c(n), d(n, m)
    integer :: j, k
    c = 0; d = 0; k = 3
! from here
"""
TAIL = """\
! to here
    a = a + d
    b = b + c + k
  end subroutine advance
  integer function shortened(n)
    integer, intent(inout) :: n
    n = 2
    shortened = 3
  end function shortened
end module columns_mod
"""
EQUAL = {
    "a choice": (
        "where (a > 3)\n  d = sqrt(a)\n  a = a - d\nelsewhere (a(:, :) > 1)\n  d = 1\n"
        "elsewhere\n  d = a * 2\nend where"
    ),
    "shifted": "where (b(2:) > 2) c(:n - 1) = b(2:) + maxval(b)",
    "in a loop": "do j = 1, m\n  where (a(:, j) > j) a(:, j) = a(:, j) + b\nend do",
    "another column": "a(:, k) = a(:, k - 1) + a(:, 1)",
    "another column of a where": (
        "where (a(:, k) > 2)\n  a(:, 3) = 1\n  a(:, 2) = a(:, k)\nelsewhere (a(:, 2) > 1)\n"
        "  a(:, 1) = a(:, 2)\nend where"
    ),
    "a bound that has changed": "n = 2\nwhere (b > 2)\n  b = 1\nelsewhere\n  c = b\nend where",
    "a bound that a function has changed": "k = shortened(n)\nb = b + 2",
}
WHOLE = {
    "a mask of other elements": "where (c(2:) > 2) c(:n - 1) = 3",
    "a value of other elements": "where (b > 2) c = c(n:1:-1)",
    "other elements in another branch": (
        "where (b(2:) > 2)\n  c(2:) = 1\nelsewhere\n  c(:n - 1) = 2\nend where"
    ),
    "a sum of the target": "where (b > 2) c = c / sum(c)",
    "a bound from the target": "where (b(:3) > 2) c(int(c(2)) + 1:int(c(2)) + 3) = 1",
    "a construct in it": "where (b > 2)\n  c = 1\n  where (b > 3) c = 2\nend where",
    "one element of the column": "a(:, k) = a(:, 1) + a(2, k)",
    "a column by an element": "a(:, k) = a(:, int(a(2, k)))",
    "a row": "a(:m, k) = a(k, :)",
    "in a workshare": "!$omp parallel workshare\nc = b\n!$omp end parallel workshare",
}


@pytest.mark.parametrize("name", [*EQUAL, *WHOLE])
def test_a_statement_becomes_loops_only_if_they_are_equal(name: str, tmp_path: Path) -> None:
    """The loops can be parallel; a statement without a proof does not change."""
    text = HEAD + f"{(EQUAL | WHOLE)[name]}\n" + TAIL
    tree = tree_on_bench(text)
    chosen = tree.walk(Routine)[0].walk(Assignment)[-3]
    convert = TRANSFORMATIONS["ArrayAssignment2LoopsTrans"]()
    if name in WHOLE:
        with pytest.raises(TransformationError, match=r"T06[01]"):
            convert.apply(chosen)
        assert finished(tree) == text
        return
    convert.apply(chosen)
    loops = [one for one in tree.walk(Loop) if one.ancestor(Loop) is None]
    TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(loops[0])
    result = finished(tree)
    assert "where" not in result
    assert "!$omp parallel do" in result
    before = output_of(text, tmp_path / "before")
    assert before == output_of(result, tmp_path / "after", 1)
    assert before == output_of(result, tmp_path / "after", 4)
