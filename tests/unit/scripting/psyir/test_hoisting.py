"""HoistTrans on nodes of files: text around the loop that may name the variable, and directives."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.statements import Assignment
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

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


STAYING = {
    "counter": ("k = i + 1", "it reads 'i', and the loop writes 'i' (line 11)"),
    "shape": ("k = size(w)\nw = b(1:i)", "it reads 'w', and the loop writes 'w' (line 13)"),
    "later write": ("k = mode\nif (mode > 0) k = 2", "the loop also writes 'k' (line 13)"),
    "earlier read": ("if (k > 0) then\nend if\nk = mode", "the loop also reads 'k' (line 12)"),
    "later read": ("k = mode\nb(i) = k\nk = 3", "the loop also writes 'k' (line 14)"),
    "read and call": (
        "k = mode\nb(i) = k\ncall unknown(i)",
        "'call unknown(i)' may have other effects (line 14)",
    ),
    "pointer": ("k = int(q(1))\np(i) = 1", "it reads 'q(1)', and the loop writes 'p(i)' (line 13)"),
    "function": ("f(1) = mode", "'f(1)' may have other names"),
    "target": ("p(1) = mode", "'p(1)' may have other names"),
    "call": ("k = mode\ncall unknown()", "'call unknown()' may have other effects (line 13)"),
}


@pytest.mark.parametrize(("body", "reason"), STAYING.values(), ids=STAYING)
def test_a_reason_names_the_statement_that_keeps_an_assignment_in_its_loop(
    body: str, reason: str
) -> None:
    declared = "real, allocatable :: w(:)\nreal, pointer :: p(:), q(:)\n"
    tree = tree_on_bench(f"{HEAD}{declared}do i = 1, n\n{body}\nend do\n{TAIL}")
    with pytest.raises(TransformationError) as caught:
        hoist(tree)
    assert caught.value.value.endswith(f" cannot leave its loop: {reason}.")


INQUIRIES = """\
module columns_mod
  implicit none
contains
  pure function ones(n)
    integer, intent(in) :: n
    integer :: ones(n)
    ones = 1
  end function ones
  subroutine advance(g)
    integer, intent(in) :: g(9)
    integer :: q(2, 3), h(9), i, j, k, m, t
    h = 0
    q = 0
    do i = 1, 9
      t = g(i)
      k = size(g(t:))
      h(i) = k
      do j = 1, size(g(1:t))
        h(i) = h(i) + 1
      end do
    end do
    print *, h
    t = 2
    do i = 1, 9
      t = 3 - t
      do j = 1, size(q, t)
        h(i) = h(i) + 1
      end do
      k = ubound(q, dim=t)
      h(i) = h(i) + k
    end do
    print *, h
    do i = 1, 9
      t = g(i)
      k = size([(j, j = 1, t)])
      h(i) = k
      k = size(ones(t + i))
      h(i) = h(i) + k
      m = size(q, 1)
      h(i) = h(i) + m
    end do
    print *, h
  end subroutine advance
end module columns_mod
"""
REALLOCATED = """\
module columns_mod
  implicit none
  type :: growing
    integer, allocatable :: c(:)
  end type growing
contains
  subroutine advance(g)
    integer, intent(in) :: g(9)
    type(growing) :: one, other
    integer, allocatable :: w(:), v(:)
    integer :: h(9), i, j, k, m
    h = 0
    v = g
    do i = 1, 9
      w = g(1:i)
      do j = lbound(w, 1), ubound(w, 1)
        w(j) = w(j) + 1
      end do
      h(i) = sum(w)
      k = size(w)
      h(i) = h(i) + k
      m = size(v)
      h(i) = h(i) + m
    end do
    print *, h
    do i = 1, 9
      one%c = g(1:i)
      do j = 1, size(one%c)
        one%c(j) = one%c(j) + 1
      end do
      h(i) = sum(one%c)
      other = one
      do j = 1, size(other%c)
        h(i) = h(i) + 1
      end do
    end do
    print *, h
  end subroutine advance
end module columns_mod
"""
RUN = """
program main
  use columns_mod
  implicit none
  call advance([9, 8, 7, 6, 5, 4, 3, 2, 1])
end program main
"""


def hoisted(text: str) -> tuple[str, int]:
    """Return `text` with all that HoistTrans moves out of loops, and the number of moves."""
    tree = tree_on_bench(text)
    for loop in tree.walk(Loop):
        with suppress(TransformationError):
            TRANSFORMATIONS["HoistLoopBoundExprTrans"]().apply(loop)
    moved = 0
    for assignment in reversed(tree.walk(Assignment)):
        with suppress(TransformationError):
            TRANSFORMATIONS["HoistTrans"]().apply(assignment)
            moved += 1
    return finished(tree), moved


@pytest.mark.fortran
@pytest.mark.parametrize("text", [INQUIRIES, REALLOCATED], ids=["sections", "reallocated"])
def test_inquiries_whose_value_a_loop_changes_stay_in_it(text: str, tmp_path: Path) -> None:
    new, moved = hoisted(text)
    assert moved == 1
    (tmp_path / "new").mkdir()
    assert output_of(new, tmp_path / "new", main=RUN) == output_of(text, tmp_path, main=RUN)


IMPORTED = """\
module held_mod
  implicit none
  integer, allocatable :: w(:)
end module held_mod
module renamed_mod
  use held_mod, only: other => w
contains
  subroutine advance(b, h)
    {use}
    implicit none
    integer, intent(in) :: b(9)
    integer, intent(out) :: h(9)
    integer :: i, k
    do i = 1, 9
      {changed}
      k = {inquiry}
      h(i) = k
    end do
  end subroutine advance
end module renamed_mod
"""


@pytest.mark.parametrize(
    ("use", "changed", "inquiry", "moves"),
    [
        ("use held_mod, only: w", "other = b(1:i)", "size(w)", 0),
        ("use held_mod, only: w", "other(1) = b(i)", "size(w)", 1),
        ("use absent_mod, only: one", "one = i", "merge(1, 0, allocated(one))", 0),
    ],
)
def test_inquiries_that_another_name_changes_stay_in_the_loop(
    use: str, changed: str, inquiry: str, moves: int
) -> None:
    """A variable may have another local name, and an unknown one may be allocatable."""
    text = IMPORTED.format(use=use, changed=changed, inquiry=inquiry)
    assert hoisted(text)[1] == moves
