"""Inlined procedures in column kernels that are translated to Python."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from column_kernels import in_python, loaded, module_text

LAYERS, DOFS = 3, 4
HELPERS = """
module helpers_mod
  use constants_mod, only: i_def, kind_of_x => r_def
  implicit none
  private
  integer(i_def), parameter :: turn(2, 0:1) = &
    reshape([[2, 3], [4, -5]], [2, 2], order=[2, 1])
  real(kind_of_x), parameter :: scale = 10.0_kind_of_x
  real(kind_of_x) :: rate = 0.0_kind_of_x
  real(kind_of_x) :: matrix(2, -1:0)
  interface twice
    module procedure twice_whole, twice_real
  end interface
  public :: twice, split, cap, fill, spread_out, folded, loops, kept, swap, of_turn, &
    peek, rated, times, greatest, count_up, settle, settle_late, ends, from_zero
contains
  function ends(v) result(b)
    real(kind_of_x), intent(in) :: v(0:)
    real(kind_of_x) :: b
    b = v(0) + 10*lbound(v, 1) + 100*ubound(v, 1)
  end function ends
  function from_zero(a) result(b)
    real(kind_of_x), intent(in) :: a
    real(kind_of_x) :: b(0:1)
    b = a
  end function from_zero
  function twice_whole(n) result(m)
    integer(i_def), intent(in) :: n
    integer(i_def) :: m
    m = 2*n
  end function twice_whole
  real(kind_of_x) function twice_real(a)
    real(kind_of_x), intent(in) :: a
    twice_real = 2.0_kind_of_x*a
  end function twice_real
  subroutine split(a, low, high)
    real(kind_of_x), intent(in) :: a
    real(kind_of_x), intent(out) :: low, high
    real(kind_of_x) :: k
    k = a*scale
    low = twice(k) - 1
    high = k + 1
  end subroutine split
  function cap(a) result(b)
    real(kind_of_x), intent(in) :: a
    real(kind_of_x) :: b
    b = a
    if (a < 0) return
    if (a > 1) then
      b = 1
      return
    end if
    b = b + 0.5_kind_of_x
  end function cap
  subroutine fill(n, v, w)
    integer(i_def), intent(in) :: n
    real(kind_of_x), intent(out) :: v(n)
    real(kind_of_x), intent(in) :: w(0:n-1)
    integer(i_def) :: i
    do i = 1, n
      v(i) = w(i-1) + i
    end do
    v(2:n) = v(1:n-1)
  end subroutine fill
  function spread_out(v, n) result(w)
    integer(i_def), intent(in) :: n
    real(kind_of_x), intent(in) :: v(:)
    real(kind_of_x) :: w(n)
    w = 0.5_kind_of_x
    w(:2) = v(2:3)
  end function spread_out
  recursive function folded(n) result(m)
    integer(i_def), intent(in) :: n
    integer(i_def) :: m
    m = folded(n - 1)
  end function folded
  function loops(n) result(m)
    integer(i_def), intent(in) :: n
    integer(i_def) :: m
    do m = 1, n
      if (m > 2) return
    end do
  end function loops
  function kept(n) result(m)
    integer(i_def), intent(in) :: n
    integer(i_def) :: m, count = 0
    count = count + n
    m = count
  end function kept
  subroutine swap(a, b)
    real(kind_of_x), intent(inout) :: a, b
    real(kind_of_x) :: c
    c = a
    a = b
    b = c
  end subroutine swap
  subroutine settle(n, a)
    integer(i_def), intent(in) :: n
    real(kind_of_x), intent(inout) :: a
    a = 2.0_kind_of_x
    if (n > 1) a = a + n
  end subroutine settle
  subroutine settle_late(n, a)
    integer(i_def), intent(in) :: n
    real(kind_of_x), intent(inout) :: a
    if (n > 7) return
    a = n
  end subroutine settle_late
  function of_turn(i, j) result(m)
    integer(i_def), intent(in) :: i, j
    integer(i_def) :: m
    m = turn(i, j)
  end function of_turn
  function rated(a) result(b)
    real(kind_of_x), intent(in) :: a
    real(kind_of_x) :: b
    b = a*rate
  end function rated
  function times(v, n) result(w)
    real(kind_of_x), intent(in) :: v(2)
    integer(i_def), intent(in) :: n
    real(kind_of_x) :: w(2)
    w = matmul(turn(:, :), [1.0_kind_of_x, v(2)*n])
    w = matmul(matrix, w)
    w = w + matmul(turn, v)
  end function times
  function greatest(v) result(m)
    real(kind_of_x), intent(in) :: v(2)
    real(kind_of_x) :: m, min
    min = v(1)
    m = max(min, v(2))
  end function greatest
  subroutine count_up(a, n)
    real(kind_of_x), intent(inout) :: a
    integer(i_def), intent(inout) :: n
    n = n + 1
    a = a + n
  end subroutine count_up
  function peek(n) result(m)
    integer(i_def), intent(inout) :: n
    integer(i_def) :: m
    n = n + 1
    m = n
  end function peek
end module helpers_mod
"""
OTHERS = """
module third_mod
  use constants_mod, only: i_def, r_def
  implicit none
  integer(i_def), parameter :: lowest = 40, most = 2
  interface halved
    module procedure halved_real
  end interface
contains
  function one(a) result(b)
    real(r_def), intent(in) :: a
    real(r_def) :: b
    b = a + 1
  end function one
  function two(a) result(b)
    real(r_def), intent(in) :: a
    real(r_def) :: b
    b = a + 2
  end function two
  function halved_real(a) result(b)
    real(r_def), intent(in) :: a
    real(r_def) :: b
    b = a/2
  end function halved_real
end module third_mod
module others_mod
  use constants_mod, only: i_def, r_def
  use third_mod, only: halved
  implicit none
  interface halved
    module procedure halved_whole
  end interface
contains
  function halved_whole(n) result(b)
    integer(i_def), intent(in) :: n
    real(r_def) :: b
    b = n/2
  end function halved_whole
  function half(a) result(b)
    real(r_def), intent(in) :: a
    real(r_def) :: b
    b = a/2
  end function half
  function renaming() result(b)
    use third_mod, only: other => most, most => lowest
    real(r_def) :: b
    b = other + 100*most
  end function renaming
  function with_lowest() result(b)
    real(r_def) :: b, lowest
    lowest = 3
    b = lowest
  end function with_lowest
  function seeing_lowest() result(b)
    use third_mod, only: far => lowest
    real(r_def) :: b
    b = far
  end function seeing_lowest
  function greater(a, b) result(m)
    real(r_def), intent(in) :: a, b
    real(r_def) :: m
    m = max(a, b)
  end function greater
  function of_max(max) result(m)
    real(r_def), intent(in) :: max
    real(r_def) :: m
    m = 2*max
  end function of_max
  subroutine moved(n, v)
    integer(i_def), intent(inout) :: n(2)
    real(r_def), intent(inout) :: v(2)
    n(1) = n(1) + 1
    v(1) = v(1) + 5
  end subroutine moved
  subroutine less(v, n)
    real(r_def), intent(inout) :: v(:)
    integer(i_def), intent(inout) :: n
    n = n - 1
    v(:) = 7
  end subroutine less
  function corners(v) result(s)
    real(r_def), intent(in) :: v(2, 2)
    real(r_def) :: s
    s = v(1, 1) + 10*v(2, 1) + 100*v(1, 2) + 1000*v(2, 2)
  end function corners
  function ends(v) result(s)
    real(r_def), intent(in) :: v(0:)
    real(r_def) :: s
    s = v(0) + 10*v(2)
  end function ends
  subroutine sized(n, v)
    integer(i_def), intent(inout) :: n
    real(r_def), intent(inout) :: v(n, 2)
    n = 1
    call marked(v)
  end subroutine sized
  subroutine marked(v)
    real(r_def), intent(inout) :: v(1, 2)
    v(1, 2) = 9
  end subroutine marked
  function of_local(a) result(b)
    real(r_def), intent(in) :: a
    real(r_def) :: b, x
    x = a + 1
    b = x
  end function of_local
end module others_mod
"""
USE_OTHERS = (
    "use others_mod, only: halved, half, renaming, with_lowest, seeing_lowest, greater, &\n"
)
USE_OTHERS += "of_max, moved, less, corners, ends, sized, of_local\n"
SQUARE = "real(r_def) :: v(3, 3)\ninteger :: i, j\ndo i = 1, 3\ndo j = 1, 3\n"
SQUARE += "v(i, j) = i + 3*(j - 1)\nend do\nend do\n"
USES = "use helpers_mod, only: twice, split, cap, fill, spread_out, folded, loops, kept, swap, &\n"
USES += "of_turn, peek, rated, times, greatest, count_up, settle, settle_late\n"
BEGINNINGS = "use helpers_mod, only: ends, from_zero, twice\n"


@pytest.fixture(autouse=True)
def helpers(tmp_path: Path) -> None:
    (tmp_path / "helpers_mod.f90").write_text(HELPERS)
    others = OTHERS.index("module others_mod")
    (tmp_path / "third_mod.f90").write_text(OTHERS[:others])
    (tmp_path / "others_mod.f90").write_text(OTHERS[others:])


def values(body: str, folder: Path) -> np.ndarray:
    """Return what a kernel writes; `x` counts, `idx` is 2, 1, 0."""
    x = [np.arange(12.0).reshape(DOFS, LAYERS) + 100.0 * part for part in (1, 2)]
    m, idx = np.ones((1, DOFS, LAYERS)), np.array([[2, 1, 0]])
    kernel = loaded(USES + body, folder).small_type
    return kernel.at(np.zeros((1, LAYERS)), x, m, idx, 0.25)[0]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        # Variables of a procedure are none of the kernel's, whatever they are called.
        (("integer :: k\nreal(r_def) :: low, b\nk = 7\ncall split(a, b, low)\n"
          "y(map_w3(1)) = b\ny(map_w3(1)+1) = low + k\ny(map_w3(1)+2) = twice(k) + twice(a)"),
         [4.0, 10.5, 14.5]),
        (("integer :: k\nreal(r_def) :: v(3)\nv = (/ -1.0_r_def, 2.0_r_def, 0.25_r_def /)\n"
          "do k = 0, nlayers-1\ny(map_w3(1)+k) = cap(v(k+1)) + cap(cap(a))\nend do"),
         [-1.0 + 1.25, 1.0 + 1.25, 0.75 + 1.25]),
        (("real(r_def) :: v(0:3), w(2,3)\nw = 0\nw(2,:) = (/ 1.0_r_def, 5.0_r_def, 7.0_r_def /)\n"
          "v = 9\ncall fill(3, v(0:2), w(2,:))\ny(map_w3(1):map_w3(1)+2) = v(1:3)"),
         [2.0, 7.0, 9.0]),
        (("real(r_def) :: v(4)\nv = spread_out(x_1(map_w0(2):map_w0(2)+2), 4) + a\n"
          "y(map_w3(1):map_w3(1)+2) = v(1:3)"), [104.25, 105.25, 0.75]),
        (("integer :: i\nreal(r_def) :: v(2), b\nv(1) = 1\nv(2) = 2\nb = 5\ni = 2\n"
          "call swap(v(i), b)\ny(map_w3(1)) = v(1)\ny(map_w3(1)+1) = v(2)\n"
          "call swap(y(map_w3(1)), b)\ny(map_w3(1)+2) = b"), [2.0, 5.0, 1.0]),
        (("real(r_def) :: v(2)\ninteger :: n\nn = 2.7_r_def\nv = (/ 4.0_r_def, 1.0_r_def /)\n"
          "y(map_w3(1)) = greatest(v) + min(a, a)\ny(map_w3(1)+1) = twice(n)"), [4.25, 4.0, 0.0]),
        ("call settle(1, y(map_w3(1)))\ncall settle(3, y(map_w3(1)+1))", [2.0, 5.0, 0.0]),
        ("call settle_late(8, y(map_w3(1)))\ncall settle_late(3, y(map_w3(1)+1))",
         [0.0, 3.0, 0.0]),
        (("if (a > 1) then\ny(map_w3(1)) = 1\nelse if (twice(a) > a) then\n"
          "y(map_w3(1)) = of_turn(1, 1) + 10*of_turn(2, 0)\ny(map_w3(1)+1) = of_turn(2, 1)\n"
          "end if"), [3.0 + 40.0, -5.0, 0.0]),
    ],
)  # fmt: skip
def test_values(body: str, wanted: list[float], tmp_path: Path) -> None:
    np.testing.assert_array_equal(values(body, tmp_path), wanted)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("y(map_w3(1)) = folded(3)", "'folded' calls itself"),
        ("real(r_def) :: max, v(2)\nmax = 1\nv = max\ny(map_w3(1)) = greatest(v)",
         "'max' is another name"),
        ("y(map_w3(1)) = loops(3)", "returns from within a loop"),
        ("y(map_w3(1)) = kept(3)", "'count' of 'kept' keeps its value"),
        ("integer :: n\nn = 1\ny(map_w3(1)) = peek(n)", "'peek' changes its arguments"),
        ("if (a > 1 .and. twice(a) > 1) y(map_w3(1)) = 1", "only if what stands before"),
        ("y(map_w3(1)) = merge(a, twice(a), a > 1)", "for one of two values"),
        ("real(r_def) :: v(3)\nv = twice(x_1(1:3))\ny(map_w3(1)) = 1", "which procedure 'twice'"),
        ("real(r_def) :: v(4)\nv = 1\ncall swap(a + 1, v(1))\ny(map_w3(1)) = 1", "is no variable"),
        (("integer :: n\nreal(r_def) :: v(4), w(4)\nw = 1\nn = idx(map_w3(1))\n"
          "call fill(n, v, w)\ny(map_w3(1)) = v(1)"), "how many there are"),
        (("integer :: n(2)\nreal(r_def) :: v(2)\nv = 1\nn = 1\ncall count_up(v(n(1)), n(1))\n"
          "y(map_w3(1)) = v(1)"), "depends on what changes"),
        ("real(r_def) :: v(4), w(4)\nw = 1\ncall fill(3, v(4:1:-1), w)\ny(map_w3(1)) = 1",
         "with a step"),
        ("real(r_def) :: v(4), w(4)\nw = 1\ncall fill(3, v(2), w)\ny(map_w3(1)) = 1",
         "no array with a name"),
    ],
)  # fmt: skip
def test_what_is_not_certain_stays_a_call_and_is_refused(
    body: str, why: str, tmp_path: Path
) -> None:
    said = in_python(module_text(USES + body), tmp_path)
    assert said.startswith("error[G006]")
    assert why in said


@pytest.mark.parametrize(
    ("uses", "body", "wanted"),
    [
        # Names that others have in the modules that they come from.
        ("use third_mod, only: one => two, two => one\n",
         "y(map_w3(1)) = one(a)\ny(map_w3(1)+1) = two(a)", [2.25, 1.25, 0.0]),
        ("use third_mod, only: another => two\n", "y(map_w3(1)) = another(a)", [2.25, 0.0, 0.0]),
        ("use third_mod, only: most\n" + USE_OTHERS,
         "y(map_w3(1)) = renaming()\ny(map_w3(1)+1) = most", [4002.0, 2.0, 0.0]),
        # A variable of one procedure is none of the names that another sees.
        ("use third_mod, only: lowest\n" + USE_OTHERS,
         ("y(map_w3(1)) = with_lowest() + 100*seeing_lowest()\n"
          "y(map_w3(1)+1) = seeing_lowest() + 100*with_lowest()"), [4003.0, 340.0, 0.0]),
        (USE_OTHERS,
         ("y(map_w3(1)) = greater(a, 3.0_r_def) + of_max(a + 1)\n"
          "y(map_w3(1)+1) = of_max(a + 1) + greater(a, 3.0_r_def)"), [5.5, 5.5, 0.0]),
        (USE_OTHERS, "y(map_w3(1)) = of_local(a)", [1.25, 0.0, 0.0]),
        # An integer is converted where it becomes the value of a real.
        (USE_OTHERS, "real(r_def) :: r\nr = 3\ny(map_w3(1)) = half(r)", [1.5, 0.0, 0.0]),
        (USE_OTHERS, "y(map_w3(1)) = halved(7)", [3.0, 0.0, 0.0]),
        # Expressions on arrays.
        (USE_OTHERS, SQUARE + "y(map_w3(1)) = corners(v(1:2,1:2) + 1)\n"
         "y(map_w3(1)+1) = ends(v(:,1)*2)\ny(map_w3(1)+2) = ends((v(2,:)))",
         [6532.0, 62.0, 82.0]),
    ],
)  # fmt: skip
def test_values_of_unusual_calls(uses: str, body: str, wanted: list[float], tmp_path: Path) -> None:
    np.testing.assert_array_equal(values(uses + body, tmp_path), wanted)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("real(r_def) :: r\nr = 3\ny(map_w3(1)) = halved(r)", "which procedure 'halved'"),
        (("integer :: n(3)\nreal(r_def) :: v(3,3)\nn = 1\nv = 0\n"
          "call moved(n(1:2), v(1:2,n(1)))\ny(map_w3(1)) = v(1,1)"), "depends on what changes"),
        (("integer :: n\nreal(r_def) :: v(3)\nn = 3\nv = 0\ncall less(v(1:n), n)\n"
          "y(map_w3(1)) = v(3)"), "'v' depends on what changes"),
        (SQUARE + "y(map_w3(1)) = corners(v + 1)", "for 'v' may have other extents"),
        (SQUARE + "y(map_w3(1)) = corners((v))", "for 'v' may have other extents"),
        (SQUARE + "y(map_w3(1)) = corners(v(::2,::2) + 1)", "how many elements are passed"),
        (("integer :: n\nreal(r_def) :: v(3,2)\nn = 3\nv = 0\ncall sized(n, v)\n"
          "y(map_w3(1)) = v(1,2)"), "gives an extent of 'v' and may have changed"),
        ("y(map_w3(1)) = half(a, a)", "other arguments than it has"),
    ],
)  # fmt: skip
def test_unusual_calls_that_are_refused(body: str, why: str, tmp_path: Path) -> None:
    test_what_is_not_certain_stays_a_call_and_is_refused(USE_OTHERS + body, why, tmp_path)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("real(r_def) :: v(3)\nv = 1\ny(map_w3(1)) = ends(v)", "the bounds of 'v' are others"),
        ("y(map_w3(1)) = lbound(from_zero(a), 1)", "the result of 'from_zero' begins not at 1"),
        (("integer :: i\nreal(r_def) :: v(3)\ni = 1\nv = [(twice(i), i = 1, 3)]\n"
          "y(map_w3(1)) = v(1)"), "for each value of a counter"),
    ],
)  # fmt: skip
def test_bounds_and_counters_that_are_refused(body: str, why: str, tmp_path: Path) -> None:
    test_what_is_not_certain_stays_a_call_and_is_refused(BEGINNINGS + body, why, tmp_path)


@pytest.mark.parametrize(("name", "is_looked_at"), [("settle", False), ("settle_late", True)])
def test_what_is_given_a_value_first_is_not_looked_at(
    name: str, is_looked_at: bool, tmp_path: Path
) -> None:
    made = in_python(module_text(f"{USES}call {name}(3, y(map_w3(1)))"), tmp_path)
    assert (" = y[0, 0]\n" in made) is is_looked_at
    assert "    y[0, 0] = " in made


def test_a_variable_of_the_module_is_not_the_kernels_own_one(tmp_path: Path) -> None:
    body = "real(r_def) :: rate\nrate = 3\ny(map_w3(1)) = rated(rate) + rated(a) + rate"
    made = in_python(module_text(USES + body), tmp_path)
    assert "    rate_there: float = helpers_mod.rate\n" in made
    assert "    rate = float(3)\n" in made or "    rate = 3.0\n" in made, made


def test_arrays_of_a_module_are_read_element_by_element(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = ModuleType("helpers_mod")
    vars(there).update(matrix=np.array([[1.0, 2.0], [3.0, 4.0]]))
    monkeypatch.setitem(sys.modules, "helpers_mod", there)
    body = "real(r_def) :: v(2)\nv(1) = a\nv(2) = 3\ny(map_w3(1):map_w3(1)+1) = times(v, 2)"
    turned = np.array([[2.0, 3.0], [4.0, -5.0]])
    wanted = there.matrix @ (turned @ [1.0, 6.0]) + turned @ [0.25, 3.0]
    np.testing.assert_array_equal(values(body, tmp_path), [*wanted, 0.0])
    assert "    matrix_2_m1: float = helpers_mod.matrix[1, 0]\n" in (
        (tmp_path / "small_mod.py").read_text()
    )


def test_constants_of_two_kernels_have_values_of_their_own(tmp_path: Path) -> None:
    text = module_text("integer, parameter :: n = 2\ny(map_w3(1)) = n")
    kind = text[text.index("  type, extends") : text.index("contains\n  subroutine")]
    code = text[text.index("  subroutine small_code") : text.index("end module")]
    text = text.replace(kind, kind + kind.replace("small", "other"))
    text = text.replace(code, code + code.replace("small", "other").replace("n = 2", "n = 3"))
    made = in_python(text, tmp_path)
    assert ("n_1 = 2\n" in made, "n_2 = 3\n" in made) == (True, True)
    assert made.count("float(n_1)") == made.count("float(n_2)") == 1
