"""Builds with Make of files that are planned one by one: what an edit transforms again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command import run_command
from runtime.test_device_data import WAVES
from two_memories import output_of_files, without_directives

MAKEFILE = """\
FILES = grid_mod step_mod waves
all: $(FILES:%=out/%.stamp)
out/%.stamp: %.f90
\t@echo transform $*
\t@$(PSYCLONE) --device-data waves --contracts con $< -o out/$*.f90 \\
\t  --depfile out/$*.d --stamp $@
# A command writes the contract, too, but leaves it if it has not changed.
con/%.contract.json: out/%.stamp ; @:
-include $(FILES:%=out/%.d)
out/step_mod.stamp: con/grid_mod.contract.json
out/waves.stamp: con/grid_mod.contract.json con/step_mod.contract.json
"""
FILES = ("grid_mod", "step_mod", "waves")


def parts() -> dict[str, str]:
    grid, rest = WAVES.split("module step_mod", 1)
    step, main = rest.split("program waves", 1)
    return dict(zip(FILES, (grid, "module step_mod" + step, "program waves" + main), strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if shutil.which("make") is None:
        pytest.skip("Make is not installed")
    (tmp_path / "Makefile").write_text(MAKEFILE, "utf-8")
    for name, text in parts().items():
        (tmp_path / f"{name}.f90").write_text(text, "utf-8")
    return tmp_path


def made(folder: Path) -> list[str]:
    """Run Make, and return the files that it transformed."""
    command = f"{sys.executable} -m psyclone_storage"
    done = subprocess.run(
        ["make", f"PSYCLONE={command}"], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "MAKEFLAGS": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split()[1] for line in done.stdout.splitlines() if line.startswith("transform")]


def edit(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / f"{name}.f90"
    text = path.read_text("utf-8")
    assert old in text
    time.sleep(0.02)
    path.write_text(text.replace(old, new), "utf-8")


def is_linked(folder: Path) -> bool:
    done = run_command(["--link-check", *(f"out/{name}.f90" for name in FILES)], folder)
    assert done.status in (0, 1), done.err
    return done.status == 0


def test_an_edit_transforms_the_files_that_depend_on_it(folder: Path) -> None:
    assert made(folder) == list(FILES)
    assert is_linked(folder)
    assert made(folder) == []

    # The body of a procedure, without a change of its contract, also if lines move.
    edit(
        folder, "step_mod", "u(i, j) = mask(i, j) * (", "! faster\n        u(i, j) = mask(i, j) * ("
    )
    assert not is_linked(folder)
    assert made(folder) == ["step_mod"]
    assert is_linked(folder)
    assert made(folder) == []

    # A procedure reads an array on the host: its callers are transformed again, others are not.
    edit(
        folder,
        "step_mod",
        "    call momentum(0.1d0)\n",
        "    call momentum(0.1d0)\n    print *, v\n",
    )
    assert made(folder) == ["step_mod", "waves"]
    assert is_linked(folder)
    assert made(folder) == []

    # A new variable of the module that all files use.
    edit(
        folder, "grid_mod", "  real(8), allocatable", "  real(8) :: more(n)\n  real(8), allocatable"
    )
    assert made(folder) == list(FILES)
    assert made(folder) == []


def test_a_build_without_dependencies_is_detected(folder: Path) -> None:
    """The caller is not transformed again, although the contract has changed."""
    assert made(folder) == list(FILES)
    edit(
        folder,
        "step_mod",
        "    call momentum(0.1d0)\n",
        "    call momentum(0.1d0)\n    print *, v\n",
    )
    words = [
        "--device-data",
        "waves",
        "--contracts",
        "con",
        "step_mod.f90",
        "-o",
        "out/step_mod.f90",
    ]
    assert run_command(words, folder).status == 0
    assert not is_linked(folder)
    assert made(folder) == ["step_mod", "waves"]
    assert is_linked(folder)


@pytest.mark.fortran
def test_values_after_edits_are_those_of_the_program(
    folder: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    edits = (
        (
            "    call momentum(0.1d0)\n",
            "    call momentum(0.1d0)\n    if (number == 7) print *, v\n",
        ),
        ("      call edges(u)\n", "      call edges(v)\n"),
        ("    call continuity(0.1d0)\n", "    h(3, 3) = 0.25d0\n    call continuity(0.1d0)\n"),
    )
    for number, (old, new) in enumerate((("", ""), *edits)):
        edit(folder, "step_mod", old, new) if old else None
        made(folder)
        assert is_linked(folder)
        own = {f"{one}.f90": (folder / "out" / f"{one}.f90").read_text("utf-8") for one in FILES}
        plain = {
            f"{one}.f90": without_directives((folder / f"{one}.f90").read_text("utf-8"))
            for one in FILES
        }
        wanted = output_of_files(plain, folder / f"plain{number}", memory, f90)
        found = output_of_files(own, folder / f"run{number}", memory, f90)
        assert found.splitlines()[:-1] == wanted.splitlines()[:-1]
