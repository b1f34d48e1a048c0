"""Random programs of several files with device regions, for tests of contracts."""

from __future__ import annotations

from random import Random

_SIZE = 8


class RandomProgram:
    """A program of modules that call procedures of later modules, and a main program."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._number = self._rng.randrange(1, 4)
        self._touched: dict[str, set[str]] = {}
        self._loops = 0

    def files(self) -> dict[str, str]:
        """Return the files in the order of compilation."""
        found = {"grid.f90": "module grid\n  implicit none\n  real :: g1(8) = 1.0, g2(8) = 2.0\n"
                 "end module grid\n"}  # fmt: skip
        for at in range(self._number, 0, -1):
            found[f"m{at}.f90"] = self._module(at)
        found["main.f90"] = self._main()
        return found

    def _uses(self, at: int) -> str:
        names = ["grid", *(f"m{one}" for one in range(at + 1, self._number + 1))]
        return "".join(f"  use {name}\n" for name in names)

    def _module(self, at: int) -> str:
        own = f"a{at}"
        text = f"module m{at}\n{self._uses(at)}  implicit none\n  real :: {own}(8) = {at}.5\n"
        text += "contains\n"
        callable_ = [f"s{one}{two}" for one in range(at + 1, self._number + 1) for two in (1, 2)]
        for number in (1, 2):
            name = f"s{at}{number}"
            self._touched[name] = set()
            shared = ["g1", "g2", *(f"a{one}" for one in range(at, self._number + 1))]
            body = self._block(name, ["x", "y", "tmp", *shared], callable_, 2)
            counters = "".join(f", i{one}" for one in range(1, self._loops + 1))
            extent = self._rng.choice(["(:)", "(:)", "(8)"])
            text += (
                f"  subroutine {name}(x, y, n)\n    real, intent(inout) :: x{extent}, y(:)\n"
                f"    integer, intent(in) :: n\n    real :: tmp(8)\n    integer :: last{counters}\n"
                f"    last = n\n    tmp = 0.25\n{body}  end subroutine {name}\n"
            )
            self._extents[name] = extent
            callable_.append(name)
        return text + f"end module m{at}\n"

    @property
    def _extents(self) -> dict[str, str]:
        return self.__dict__.setdefault("extents", {})

    def _main(self) -> str:
        self._touched["main"] = set()
        names = ["b1", "b2", "g1", "g2", *(f"a{one}" for one in range(1, self._number + 1))]
        called = [f"s{one}{two}" for one in range(1, self._number + 1) for two in (1, 2)]
        body = self._block("main", names, called, 2) + self._call("main", names, called, "  ")
        counters = "".join(f", i{one}" for one in range(1, self._loops + 1))
        shown = "".join(f"  print '(8z9)', {name}\n" for name in names)
        return (
            f"program main\n{self._uses(0)}  implicit none\n  real :: b1(8), b2(8)\n"
            f"  integer :: n, last{counters}\n  b1 = 3.0\n  b2 = 4.0\n  n = 1\n  last = 2\n"
            f"{body}{shown}end program main\n"
        )

    def _block(self, where: str, names: list[str], called: list[str], depth: int) -> str:
        return "".join(
            self._statement(where, names, called, depth) for _ in range(self._rng.randrange(1, 5))
        )

    def _statement(self, where: str, names: list[str], called: list[str], depth: int) -> str:
        rng, indent = self._rng, "    "
        kind = rng.random()
        if kind < 0.2 and called:
            return self._call(where, names, called, indent)
        if kind < 0.3 and depth:
            self._loops += 1
            count = self._loops
            inner = self._block(where, names, called, depth - 1)
            return f"{indent}do i{count} = 1, last\n{inner}{indent}end do\n"
        if kind < 0.42 and depth:
            inner = self._block(where, names, called, depth - 1)
            leave = f"{indent}return\n" if where != "main" and rng.random() < 0.2 else ""
            return (
                f"{indent}if (mod(n, 2) == {rng.randrange(2)}) then\n{inner}{leave}{indent}end if\n"
            )
        one, other = rng.choice(names), rng.choice(names)
        self._touched[where] |= {one, other}
        change = rng.choice(
            [
                f"{one} = 0.5 * {one} + sum({other}) / 16.0",
                f"{one} = sum({other}) / 8.0",
                f"{one}(2:3) = 0.5 * {other}(1)",
                f"{one}(1) = {one}(2) + 0.125",
            ]
        )
        if rng.random() < 0.5:
            change = change.replace(f"{one} =", f"{one}(:) =", 1)
            return f"{indent}!$acc kernels\n{indent}{change}\n{indent}!$acc end kernels\n"
        if rng.random() < 0.3:
            return f"{indent}print '(z9)', sum({other})\n"
        return f"{indent}{change}\n"

    def _call(self, where: str, names: list[str], called: list[str], indent: str) -> str:
        name = self._rng.choice(called)
        inner = {one for one in self._touched[name] if one not in ("x", "y", "tmp")}
        free = [one for one in names if one not in inner]
        self._touched[where] |= inner
        if len(free) < 2:
            return ""
        one, other = self._rng.sample(free, 2)
        self._touched[where] |= {one, other}
        is_short = one in ("x", "y") or other in ("x", "y")
        if self._extents[name] == "(8)" and is_short:
            return ""
        if self._rng.random() < 0.3 and not is_short and self._extents[name] == "(:)":
            one = f"{one}({self._rng.choice(['3:6', '1:4', ':'])})"
        return f"{indent}call {name}({one}, {other}, {self._rng.choice(['n', 'n + 1', '2'])})\n"
