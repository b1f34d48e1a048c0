"""Modules in folders of include files, and what modules include."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.affine import integer_constant
from psyclone_storage.ir.expr import Name, Sort, Symbol
from psyclone_storage.ir.unit import Imported, Use
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.compile import CompileRequest, make_compiler


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def module(name: str, *lines: str) -> str:
    return "\n".join((f"module {name}", *lines, f"end module {name}", ""))


def finder(*directories: Path, folders: tuple[Path, ...] = ()) -> ModuleFinder:
    return ModuleFinder(index_directories(directories, folders))


def rank(found: Symbol | None) -> int | None:
    return found.rank if found is not None and found.is_resolved else None


def test_a_module_is_found_in_a_folder_of_include_files_but_not_below_it(tmp_path: Path) -> None:
    near = written(tmp_path / "near", "Near_mod.F90", module("near_mod", "real :: a(3, 3)"))
    written(near / "deep", "deep_mod.f90", module("deep_mod", "real :: b(3)"))
    looking = finder(folders=(tmp_path / "absent", near))
    assert rank(looking.offered("near_mod", "A")) == 2
    assert rank(looking.offered("deep_mod", "b")) is None
    assert rank(finder().offered("near_mod", "a")) is None


def test_directories_come_before_folders_and_folders_in_their_order(tmp_path: Path) -> None:
    folders = [
        written(tmp_path / f"f{rank}", "one_mod.f90", module("one_mod", f"real :: a({shape})"))
        for rank, shape in enumerate(("1", "1, 2", "1, 2, 3"))
    ]
    assert rank(finder(folders[2], folders=(folders[0],)).offered("one_mod", "a")) == 3
    assert rank(finder(folders=(folders[1], folders[0])).offered("one_mod", "a")) == 2


def test_what_a_module_includes_it_declares(tmp_path: Path) -> None:
    text = module("one_mod", "include 'Beside.h'", "real :: mine", 'include "far.h"')
    own = written(tmp_path / "own", "one_mod.f90", text)
    written(own, "Beside.h", "integer, parameter :: n = 3\nreal :: mine(7)\n")
    far = written(tmp_path / "far", "far.h", "include 'more.h'\nreal :: c(4)\n")
    written(far, "more.h", "real :: d(2, 2)\n")
    whole, part = finder(own, folders=(far,)), finder(own)
    found = whole.offered("one_mod", "n")
    assert found is not None
    assert found.sort is Sort.CONSTANT
    assert [rank(whole.offered("one_mod", name)) for name in ("c", "d", "mine")] == [1, 2, 0]
    assert whole.offered("one_mod", "nothing") is None
    lost = part.offered("one_mod", "nothing")
    assert lost is not None
    assert not lost.is_resolved
    assert rank(part.offered("one_mod", "n")) == 0


@pytest.mark.parametrize("name", ["itself.h", "other.h"])
def test_files_that_include_each_other_are_no_trap(name: str, tmp_path: Path) -> None:
    written(tmp_path, "one_mod.f90", module("one_mod", "include 'itself.h'"))
    written(tmp_path, "itself.h", f"real :: a(2)\ninclude '{name}'\n")
    written(tmp_path, "other.h", "include 'itself.h'\n")
    looking = finder(tmp_path)
    assert rank(looking.offered("one_mod", "a")) == 1
    lost = looking.offered("one_mod", "b")
    assert lost is not None
    assert not lost.is_resolved


def test_the_module_around_a_kernel_includes_too(tmp_path: Path) -> None:
    written(tmp_path, "kinds.h", "real :: table(5)\n")
    source = SourceText(str(tmp_path / "k_mod.f90"), module("k_mod", "include 'kinds.h'"))
    found = finder().of_source(source, "K_mod")
    assert found is not None
    assert found.symbols["table"].rank == 1
    assert found.included == ()


def test_the_command_hands_its_folders_on(tmp_path: Path) -> None:
    near = written(tmp_path, "near_mod.f90", module("near_mod", "real :: a(3)"))
    made = make_compiler(default_settings(), CompileRequest("gocean", includes=(near,)))
    assert rank(made.kernels._modules.offered("near_mod", "a")) == 1


@pytest.mark.parametrize("used", ["iso_c_binding", "ieee_arithmetic", "behind_mod"])
def test_a_module_of_the_language_gives_its_own_names_only(used: str, tmp_path: Path) -> None:
    (tmp_path / "behind_mod.f90").write_text(
        "module behind_mod\n  use iso_c_binding\n  use iso_fortran_env\nend module behind_mod\n"
    )
    (tmp_path / "state_mod.f90").write_text(
        "module state_mod\n  integer :: count\nend module state_mod\n"
    )
    finder = ModuleFinder(index_directories((tmp_path,)))
    uses = (Use(used, (), whole=True), Use("state_mod", (), whole=True))
    found = finder.imported(uses, "count")
    assert found is not None
    assert (found.sort, found.module) == (Sort.VARIABLE, "state_mod")
    assert finder.imported(uses[:1], "sqrt") is None


@pytest.mark.parametrize(
    ("module", "name", "sort"),
    [
        ("iso_c_binding", "c_int", Sort.CONSTANT),
        ("iso_c_binding", "C_Loc", Sort.FUNCTION),
        ("iso_c_binding", "c_f_pointer", Sort.SUBROUTINE),
        ("iso_c_binding", "c_ptr", Sort.TYPE),
        ("ieee_arithmetic", "ieee_is_nan", Sort.FUNCTION),
        ("ieee_arithmetic", "ieee_set_flag", Sort.SUBROUTINE),
        ("ieee_arithmetic", "ieee_quiet_nan", Sort.CONSTANT),
        ("iso_fortran_env", "lock_type", Sort.TYPE),
        ("iso_c_binding", "c_float128", Sort.CONSTANT),
    ],
)
def test_what_a_module_of_the_language_offers(module: str, name: str, sort: Sort) -> None:
    finder = ModuleFinder(index_directories(()))
    found = finder.imported((Use(module, (Imported(name, name),)),), name)
    assert found is not None
    assert (found.sort, found.module) == (sort, module)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("one", 1),
        ("Two", 2),
        ("five", 5),
        ("minus", -7),
        ("there", 2),
        ("hidden", None),
        ("array", None),
        ("variable", None),
        ("half", None),
        ("turns", None),
        ("absent", None),
        ("lost", None),
        ("chosen", None),
        ("nothing", None),
    ],
)
def test_values_of_integer_constants_are_found(
    tmp_path: Path, name: str, value: int | None
) -> None:
    integers = "integer, parameter ::"
    lines = (
        "use base_mod, only: one, there => two",
        "use chosen_mod",
        "use lost_mod, only: lost",
        "private hidden",
        f"{integers} two = 2*one, five = two + 3, minus = -(hidden)",
        f"{integers} hidden = 7, array(2) = [1, 2], absent = lost + 1",
        f"{integers} turns = round, round = turns",
        "integer :: variable = 3",
        "real, parameter :: half = 0.5",
    )
    written(tmp_path, "index_mod.f90", module("index_mod", *lines))
    written(tmp_path, "base_mod.f90", module("base_mod", f"{integers} one = 1, two = one + one"))
    choice = ("#ifdef LARGE", f"{integers} chosen = 1", "#else", f"{integers} chosen = 2", "#endif")
    written(tmp_path, "chosen_mod.F90", module("chosen_mod", *choice))
    found = finder(tmp_path).constant([Use("index_mod", (), whole=True)], name)
    assert (None if found is None else integer_constant(Name(name, found))) == value


def test_constants_of_an_algorithm_are_those_that_it_imports(tmp_path: Path) -> None:
    """Two indices differ if their values do; what the preprocessor chooses has no value."""
    numbers = "integer, parameter :: i_v = 1, i_c = 2"
    written(tmp_path, "indices_mod.f90", module("indices_mod", numbers))
    chosen = "\n".join(
        (
            "use indices_mod, only: i_v",
            "#ifdef OTHER",
            "use other_mod, only: i_c",
            "#else",
            "use indices_mod, only: i_c",
            "#endif",
        )
    )
    request = CompileRequest("lfric", directories=(tmp_path,))
    made = make_compiler(default_settings(), request)
    for use, options, apart in (
        ("use indices_mod, only: i_v, i_c", "", True),
        ("use indices_mod, only: i_c => i_v, i_v => i_c", "", True),
        ("use indices_mod", "", True),
        ("use indices_mod, only: i_v", "integer :: i_c", False),
        ("use other_mod, only: i_v, i_c", "", False),
        ("use other_mod", "", False),
        ("use indices_mod, only: i_v, i_c", "include 'more.inc'", False),
        (chosen, "", False),
    ):
        lines = (
            use,
            "use field_mod, only: field_type",
            "contains",
            "subroutine step(f)",
            "type(field_type), intent(inout) :: f(2)",
            options,
            "call invoke(setval_c(f(i_v), 0.0), setval_X(f(i_c), f(i_v)))",
            "end subroutine step",
        )
        built = made.compile_text(SourceText("step_mod.X90", module("step_mod", *lines)))
        data = built.program.invokes[0].schedule.data
        assert [bool(datum.may_alias) for datum in data] == [not apart] * 2, use
