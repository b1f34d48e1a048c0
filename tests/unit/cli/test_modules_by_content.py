"""Modules of plain files that are in files with other names, or in the file that uses them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.command import Outcome, run_command
from support.scripting_programs import output_of

RECIPE = """from psyclone.psyir.nodes import Call, IntrinsicCall
from psyclone.psyir.transformations import InlineTrans, TransformationError


def trans(psyir):
    for call in psyir.walk(Call):
        if not isinstance(call, IntrinsicCall):
            try:
                InlineTrans().apply(call)
            except TransformationError as error:
                print(error)
"""
PROGRAM = """program main
  use tools_mod
  implicit none
  real :: y
  call scaled(3.0, y)
  print *, y
end program main
"""
STAYS = "'scaled' stands for was not found"


def module(factor: str, name: str = "tools_mod") -> str:
    """Return a module with a subroutine that multiplies by a factor."""
    return f"""module {name}
  implicit none
contains
  subroutine scaled(x, y)
    real, intent(in) :: x
    real, intent(out) :: y
    y = {factor} * x
  end subroutine scaled
end module {name}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a program, a recipe and a cache."""
    (tmp_path / "main.f90").write_text(PROGRAM)
    (tmp_path / "inline.py").write_text(RECIPE)
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def run(folder: Path, *words: str) -> Outcome:
    """Run the command with the recipe."""
    options = ["main.f90", "-s", "inline.py", "-o", "out.f90", "--depfile", "deps.d", *words]
    done = run_command(options, folder)
    assert done.status == 0, done.err
    return done


def is_inlined(done: Outcome, factor: str) -> bool:
    """Return whether the output has the statement of a module instead of the call."""
    text = done.written["out.f90"]
    return f"y_1 = {factor} * " in text or f"y = {factor} * " in text.partition("program")[2]


def test_a_module_is_found_in_a_file_with_another_name(folder: Path) -> None:
    """The second module of a file; a comment and a name in a string are no modules."""
    (folder / "all.f90").write_text(module("2.5", "first_mod") + module("4.5").upper())
    (folder / "noise.f90").write_text("! module tools_mod\nmodule procedures_mod\nend module\n")
    done = run(folder)
    assert is_inlined(done, "4.5"), done.out
    assert "all.f90" in done.written["deps.d"]
    assert "noise.f90" not in done.written["deps.d"]


def test_the_file_with_the_name_need_not_define_the_module(folder: Path) -> None:
    (folder / "tools_mod.f90").write_text(module("2.5", "first_mod"))
    (folder / "all.f90").write_text(module("4.5"))
    assert is_inlined(run(folder), "4.5")


def test_the_file_with_the_name_comes_first(folder: Path) -> None:
    (folder / "tools_mod.f90").write_text(module("2.5"))
    (folder / "all.f90").write_text(module("4.5"))
    assert is_inlined(run(folder), "2.5")


def test_several_definitions_are_used_only_if_they_are_equal(folder: Path) -> None:
    (folder / "one.f90").write_text(module("4.5"))
    (folder / "two.f90").write_text(module("4.5"))
    assert is_inlined(run(folder), "4.5")
    (folder / "two.f90").write_text(module("4.0"))
    assert STAYS in run(folder).out


def test_a_change_without_a_new_time_or_size_is_noticed(folder: Path) -> None:
    """The cached result is for another content, so it is not used."""
    path = folder / "all.f90"
    path.write_text(module("4.5"))
    assert is_inlined(run(folder), "4.5")
    known = path.stat()
    with path.open("r+") as stream:
        stream.write(module("6.5"))
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (known.st_ino, known.st_mtime_ns)
    assert is_inlined(run(folder), "6.5")


def test_a_module_may_move_to_another_file(folder: Path) -> None:
    """A file that defines the module later or no longer is an input of the cached result."""
    (folder / "other.f90").write_text(module("6.5", "first_mod"))
    assert STAYS in run(folder).out
    (folder / "other.f90").write_text(module("6.5"))
    assert is_inlined(run(folder), "6.5")
    (folder / "other.f90").write_text(module("6.5", "first_mod"))
    assert STAYS in run(folder).out


def test_modules_of_the_file_itself_come_first(folder: Path) -> None:
    """A program with its modules in one file; a file with the name of one is another module."""
    (folder / "tools_mod.f90").write_text(module("2.5"))
    (folder / "main.f90").write_text(module("4.5") + PROGRAM)
    done = run(folder)
    assert is_inlined(done, "4.5")
    assert output_of(done.written["out.f90"], folder / "build", main="").split() == ["13.5000000"]
