"""Subroutines of random statements, to be printed in another language and compared.

Divisors and exponents are restricted to defined operations; integers remain small, so that none
overflows.
"""

from __future__ import annotations

import random

_REALS = ("x", "y", "a(i)", "a(2 * i + 1)", "a(3 - k)", "0.5_wp", "1.25e0_wp", "3.0_wp")
_SHORT = ("s", "t", "c(i)", "2.5_sp", "1e-1")
_WHOLE = ("i", "k", "n", "2", "7", "-3", "m(i)")
_ARRAYS = ("a(1:5)", "a(i:i + 4)", "a(9:1:-2)", "d(:, k)", "d(i, :)", "a(m(1:5))", "d(2, 1:5)")


class Body:
    """Statements from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def text(self, name: str, count: int) -> str:
        """Return a subroutine with `count` statements."""
        lines = [f"  subroutine {name}(n, a, c, d, m, l)", "    integer, intent(in) :: n"]
        lines += ["    real(wp), intent(inout) :: a(60), d(5, 5)"]
        lines += ["    real(sp), intent(inout) :: c(60)", "    integer, intent(inout) :: m(60)"]
        lines += ["    logical, intent(inout) :: l(60)", "    real(wp) :: x, y"]
        lines += ["    real(sp) :: s, t", "    integer :: i, k"]
        lines += ["    i = 3", "    k = 2", "    x = a(1)", "    y = a(2)", "    s = c(1)"]
        lines += ["    t = c(2)"]
        lines += [f"    {self._statement()}" for _ in range(count)]
        return "\n".join([*lines, f"  end subroutine {name}", ""])

    def _pick(self, *words: str) -> str:
        return self._random.choice(words)

    def _statement(self) -> str:
        depth = self._random.randint(1, 4)
        match self._random.randint(0, 6):
            case 0:
                return f"{self._pick('x', 'y', 'a(i)', 'a(40)')} = {self._bounded(depth)}"
            case 1:
                return f"{self._pick('s', 't', 'c(i)')} = real({self._bounded(depth)}, sp)"
            case 2:
                return f"m({self._random.randint(20, 60)}) = {self._whole(depth)}"
            case 3:
                return f"l({self._random.randint(1, 60)}) = {self._truth(depth)}"
            case 4:
                return f"if ({self._truth(depth)}) x = {self._bounded(2)}"
            case 5:
                return f"where ({self._array(1)} > 0.6_wp) a(21:25) = {self._array(2)}"
        return f"{self._pick('a(2:6)', 'd(:, 1)', 'a(1:9:2)', 'd(k, :)')} = {self._array(2)}"

    def _bounded(self, depth: int) -> str:
        """Return a real that stays small, whatever it is made of."""
        return f"mod(real({self._real(depth)}, wp), 8.0_wp)"

    def _real(self, depth: int) -> str:
        if depth == 0:
            return self._pick(*_REALS, *_SHORT)
        first, second = self._real(depth - 1), self._real(self._random.randint(0, depth - 1))
        whole = self._whole(depth - 1)
        return self._pick(
            f"{first} + {second}", f"{first} - {second}", f"{first} - ({second})",
            f"({first}) * ({second})", f"({first}) * {self._pick(*_REALS)} / {second_safe(second)}",
            f"(-({first}))", f"({first})**{self._pick('2', '3', 'k', '4')}",
            f"abs({first})**0.3_wp", f"max({self._pick('x', 'y')}, real({first}, wp) + 2.0_wp)",
            f"sqrt(abs({first}))", f"sign({first}, {first})", f"mod({first}, {first} + 7.3)",
            f"({whole}) * ({first})", f"real({whole}, wp) / 7", f"aint({first}) + anint({first})",
            f"merge({first}, {first}, {self._truth(depth - 1)})", f"sum({self._array(1)})",
            f"dot_product({self._array(0)}, {self._array(0)})", f"dble({first})",
        )  # fmt: skip

    def _whole(self, depth: int) -> str:
        if depth == 0:
            return self._pick(*_WHOLE)
        first, second = self._whole(depth - 1), self._whole(self._random.randint(0, depth - 1))
        return self._pick(
            f"mod({first}, 50) * mod({second}, 20)", f"{first} - ({second})", f"({first}) / 3",
            f"({first}) / (-2) * 2", f"mod({first}, 7)", f"modulo({first}, -5)",
            f"mod({first}, 9)**2", f"max({first}, {second})", f"nint({self._real(0)} * 9)",
            f"abs({first})", f"sign({first}, {second})", f"(-({first}))", f"iand({first}, 6)",
            f"count({self._array(1)} > 0.5_wp)", f"mod({first} + 2 * ({second}), 1000)",
        )  # fmt: skip

    def _truth(self, depth: int) -> str:
        if depth == 0:
            return self._pick("l(i)", "l(n)", ".true.", "x > y", "i /= k", "s <= t")
        first, second = self._truth(depth - 1), self._truth(self._random.randint(0, depth - 1))
        return self._pick(
            f"{first} .and. {second}", f"{first} .or. {second}", f".not. ({first})",
            f"({first}) .eqv. ({second})", f"({first}) .neqv. {second}",
            f"{self._real(1)} >= {self._real(1)}", f"{self._whole(1)} == {self._whole(1)}",
            f"any({self._array(1)} < 0.2_wp)", f"({first} .or. {second}) .and. l(k)",
        )  # fmt: skip

    def _array(self, depth: int) -> str:
        """Return an array of five reals."""
        if depth == 0:
            return self._pick(*_ARRAYS)
        first, second = self._array(depth - 1), self._array(self._random.randint(0, depth - 1))
        return self._pick(
            f"{first} + {second}", f"({first}) * {self._pick(*_REALS)}", f"sqrt(abs({first}))",
            f"{first} - ({second}) / 3", f"abs({first})", f"({first}) * sum({second})",
            f"merge({first}, {second}, l(1:5))", f"0 - ({first})",
        )  # fmt: skip


def second_safe(text: str) -> str:
    """Return a divisor that is not 0."""
    return f"(abs({text}) + 0.5)"


def module(seed: int, routines: int, count: int) -> str:
    """Return a module of random subroutines."""
    head = "module random_mod\n  use, intrinsic :: iso_fortran_env, only: real32, real64\n"
    head += "  implicit none\n  integer, parameter :: wp = real64, sp = real32\ncontains\n"
    bodies = "".join(
        Body(seed * 1000 + number).text(f"body{number}", count) for number in range(routines)
    )
    return f"{head}\n{bodies}end module random_mod\n"
