"""Fields with layers and of several types equal NumPy on any number of ranks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pairwise import selected
from runtime.examples import EXAMPLES
from runtime.programs import command

SRC = Path(__file__).parents[2] / "src"
OCEAN = EXAMPLES / "python" / "ocean" / "ocean.py"
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")

pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("kept_invokes")]
FILTERS = Path(__file__).parent / "grids" / "filters.py"


def run(program: list[str], ranks: int, folder: Path) -> list[str]:
    """Return the lines that a program prints on several ranks."""
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SRC), os.environ.get("PYTHONPATH", "")))
    setting = [f"PYTHONPATH={paths}", "PSYCLONE_STORAGE_DEVICE=emulated"]
    words = ["env", *setting, *MPIRUN, str(ranks), sys.executable, *program]
    return command(words, folder).splitlines()


@pytest.mark.parametrize(
    "combination",
    selected(
        [*((ranks, "c") for ranks in (1, 2, 3, 4, 6)), (2, "numpy"), (1, "cuda"), (3, "cuda")],
        (1, "c"), (4, "c"), (6, "c"), (2, "numpy"), (3, "cuda"),
    ),
)  # fmt: skip
def test_the_ocean_equals_numpy(combination: tuple[int, str], tmp_path: Path) -> None:
    ranks, target = combination
    *_, end, last = run([str(OCEAN), "--check", target], ranks, tmp_path)
    assert last == "equal to NumPy, bit for bit"
    assert float(end.split()[2]) > 0.5


RANKS = {"c": (1, 2, 6), "numpy": (1, 4), "cuda": (1, 3)}
"""The numbers of ranks that any run tries with a target; `--matrix` tries all."""


@pytest.mark.parametrize("target", RANKS)
def test_filters_of_several_types_equal_numpy(
    target: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    said = set()
    for ranks in (1, 2, 3, 4, 6) if pytestconfig.getoption("--matrix") else RANKS[target]:
        setting = "DIRTY_FLAGS=true" if ranks in (2, 4) else ""
        program = [str(FILTERS), target, *filter(None, [setting])]
        (line,) = run(program, ranks, tmp_path)
        said.add(line)
    assert len(said) == 1
    assert said.pop().startswith("equal:")
