"""Trial compilation with a compiler, and with a replacement of one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unit.cli.conftest import Command

FAKE = """#!/bin/sh
# Stands for a compiler: it accepts everything, and notes what it is given.
for word in "$@"; do echo "$word"; done >> words.txt
"""


@pytest.fixture
def fake(project: Path) -> Path:
    """Return the file in which a compiler that accepts everything notes its words."""
    compiler = project / "f90"
    compiler.write_text(FAKE)
    compiler.chmod(0o755)
    return project / "words.txt"


def test_kernels_come_first_with_the_flags_of_the_user(command: Command, fake: Path) -> None:
    flags = "-O2 -Wall"
    done = command("--compile", "--f90", "./f90", f"--f90flags={flags}", "-I", "inc", "alg.x90")
    assert (done.status, done.out, done.err) == (0, "", "")
    words = fake.read_text().splitlines()
    sources = [Path(word).name for word in words if word.endswith((".f90", ".x90"))]
    assert sources[-4:] == [
        "wind_tendency_kernel_mod.f90",
        "wind_to_cell_kernel_mod.f90",
        "alg_psy.f90",
        "alg.f90",
    ]
    assert {"-O2", "-Wall", "-Iinc"} <= set(words)


def test_the_interfaces_are_compiled_once(command: Command, fake: Path) -> None:
    words = ("--compile", "--f90", "./f90", "alg.x90")
    command(*words)
    first = fake.read_text().count("mesh_mod.f90")
    command(*words)
    assert fake.read_text().count("mesh_mod.f90") == first > 0


def test_nothing_is_left_behind(command: Command, fake: Path) -> None:
    done = command("--compile", "--f90", "./f90", "alg.x90", "--output-dir", "out")
    assert set(done.written) == {"out/alg.f90", "out/alg_psy.f90", fake.name}


@pytest.mark.usefixtures("fake")
def test_a_module_may_be_there_in_compiled_form(command: Command, project: Path) -> None:
    kernel = project / "kernels" / "wind_to_cell_kernel_mod.f90"
    text = kernel.read_text().replace(
        "  use kernel_mod", "  use speed_table_mod, only : table\n  use kernel_mod", 1
    )
    kernel.write_text(text)
    (project / "inc").mkdir()
    words = ("--compile", "--f90", "./f90", "-I", "inc", "alg.x90")
    assert "error[L013]: The module 'speed_table_mod' is not found" in command(*words).err
    (project / "inc" / "speed_table_mod.mod").touch()
    assert command(*words).err == ""


def test_modules_are_found_below_the_kernel_folders(
    command: Command, fake: Path, project: Path
) -> None:
    kernel = project / "kernels" / "wind_to_cell_kernel_mod.f90"
    text = kernel.read_text().replace(
        "  use kernel_mod",
        "  use, intrinsic :: iso_c_binding\n  use table_mod\n  use kernel_mod",
        1,
    )
    kernel.write_text(text)
    (project / "kernels" / "deep").mkdir()
    (project / "kernels" / "deep" / "table_mod.F90").write_text(
        "module table_mod\n  use constants_mod, only: r_def\nend module table_mod\n"
    )
    assert command("--compile", "--f90", "./f90", "alg.x90").err == ""
    words = fake.read_text()
    assert words.index("table_mod.F90") < words.rindex("wind_to_cell_kernel_mod.f90")


@pytest.mark.usefixtures("fake")
def test_an_unwritable_cache_is_reported(command: Command, project: Path) -> None:
    (project.parent / "cache").write_text("not a folder")
    done = command("--compile", "--f90", "./f90", "alg.x90")
    assert done.err.startswith("error[L003]: '")
    assert "is not a directory" in done.err


@pytest.mark.fortran
def test_what_is_generated_compiles_with_the_kernel_that_it_fits(
    command: Command, project: Path
) -> None:
    done = command("--compile", "--f90flags", "-Wall", "alg.x90")
    assert (done.status, done.err) == (0, "")
    kernel = project / "kernels" / "wind_to_cell_kernel_mod.f90"
    text = kernel.read_text()
    place = text.index("subroutine wind_to_cell_code")
    kernel.write_text(text[:place] + text[place:].replace("real(kind=r_def)", "logical"))
    done = command("--compile", "alg.x90")
    assert done.status == 1
    assert "error[L011]" in done.err


@pytest.mark.parametrize(
    ("end", "complaint"),
    [
        ("kill -9 $$", "It was ended by signal 9"),
        ("exit 3", "It said nothing and ended with status"),
    ],
)
def test_a_compiler_that_says_nothing_is_reported_by_how_it_ended(
    command: Command, fake: Path, end: str, complaint: str
) -> None:
    compiler = fake.with_name("f90")
    compiler.write_text(f"#!/bin/sh\n[ $1 = --version ] || {end}\n")
    done = command("--compile", "--f90", "./f90", "alg.x90")
    assert done.status == 1
    assert f" of our interfaces:\n{complaint}" in done.err


@pytest.mark.usefixtures("fake")
def test_a_cache_that_cannot_be_written_is_named(command: Command, project: Path) -> None:
    (project.parent / "cache").write_text("This is where the test has the user's cache.")
    done = command("--compile", "--f90", "./f90", "alg.x90")
    assert done.status == 1
    assert "error[L003]" in done.err
    assert "XDG_CACHE_HOME" in done.err


def test_a_profiler_is_at_hand_where_it_is_called(command: Command, fake: Path) -> None:
    words = ("--compile", "--f90", "./f90", "alg.x90")
    assert command(*words).err == ""
    assert "-I" in fake.read_text()
    assert "/profile-" not in fake.read_text()
    assert command(*words, "--profile", "kernels").err == ""
    assert "/profile-" in fake.read_text()


PYTHON = """\
from psyclone_storage.gocean import *

@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def double(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = 2.0 * old[0, 0]

def step(new, old):
    invoke(double(new, old))
"""
WITHOUT_COMPILER = """\
import sys

sys.path.insert(0, "out")
import model
from psyclone_storage.runtime.gocean import Field, Grid

grid = Grid((4, 4))
old, new = Field(grid, values=1.0), Field(grid)
model.step(new, old)
print(new.sum())
"""


@pytest.mark.compiled
def test_the_library_of_a_python_algorithm_is_compiled_in_advance(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(PYTHON)
    source = Path(__file__).parents[3] / "src"
    libraries = {"PYTHONPATH": str(source), "PSYCLONE_STORAGE_LIBRARIES": str(tmp_path / "kept")}
    words = "-api gocean --target c --compile --output-dir out model.py"

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path, env={**os.environ, **libraries, **more},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    for compiler, code in (("/nonexistent", "L010"), ("false", "L011")):
        done = run("-m", "psyclone_storage", *words.split(), CC=compiler)
        assert done.returncode == 1
        assert f"error[{code}]" in done.stderr
    for folder in ("/dev/null", str(tmp_path / "model.py")):
        done = run("-m", "psyclone_storage", *words.split(), PSYCLONE_STORAGE_LIBRARIES=folder)
        assert done.returncode == 1
        assert "error[L003]: The compiled library cannot be cached: " in done.stderr
        assert "hint: Set PSYCLONE_STORAGE_LIBRARIES" in done.stderr
    done = run("-m", "psyclone_storage", *words.split())
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    done = run("-c", WITHOUT_COMPILER, CC="/nonexistent")
    assert (done.stdout, done.stderr) == ("32.0\n", "")


def test_modules_that_only_the_algorithm_uses_are_compiled(
    command: Command, fake: Path, project: Path
) -> None:
    algorithm = project / "alg.x90"
    text = algorithm.read_text().replace(
        "implicit none", "use settings_mod, only : depth\n  implicit none", 1
    )
    algorithm.write_text(text)
    words = ("--compile", "--f90", "./f90", "alg.x90")
    assert "L014" in command(*words).err
    folder = project / "kernels"
    (folder / "settings_mod.f90").write_text(
        "module settings_mod\n  use tables_mod\n  integer :: depth\nend module settings_mod\n"
    )
    assert "'tables_mod'" in command(*words).err
    (folder / "tables_mod.f90").write_text("module tables_mod\nend module tables_mod\n")
    fake.unlink()
    assert command(*words).err == ""
    sources = [Path(word).name for word in fake.read_text().splitlines() if word.endswith("90")]
    assert sources[-4:] == ["alg_psy.f90", "tables_mod.f90", "settings_mod.f90", "alg.f90"]
