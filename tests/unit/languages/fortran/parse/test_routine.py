"""Interfaces of subroutines: dummy arguments, declarations and uses in scope."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.parsed import ParsedRoutine
from psyclone_storage.languages.fortran.parse.routine import read_routine

TEXT = """
module k_mod
  use constants_mod, only: r_def
  integer, parameter :: n = 3
  integer :: state
contains
  subroutine first(a)
    real :: a
  end subroutine first
  pure subroutine K_Code(nlayers, & ! layers
                         x, y) bind(c)
    use kinds_mod
    implicit none
    integer, intent(in) :: nlayers
#ifdef X
    real(r_def), dimension(n), intent(inout) :: x
#endif
    integer, parameter :: m = 2
    real :: local(m)
    interface
      subroutine f(z)
        real :: z
      end subroutine
    end interface
    x(1) = 0
    integer :: behind
  end subroutine k_code
end module
"""


def read(name: str, text: str = TEXT) -> ParsedRoutine:
    return read_routine(SourceText("k_mod.f90", text), name)


def test_interface_of_a_subroutine() -> None:
    routine = read("k_code")
    assert routine.name == "K_Code"
    assert routine.dummies == ("nlayers", "x", "y")
    assert [each.name for each in routine.declarations] == ["nlayers", "x", "m", "local", "n"]
    assert [use.module for use in routine.uses] == ["kinds_mod", "constants_mod"]
    assert routine.span.text.startswith("pure subroutine K_Code")
    x = routine.declarations[1]
    assert (x.intent, [spell(part) for part in x.shape]) == ("inout", ["n"])


def test_subroutine_without_statements() -> None:
    assert read("first").dummies == ("a",)


def test_body_is_not_read() -> None:
    broken = TEXT.replace("integer :: behind", "real(+) :: behind")
    assert read("k_code", broken).dummies == ("nlayers", "x", "y")


def test_broken_declaration_is_reported() -> None:
    with pytest.raises(CompileError) as caught:
        read("k_code", TEXT.replace("real :: local(m)", "real :: local(m +)"))
    (problem,) = caught.value.problems
    assert problem.code == "P008"


def test_missing_subroutine() -> None:
    with pytest.raises(CompileError) as caught:
        read("k_cods")
    (problem,) = caught.value.problems
    assert (problem.code, problem.hint) == ("P048", "Did you mean 'k_code'?")
