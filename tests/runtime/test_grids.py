"""Grids and fields in Python on many ranks, and that Fortran divides a domain in the same way.

The programs are in `grids/`; the one in Python stops at the first value that is wrong.
"""

from __future__ import annotations

import math
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from libraries import linked_with
from psyclone_storage.runtime.gocean.decomposition import decompose
from runtime.programs import FLAGS, command

PROGRAMS = Path(__file__).parent / "grids"
SOURCE = Path(__file__).parents[2] / "src"
RANKS = (1, 2, 3, 4, 6)
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")

pytestmark = [pytest.mark.mpi]


@pytest.mark.parametrize(
    ("ranks", "takes_devices"), [*((ranks, "0") for ranks in RANKS), (2, "1"), (4, "1")]
)
def test_exchanges_fill_halos_and_sums_do_not_depend_on_ranks(
    ranks: int, takes_devices: str, tmp_path: Path
) -> None:
    """Emulated devices are memory of this machine, which MPI takes if it is told that it does."""
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    program = [sys.executable, str(PROGRAMS / "exchanges.py")]
    told = f"PSYCLONE_STORAGE_GPU_MPI={takes_devices}"
    said = command(["env", f"PYTHONPATH={paths}", told, *MPIRUN, str(ranks), *program], tmp_path)
    found = re.findall(rf"^rank (\d+) of {ranks}: (.*)$", said, re.MULTILINE)
    assert sorted(int(rank) for rank, _ in found) == list(range(ranks))
    i, j = np.meshgrid(np.arange(13), np.arange(11), indexing="ij")
    values = np.sin(1.0 + i) * 10.0 ** (j - 5)
    answers = (math.fsum(values.flat), values.min(), values.max())
    assert {told for _, told in found} == {" ".join(float(one).hex() for one in answers)}


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("target", ["c", "numpy", "cuda"])
def test_boundaries_behave_as_their_names_say(target: str, ranks: int, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    program = [sys.executable, str(PROGRAMS / "basins.py"), target]
    said = command(["env", f"PYTHONPATH={paths}", *MPIRUN, str(ranks), *program], tmp_path)
    assert said.count(f"basins agree: {target}") == ranks


@pytest.mark.fortran
@pytest.mark.parametrize("ranks", RANKS)
def test_both_languages_divide_a_domain_alike(
    gocean_library: Path, ranks: int, tmp_path: Path
) -> None:
    words = ["mpif90", *FLAGS, str(PROGRAMS / "print_parts.f90"), *linked_with(gocean_library)]
    command([*words, "-o", "print_parts"], tmp_path)
    said = command([*MPIRUN, str(ranks), str(tmp_path / "print_parts")], tmp_path)
    rows = [tuple(map(int, line.split())) for line in said.splitlines()]
    assert len(rows) == 5 * ranks
    for at, row in enumerate(rows):
        part = decompose((row[0], row[1]), ranks, 2).subdomains[at % ranks]
        ours = []
        for region in (part.domain, part.internal):
            for axis in (0, 1):
                ours += [region.start[axis] + 1, region.stop[axis]]
        columns, rows_ = part.shape
        assert row[2:] == (*ours[:4], columns - 1, rows_ - 1, *ours[4:])
