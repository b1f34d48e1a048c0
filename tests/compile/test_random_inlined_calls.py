"""Kernels with inlined procedures compute the same, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kernel_bodies import KINDS, compare, inlined, samples, text_of
from pairwise import some_of
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.routine import InlinedCode, Routine
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from random_calls import DECLARATIONS, DUMMIES, LOCALS, OWN, body, helpers

pytestmark = pytest.mark.fortran
SIZE = 3


class Model:
    """A kernel with the modules that it uses, below a folder."""

    def __init__(self, folder: Path, called: str, statements: str) -> None:
        (folder / "constants_mod.f90").write_text(KINDS)
        (folder / "helpers_mod.f90").write_text(called)
        self.called = called
        finder = ModuleFinder(index_directories((folder,)))
        inside, own = OWN.split("contains\n")
        text = (
            "module small_mod\nuse constants_mod, only: r_def, i_def\nuse helpers_mod, only: &\n"
            "weigh, turn, column, matrix, counted, nested, picked\nimplicit none\n"
            f"{inside}contains\n{own}\nsubroutine small_code({DUMMIES})\n{DECLARATIONS}\n{LOCALS}\n"
            f"{statements}\nend subroutine small_code\nend module small_mod\n"
        )
        source = SourceText(str(folder / "small_mod.f90"), text)
        self.code = resolve_code(read_code(source, "small_code"), finder)
        self.finder = finder

    def inlined(self) -> InlinedCode:
        """Return the kernel with the procedures inlined that it calls."""
        return inlined(self.code, self.finder)


def given() -> Iterator[dict[str, object]]:
    """Return values for the arguments of a kernel."""
    return samples({"a": (SIZE, SIZE), "b": (SIZE, SIZE), "s": (SIZE,)}, n=SIZE)


@pytest.mark.parametrize("seed", range(some_of(80)))
def test_random_pairs(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    model = Model(tmp_path, helpers(random), body(random))
    made = model.inlined()
    if text_of(made.code) == text_of(model.code):
        assert made.remaining
        return
    compare(tmp_path, model.code, lambda _: made.code, given(), model.called)


def test_most_calls_go_and_some_stay(tmp_path: Path) -> None:
    gone = stay = 0
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        random = Random(seed)
        model = Model(folder, helpers(random), body(random))
        made = model.inlined()
        stay += len(made.remaining)
        gone += _number_of_calls(model.code) - _number_of_calls(made.code)
    assert gone > 3 * stay > 30


def _number_of_calls(code: Routine) -> int:
    text = text_of(code)
    words = ("weigh(", "turn(", "column(", "matrix(", "counted(", "nested(", "picked(", "own(i")
    return sum(text.count(word) for word in words)


ATTACKS = """
real(wp) :: level = 2.0_wp, rate = 3.0_wp
contains
real(wp) function square(v)
real(wp), intent(in) :: v
square = v*v
end function square
real(wp) function ends(p)
real(wp), intent(in) :: p(0:)
ends = p(0) + 10*lbound(p, 1) + 100*ubound(p, dim=1)
end function ends
real(wp) function corner(p)
real(wp), intent(in) :: p(0:, -1:)
corner = sum(lbound(p)) + 100*sum(ubound(array=p))
end function corner
subroutine along(p)
real(wp), intent(inout) :: p(0:)
integer(i_def) :: m
do m = lbound(p, 1), ubound(p, 1)
p(m) = p(m)*2 + m
end do
end subroutine along
real(wp) function first_ends(p)
real(wp), intent(in) :: p(:)
integer(i_def) :: m
m = ubound(p, 1)
first_ends = p(m) + lbound(p, 1)
end function first_ends
real(wp) function lowest(p)
real(wp), intent(in) :: p(0:)
lowest = minloc(p, 1)
end function lowest
real(wp) function grown(x)
real(wp), intent(in) :: x
real(wp) :: y, rate
y = 3.0_wp
rate = x*y
grown = rate + level
end function grown
function from_zero(x)
real(wp), intent(in) :: x
real(wp) :: from_zero(0:1)
from_zero = [x, 2*x]
end function from_zero
function counting(m)
integer(i_def), intent(in) :: m
integer(i_def) :: counting(3)
counting = [(10*m, m = 1, 3)]
end function counting
"""


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ("i = 1\ns(1:3) = [(square(s(i)), i = 1, 3)]", "for each value of a counter"),
        ("i = 1\ns(1) = sum([(square(real(i, r_def)), i = 1, 3)])", "for each value of a counter"),
        ("s(1) = ends(s)", "the bounds of 'p' are others"),
        ("s(1) = ends(a(:, 2))", "the bounds of 'p' are others"),
        ("s(1) = corner(a)", "the bounds of 'p' are others"),
        ("call along(s)\ncall along(a(2:3, 1))", "the bounds of 'p' are others"),
        ("s(1) = first_ends(s) + first_ends(a(2:3, 1)) + first_ends(b(:, 2))", ""),
        ("s(1) = lowest(s) + lowest(b(:, 2)) + lowest(a(2, :))", ""),
        ("s(1) = grown(s(1))", ""),
        ("s(1) = lbound(from_zero(s(1)), 1)", "the result of 'from_zero' begins not at 1"),
        ("s = counting(n - 1)", "'m' counts and is no variable of its own"),
    ],
)
def test_attacks(statements: str, why: str, tmp_path: Path) -> None:
    """The kernel uses the whole module, whose names are none for new variables."""
    called = (
        "module helpers_mod\nuse constants_mod, only: wp => r_def, r_def, i_def\nimplicit none\n"
        f"{ATTACKS.strip()}\nend module helpers_mod\n"
    )
    (tmp_path / "constants_mod.f90").write_text(KINDS)
    (tmp_path / "helpers_mod.f90").write_text(called)
    finder = ModuleFinder(index_directories((tmp_path,)))
    text = (
        "module small_mod\nuse constants_mod, only: r_def, i_def\nimplicit none\ncontains\n"
        f"subroutine small_code({DUMMIES})\nuse helpers_mod\n{DECLARATIONS}\ninteger :: i\n"
        f"{statements}\nend subroutine small_code\nend module small_mod\n"
    )
    source = SourceText(str(tmp_path / "small_mod.f90"), text)
    code = resolve_code(read_code(source, "small_code"), finder)
    made = inlined(code, finder)
    assert bool(made.remaining) == bool(why)
    if why:
        assert all(why in reason for _, reason in made.remaining)
        assert text_of(made.code) == text_of(code)
        return
    compare(tmp_path, code, lambda _: made.code, given(), called)
