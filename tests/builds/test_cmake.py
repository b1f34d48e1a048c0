"""How CMake finds the package, and targets whose outputs have the same names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from builds.conftest import BuildProject
from psyclone_storage import __version__
from psyclone_storage.base.package_files import shared_file

pytestmark = [
    pytest.mark.builds,
    pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed"),
]
needs_fortran = pytest.mark.skipif(not shutil.which("gfortran"), reason="gfortran is missing")
PACKAGE = shared_file("config/cmake")
COMMAND = """\
#!/bin/sh
for last; do :; done
module=$(cat "$last")
while [ $# -gt 1 ]; do
    case "$1" in
        -oalg) echo "subroutine ${module}_alg; end" > "$2" ;;
        -opsy) echo "subroutine ${module}_psy; end" > "$2" ;;
        --gather-kernels) echo "! none" > "$2" ;;
        --depfile) echo "$2: $last" | sed 's/[.]d:/:/' > "$2" ;;
        --stamp) touch "$2" ;;
    esac
    shift
done
echo translate >> "$BUILD_LOG"
"""


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Return an environment with the package and a command, where pip installs them."""
    folder = tmp_path / "venv"
    shutil.copytree(PACKAGE, folder / "share" / "cmake" / "psyclone_storage")
    (folder / "bin").mkdir()
    command = folder / "bin" / "psyclone-storage"
    command.write_text(COMMAND)
    command.chmod(0o755)
    return folder


def cmake(
    folder: Path, *words: str, language: str = "NONE", text: str = ""
) -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.20)\nproject(model LANGUAGES {language})\n{text}"
    )
    return run(folder, "cmake", "-B", "build", *words)


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"BUILD_LOG": str(folder / "log")}
    environment.pop("MAKEFLAGS", None)
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_it_is_found_below_the_prefix_of_an_environment(tmp_path: Path, prefix: Path) -> None:
    text = "find_package(psyclone_storage REQUIRED)\nmessage(STATUS ${PSYCLONE_STORAGE_EXECUTABLE})"
    done = cmake(tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", text=text)
    assert done.returncode == 0, done.stderr
    assert str(prefix / "bin" / "psyclone-storage") in done.stdout


def test_the_version_is_that_of_the_package() -> None:
    text = (PACKAGE / "psyclone_storage-config-version.cmake").read_text()
    assert f'set(PACKAGE_VERSION "{__version__}")' in text


@pytest.mark.parametrize(
    ("requested", "is_found"),
    [
        ("{version}", True),
        ("{version} EXACT", True),
        ("{major}.0", True),
        ("{major}", True),
        ("{major}.0 EXACT", False),
        ("{major}.99", False),
        ("{next}.0", False),
        ("{major}.0...{next}", True),
        ("{major}.0...<{version}", False),
        ("{major}.0...{version}", True),
        ("{major}.99...{next}", False),
    ],
)
def test_a_version_is_requested(
    tmp_path: Path, prefix: Path, requested: str, is_found: bool
) -> None:
    major = int(__version__.partition(".")[0])
    wanted = requested.format(version=__version__, major=major, next=major + 1)
    text = f"find_package(psyclone_storage {wanted} REQUIRED)\n"
    done = cmake(tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", text=text)
    assert (done.returncode == 0) == is_found, done.stderr


@needs_fortran
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_targets_and_algorithms_with_the_same_names(
    tmp_path: Path, prefix: Path, generator: str
) -> None:
    if generator == "Ninja" and not shutil.which("ninja"):
        pytest.skip("ninja is not installed")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "wave.x90").write_text(folder)
    text = """\
find_package(psyclone_storage REQUIRED)
add_library(one STATIC)
psyclone_storage_add_algorithms(one ALGORITHMS a/wave.x90 b/wave.x90)
add_library(two STATIC)
psyclone_storage_add_algorithms(two ALGORITHMS a/wave.x90)
psyclone_storage_add_algorithms(two ALGORITHMS b/wave.x90)
"""
    words = ("-G", generator, f"-DCMAKE_PREFIX_PATH={prefix}")
    done = cmake(tmp_path, *words, language="Fortran", text=text)
    assert done.returncode == 0, done.stderr
    for translated in (4, 0):
        (tmp_path / "log").write_text("")
        done = run(tmp_path, "cmake", "--build", "build", "-j2")
        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / "log").read_text().count("translate") == translated
    made = sorted(path.read_text().split()[1] for path in tmp_path.rglob("wave_psy.f90"))
    assert made == ["a_psy;", "a_psy;", "b_psy;", "b_psy;"]


@pytest.mark.parametrize(
    "calls",
    [
        ["a/wave.x90 a/wave.x90"],
        ["a/wave.x90", "a/wave.x90"],
        ["a/wave.x90", "b/wave.x90", "b/../a/wave.x90"],
    ],
)
def test_an_algorithm_twice_in_a_target_is_an_error(
    tmp_path: Path, prefix: Path, calls: list[str]
) -> None:
    text = "find_package(psyclone_storage REQUIRED)\nadd_custom_target(two)\n"
    text += "".join(f"psyclone_storage_add_algorithms(two ALGORITHMS {one})\n" for one in calls)
    done = cmake(tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", text=text)
    assert done.returncode != 0
    assert "a/wave.x90 is given twice for two" in " ".join(done.stderr.split())


SUBDIRECTORY = """\
add_library(part STATIC)
target_link_libraries(part PRIVATE model)
target_include_directories(part PRIVATE ${CMAKE_BINARY_DIR})
psyclone_storage_add_algorithms(part ALGORITHMS first_alg_mod.x90 KERNELS ../kernels
  SCRIPT ../optimise.py CONFIG ../settings.cfg)
"""


@pytest.mark.parametrize("tool", ["cmake-ninja", "cmake-make"], indirect=True)
def test_changed_kernels_of_algorithms_with_the_same_name(project: BuildProject) -> None:
    text = (project.folder / "source" / "first_alg_mod.x90").read_text()
    for folder, name in (("other", "third_alg"), ("part", "fourth_alg")):
        (project.folder / folder).mkdir()
        other = project.folder / folder / "first_alg_mod.x90"
        other.write_text(text.replace("first_alg", name))
    (project.folder / "part" / "CMakeLists.txt").write_text(SUBDIRECTORY)
    project.changed("CMakeLists.txt", "source/second", "other/first_alg_mod.x90 source/second")
    with (project.folder / "CMakeLists.txt").open("a") as file:
        file.write("add_subdirectory(part)\n")
    assert project.build() == 4
    gathered = (project.folder / "build").rglob("*_kernels.F90")
    found = [re.findall(r"(?m)^ *module (\w+)$", path.read_text()) for path in gathered]
    assert [len(names) for names in found] == [2, 2, 2, 2]
    assert len({name for names in found for name in names}) == 8
