"""Flow of values through the units of whole files, of every kind, without another read."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.analysis.bodies.flow import Flow, flow_of
from psyclone_storage.analysis.bodies.independence import Independence, independence_of
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse import scopes
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder

OTHER = """
module other_mod
  integer, parameter :: last = 9
  real :: shared(99)
  real, pointer :: aliased(:)
  type part
    real :: x(99)
    real, pointer :: p(:)
  end type part
contains
  pure real function twice(x)
    real, intent(in) :: x
    twice = 2.0 * x
  end function twice
end module other_mod
"""

# The scalar `t` belongs to one iteration, and is not read after the loop.
LOOP = "do i = 1, n\n t = b(i)\n a(i) = t\nend do"
DECLARED = "integer :: n, i\nreal :: a(n), b(n), t"

INDEPENDENT = {
    "an external subroutine": (f"subroutine s(a, b, n)\n{DECLARED}\n{LOOP}\nend", "s"),
    "an external function": (
        f"real function f(a, b, n)\n{DECLARED}\n{LOOP}\nf = a(1)\nend function",
        "f",
    ),
    "a program": (
        f"program p\ninteger, parameter :: n = 9\ninteger :: i\nreal :: a(n), b(n), t\n{LOOP}\nend",
        "p",
    ),
    "a program without a name": (
        f"integer, parameter :: n = 9\ninteger :: i\nreal :: a(n), b(n), t\n{LOOP}\nend",
        "",
    ),
    "an internal procedure": (
        (
            f"program p\ncall s()\ncontains\nsubroutine s()\n"
            f"integer, parameter :: n = 9\ninteger :: i\nreal :: a(n), b(n), t\n{LOOP}\nend\nend"
        ),
        "s",
    ),
    "variables of the host": (
        (
            f"subroutine h(a, b, n)\ninteger :: n\nreal :: a(n), b(n)\ncall s()\ncontains\n"
            f"subroutine s()\ninteger :: i\nreal :: t\n{LOOP}\nend\nend"
        ),
        "s",
    ),
    "a procedure of a submodule": (
        f"submodule (x) y\ncontains\nmodule subroutine s(a, b, n)\n{DECLARED}\n{LOOP}\nend\nend",
        "s",
    ),
    "the body of a module procedure": (
        (
            "submodule (x) y\ncontains\nmodule procedure s\ninteger :: i\nreal :: a(9), b(9), t\n"
            f"integer, parameter :: n = 9\n{LOOP}\nend procedure\nend"
        ),
        "s",
    ),
    "a pure function of the module": (
        (
            f"module m\ncontains\nsubroutine s(a, b, n)\n{DECLARED}\n"
            "do i = 1, n\na(i) = g(b(i))\nend do\nend\n"
            "pure real function g(x)\nreal, intent(in) :: x\ng = x\nend\nend"
        ),
        "s",
    ),
    "arrays and types of another module": (
        (
            "subroutine s(d)\nuse other_mod, only: last, shared, part\ntype(part) :: d\n"
            "integer :: i\ndo i = 1, last\n shared(i) = d%x(i)\nend do\nend"
        ),
        "s",
    ),
    "arrays that the host imports": (
        (
            "module m\nuse other_mod, only: shared\ncontains\nsubroutine s(a)\nreal :: a(9)\n"
            "integer :: i\ndo i = 1, 9\n shared(i) = a(i)\nend do\nend\nend"
        ),
        "s",
    ),
    "an associate before the loop": (
        (
            f"subroutine s(a, b, n)\n{DECLARED}\nassociate (q => n)\na(1) = q\nend associate\n"
            f"{LOOP}\nend"
        ),
        "s",
    ),
}

DEPENDENT = {
    "the result of a function": (
        (
            "real function f(a, n)\ninteger :: n, i\nreal :: a(n)\n"
            "do i = 1, n\n f = a(i)\nend do\nend function"
        ),
        "f",
    ),
    "a result that is declared": (
        (
            "function f(a, n)\ninteger :: n, i\nreal :: a(n), f\n"
            "do i = 1, n\n f = a(i)\nend do\nend function"
        ),
        "f",
    ),
    "a result with another name": (
        (
            "function f(a, n) result(R)\ninteger :: n, i\nreal :: a(n), r\n"
            "do i = 1, n\n r = a(i)\nend do\nend function"
        ),
        "f",
    ),
    "a variable that an internal procedure reads": (
        (
            f"subroutine s(a, b, n)\n{DECLARED}\n{LOOP}\ncall show()\ncontains\n"
            "subroutine show()\nprint *, t\nend\nend"
        ),
        "s",
    ),
    "a variable that an internal procedure of an internal procedure could not read": (
        (
            f"program p\ninteger, parameter :: n = 9\ninteger :: i\nreal :: a(n), b(n), t\n{LOOP}\n"
            "call show()\ncontains\nsubroutine show()\ncall more(t)\nend\nend"
        ),
        "p",
    ),
    "a variable of the host": (
        (
            f"program p\ninteger, parameter :: n = 9\nreal :: a(n), b(n), t\ncall s()\ncontains\n"
            f"subroutine s()\ninteger :: i\n{LOOP}\nend\nend"
        ),
        "s",
    ),
    "a variable of the module": (
        (
            f"module m\nreal :: t\ncontains\nsubroutine s(a, b, n)\ninteger :: n, i\n"
            f"real :: a(n), b(n)\n{LOOP}\nend\nend"
        ),
        "s",
    ),
    "an argument of another entry": (
        f"subroutine s(a, b, n)\n{DECLARED}\n{LOOP}\nentry e(t)\nend",
        "s",
    ),
    "declarations in an included file": (
        f"subroutine s(a, b, n)\n{DECLARED}\ninclude 'common.inc'\nreal :: z\n{LOOP}\nend",
        "s",
    ),
    "internal procedures in an included file": (
        (
            f"subroutine s(a, b, n)\n{DECLARED}\n{LOOP}\ncall show()\ncontains\n"
            "include 'show.inc'\nend"
        ),
        "s",
    ),
    "included statements after the loop": (
        f"subroutine s(a, b, n)\n{DECLARED}\n{LOOP}\ninclude 'show.inc'\nend",
        "s",
    ),
    "included statements in the loop": (
        (
            f"subroutine s(a, b, n)\n{DECLARED}\ndo i = 1, n\ninclude 'step.inc'\n"
            "a(i) = b(i)\nend do\nend"
        ),
        "s",
    ),
    "a saved variable": (
        f"subroutine s(a, b, n)\n{DECLARED}\nsave t\n{LOOP}\nend",
        "s",
    ),
    "a common block of the host": (
        (
            "subroutine h(b, n)\ninteger :: n\nreal :: b(n), a(9), c(9)\nequivalence (a, c(2))\n"
            "call s()\ncontains\nsubroutine s()\ninteger :: i\ndo i = 1, 8\na(i) = c(i)\nend do\n"
            "end\nend"
        ),
        "s",
    ),
    "an internal procedure with the name of a pure one": (
        (
            f"module m\nreal :: last\ncontains\nsubroutine s(a, b, n)\n{DECLARED}\n"
            "do i = 1, n\na(i) = g(b(i))\nend do\ncontains\n"
            "real function g(x)\nreal :: x\ng = last\nlast = x\nend\nend\n"
            "pure real function g(x)\nreal, intent(in) :: x\ng = x\nend\nend"
        ),
        "s",
    ),
    "an external function with the name of a pure one": (
        (
            f"module m\ncontains\nsubroutine s(a, b, n)\n{DECLARED}\nreal, external :: g\n"
            "do i = 1, n\na(i) = g(b(i))\nend do\nend\n"
            "pure real function g(x)\nreal, intent(in) :: x\ng = x\nend\nend"
        ),
        "s",
    ),
    "a pointer of another module": (
        (
            "subroutine s(a)\nuse other_mod, only: aliased\nreal, target :: a(9)\ninteger :: i\n"
            "do i = 1, 8\n aliased(i) = a(i + 1)\nend do\nend"
        ),
        "s",
    ),
    "a pointer component of another module": (
        (
            "subroutine s(a, d)\nuse other_mod, only: part\nreal, target :: a(9)\ntype(part) :: d\n"
            "integer :: i\ndo i = 1, 8\n d%p(i) = a(i + 1)\nend do\nend"
        ),
        "s",
    ),
    "a name that is not known": (
        (
            "subroutine s(a, n)\nuse missing_mod\ninteger :: n, i\nreal, target :: a(n)\n"
            "do i = 1, n\n lost(i) = a(i + 1)\nend do\nend"
        ),
        "s",
    ),
    "a recursive call": (
        (
            "recursive function f(a, n) result(r)\ninteger :: n, i\nreal :: a(n), r\nr = 0.0\n"
            "do i = 1, n\n a(i) = f(a, i)\nend do\nend"
        ),
        "f",
    ),
}


@pytest.fixture
def finder(tmp_path: Path) -> ModuleFinder:
    """Return a finder of the module that the units import."""
    (tmp_path / "other_mod.f90").write_text(OTHER)
    return ModuleFinder(index_directories((tmp_path,)))


def flow_in(text: str, name: str, finder: ModuleFinder) -> Flow:
    file = link_file(read_file(SourceText("x.f90", text)), finder)
    return flow_of(next(unit for unit in file.every_unit() if unit.name == name))


def found(text: str, name: str, finder: ModuleFinder) -> Independence:
    flow = flow_in(text, name, finder)
    return independence_of(flow.loops[0], flow)


@pytest.mark.parametrize(("text", "name"), INDEPENDENT.values(), ids=INDEPENDENT)
def test_units_whose_iterations_are_independent(text: str, name: str, finder: ModuleFinder) -> None:
    loop = found(text, name, finder)
    assert [reason.message for reason in loop.reasons] == []
    assert loop.private == (("t",) if "t = b(i)" in text else ())


@pytest.mark.parametrize(("text", "name"), DEPENDENT.values(), ids=DEPENDENT)
def test_units_whose_iterations_depend_on_each_other(
    text: str, name: str, finder: ModuleFinder
) -> None:
    assert found(text, name, finder).reasons


def test_the_result_of_a_function_may_be_a_sum(finder: ModuleFinder) -> None:
    text = "real function f(a)\nreal :: a(9)\ninteger :: i\nf = 0.0\ndo i = 1, 9\nf = f + a(i)\n"
    loop = found(f"{text}end do\nend", "f", finder)
    assert loop.reasons == ()
    assert [one.name for one in loop.reductions] == ["f"]


def test_loops_have_different_uids(finder: ModuleFinder) -> None:
    text = f"subroutine s(a, b, n)\n{DECLARED}\n{LOOP}\n{LOOP}\nend"
    uids = [node.line.uid for node in flow_in(text, "s", finder).loops]
    assert len(set(uids)) == 2
    assert all(uids)


def test_a_file_is_scanned_once(finder: ModuleFinder, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    scan = scopes.scan
    monkeypatch.setattr(scopes, "scan", lambda source: texts.append(source.name) or scan(source))
    text = f"module m\ncontains\nsubroutine once(a, b, n)\n{DECLARED}\n{LOOP}\nend\nend"
    flow_in(text, "once", finder)
    assert texts.count("x.f90") == 1
