"""Transformed kernels compute the same as the originals: both are compiled and called."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from fortran import Compiler, run, written
from kernel_bodies import code_of, compare, samples, text_of
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.directive import AccRoutineDirective, DeviceLevel
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import DirectiveLine
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.passes.hoist import hoist_assignments, hoist_bounds
from psyclone_storage.passes.loops import (
    fuse_loops,
    jam_loops,
    share_loop,
    strip_mine_loop,
    swap_loops,
    tile_loops,
)
from psyclone_storage.passes.scalarise import check_assignments, scalarise_assignments
from psyclone_storage.transform.kernel.intrinsics import FUNCTIONS, written_out

pytestmark = pytest.mark.fortran


def all_out(code: Routine) -> Routine:
    changed, reasons = written_out(code, FUNCTIONS)
    assert not reasons
    return changed


def in_loops(code: Routine) -> Routine:
    assert not check_assignments(code)
    return scalarise_assignments(code)


PRODUCTS = {
    "vector": (
        "y = matmul(a, x)",
        "real(r_def), intent(in) :: a(n, m), x(m)\nreal(r_def), intent(out) :: y(n)",
        {"a": (4, 3), "x": (3,), "y": (4,)},
    ),
    "vector first": (
        "y = matmul(x, a)",
        "real(r_def), intent(in) :: a(n, m), x(n)\nreal(r_def), intent(out) :: y(m)",
        {"a": (4, 3), "x": (4,), "y": (3,)},
    ),
    "matrices": (
        "y = matmul(a, x)",
        "real(r_def), intent(in) :: a(n, m), x(m, n)\nreal(r_def), intent(out) :: y(n, n)",
        {"a": (4, 3), "x": (3, 4), "y": (4, 4)},
    ),
    "own operand": (
        "x = matmul(a, x)",
        "real(r_def), intent(in) :: a(n, n)\nreal(r_def), intent(inout) :: x(n)",
        {"a": (4, 4), "x": (4,)},
    ),
    "lower bounds and steps": (
        "y(:, 2) = 2.0_r_def * y(:, 1) + matmul(transpose_of(:, -2:m-3), x(m:1:-1))",
        (
            "real(r_def), intent(in) :: transpose_of(0:n-1, -2:m-3), x(m)\n"
            "real(r_def), intent(inout) :: y(-n:-1, 2)"
        ),
        {"transpose_of": (4, 3), "x": (3,), "y": (4, 2)},
    ),
    "an element of an operator": (
        "do k = 1, m\ny(:, k) = matmul(a(k, :, :), x(:, k))\nend do",
        (
            "real(r_def), intent(in) :: a(m, n, n), x(n, m)\n"
            "real(r_def), intent(out) :: y(n, m)\ninteger :: k"
        ),
        {"a": (3, 4, 4), "x": (4, 3), "y": (4, 3)},
    ),
    "a product of products": (
        "y(1) = dot_product(matmul(a, x), matmul(matmul(a, b), x))",
        "real(r_def), intent(in) :: a(n, n), b(n, n), x(n)\nreal(r_def), intent(inout) :: y(n)",
        {"a": (4, 4), "b": (4, 4), "x": (4,), "y": (4,)},
    ),
    "another kind": (
        "s = real(spread(x, 1, n), r_single)\ny = matmul(s, s)",
        "real(r_def) :: x(n), y(n, n)\nreal(r_single) :: s(n, n)",
        {"x": (4,), "y": (4, 4)},
    ),
}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_products_of_matrices(product: tuple[str, str, dict], tmp_path: Path) -> None:
    body, declarations, shapes = product
    dummies = f"n, m, {', '.join(shapes)}"
    code = code_of(body, f"integer, intent(in) :: n, m\n{declarations}", dummies)
    changed = compare(tmp_path, code, all_out, samples(shapes, n=4, m=3))
    assert not re.search(r"\bmatmul\(", text_of(changed))


SCALARS = {
    "abs": "y(1) = abs(x(1) - x(2)) + abs(-0.0_r_def)",
    "sign": "y(1) = sign(x(1), x(2)) + sign(x(3), -x(4))",
    "integers": "y(1) = real(sign(abs(n - 9), n - 7), r_def)",
    "min and max": "y(1) = min(x(1), x(2), x(3) * x(4))\ny(2) = max(x(1), abs(x(2)))",
    "in a condition": "if (abs(x(1)) > 1.0_r_def) then\ny(1) = 1.0_r_def\n"
    "else if (max(x(1), x(2)) > 0.5_r_def) then\ny(1) = min(x(2), 3.0_r_def)\n"
    "else\ny(1) = -x(1)\nend if",
    "bounds": "do i = max(1, n - 2), min(n, 9)\ny(i) = sqrt(abs(x(i)))\nend do",
    "subscripts": "y(2) = x(max(1, min(n, m)))",
}
ARRAYS = {
    "sum": "y(1) = sum(x) + 2 * sum(x(2:n:2))",
    "product": "y(1) = product(x - 2.0_r_def)",
    "extremes": "y(1) = maxval(x)\ny(2) = minval(x(n:1:-1))\ny(3) = maxval(abs(x))",
    "of nothing": "y(1) = maxval(x(3:2))\ny(2) = minval(x(3:2))\ny(3) = sum(x(3:2))\n"
    "y(4) = product(x(1:4:-1))",
    "of no integers": "k = (/ 1, 2, 3 /)\ny(1) = maxval(k(3:2))\ny(2) = minval(k(3:2))",
    "masks": "y(1) = sum(x, mask=x > 0.0_r_def)\ny(2) = maxval(x, mask=x < 0.0_r_def)",
    "dot_product": "y(1) = dot_product(x(1:3), x(n:2:-1))",
    "nested": "y(1) = sum(x * sum(abs(x)))",
}


@pytest.mark.parametrize("body", [*SCALARS.values(), *ARRAYS.values()], ids=[*SCALARS, *ARRAYS])
def test_functions(body: str, tmp_path: Path) -> None:
    declarations = (
        "integer, intent(in) :: n, m\nreal(r_def), intent(in) :: x(n)\n"
        "real(r_def), intent(inout) :: y(n)\ninteger :: i, k(3)"
    )
    code = code_of(body, declarations, "n, m, x, y")
    changed = compare(tmp_path, code, all_out, samples({"x": (4,), "y": (4,)}, 6, n=4, m=3))
    assert not any(f"= {name}(" in text_of(changed) for name in FUNCTIONS)


ASSIGNMENTS = {
    "whole": "y = x",
    "a scalar": "y = 1.5_r_def\ny(2:3, :) = x(1, 1)",
    "other numbering": "z = x\ny(:, 1) = z(-1:2, 5)\ny(2:4, 2) = x(1:3, 1) + z(0:2, 4)",
    "steps": "y(4:1:-1, 1) = x(:, 2)\ny(1:4:2, 2) = x(4:1:-2, 3)\ny(1:3:2, 3) = x(2:3, 1)",
    "nothing": "y(3:2, :) = x(2:1, :)\ny(:, 2:1) = 4.0_r_def",
    "its own elements": "y = y * 2.0_r_def + x\ny(:, 2:ubound(y, 2)) = abs(y(:, 2:))",
    "an index vector": "y(:, 1) = x(k, 2)\ny(2:4, 2) = x(2, k(2:4)) * 2.0_r_def",
    "elemental functions": "y = max(x, 0.0_r_def) ** 2 - merge(x, y, x > 0.5_r_def)",
    "a sum beside": "y = x / sum(x)",
}


@pytest.mark.parametrize("body", ASSIGNMENTS.values(), ids=ASSIGNMENTS)
def test_array_assignments(body: str, tmp_path: Path) -> None:
    declarations = (
        "integer, intent(in) :: n, k(4)\nreal(r_def), intent(in) :: x(n, 3)\n"
        "real(r_def), intent(inout) :: y(:, :), z(-1:, 4:)"
    )
    shapes = {"x": (4, 3), "y": (4, 3), "z": (4, 3)}
    code = code_of(body, declarations, "n, k, x, y, z")
    values = samples(shapes, n=4, k=[3, 1, 2, 1])
    changed = compare(tmp_path, code, in_loops, values)
    assert ":" not in text_of(changed).partition("do idx")[2].replace("::", "")


LOOPS = """do i = 1, n
  do j = 2, m
    t = x(i, j) * 2.0_r_def
    y(i, j) = y(i, j - 1) + t
  end do
end do
do i = 1, n
  y(i, 1) = x(i, 2) + y(i, m)
end do
"""
CHANGES = {
    "swap": partial(swap_loops, number=1),
    "chunk": partial(strip_mine_loop, number=2, size=2),
    "tile": partial(tile_loops, number=1, size=2, inner=3),
    "fuse": partial(fuse_loops, number=1),
    "jam": partial(jam_loops, number=1, factor=2),
    "jam nothing": partial(jam_loops, number=1, factor=9),
    "bounds": hoist_bounds,
    "hoist": hoist_assignments,
}


@pytest.mark.parametrize("name", CHANGES)
def test_orders_of_loops(name: str, tmp_path: Path) -> None:
    declarations = (
        "integer, intent(in) :: n, m\nreal(r_def), intent(in) :: x(n, m)\n"
        "real(r_def), intent(inout) :: y(n, m)\ninteger :: i, j\nreal(r_def) :: t, invariant"
    )
    body = LOOPS
    if name == "bounds":
        body = body.replace("2, m", "max(2, 1), min(n, m)")
    if name == "hoist":
        body = body.replace("t = x", "invariant = x(1, 1)\nt = invariant + x")
    code = code_of(body, declarations, "n, m, x, y")
    compare(tmp_path, code, CHANGES[name], samples({"x": (5, 3), "y": (5, 3)}, n=5, m=3))


SHARED = """module work_mod
contains
subroutine work_code(n, x, y)
integer, intent(in) :: n
real, intent(in) :: x(n)
real, intent(inout) :: y(n)
real :: t
integer :: i
do i = 1, n
t = x(i)
y(i) = y(i) + t * t
end do
end subroutine work_code
end module work_mod
"""
CALLS = """program calls
use work_mod
implicit none
real :: x(40, 7), y(40, 7)
integer :: i, column
x = reshape([(real(i), i = 1, size(x))], shape(x))
y = 1.0
!$acc parallel loop gang copyin(x) copy(y)
do column = 1, 7
call work_code(40, x(:, column), y(:, column))
end do
print *, all(y == 1.0 + x * x)
end program calls
"""


def test_lanes_share_a_loop_of_a_kernel(compiler: Compiler, tmp_path: Path) -> None:
    code = read_code(SourceText("work_mod.f90", SHARED), "work_code")
    code = code.with_specification(
        directives=(DirectiveLine(meaning=AccRoutineDirective(DeviceLevel.VECTOR)),)
    )
    text = "\n".join(emit_code(share_loop(code, 1, DeviceLevel.VECTOR)))
    assert "!$acc loop vector independent private(t)" in text
    sources = {"work_mod": f"module work_mod\ncontains\n{text}\nend module\n", "calls": CALLS}
    program = compiler.linked(written(tmp_path, sources), tmp_path, "-fopenacc")
    assert run([str(program)]).split() == ["T"]


def test_nothing_is_hoisted_into_a_loop_that_does_not_run(tmp_path: Path) -> None:
    declarations = (
        "integer, intent(in) :: n, m\nreal(r_def), intent(inout) :: y(n)\n"
        "integer :: i, k\nreal(r_def) :: t"
    )
    body = "t = 4.0_r_def\ndo i = 1, m\nt = y(5)\nk = 10 / m\ny(i) = t + k\nend do\ny(1) = t"
    code = code_of(body, declarations, "n, m, y")
    compare(tmp_path, code, hoist_assignments, samples({"y": (5,)}, n=5, m=0))
