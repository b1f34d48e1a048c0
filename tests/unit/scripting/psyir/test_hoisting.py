"""HoistTrans on nodes of files: text around the loop that may name the variable, and directives."""

from __future__ import annotations

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.statements import Assignment
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, tree_on_bench

HEAD = """\
module columns_mod
  implicit none
contains
  subroutine advance(n, mode, b)
    integer, intent(in) :: n, mode
    real, intent(inout) :: b(n)
    real :: t
    integer :: i, k
"""
TAIL = """\
  end subroutine advance
end module columns_mod
"""
HOISTED = "    do i = 1, n\n      k = mode + 1\n      b(i) = b(i) + k\n    end do\n"


def hoist(tree: FileContainer) -> None:
    """Move the first assignment, of `k`, before its loop."""
    TRANSFORMATIONS["HoistTrans"]().apply(tree.walk(Assignment)[0])


@pytest.mark.parametrize("more", ["include 'more.inc'\n", "#define LAST k\n    t = LAST\n"])
def test_hoisting_keeps_its_condition_if_other_text_may_name_the_variable(more: str) -> None:
    """Nothing else uses `k`: without that text, the assignment needs no condition."""
    for text, conditions in ((HOISTED, 0), (HOISTED + "    " * more.startswith("i") + more, 1)):
        tree = tree_on_bench(HEAD + text + TAIL)
        hoist(tree)
        assert finished(tree).count("if (") == conditions


def test_nothing_is_hoisted_between_a_directive_and_its_loop() -> None:
    tree = tree_on_bench(f"{HEAD}    !$omp parallel do private(k)\n{HOISTED}{TAIL}")
    with pytest.raises(TransformationError, match="between a directive and 'do i = 1, n'"):
        hoist(tree)


UNKNOWN_TYPE = """\
    type(unknown) :: s
    integer :: j
    do j = 1, n
      t = mode * 2.0
      s%v(2) = b(1)
      do i = 1, n
        k = s%v(1)
        b(i) = b(i) + k + t
      end do
    end do
"""


def test_results_of_a_loop_are_not_used_where_names_have_other_meanings() -> None:
    """Only the outer loop shows that the component of an unknown type is no function."""
    tree = tree_on_bench(HEAD + UNKNOWN_TYPE + TAIL)
    outer, _, inner, _ = tree.walk(Assignment)
    transformation = TRANSFORMATIONS["HoistTrans"]()
    transformation.apply(outer)
    with pytest.raises(TransformationError, match="cannot leave its loop"):
        transformation.apply(inner)
