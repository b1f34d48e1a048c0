"""Build systems after changes, and after an interrupted command."""

from __future__ import annotations

import re
import shutil

import pytest

from builds.conftest import DIES, STARTS, BuildProject
from pairwise import selected

pytestmark = pytest.mark.builds

TOOLS = ("ninja", "make", "cmake-ninja", "cmake-make")
WITH_ONE = pytest.mark.parametrize("tool", selected(TOOLS, "ninja", "cmake-make"), indirect=True)
WITH_OTHER = pytest.mark.parametrize("tool", selected(TOOLS, "make", "cmake-ninja"), indirect=True)
"""Half of the tools each, one with CMake; all with `--matrix`."""


def test_nothing_is_done_twice(project: BuildProject) -> None:
    assert project.build() == 2
    assert project.kernels()
    time = project.model.stat().st_mtime_ns
    for _ in range(2):
        assert project.build() == 0
        assert project.model.stat().st_mtime_ns == time


@WITH_ONE
def test_an_algorithm_is_changed(built_project: BuildProject) -> None:
    built_project.changed("source/first_alg_mod.x90", "1005.0_r_def", "1006.0_r_def")
    names = set(built_project.texts())
    assert built_project.build() == 1
    assert set(built_project.texts()) == names
    assert built_project.build() == 0


@WITH_OTHER
def test_a_kernel_is_changed(built_project: BuildProject) -> None:
    names, time = set(built_project.kernels()), built_project.model.stat().st_mtime_ns
    built_project.changed(
        "kernels/wind_to_cell_kernel_mod.f90", "implicit none", "implicit none ! new"
    )
    assert built_project.build() == 2
    assert set(built_project.kernels()) == names
    assert sum("! new" in text for text in built_project.kernels().values()) == 2
    assert built_project.model.stat().st_mtime_ns > time
    assert built_project.build() == 0


@WITH_ONE
def test_a_module_of_the_script_is_changed(built_project: BuildProject) -> None:
    names = set(built_project.kernels())
    built_project.changed("tools/psyclone_tools.py", "LAYERS = 20", "LAYERS = 30")
    assert built_project.build() == 2
    assert set(built_project.kernels()) == names
    assert all(" = 30" in text for text in built_project.kernels().values())
    assert built_project.build() == 0


@WITH_OTHER
def test_the_settings_are_changed(built_project: BuildProject) -> None:
    assert any("halo_exchange" in text for text in built_project.texts().values())
    built_project.changed("settings.cfg", "DISTRIBUTED_MEMORY = true", "DISTRIBUTED_MEMORY = false")
    assert built_project.build() == 2
    assert not any("halo_exchange" in text for text in built_project.texts().values())
    assert built_project.build() == 0


@WITH_ONE
def test_what_is_only_touched_is_not_built_again(built_project: BuildProject) -> None:
    time = built_project.model.stat().st_mtime_ns
    built_project.touched("tools/psyclone_tools.py")
    assert built_project.build() == 2
    assert built_project.model.stat().st_mtime_ns == time


@WITH_OTHER
def test_kernels_that_are_no_longer_changed_are_gone(built_project: BuildProject) -> None:
    built_project.changed("optimise.py", "psyclone_tools.fix_layers(kernel)", "pass")
    assert built_project.build() == 2
    assert built_project.kernels() == {}
    assert built_project.build() == 0


@pytest.mark.parametrize("tool", ["make"], indirect=True)
def test_changed_kernels_of_two_folders_with_the_same_file_name(project: BuildProject) -> None:
    text = (project.folder / "source" / "first_alg_mod.x90").read_text()
    (project.folder / "other").mkdir()
    other = project.folder / "other" / "first_alg_mod.x90"
    other.write_text(text.replace("first_alg", "third_alg"))
    with (project.folder / "Makefile").open("a") as file:
        file.write("$(eval $(call psyclone-storage-rules,other,more))\n")
        file.write("model: more/first_alg_mod_kernels.F90\n")
    assert project.build() == 3
    assert project.build() == 0
    gathered = project.folder.rglob("*_kernels.F90")
    found = [re.findall(r"(?m)^ *module (\w+)$", path.read_text()) for path in gathered]
    assert [len(names) for names in found] == [2, 2, 2]
    assert len({name for names in found for name in names}) == 6


def test_a_deleted_output_is_made_again(built_project: BuildProject) -> None:
    # The project for Ninja does not gather kernels.
    gathered = () if built_project.tool == "ninja" else ("_kernels.F90",)
    for suffix in (".f90", "_psy.f90", *gathered):
        output = built_project.out / f"second_alg_mod{suffix}"
        text = output.read_text()
        output.unlink()
        assert built_project.build() == 1
        assert output.read_text() == text
        assert built_project.build() == 0


@WITH_ONE
def test_three_clean_builds_are_the_same(project: BuildProject) -> None:
    """Commands run at the same time: only names that depend on their layers alone are the same.

    Nor does anything depend on the order in which Python goes through a set.
    """
    made = []
    for _ in range(3):
        shutil.rmtree(project.out, ignore_errors=True)
        project.out.mkdir(parents=True)
        project.model.unlink(missing_ok=True)
        assert project.run(*project.command, **{STARTS: "1"}).returncode == 0
        made.append(project.texts())
    assert made[0] == made[1] == made[2]


FILES = range(5)
TRIED = {"ninja": FILES, "make": FILES, "cmake-ninja": (0, 2, 4), "cmake-make": (1, 3)}
"""The files before which a command dies in any run; `--matrix` tries all with each tool."""


@pytest.mark.parametrize(
    ("tool", "after"),
    [
        pytest.param(tool, after, marks=() if after in tried else pytest.mark.matrix)
        for tool, tried in TRIED.items()
        for after in FILES
    ],
    indirect=["tool"],
)
def test_a_command_that_dies_leaves_nothing_that_hinders(
    built_project: BuildProject, after: int
) -> None:
    """It dies before the file `after` gets its name: code, kernels and lists are such files."""
    whole = built_project.texts()
    for part in (*built_project.out.rglob("*"), built_project.model):
        if part.is_file():
            part.unlink()
    died = built_project.run(*built_project.command, **{DIES: str(after)})
    assert died.returncode != 0
    assert built_project.build() >= 1
    assert built_project.texts() == whole
    assert list(built_project.out.rglob(".*.claim*")) == []
    assert built_project.build() == 0
