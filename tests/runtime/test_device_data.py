"""Programs whose device data are planned over call trees: values and numbers of transfers.

The device has a memory of its own (`two_memories`), in which what was not transferred is NaN.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command import run_command
from device_programs import (
    EQUAL,
    LEAST,
    PROGRAMS,
    REFUSED,
    compiled_memory,
    in_openmp,
    output_of,
    without_directives,
)
from two_memories import joined

pytestmark = pytest.mark.fortran


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Return the folder of the compiled module `two_memories`."""
    folder = tmp_path_factory.mktemp("memory")
    return compiled_memory(folder, request.config.getoption("--f90"))


def planned(text: str, root: str, folder: Path, *words: str) -> str:
    """Return a program with the planned transfers of a call tree."""
    folder.mkdir()
    (folder / "main.f90").write_text(text, "utf-8")
    done = run_command(["--device-data", root, *words, "main.f90", "-o", "new.f90"], folder)
    assert done.status == 0, done.err
    return (folder / "new.f90").read_text("utf-8")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("family", ["acc", "omp"])
def test_values_and_numbers_of_transfers(
    name: str, family: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    text = PROGRAMS[name] if family == "acc" else in_openmp(PROGRAMS[name])
    plain = without_directives(text)
    wanted = output_of({"main.f90": plain}, tmp_path / "plain", memory, f90)
    found = output_of(
        {"main.f90": planned(text, name, tmp_path / "plan")}, tmp_path / "run", memory, f90
    )
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]
    assert tuple(map(int, found.split()[-2:])) == LEAST[name]


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_a_transfer_values_are_wrong(
    name: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    lines = joined(planned(PROGRAMS[name], name, tmp_path / "plan"))
    wanted = output_of({"main.f90": "\n".join(lines)}, tmp_path / "run", memory, f90)
    tried = 0
    for at, line in enumerate(lines):
        found = re.match(r"( *!\$acc update \w+)\((.*)\)( if_present)?$", line)
        names = found[2].replace(" ", "").split(",") if found else []
        for one in names:
            rest = ", ".join(name for name in names if name != one)
            new = [f"{found[1]}({rest}){found[3] or ''}"] if found and rest else []
            text = "\n".join((*lines[:at], *new, *lines[at + 1 :]))
            tried += 1
            without = output_of({"main.f90": text}, tmp_path / f"without{tried}", memory, f90)
            assert without.splitlines()[:-1] != wanted.splitlines()[:-1], (line, one)
    assert tried


@pytest.mark.parametrize("name", EQUAL)
def test_a_trap_has_the_values_of_the_plain_program(
    name: str, tmp_path: Path, memory: Path, request: pytest.FixtureRequest
) -> None:
    f90 = request.config.getoption("--f90")
    plain = without_directives(EQUAL[name])
    wanted = output_of({"main.f90": plain}, tmp_path / "plain", memory, f90)
    assert "rror" not in wanted
    found = output_of(
        {"main.f90": planned(EQUAL[name], "main", tmp_path / "plan")}, tmp_path / "run", memory, f90
    )
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]


@pytest.mark.parametrize("name", REFUSED)
def test_a_trap_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "main.f90").write_text(REFUSED[name], "utf-8")
    done = run_command(["--device-data", "main", "main.f90", "-o", "new.f90"], tmp_path)
    assert done.status == 1, done.out
    assert "error[T098]" in done.err
    assert "new.f90" not in done.written
