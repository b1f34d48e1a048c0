"""Whole files: every kind of program unit, its contents and its position."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    Routine,
    SourceFile,
    UseStatement,
)
from psyclone_storage.ir.unit import Assign, Call, Comment, Include, Opaque
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file

TEXT = """! head
module m ! a module
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  include 'common.inc'
  integer, parameter :: n = 3, k = 4
  type t
    integer :: a
  contains
    procedure :: go
  end type t
  interface f
    module procedure f1
  end interface
contains
  ! between
  pure real function f1(x) result(y)
    real, intent(in) :: x
    y = x; if (x > 1) return
    y = 2 * x
  end function f1
  subroutine s()
    call inner
  contains
    subroutine inner
    end subroutine
  end subroutine
end module m
submodule (m) sub
contains
  module procedure go
    x = 1
  end procedure
end submodule
program p
  call s()
end
block data
  common /c/ x
end block data
real function g(a)
  a = 2
end
x = 1
end program
"""


def file_of(text: str) -> SourceFile:
    return read_file(SourceText("x.f90", text))


def test_all_units_of_a_file_are_told_apart() -> None:
    found = [(unit.kind, unit.name) for unit in file_of(TEXT).every_unit()]
    assert found == [
        (ScopeKind.MODULE, "m"),
        (ScopeKind.FUNCTION, "f1"),
        (ScopeKind.SUBROUTINE, "s"),
        (ScopeKind.SUBROUTINE, "inner"),
        (ScopeKind.SUBMODULE, "sub"),
        (ScopeKind.SEPARATE, "go"),
        (ScopeKind.PROGRAM, "p"),
        (ScopeKind.BLOCK_DATA, ""),
        (ScopeKind.FUNCTION, "g"),
        (ScopeKind.PROGRAM, ""),
    ]


def test_a_procedure_has_its_arguments_its_result_and_its_statements() -> None:
    _, function, *_ = file_of(TEXT).every_unit()
    assert (function.dummies, function.result) == (("x",), "y")
    assert len(function.specification) == 1
    assert len(function.body) == 3


def test_a_specification_part_is_read_statement_by_statement() -> None:
    module = next(file_of(TEXT).every_unit())
    kinds = [type(item) for item in module.specification]
    assert kinds == [
        Comment, UseStatement, Opaque, Opaque, DeclarationStatement, Opaque, Opaque
    ]  # fmt: skip
    declared = module.specification[4]
    assert isinstance(declared, DeclarationStatement)
    assert [item.name for item in declared.declares] == ["n", "k"]


def test_units_know_their_places() -> None:
    source = SourceText("x.f90", TEXT)
    for unit in read_file(source).every_unit():
        assert unit.extent is not None
        assert unit.end is not None
        assert unit.extent.text.endswith(unit.end.text)
        assert unit.place is None or unit.extent.text.startswith(unit.opening)


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "! comment", "#include 'x'\n", "end", "end if\nend do", "contains", "&", "'",
     "do i = 1, 2", "subroutine", "interface\nsubroutine s", "#else\n#endif\n#endif", "10",
     "if (", "select case (", "module m\ncontains\nsubroutine s", "1 2 3", ";;;",
     "module m\nuse n, only: 1 2\nend"],
)  # fmt: skip
def test_any_text_is_read_to_its_end(text: str) -> None:
    assert isinstance(file_of(text), SourceFile)


def test_two_openings_of_a_conditional_are_one_unit() -> None:
    text = "#ifdef X\nsubroutine s(a)\n#else\nsubroutine s(a, b)\n#endif\nreal a\na = 1\nend\n"
    units = [unit for unit in file_of(text).units if isinstance(unit, Routine)]
    assert [(unit.name, len(unit.specification)) for unit in units] == [("s", 1)]
    assert isinstance(units[0].body[0], Assign)


def test_a_file_may_be_included_between_declarations_and_between_statements() -> None:
    unit = next(file_of("program p\ninclude 'a'\ninteger i\ninclude 'b'\ni = 1\nend").every_unit())
    assert [type(item) for item in unit.specification] == [Opaque, DeclarationStatement]
    assert [type(line) for line in unit.body] == [Include, Assign]


def test_an_unknown_prefix_does_not_hide_a_procedure() -> None:
    (unit,) = file_of("attributes(global) subroutine s(a)\nreal :: a\ncall t\nend").every_unit()
    assert unit.name == "s"
    assert [type(line) for line in walk_lines(unit.body)] == [Call]
