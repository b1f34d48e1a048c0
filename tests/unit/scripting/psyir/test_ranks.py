"""Arrays with a further dimension for the iterations of a loop: equal bits, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.containers import FileContainer, Routine
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

HEAD = """\
module columns_mod
  implicit none
  integer :: last = 20
contains
  subroutine shrink()
    last = 3
  end subroutine shrink
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    real :: t(0:n - 1), w(n, 3), x
    integer :: i, j, k, level(n)
"""
TAIL = """\
  end subroutine advance
end module columns_mod
"""


def _tree(statements: str) -> FileContainer:
    return tree_on_bench(HEAD + statements + TAIL)


def _outer(tree: FileContainer, text: str = "do j") -> Loop:
    loops: list[Loop] = tree.walk(Loop)
    return next(one for one in loops if one.debug_string().startswith(text))


RIGHT = {
    "each iteration fills the array, with other lower bounds": (
        "t", "do j = 1, m\n t(:) = a(:, j)\n t(0) = 2 * t(n - 1)\n a(:, j) = t * t(0)\nend do\n",
    ),
    "conditions that are equal in all iterations": (
        "t",
        ("do j = 2, last\n do k = 1, 2\n  if (k == 1 .and. mode == 1) then\n"
        "   do i = 1, n\n    t(i - 1) = a(i, j) / 3\n   end do\n  end if\n"
        "  do i = 1, n\n   a(i, j) = a(i, j) + t(i - 1) * k\n  end do\n end do\nend do\n"),
    ),
    "a factorised matrix that several tracers share": (
        "t w",
        ("do j = 1, m\n do k = 1, 3\n"
        "  if (mode == 1 .and. (k == 1 .or. (k == 2 .and. last > 2))) then\n"
        "   if (last == 20) then\n    t(:) = a(:, j) + k\n   else\n    t(:) = b\n   end if\n"
        "   w(1, 2) = t(0)\n   do i = 2, n\n    w(i, 2) = t(i - 1) / (1 + w(i - 1, 2)**2)\n"
        "   end do\n  end if\n  do i = 2, n\n"
        "   a(i, j) = a(i, j) - w(i - 1, 2) * a(i - 1, j) / t(i - 1)\n  end do\n"
        " end do\nend do\n"),
    ),
    "an element at a place that varies": (
        "t w",
        ("do j = 1, m\n do i = 2, n\n  t(i - 1) = a(i, j)\n  w(i, 1:3) = j\n end do\n t(0) = j\n"
        " w(1, :) = 0\n t(mod(j, n)) = t(mod(j, n)) + 1\n"
        " w(mod(j, n) + 1, 2) = w(mod(j, n) + 1, 2) - t(mod(j, n))\n"
        " a(:, j) = a(:, j) * t + w(:, 2)\nend do\n"),
    ),
    "it goes down, by two": (
        "t", "do j = m, 1, -2\n t = a(:, j) + j\n a(:, j) = t(n - 1:0:-1)\nend do\n",
    ),
    "a value from before the loop": (
        "t",
        ("do i = 0, n - 1\n t(i) = 4.5 + i\nend do\ndo j = 1, m\n if (mode == 3) t = 7\n"
        " a(:, j) = t * j\nend do\n"),
    ),
    "places in a table": (
        "level",
        ("do j = 1, m\n level(:) = 1\n do k = 2, 5\n  do i = 1, n\n"
        "   if (a(i, j) < 1.0 / k) level(i) = k\n  end do\n end do\n"
        " do i = 1, n\n  a(i, j) = a(level(i), j) + b(level(i))\n end do\nend do\n"),
    ),
    "no iteration": ("t", "do j = m, 1\n t = j\n b(:) = t\nend do\n"),
    "under a mask": (
        "t",
        ("do j = 1, m\n t = a(:, j)\n where (t > 0.01) t = 1 / t\n"
        " where (b > 1) a(:, j) = t\nend do\n"),
    ),
    "the module's bound changes before the first use": (
        "t", "call shrink()\ndo j = 1, last\n t = a(:, j) + 1\n a(:, j) = t * 2\nend do\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_each_iteration_gets_its_own_elements(name: str, tmp_path: Path) -> None:
    """The iterations can then be distributed, and no value changes."""
    arrays, statements = RIGHT[name]
    tree = _tree(statements)
    transformation = TRANSFORMATIONS["IncreaseRankLoopArraysTrans"]()
    transformation.apply(_outer(tree), arrays=arrays.split())
    text = finished(tree)
    assert f"{arrays.split()[0]}_j" in text
    before = output_of(HEAD + statements + TAIL, tmp_path / "before", 1)
    assert output_of(text, tmp_path / "after", 1) == before


WRONG = {
    "a value of an earlier iteration": (
        "t", "do j = 1, m\n if (j == 1) t = 0\n t = t + a(:, j)\n a(:, j) = t\nend do\n",
    ),
    "only some iterations write": (
        "t", "do j = 1, m\n if (mod(j, 3) == 1) t = j\n a(:, j) = t\nend do\n",
    ),
    "a condition that the data decide": (
        "t", "do j = 1, m\n if (a(1, j) > 0.001) t = j\n a(:, j) = t\nend do\n",
    ),
    "the element that the iteration before wrote": (
        "w", "w(1, 1) = 0\ndo j = 1, m\n b(j) = w(1, 1)\n w(1, 1) = b(j) + j\nend do\n",
    ),
    "a later condition under an earlier one": (
        "t", ("do j = 1, m\n if (j > 4) then\n  x = 1\n else if (mode == 1) then\n  t = j\n"
        " end if\n a(:, j) = t\nend do\n"),
    ),
    "an element further on is written in each iteration": (
        "t", "do j = 1, m\n t(j - 1) = j\n a(1, j) = t(0)\nend do\n",
    ),
    "read after the loop": (
        "t", "do j = 1, m\n t = a(:, j)\n a(:, j) = t * 2\nend do\nb = t\n",
    ),
    "filled with an array": (
        "t", "t = b\ndo j = 1, m\n a(:, j) = t * 2\nend do\n",
    ),
    "asked for its bounds": (
        "t", "do j = 1, m\n t = a(:, j)\n a(:, j) = t * lbound(t, 1)\nend do\n",
    ),
    "in a loop": (
        "t", "do k = 1, 3\n do j = 1, m\n  t = a(:, j)\n  a(:, j) = t * 2\n end do\nend do\n",
    ),
    "an argument": ("b", "do j = 1, m\n b = a(:, j)\n a(:, j) = b * 2\nend do\n"),
    "a scalar": ("x", "do j = 1, m\n x = a(1, j)\n a(2, j) = x * 2\nend do\n"),
    "no name": ("zz", "do j = 1, m\n x = a(1, j)\n a(2, j) = x * 2\nend do\n"),
    "the bound changes between the first use and the loop": (
        "t", "t = 1\ncall shrink()\ndo j = 1, last\n a(:, j) = t * 2\nend do\n",
    ),
    "passed to a procedure": (
        "t", "do j = 1, m\n t = a(:, j)\n call other(t)\n a(:, j) = t\nend do\n",
    ),
    "an early end": (
        "t", ("do j = 1, m\n do i = 1, n\n  if (i == j) exit\n  t(i - 1) = j\n end do\n"
        " a(:, j) = t\nend do\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_would_change_a_value_is_refused(name: str) -> None:
    """Nothing changes then."""
    array, statements = WRONG[name]
    tree = _tree(statements)
    transformation = TRANSFORMATIONS["IncreaseRankLoopArraysTrans"]()
    with pytest.raises(TransformationError) as raised:
        transformation.apply(_outer(tree), arrays=[array])
    assert array in str(raised.value) or "loop" in str(raised.value)
    assert finished(tree) == HEAD + statements + TAIL


def test_a_refusal_names_the_functions_with_unknown_effects() -> None:
    """A name with parentheses of a module that is not found may be such a function."""
    statements = "do j = 1, m\n if (mode == 1) t = depth(j)\n a(:, j) = t * depth(j)\nend do\n"
    text = HEAD.replace("  implicit none", "  use grid_mod\n  implicit none") + statements + TAIL
    transformation = TRANSFORMATIONS["IncreaseRankLoopArraysTrans"]()
    with pytest.raises(TransformationError, match="calls 'depth', whose effects are unknown"):
        transformation.apply(_outer(tree_on_bench(text)), arrays=["t"])


def test_names_of_arrays_are_needed() -> None:
    tree = _tree("do j = 1, m\n t = a(:, j)\n a(:, j) = t\nend do\n")
    with pytest.raises(TransformationError, match="'arrays'"):
        TRANSFORMATIONS["IncreaseRankLoopArraysTrans"]().apply(_outer(tree))


WORKSPACES = """\
module columns_mod
  implicit none
contains
  subroutine work(x, low, n, extra)
    integer, intent(in) :: low, n, extra
    real, intent(inout) :: x(n)
    real, dimension(low:n) :: t, &  ! a temporary
      u
    real :: fixed(3), half(size(x) / 2), pair(n + extra, 2), like(ubound(half, 1))
    character(len=size(t)) :: text
    integer :: i
    t = 1.0
    do i = max(low, 1), n
      t(i) = x(i) + t(low)
    end do
    u = t * 2
    half = 0.5
    pair(:, 1) = lbound(t, 1)
    pair(:, 2) = ubound(pair, 1)
    like = half
    fixed = sum(like) + size(half)
    text = repeat('x', n)
    x = x + fixed(1) + pair(1, 2) + sum(u) + len(trim(text))
  end subroutine work
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    integer :: k
    do k = 1, 3
      call work(b, 0, n, mode)
      call work(b(3:), -k, k, 2)
      call work(b, 1, 1, 0)
      call work(a(:, k), 3, 20, 5)
    end do
  end subroutine advance
end module columns_mod
"""


def test_arrays_stay_allocated_between_calls_of_any_size(tmp_path: Path) -> None:
    """An array whose bounds another declaration needs at the start of a call stays automatic."""
    tree = tree_on_bench(WORKSPACES)
    TRANSFORMATIONS["HoistLocalArraysTrans"]().apply(tree.walk(Routine)[0])
    text = finished(tree)
    for name, rank in (("u", 1), ("half", 1), ("pair", 2), ("like", 1)):
        shape = ", ".join([":"] * rank)
        assert f"real, allocatable, save :: {name}({shape})\n" in text
    assert "real, dimension(low:n) :: t\n" in text or "real :: t(low:n)\n" in text
    assert "real :: fixed(3)\n" in text
    before = output_of(WORKSPACES, tmp_path / "before", 1)
    assert output_of(text, tmp_path / "after", 1, ("-fcheck=all",)) == before


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("subroutine work", "pure subroutine work", "'work' is pure"),
        ("subroutine work", "recursive subroutine work", "'work' is recursive"),
        ("do k = 1, 3", "!$omp parallel do\n    do k = 1, 3", "not be thread-safe"),
    ],
)
def test_a_routine_that_several_calls_run_at_once_keeps_its_arrays(
    old: str, new: str, reason: str
) -> None:
    text = WORKSPACES.replace(f"  {old}", f"  {new}", 1)
    tree = tree_on_bench(text)
    with pytest.raises(TransformationError, match=reason):
        TRANSFORMATIONS["HoistLocalArraysTrans"]().apply(tree.walk(Routine)[0])
    assert finished(tree) == text


REACHED = """module m
contains
  subroutine work(n, x)
    integer, intent(in) :: n
    real, intent(inout) :: x
    real :: t(n)
    t = x
    x = sum(t)
    CALL_IN_WORK
  end subroutine work
  subroutine between(n, x)
    integer, intent(in) :: n
    real, intent(inout) :: x
    call work(n, x)
  end subroutine between
  subroutine all(n, x)
    integer, intent(in) :: n
    real, intent(inout) :: x(n)
    integer :: i
    DIRECTIVE
    do i = 1, n
      call between(n, x(i))
    end do
  end subroutine all
end module m
"""


@pytest.mark.parametrize(
    ("inner", "directive", "reason"),
    [
        ("x = 2 * x", "!$omp parallel do", "'all' has directives and calls 'work'"),
        ("if (n > 1) call between(n - 1, x)", "", "'work' may call itself"),
    ],
)
def test_a_routine_that_is_reached_through_another_keeps_its_arrays(
    inner: str, directive: str, reason: str
) -> None:
    text = REACHED.replace("CALL_IN_WORK", inner).replace("DIRECTIVE", directive)
    _check_refused(text, reason)
    generic = "module m\n  interface any_size\n    procedure work\n  end interface\ncontains"
    text = text.replace("module m\ncontains", generic, 1)
    _check_refused(text.replace("call work(", "call any_size("), reason)


def _check_refused(text: str, reason: str) -> None:
    tree = tree_on_bench(text)
    with pytest.raises(TransformationError, match=reason):
        TRANSFORMATIONS["HoistLocalArraysTrans"]().apply(tree.walk(Routine)[0])
    assert finished(tree) == text


def test_a_routine_that_calls_others_one_after_the_other_gets_saved_arrays() -> None:
    tree = tree_on_bench(REACHED.replace("CALL_IN_WORK", "x = 2 * x").replace("DIRECTIVE", ""))
    TRANSFORMATIONS["HoistLocalArraysTrans"]().apply(tree.walk(Routine)[0])
    assert "real, allocatable, save :: t(:)\n" in finished(tree)
