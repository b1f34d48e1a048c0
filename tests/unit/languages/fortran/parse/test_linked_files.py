"""Names in whole files: what they stand for in each kind of unit, and what their brackets mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import (
    CallFunction,
    Expr,
    Index,
    Member,
    Name,
    Origin,
    Sort,
    Symbol,
    spell,
    walk,
)
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.routine import DeclarationStatement, Routine, SourceFile
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.print.edit_script import emit_changed
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder

TYPES = """
module types_mod
  type point
    real :: at(3)
  contains
    procedure :: length
  end type point
  real :: table(10)
  real, private :: hidden(2)
contains
  real function length(self)
    class(point) :: self
    length = self%at(1)
  end function length
  real function outside(x)
    real :: x
    outside = x
  end function outside
end module types_mod
"""

PARENT = """
module parent_mod
  use types_mod, only: point
  real, private :: kept(4)
  interface
    module subroutine work(n)
      integer :: n
    end subroutine work
  end interface
end module parent_mod
"""

FILE = """
module m
  use types_mod, only: point, table
  real :: own(5)
contains
  subroutine s(a, n, f)
    use types_mod, only: other => outside
    integer, intent(in) :: n
    real :: a(n), scalar
    real, external :: f
    type(point) :: p
    a(1) = own(2) + table(n) + other(1.0)
    a(2) = f(1.0) + sqrt(a(1)) + p%at(2) + p%length()
    a(3) = point(a(1:3))%at(1) + twice(3.0) + lost(1)
    own(1:2) = inner(4)
  contains
    real function inner(table)
      integer :: table
      real :: sqrt(2)
      inner = own(1) + table + a(1) + sqrt(1) + scalar
    end function inner
  end subroutine s
  real function twice(x)
    real :: x
    twice = 2 * x
  end function twice
end module m
"""


@pytest.fixture
def finder(tmp_path: Path) -> ModuleFinder:
    """Return what finds the modules that the texts of this file import."""
    (tmp_path / "types_mod.f90").write_text(TYPES)
    (tmp_path / "parent_mod.f90").write_text(PARENT)
    return ModuleFinder(index_directories((tmp_path,)))


def linked(text: str, finder: ModuleFinder) -> SourceFile:
    return link_file(read_file(SourceText("x.f90", text)), finder)


def unit(file: SourceFile, name: str) -> Routine:
    return next(one for one in file.every_unit() if one.name == name)


def parts(one: Routine) -> list[Expr]:
    lines = walk_lines(one.body)
    return [part for line in lines for expr in expressions_of(line) for part in walk(expr)]


def brackets(one: Routine) -> dict[str, str]:
    """Return what the brackets in a unit are, by their text."""
    return {spell(part): type(part).__name__ for part in parts(one) if isinstance(part, Index)}


def symbols(one: Routine) -> dict[str, Symbol]:
    found = {part.text: part.symbol for part in parts(one) if isinstance(part, Name)}
    assert None not in found.values()
    return {text: symbol for text, symbol in found.items() if symbol is not None}


def test_brackets_in_a_procedure_of_a_module(finder: ModuleFinder) -> None:
    assert brackets(unit(linked(FILE, finder), "s")) == {
        "a(1)": "Element",
        "a(2)": "Element",
        "a(3)": "Element",
        "a(1:3)": "Section",
        "own(2)": "Element",
        "own(1:2)": "Section",
        "table(n)": "Element",
        "other(1.0)": "CallFunction",
        "f(1.0)": "CallFunction",
        "sqrt(a(1))": "CallFunction",
        "p%at(2)": "Element",
        "p%length()": "CallFunction",
        "point(a(1:3))": "StructureConstructor",
        "point(a(1:3))%at(1)": "Element",
        "twice(3.0)": "CallFunction",
        "lost(1)": "Unresolved",
        "inner(4)": "CallFunction",
    }


def test_where_names_come_from(finder: ModuleFinder) -> None:
    file = linked(FILE, finder)
    outer, inner = symbols(unit(file, "s")), symbols(unit(file, "inner"))
    assert outer["a"].origin is Origin.DUMMY
    assert outer["own"].origin is Origin.HOST
    assert (outer["table"].origin, outer["table"].module) == (Origin.IMPORTED, "types_mod")
    assert outer["sqrt"].origin is Origin.INTRINSIC
    assert outer["lost"].origin is Origin.UNRESOLVED
    assert (inner["a"].origin, inner["scalar"].origin) == (Origin.HOST, Origin.HOST)
    assert inner["table"].origin is Origin.DUMMY
    assert (inner["sqrt"].origin, inner["sqrt"].rank) == (Origin.LOCAL, 1)
    assert inner["inner"].sort is Sort.VARIABLE


def test_a_main_program_and_a_procedure_beside_it(finder: ModuleFinder) -> None:
    text = (
        "program p\n  use types_mod\n  real :: x(2)\n  x(1) = table(1) + hidden(1)\n"
        "  call free(x(1))\nend program p\n"
        "subroutine free(y)\n  real :: y\n  y = abs(y) + table(1)\nend subroutine free\n"
    )
    file = linked(text, finder)
    assert brackets(unit(file, "p")) == {
        "x(1)": "Element",
        "table(1)": "Element",
        "hidden(1)": "Unresolved",
    }
    assert brackets(unit(file, "free")) == {"abs(y)": "CallFunction", "table(1)": "Unresolved"}


def test_a_submodule_sees_what_its_module_declares_and_imports(finder: ModuleFinder) -> None:
    text = (
        "submodule (parent_mod) below\n  real :: mine(3)\ncontains\n"
        "  module subroutine work(n)\n    integer :: n\n    type(point) :: p\n"
        "    mine(n) = kept(n) + p%at(1) + table(1)\n  end subroutine work\nend submodule below\n"
    )
    assert brackets(unit(linked(text, finder), "work")) == {
        "mine(n)": "Element",
        "kept(n)": "Element",
        "p%at(1)": "Element",
        "table(1)": "Unresolved",
    }


@pytest.mark.parametrize(
    ("declared", "text", "kind"),
    [
        ("real :: x\n  dimension x(3)", "x(1)", "Unresolved"),
        ("real :: x\n  common /c/ x(3)", "x(1)", "Unresolved"),
        ("real, dimension(3) :: x\n  save x", "x(1)", "Element"),
        ("type t\n    real :: x(2)\n  end type\n  real :: x(3)\n  type(t) :: y", "x(1)", "Element"),
        ("type t\n    real :: x(2)\n  end type\n  type(t) :: y", "y%x(1)", "Element"),
        ("real, external :: x", "x(1)", "CallFunction"),
        ("interface\n    real function x(i)\n    end function\n  end interface", "x(1)",
         "CallFunction"),
        ("character(len=4) :: x", "x(1:2)", "Substring"),
    ],
)  # fmt: skip
def test_what_a_statement_of_its_own_may_say(
    declared: str, text: str, kind: str, finder: ModuleFinder
) -> None:
    file = linked(f"subroutine s\n  {declared}\n  z = {text}\nend subroutine s\n", finder)
    assert brackets(unit(file, "s"))[text] == kind


@pytest.mark.parametrize(
    ("use", "origin"),
    [("use absent", Origin.INTRINSIC), ("use absent, only: sqrt", Origin.UNRESOLVED)],
)
def test_functions_of_the_language_beside_a_module_that_is_not_there(
    use: str, origin: Origin, finder: ModuleFinder
) -> None:
    inner = "contains\n  real function f(x)\n    f = sqrt(x)\n  end function f\n"
    file = linked(f"module m\n  {use}\n{inner}end module m\n", finder)
    assert symbols(unit(file, "f"))["sqrt"].origin is origin


@pytest.mark.parametrize(
    "head",
    [
        "submodule (absent_mod) below",
        "submodule (parent_mod:between) below",
        "module m\n  include 'absent.inc'",
        "module m\n  use types_mod, only: sqrt => length",
    ],
)
def test_what_is_not_read_may_have_any_name(head: str, finder: ModuleFinder) -> None:
    inner = "contains\n  real function f(x)\n    f = sqrt(x)\n  end function f\n"
    kind = head.split(maxsplit=1)[0]
    file = linked(f"{head}\n{inner}end {kind}\n", finder)
    expected = Origin.IMPORTED if "types_mod" in head else Origin.UNRESOLVED
    assert symbols(unit(file, "f"))["sqrt"].origin is expected


def test_an_inner_file_that_is_not_read_may_have_any_name(finder: ModuleFinder) -> None:
    text = (
        "module m\ncontains\n  real function f(x)\n    include 'absent.inc'\n    f = sqrt(x)\n"
        "  end function f\n  real function g(x)\n    g = sqrt(x)\n  end function g\nend module m\n"
    )
    file = linked(text, finder)
    assert brackets(unit(file, "f")) == {"sqrt(x)": "Unresolved"}
    assert brackets(unit(file, "g")) == {"sqrt(x)": "CallFunction"}


def test_a_renamed_name_is_not_imported_by_its_own(finder: ModuleFinder) -> None:
    text = (
        "program p\n  use types_mod, list => table\n  real :: x(2)\n"
        "  x(1) = list(1) + table(1)\nend program p\n"
    )
    found = brackets(unit(linked(text, finder), "p"))
    assert (found["list(1)"], found["table(1)"]) == ("Element", "Unresolved")


def test_names_of_associate_constructs(finder: ModuleFinder) -> None:
    text = (
        "subroutine s(p)\n  use types_mod, only: point\n  type(point) :: p\n"
        "  associate (q => p%at)\n    q(1) = 1.0\n  end associate\nend subroutine s\n"
    )
    file = linked(text, finder)
    assert brackets(unit(file, "s"))["q(1)"] == "Element"
    members = [part for part in parts(unit(file, "s")) if isinstance(part, Member)]
    assert members
    assert all(part.symbol is not None and part.symbol.rank == 1 for part in members)


@pytest.mark.parametrize("text", ["", "! nothing\n", "x = 1\nend\n", "#if A\nend\n#endif\n", FILE])
def test_a_linked_file_is_printed_as_it_was_read(text: str, finder: ModuleFinder) -> None:
    file = linked(text, finder)
    assert emit_changed(file, file) == text


def test_a_main_program_without_its_first_statement(finder: ModuleFinder) -> None:
    file = linked("use types_mod\nreal :: x(2)\nx(1) = table(1)\nend\n", finder)
    (one,) = file.every_unit()
    assert brackets(one) == {"x(1)": "Element", "table(1)": "Element"}


def test_names_in_declarations(finder: ModuleFinder) -> None:
    text = "subroutine s(n)\n  integer :: n\n  real :: a(n), b(size(a))\nend subroutine s\n"
    (one,) = linked(text, finder).every_unit()
    items = [item for item in one.specification if isinstance(item, DeclarationStatement)]
    shapes = {each.name: each.shape for item in items for each in item.declares}
    (extent,), (called,) = shapes["a"], shapes["b"]
    assert isinstance(extent, Name)
    assert extent.symbol is not None
    assert extent.symbol.origin is Origin.DUMMY
    assert isinstance(called, CallFunction)


def test_a_type_of_the_module_around_is_that_of_the_file(finder: ModuleFinder) -> None:
    text = (
        "module types_mod\ntype point\nreal :: at(3, 2)\nend type point\ncontains\n"
        "subroutine s(p)\ntype(point) :: p\np%at(1, 2) = 0.0\nend subroutine s\n"
        "end module types_mod\n"
    )
    one = unit(linked(text, finder), "s")
    assert brackets(one) == {"p%at(1, 2)": "Element"}
