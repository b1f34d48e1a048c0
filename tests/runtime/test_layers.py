"""Fields with layers: the example in three dimensions equals NumPy on any number of ranks."""

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


@pytest.mark.parametrize(
    ("ranks", "target"),
    [*((ranks, "c") for ranks in (1, 2, 3, 4, 6)), (2, "numpy"), (1, "cuda"), (3, "cuda")],
)
def test_the_ocean_equals_numpy(ranks: int, target: str, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SRC), os.environ.get("PYTHONPATH", "")))
    setting = [f"PYTHONPATH={paths}", "PSYCLONE_STORAGE_DEVICE=emulated"]
    program = [sys.executable, str(OCEAN), "--check", target]
    said = command(["env", *setting, *MPIRUN, str(ranks), *program], tmp_path)
    *_, end, last = said.splitlines()
    assert last == "equal to NumPy, bit for bit"
    assert float(end.split()[2]) > 0.5
