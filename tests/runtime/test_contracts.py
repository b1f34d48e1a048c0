"""Programs whose files are planned one by one, with the contracts of the others: values, builds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command import run_command
from random_files import RandomProgram
from runtime.test_device_data import LEAST, PROGRAMS, in_openmp
from runtime.test_device_data_traps import EQUAL, REFUSED
from two_memories import output_of_files, without_directives

pytestmark = pytest.mark.fortran

_UNIT = re.compile(r"^(?=(?:module (?!procedure)|program )\w)", re.MULTILINE)


def files_of(text: str) -> dict[str, str]:
    """Return the units of a program as files by their names, in their order."""
    units = [unit for unit in _UNIT.split(text) if unit.strip()]
    return {f"{unit.split()[1]}.f90": unit for unit in units}


def planned_alone(files: dict[str, str], root: str, folder: Path) -> dict[str, str]:
    """Transform each file by a command of its own, and check the contracts.

    Commands do not see the sources of the other files.
    """
    (folder / "con").mkdir(parents=True)
    outputs = {}
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
        words = ["--device-data", root, "--contracts", "con", name, "-o", f"out/{name}"]
        done = run_command(words, folder)
        assert done.status == 0, done.err
        outputs[name] = (folder / "out" / name).read_text("utf-8")
        (folder / name).unlink()
    done = run_command(["--link-check", *(f"out/{name}" for name in files)], folder)
    assert done.status == 0, done.err
    return outputs


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("family", ["acc", "omp"])
def test_files_planned_alone_compute_equal_values_with_as_few_transfers(
    name: str, family: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    text = PROGRAMS[name] if family == "acc" else in_openmp(PROGRAMS[name])
    files = files_of(text)
    wanted = output_of_files(files_of(without_directives(text)), tmp_path / "plain", memory, f90)
    own = planned_alone(files, name, tmp_path / "plan")
    found = output_of_files(own, tmp_path / "run", memory, f90)
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]
    assert tuple(map(int, found.split()[-2:])) == LEAST[name]


@pytest.mark.parametrize("name", EQUAL)
def test_a_trap_has_the_values_of_the_plain_program(
    name: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    files = files_of(EQUAL[name])
    wanted = output_of_files(
        files_of(without_directives(EQUAL[name])), tmp_path / "plain", memory, f90
    )
    assert "rror" not in wanted
    own = planned_alone(files, "main", tmp_path / "plan")
    found = output_of_files(own, tmp_path / "run", memory, f90)
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]


@pytest.mark.parametrize("name", REFUSED)
def test_a_trap_is_refused_where_the_root_is(name: str, tmp_path: Path) -> None:
    files = files_of(REFUSED[name])
    for file, text in files.items():
        (tmp_path / file).write_text(text, "utf-8")
        words = ["--device-data", "main", "--contracts", "con", file, "-o", f"out/{file}"]
        done = run_command(words, tmp_path)
        assert done.status == (file == "main.f90"), done.err
    assert "error[T098]" in done.err
    assert "out/main.f90" not in done.written


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_compute_the_values_of_the_plain_program(
    seed: int, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    files = RandomProgram(seed).files()
    plain = {name: without_directives(text) for name, text in files.items()}
    wanted = output_of_files(plain, tmp_path / "plain", memory, f90)
    assert "moved" in wanted
    own = planned_alone(files, "main", tmp_path / "plan")
    found = output_of_files(own, tmp_path / "run", memory, f90)
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]
