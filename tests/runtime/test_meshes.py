"""Meshes and fields of LFRic in Python on many ranks.

The programs are in `meshes/`; the one in Python stops at the first value that is wrong.
"""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from runtime.programs import command

PROGRAMS = Path(__file__).parent / "meshes"
SOURCE = Path(__file__).parents[2] / "src"
RANKS = (1, 2, 4, 6)
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


def run_python(program: str, ranks: int, folder: Path) -> str:
    """Run a program of `meshes/` on a number of ranks; return what it says."""
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    words = [sys.executable, str(PROGRAMS / program)]
    return command(["env", f"PYTHONPATH={paths}", *MPIRUN, str(ranks), *words], folder)


@pytest.mark.parametrize("ranks", RANKS)
def test_exchanges_fill_halos_and_sums_do_not_depend_on_ranks(ranks: int, tmp_path: Path) -> None:
    said = run_python("exchanges.py", ranks, tmp_path)
    found = re.findall(rf"^rank (\d+) of {ranks}: (.*)$", said, re.MULTILINE)
    assert sorted(int(rank) for rank, _ in found) == list(range(ranks))
    ids = np.arange(9 * 8 * (3 * 2 + 4))
    values = np.sin(0.1 * ids) * 10.0 ** (ids % 7)
    answers = (
        math.fsum(values),
        math.fsum(values * values),
        values.min(),
        values.max(),
        math.pi,
    )
    assert {told for _, told in found} == {" ".join(float(one).hex() for one in answers)}
