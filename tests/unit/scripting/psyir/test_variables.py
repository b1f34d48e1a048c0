"""Arrays that become scalars, and expressions that get a variable: equal bits, or a refusal."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.data import DataNode
from psyclone_storage.scripting.psyir.expressions import Reference
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

HEAD = """\
module columns_mod
  implicit none
  real :: total = 0
contains
  subroutine add(x, y)
    real, intent(in) :: x(:), y
    total = total + sum(x) * y + lbound(x, 1)
  end subroutine add
  real function noisy(x)
    real, intent(in) :: x
    total = total + x
    noisy = x * total
  end function noisy
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    real :: t(n), w(n, 3), tmp, x
    integer :: i, j, k
    tmp = 3; x = 0; w = 1; k = 2
"""
TAIL = """\
    b = b + tmp + total + x + k
  end subroutine advance
end module columns_mod
"""

SCALARS = {
    "used by its iteration alone": (
        "do i = 1, n\n t(i) = a(i, 1) * 2\n w(i, k) = t(i) + 1\n b(i) = t(i) + w(i, k)\nend do\n",
        {"t", "w"},
    ),
    "read before it is written": ("do i = 1, n\n w(i, 1) = w(i, 1) + 1\n b(i) = w(i, 1)\nend do\n",
                                  set()),
    "read after the loop": ("do i = 1, n\n t(i) = i\n b(i) = t(i)\nend do\na(:, 1) = t\n", set()),
    "written again before it is read": (
        "do i = 1, n\n t(i) = i\n b(i) = t(i)\nend do\nt(:) = 5\na(:, 1) = t\n", {"t"},
    ),
    "two elements": ("do i = 2, n\n t(i) = i\n t(i - 1) = 2 * i\n b(i) = t(i)\nend do\n", set()),
    "a subscript that changes": (
        "do i = 2, n\n k = i\n t(k) = i\n k = 1\n t(k) = 4\n b(i) = t(k)\nend do\n", set(),
    ),
    "under a condition": (
        "do i = 1, n\n if (mode == i) t(i) = i\n b(i) = t(i)\nend do\n", set(),
    ),
    "a section": ("do i = 1, m\n t(:) = i\n a(:, i) = t(:)\nend do\n", set()),
    "one element for all": (
        "do i = 1, n\n t(4) = i * 2.5\n b(i) = t(4) / 3\nend do\n", {"t"},
    ),
    "in an inner loop": (
        "do j = 1, m\n do i = 1, n\n  t(j) = a(i, j)\n  a(i, j) = t(j) * t(j)\n end do\nend do\n",
        {"t"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALARS)
def test_arrays_become_scalars(name: str, tmp_path: Path) -> None:
    """A loop without such an array stays as it is."""
    statements, wanted = SCALARS[name]
    tree = tree_on_bench(HEAD + statements + TAIL)
    TRANSFORMATIONS["ScalarisationTrans"]().apply(tree.walk(Loop)[0])
    text = finished(tree)
    assert {one for one in ("t", "w") if f"{one}_scalar" in text} == wanted
    before = output_of(HEAD + statements + TAIL, tmp_path / "before", 1)
    assert output_of(text, tmp_path / "after", 1) == before


VARIABLES = {
    "an array that is passed": ("call add(2 * b(2:n - 1), x)\n", "2 * b(2:n - 1)"),
    "a scalar that is passed": ("call add(b, x + b(3))\n", "x + b(3)"),
    "an operand": ("b(2:) = b(:n - 1) * 2 + a(2:, 1)\n", "b(:n - 1) * 2"),
    "an argument in a function": ("x = sqrt(abs(b(2)) + 1)\n", "abs(b(2)) + 1"),
    "a bound": ("do i = k + 1, n\n b(i) = b(i) + i\n k = i\nend do\n", "k + 1"),
    "a condition": ("if (x + 1 > 0) then\n x = 5\nelse if (x + 1 < 3) then\n x = 6\nend if\n",
                    "x + 1"),
    "a subscript of the target": ("b(k + 1) = b(k + 1) * 3\n", "k + 1"),
    "no element": ("call add(b(3:2) * 2, 4.0)\n", "b(3:2) * 2"),
    "in a loop": ("do j = 1, m\n call add(a(:, j) * j, x)\nend do\n", "a(:, j) * j"),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIABLES)
def test_an_expression_gets_a_variable(name: str, tmp_path: Path) -> None:
    statements, text = VARIABLES[name]
    tree = tree_on_bench(HEAD + statements + TAIL)
    nodes = [one for one in tree.walk(DataNode) if one.debug_string() == text]
    TRANSFORMATIONS["DataNodeToTempTrans"]().apply(nodes[0], storage_name="tmp", verbose=True)
    result = finished(tree)
    assert "tmp_" in result
    before = output_of(HEAD + statements + TAIL, tmp_path / "before", 1)
    assert output_of(result, tmp_path / "after", 1) == before


REFUSED = {
    "a variable": ("call add(b, x)\n", "x"),
    "perhaps not computed": ("if (k > 0 .and. b(k) + 1 > 0) x = 5\n", "b(k) + 1"),
    "a later condition": ("if (k > 0) then\n x = 2\nelse if (b(k) + 1 > 0) then\n x = 5\nend if\n",
                          "b(k) + 1"),
    "one of two": ("x = merge(b(1) + 2, x, k > 0)\n", "b(1) + 2"),
    "a side effect": ("x = noisy(x) + total * 2\n", "total * 2"),
    "a function that has one": ("x = x + noisy(x) * 2\n", "noisy(x) * 2"),
    "computed again and again": ("do while (x + 1 < 5)\n x = 1 + x\nend do\n", "x + 1"),
    "under a mask": ("where (b > 0) b = sqrt(b * 2)\n", "b * 2"),
    "asked for its size": ("x = size(b * 2)\n", "b * 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_expression_stays(name: str) -> None:
    """Computed earlier it could have another value, or end the program."""
    statements, text = REFUSED[name]
    tree = tree_on_bench(HEAD + statements + TAIL)
    nodes = [one for one in tree.walk(DataNode) if one.debug_string() == text]
    with pytest.raises(TransformationError):
        TRANSFORMATIONS["DataNodeToTempTrans"]().apply(nodes[-1])
    assert finished(tree) == HEAD + statements + TAIL


def test_bounds_that_only_their_loops_read_are_hoisted_without_a_condition(
    tmp_path: Path,
) -> None:
    """A condition would bring a value of one iteration of the outermost loop to the next."""
    statements = (
        "    do j = 1, m\n      do k = 1, mode - 1\n        do i = 1, n - 1\n"
        "          a(i, j) = a(i, j) + 2\n        end do\n      end do\n    end do\n    k = 3\n"
    )
    text = HEAD + statements + TAIL
    tree = tree_on_bench(text)
    for loop in tree.walk(Loop)[1:]:
        TRANSFORMATIONS["HoistLoopBoundExprTrans"]().apply(loop)
    for loop in reversed(tree.walk(Loop)[1:]):
        for statement in list(loop.loop_body):
            with suppress(TransformationError):
                TRANSFORMATIONS["HoistTrans"]().apply(statement)
    TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(tree.walk(Loop)[0])
    result = finished(tree)
    assert "loop_stop_1 = n - 1\n" in result
    assert "if (" not in result
    assert output_of(result, tmp_path / "after", 2) == output_of(text, tmp_path / "before", 1)


def test_a_name_that_a_block_declares_again_gets_no_ranges() -> None:
    """The dummy argument `b` is an array, the variable of the block is a scalar."""
    text = "    block\n      real :: b\n      b = 3\n      a = b\n    end block\n"
    tree = tree_on_bench(HEAD + text + TAIL)
    for part in tree.walk(Reference):
        with suppress(TransformationError):
            TRANSFORMATIONS["Reference2ArrayRangeTrans"]().apply(part)
    assert text.replace("a = b", "a(:, :) = b") in finished(tree)
