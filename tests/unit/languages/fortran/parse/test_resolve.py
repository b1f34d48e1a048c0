"""Names of a kernel: where they come from, and what their brackets mean."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import (
    CallFunction,
    Element,
    Extents,
    ImpliedDo,
    Index,
    Name,
    Origin,
    Range,
    Section,
    Sort,
    StructureConstructor,
    Substring,
    Unresolved,
    spell,
    walk,
)
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Associate,
    Control,
    Declare,
    Do,
    DoConcurrent,
    InputOutput,
    Line,
    ScopedBlock,
)
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.module_symbols import read_module_symbols
from psyclone_storage.languages.fortran.parse.reader import read_expression
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder

KERNEL = """
module k_mod
  use types_mod, only: box, r_def, tall => tall_function, one_d
  use whole_mod
  use lost_mod, only: lost
  implicit none
  real(r_def), parameter :: half = 0.5_r_def
  real(r_def) :: kept(3)
contains
  subroutine k_code(n, map, field, things, name, outside)
    integer, intent(in) :: n
    integer, intent(in) :: map(n)
    real(r_def), intent(inout) :: field(n)
    type(box), intent(in) :: things(2)
    character(len=8), intent(in) :: name(2)
    real(r_def), external :: outside
    real(r_def) :: local(n, 2)
    real(r_def) :: scalar
    integer :: i
    dimension i(3)
{body}
  end subroutine k_code
  function helper(x) result(y)
    real(r_def) :: x, y(2)
    y = x
  end function helper
end module k_mod
"""
TYPES = """
module types_mod
  use kinds_mod, only: r_def
  implicit none
  private
  public :: box, r_def, tall_function, one_d
  type :: base
    real(r_def) :: inherited(4)
  end type base
  type, extends(base) :: box
    real(r_def), allocatable :: values(:)
    real(r_def) :: scalar
    procedure(f), pointer, nopass :: callback
  contains
    procedure :: size_of
    procedure, private :: get_a
    generic :: get => get_a
  end type box
  real(r_def) :: one_d(5)
  real(r_def) :: secret(5)
contains
  elemental function tall_function(x)
    real(r_def), intent(in) :: x
    real(r_def) :: tall_function
    tall_function = x
  end function tall_function
end module types_mod
"""
WHOLE = """
module whole_mod
  use kinds_mod, only: wp => r_def
  use types_mod
  interface any_of
    module procedure one_of, two_of
  end interface any_of
  interface
    subroutine c_routine(a)
      real :: a
    end subroutine c_routine
  end interface
  enum, bind(c)
    enumerator :: red = 1, blue
  end enum
  logical :: flags(3)
contains
  integer function one_of(i)
    integer :: i
  end function one_of
  real function two_of(x)
    real :: x
  end function two_of
end module whole_mod
"""
KINDS = """
module kinds_mod
  use iso_fortran_env, only: real64
  integer, parameter :: r_def = real64
end module kinds_mod
"""


@pytest.fixture
def finder(tmp_path: Path) -> ModuleFinder:
    for name, text in (("types_mod", TYPES), ("whole_mod", WHOLE), ("kinds_mod", KINDS)):
        (tmp_path / f"{name}.f90").write_text(text, encoding="utf-8")
    return ModuleFinder(index_directories((tmp_path,)))


def resolved(body: str, finder: ModuleFinder) -> Routine:
    source = SourceText("k_mod.f90", KERNEL.format(body=body))
    return resolve_code(read_code(source, "k_code"), finder)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("field(map(1) + 1)", Element),
        ("FIELD(MAP(1))", Element),
        ("field(2:n)", Section),
        ("field(map)", Section),
        ("field(map(1:2))", Section),
        ("field(lost(1))", Section),
        ("local(:, 1)", Section),
        ("local(1)", Unresolved),
        ("kept(2)", Element),
        ("one_d(3)", Element),
        ("flags(2)", Element),
        ("tall(half)", CallFunction),
        ("any_of(2)", CallFunction),
        ("helper(half)", CallFunction),
        ("outside(half)", CallFunction),
        ("scalar(half)", CallFunction),
        ("max(half, 1.0)", CallFunction),
        ("lost(1)", Unresolved),
        ("nowhere(1)", Unresolved),
        ("secret(1)", Unresolved),
        ("i(1)", Unresolved),
        ("name(1)(2:3)", Substring),
        ("'abc'(1:2)", Substring),
        ("name(1)", Element),
        ("things(1)%values(2)", Element),
        ("things(1)%inherited(:)", Section),
        ("things(1)%size_of(3)", CallFunction),
        ("things(1)%get(3)", CallFunction),
        ("things(1)%callback(3)", CallFunction),
        ("things(1)%scalar(3)", Unresolved),
        ("things(1)%absent(3)", Unresolved),
        ("box(scalar=1.0)", StructureConstructor),
    ],
)
def test_what_brackets_mean(text: str, kind: type[Index], finder: ModuleFinder) -> None:
    code = resolved(f"    scalar = {text}\n", finder)
    _, value = expressions_of(code.body[0])
    assert type(value) is kind
    assert spell(value) == text


@pytest.mark.parametrize(
    ("name", "origin", "sort"),
    [
        ("N", Origin.DUMMY, Sort.VARIABLE),
        ("local", Origin.LOCAL, Sort.VARIABLE),
        ("outside", Origin.DUMMY, Sort.FUNCTION),
        ("half", Origin.HOST, Sort.CONSTANT),
        ("kept", Origin.HOST, Sort.VARIABLE),
        ("helper", Origin.HOST, Sort.FUNCTION),
        ("one_d", Origin.IMPORTED, Sort.VARIABLE),
        ("tall", Origin.IMPORTED, Sort.FUNCTION),
        ("any_of", Origin.IMPORTED, Sort.FUNCTION),
        ("blue", Origin.IMPORTED, Sort.CONSTANT),
        ("r_def", Origin.IMPORTED, Sort.CONSTANT),
        ("sqrt", Origin.INTRINSIC, Sort.FUNCTION),
        ("lost", Origin.UNRESOLVED, Sort.UNKNOWN),
        ("secret", Origin.UNRESOLVED, Sort.UNKNOWN),
        ("nowhere", Origin.UNRESOLVED, Sort.UNKNOWN),
    ],
)
def test_where_names_come_from(name: str, origin: Origin, sort: Sort, finder: ModuleFinder) -> None:
    uses = "kept + one_d + tall(half) + any_of(blue) + sqrt(lost) + helper(secret) + nowhere"
    code = resolved(f"    scalar = n + local + outside({uses})\n", finder)
    found = code.symbol(name)
    assert (found.key, found.origin, found.sort) == (name.lower(), origin, sort)


def test_a_symbol_says_what_its_module_says(finder: ModuleFinder) -> None:
    code = resolved("    scalar = one_d(1) + tall(1.0_r_def)\n", finder)
    found = code.symbol("tall")
    assert (found.key, found.name, found.module) == ("tall", "tall_function", "types_mod")
    variable = code.symbol("ONE_D")
    assert variable.type == ScalarType(Intrinsic.REAL, "r_def")
    assert (variable.rank, variable.home_of_kind) == (1, ("kinds_mod", "r_def"))
    assert code.structure(DerivedType("box", "types_mod")) is None


def kinds_in(lines: tuple[Line, ...]) -> dict[str, type[Index]]:
    return {
        spell(part): type(part)
        for line in walk_lines(lines)
        for expr in expressions_of(line)
        for part in walk(expr)
        if isinstance(part, Index)
    }


def test_a_name_that_a_block_declares_again_is_in_doubt(finder: ModuleFinder) -> None:
    code = read_code(SourceText("k_mod.f90", KERNEL.format(body="")), "k_code")
    twice = Declare("kept", ScalarType(Intrinsic.REAL), shape=(Range(), Range()))
    inner = Assign(Name("scalar"), read_expression("kept(1, 2)"))
    outer = Assign(Name("scalar"), read_expression("kept(1) + one_d(1)"))
    block = ScopedBlock((), (twice,), (inner,))
    found = resolve_code(replace(code, body=(block, outer)), finder).body
    assert kinds_in(found) == {"kept(1, 2)": Unresolved, "kept(1)": Unresolved, "one_d(1)": Element}


def test_a_name_of_an_associate_construct_stands_for_what_it_names(finder: ModuleFinder) -> None:
    code = read_code(SourceText("k_mod.f90", KERNEL.format(body="")), "k_code")
    pairs = (("Short", "things(1)%values"), ("also", "map(1)"), ("lots", "lost"), ("n", "map"))
    inner = Assign(Name("scalar"), read_expression("short(also) + lots(1) + n(1)"))
    line = Associate(tuple((Name(name), read_expression(text)) for name, text in pairs), (inner,))
    found = resolve_code(replace(code, body=(line,)), finder).body
    kinds = kinds_in(found[0].body)
    assert kinds == {"short(also)": Element, "lots(1)": Unresolved, "n(1)": Unresolved}


def test_counters_and_associated_names_have_symbols(finder: ModuleFinder) -> None:
    code = read_code(SourceText("k_mod.f90", KERNEL.format(body="")), "k_code")
    printed = InputOutput("print", (), (ImpliedDo((Name("n"),), Name("n"), Name("n"), Name("n")),))
    counted = Do(Name("N"), Name("n"), Name("n"), (printed,))
    together = DoConcurrent((Control(Name("n"), Name("n"), Name("n")),), ())
    named = Associate(((Name("also"), read_expression("map(1)")),), (counted, together))
    (found,) = resolve_code(replace(code, body=(named,)), finder).body
    assert isinstance(found, Associate)
    loop, other = found.body
    assert isinstance(loop, Do)
    assert isinstance(other, DoConcurrent)
    (shown,) = expressions_of(loop.body[0])
    assert isinstance(shown, ImpliedDo)
    for name in (loop.variable, other.controls[0].variable, shown.variable):
        assert name.symbol is not None
        assert (name.symbol.key, name.symbol.origin) == ("n", Origin.DUMMY)
    ((also, _),) = found.pairs
    assert also.symbol is not None
    assert also.symbol.type == ScalarType(Intrinsic.INTEGER)


def test_extents_in_an_allocation_are_no_subscripts(finder: ModuleFinder) -> None:
    code = resolved("    allocate(local(map(1), 2))\n", finder)
    (array,) = expressions_of(code.body[0])
    assert type(array) is Extents
    assert isinstance(array, Index)
    assert type(array.items[0]) is Element


def test_without_modules_nothing_is_guessed(tmp_path: Path) -> None:
    finder = ModuleFinder(index_directories((tmp_path,)))
    code = resolved("    scalar = one_d(1) + tall(half) + flags(2) + field(1)\n", finder)
    parts = [part for expr in expressions_of(code.body[0]) for part in walk(expr)]
    kinds = {spell(part): type(part) for part in parts if isinstance(part, Index)}
    assert kinds == {
        "one_d(1)": Unresolved,
        "tall(half)": Unresolved,
        "flags(2)": Unresolved,
        "field(1)": Element,
    }


def test_modules_that_import_each_other_are_no_trap(tmp_path: Path) -> None:
    for one, other in (("a_mod", "b_mod"), ("b_mod", "a_mod")):
        text = f"module {one}\n use {other}\n integer :: of_{one}(2)\nend module {one}\n"
        (tmp_path / f"{one}.f90").write_text(text, encoding="utf-8")
    finder = ModuleFinder(index_directories((tmp_path,)))
    for module in ("a_mod", "b_mod"):
        for name in ("of_a_mod", "of_b_mod"):
            found = finder.offered(module, name)
            assert found is not None
            assert found.rank == 1
        assert finder.offered(module, "absent") is None


def test_a_file_that_is_included_may_declare_any_name(tmp_path: Path) -> None:
    (tmp_path / "a_mod.f90").write_text(
        "module a_mod\n include 'more.h'\nend module a_mod\n", encoding="utf-8"
    )
    found = ModuleFinder(index_directories((tmp_path,))).offered("a_mod", "any")
    assert found is not None
    assert not found.is_resolved


def test_modules_of_the_language_are_known(tmp_path: Path) -> None:
    finder = ModuleFinder(index_directories((tmp_path,)))
    sorts = [
        found.sort if (found := finder.offered(module, name)) else None
        for module, name in (
            ("iso_fortran_env", "real64"),
            ("iso_c_binding", "c_loc"),
            ("iso_c_binding", "c_ptr"),
            ("ieee_arithmetic", "ieee_is_nan"),
        )
    ]
    assert sorts == [Sort.CONSTANT, Sort.FUNCTION, Sort.TYPE, Sort.FUNCTION]


def test_what_a_module_declares() -> None:
    (found,) = read_module_symbols(SourceText("whole_mod.f90", WHOLE))
    sorts = {key: symbol.sort for key, symbol in found.symbols.items()}
    assert sorts == {
        "flags": Sort.VARIABLE,
        "one_of": Sort.FUNCTION,
        "two_of": Sort.FUNCTION,
        "any_of": Sort.FUNCTION,
        "c_routine": Sort.SUBROUTINE,
        "red": Sort.CONSTANT,
        "blue": Sort.CONSTANT,
    }
    assert found.symbols["one_of"].type == ScalarType(Intrinsic.INTEGER)


def test_what_a_module_hides() -> None:
    (found,) = read_module_symbols(SourceText("types_mod.f90", TYPES))
    assert found.hidden("secret")
    assert not found.hidden("one_d")


@pytest.mark.parametrize(
    ("outer", "inner", "origin", "module"),
    [
        ("use known_mod", "use gone_mod", Origin.UNRESOLVED, "gone_mod"),
        ("use known_mod", "use gone_mod, only : other", Origin.IMPORTED, "known_mod"),
        ("use gone_mod", "", Origin.UNRESOLVED, "gone_mod"),
        ("use known_mod", "", Origin.IMPORTED, "known_mod"),
    ],
)
def test_a_missing_module_may_hide_an_import_of_the_module_around(
    outer: str, inner: str, origin: Origin, module: str, tmp_path: Path
) -> None:
    known = "module known_mod\n  integer, parameter :: width = 3\nend module known_mod\n"
    (tmp_path / "known_mod.f90").write_text(known)
    lines = ("module k_mod", outer, "contains", "subroutine k(a)", inner, "real :: a", "a = width")
    text = "\n".join((*lines, "end subroutine k", "end module k_mod", ""))
    (tmp_path / "k_mod.f90").write_text(text)
    finder = ModuleFinder(index_directories([tmp_path]))
    symbol = resolve_code(read_code(SourceText("k_mod.f90", text), "k"), finder).symbol("width")
    assert symbol is not None
    assert (symbol.origin, symbol.module) == (origin, module)
