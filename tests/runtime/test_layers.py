"""Fields with layers and of several types equal NumPy on any number of ranks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runtime.examples import EXAMPLES
from runtime.programs import command

SRC = Path(__file__).parents[2] / "src"
OCEAN = EXAMPLES / "python" / "ocean" / "ocean.py"
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")

pytestmark = [pytest.mark.mpi]
FILTERS = Path(__file__).parent / "grids" / "filters.py"


def run(program: list[str], ranks: int, folder: Path) -> list[str]:
    """Return the lines that a program prints on several ranks."""
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SRC), os.environ.get("PYTHONPATH", "")))
    setting = [f"PYTHONPATH={paths}", "PSYCLONE_STORAGE_DEVICE=emulated"]
    words = ["env", *setting, *MPIRUN, str(ranks), sys.executable, *program]
    return command(words, folder).splitlines()


@pytest.mark.parametrize(
    ("ranks", "target"),
    [*((ranks, "c") for ranks in (1, 2, 3, 4, 6)), (2, "numpy"), (1, "cuda"), (3, "cuda")],
)
def test_the_ocean_equals_numpy(ranks: int, target: str, tmp_path: Path) -> None:
    *_, end, last = run([str(OCEAN), "--check", target], ranks, tmp_path)
    assert last == "equal to NumPy, bit for bit"
    assert float(end.split()[2]) > 0.5


@pytest.mark.parametrize("target", ["c", "numpy", "cuda"])
def test_filters_of_several_types_equal_numpy(target: str, tmp_path: Path) -> None:
    said = set()
    for ranks, setting in ((1, ""), (2, "DIRTY_FLAGS=true"), (3, ""), (4, "DIRTY_FLAGS=true"),
                           (6, "")):  # fmt: skip
        program = [str(FILTERS), target, *filter(None, [setting])]
        (line,) = run(program, ranks, tmp_path)
        said.add(line)
    assert len(said) == 1
    assert said.pop().startswith("equal:")
