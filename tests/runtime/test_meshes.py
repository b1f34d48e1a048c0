"""Meshes and fields of LFRic in Python on many ranks.

The programs are in `meshes/`; the one in Python stops at the first value that is wrong.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from libraries import LFRIC_MPI, Library, linked_with
from runtime.programs import FLAGS, command

PROGRAMS = Path(__file__).parent / "meshes"
SOURCE = Path(__file__).parents[2] / "src"
RANKS = (1, 2, 4, 6)
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


def run_python(program: str, ranks: int, folder: Path, *surroundings: str) -> str:
    """Run a program of `meshes/` on a number of ranks; return what it says."""
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    words = [*MPIRUN, str(ranks), sys.executable, str(PROGRAMS / program)]
    return command(["env", f"PYTHONPATH={paths}", *surroundings, *words], folder)


@pytest.mark.parametrize(("ranks", "takes_devices"), [*((ranks, "0") for ranks in RANKS), (4, "1")])
def test_exchanges_fill_halos_and_sums_do_not_depend_on_ranks(
    ranks: int, takes_devices: str, tmp_path: Path
) -> None:
    told = f"PSYCLONE_STORAGE_GPU_MPI={takes_devices}"
    said = run_python("exchanges.py", ranks, tmp_path, told)
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


@pytest.fixture(scope="module")
def print_maps(built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that writes what Fortran's meshes and spaces are."""
    folder = tmp_path_factory.mktemp("print_maps")
    shared = PROGRAMS.parent / "infrastructure" / "checks_mod.f90"
    sources = (str(shared), str(PROGRAMS / "print_maps.f90"))
    command(["mpif90", *FLAGS, *sources, *linked_with(built(LFRIC_MPI)), "-o", "print"], folder)
    return folder / "print"


@pytest.mark.parametrize("ranks", RANKS)
def test_both_languages_have_one_partition(print_maps: Path, ranks: int, tmp_path: Path) -> None:
    """Maps, basis functions, exchanged values and exact sums are equal to the bit."""
    command([*MPIRUN, str(ranks), str(print_maps)], tmp_path)
    said = run_python("compare_maps.py", ranks, tmp_path)
    expected = 3 * (10 + 9 * (5 + 8 + 4 + 4)) + 2
    assert sorted(said.split("\n")) == [
        "",
        *(f"rank {at}: {expected} arrays" for at in range(ranks)),
    ]
