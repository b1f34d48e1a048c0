"""The example in Python computes what the example in Fortran computes, on any number of ranks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from libraries import GOCEAN_OF_EXAMPLE, Library, copy_library
from runtime.examples import EXAMPLES, run_example
from runtime.programs import command

SRC = Path(__file__).parents[2] / "src"
NAMES = [f"surface_{step:03}.txt" for step in (0, 100, 200, 300, 400)]

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


@pytest.fixture(scope="module")
def of_fortran(
    tools: Path, built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Return the files with the surface that the program in Fortran writes."""
    build = tmp_path_factory.mktemp("fortran")
    copy_library(built(GOCEAN_OF_EXAMPLE["serial", "none"]), build / "serial")
    run_example(EXAMPLES / "gocean" / "shallow_water" / "run", tools, str(build))
    return {name: (build / name).read_text("utf-8") for name in NAMES}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_bits_are_those_of_fortran(
    of_fortran: dict[str, str], tools: Path, tmp_path: Path, ranks: int
) -> None:
    script = EXAMPLES / "python" / "shallow_water" / "run"
    surroundings = {"PYTHON": sys.executable, "PYTHONPATH": str(SRC)}
    printed = run_example(script, tools, "--ranks", str(ranks), str(tmp_path), **surroundings)
    assert {name: (tmp_path / name).read_text("utf-8") for name in NAMES} == of_fortran
    start, end = (line.split() for line in printed.splitlines() if line[:5] in ("start", "end  "))
    assert float(end[1]) == pytest.approx(float(start[1]), rel=1e-14)


def test_kernels_of_both_languages_compute_the_same_bits(
    of_fortran: dict[str, str], tools: Path, tmp_path: Path
) -> None:
    script = EXAMPLES / "python" / "mixed" / "run"
    surroundings = {"PYTHON": sys.executable, "PYTHONPATH": str(SRC)}
    printed = run_example(script, tools, str(tmp_path), **surroundings)
    assert {name: (tmp_path / name).read_text("utf-8") for name in NAMES} == of_fortran
    assert "continuity(height: readwrite go_ct" in printed


def test_the_program_runs_as_it_is(of_fortran: dict[str, str], tmp_path: Path) -> None:
    folder = EXAMPLES / "python" / "shallow_water"
    path = f"{folder / 'kernels'}:{SRC}"
    command(["env", f"PYTHONPATH={path}", sys.executable, str(folder / "shallow_water.py"),
             "surface"], tmp_path)  # fmt: skip
    assert {name: (tmp_path / name).read_text("utf-8") for name in NAMES} == of_fortran
