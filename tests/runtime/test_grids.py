"""Grids and fields in Python on many ranks, and that Fortran divides a domain in the same way.

The programs are in `grids/`; the one in Python stops at the first value that is wrong.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
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
RANKS_OF_TARGETS = {"c": (1, 6), "numpy": (3, 4), "cuda": (2,)}
"""The numbers of ranks that any run tries with a target; `--matrix` tries all."""
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")

pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("kept_invokes", "quickly")]


@pytest.mark.parametrize(
    ("ranks", "takes_devices"),
    [
        (1, "0"), (2, "1"), (4, "1"), (6, "0"),
        *(pytest.param(ranks, "0", marks=pytest.mark.matrix) for ranks in (2, 3, 4)),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("target", "ranks"),
    [
        pytest.param(target, ranks, marks=() if ranks in chosen else pytest.mark.matrix)
        for target, chosen in RANKS_OF_TARGETS.items()
        for ranks in RANKS
    ],
)
def test_boundaries_behave_as_their_names_say(target: str, ranks: int, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    program = [sys.executable, str(PROGRAMS / "basins.py"), target]
    said = command(["env", f"PYTHONPATH={paths}", *MPIRUN, str(ranks), *program], tmp_path)
    assert said.count(f"basins agree: {target}") == ranks


@pytest.mark.parametrize(
    ("target", "numbers"),
    [
        ("c", (1, 2, 4)),
        ("numpy", (1, 2)),
        ("cuda", (1, 4)),
        pytest.param("numpy", (1, 4), marks=pytest.mark.matrix),
        pytest.param("cuda", (1, 2), marks=pytest.mark.matrix),
    ],
)
def test_reductions_in_invokes_do_not_depend_on_ranks(
    target: str, numbers: tuple[int, ...], tmp_path: Path
) -> None:
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    program = [sys.executable, str(PROGRAMS / "reductions.py"), target]
    found = set()
    for ranks in numbers:
        said = command(["env", f"PYTHONPATH={paths}", *MPIRUN, str(ranks), *program], tmp_path)
        results = re.findall(r"reductions: \[\[.*?\]\]", said)
        assert len(results) == ranks
        found |= set(results)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("target", "ranks"),
    [
        ("c", 2),
        ("numpy", 2),
        ("late", 2),
        ("late", 4),
        pytest.param("c", 4, marks=pytest.mark.matrix),
        pytest.param("numpy", 4, marks=pytest.mark.matrix),
    ],
)
def test_deferred_invokes_have_the_same_values(target: str, ranks: int, tmp_path: Path) -> None:
    """Also if ranks read values at different times; a rank that waits for long reports it."""
    pytest.importorskip("mpi4py")
    program = [*MPIRUN, str(ranks), sys.executable, str(PROGRAMS / "deferred.py"), target]
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        program, check=False, capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.stdout.count(f"deferred invokes agree: {target}") == ranks, done.stderr
    reported = re.findall(r"Rank (\d+) needs a value of a deferred invoke at (\S+),", done.stderr)
    places = {(rank, Path(place).name.split(":")[0]) for rank, place in reported}
    assert places == ({("0", "deferred.py")} if target == "late" else set()), done.stderr


def _observed(mode: str, ranks: int, seconds: str, folder: Path) -> str:
    """Return what a program whose ranks may disagree prints on both streams."""
    pytest.importorskip("mpi4py")
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    variables = {"PYTHONPATH": paths, "PSYCLONE_STORAGE_CHECK_RANKS": seconds}
    program = [*MPIRUN, str(ranks), sys.executable, str(PROGRAMS / "observed.py"), mode]
    done = subprocess.run(
        program, check=False, capture_output=True, text=True, timeout=300, cwd=folder,
        env={**os.environ, **variables},
    )  # fmt: skip
    assert (done.returncode == 0) is (mode in ("plain", "late", "profile")), done.stderr
    return done.stdout + done.stderr


def test_a_profile_has_calls_and_messages_of_all_ranks(tmp_path: Path) -> None:
    said = _observed("profile", 2, "", tmp_path)
    assert said.count("4896.0") == 2
    # Two ranks exchange 10 values on each side with one neighbour, in each of 3 calls.
    whole = re.search(r"^ +3 .* 3 +6 +960  \S*invoke_spread\S*$", said, re.MULTILINE)
    assert whole, said
    assert re.search(r"^ +3 .* 0 +0 +0  \S*invoke_keep-copy_code\S*$", said, re.MULTILINE), said
    unnamed = re.findall(r"^ +(\d+) .*:invoke_line_(\d+)-r\d+$", said, re.MULTILINE)
    assert sorted(unnamed, key=lambda row: int(row[1])) == [("1", "44"), ("2", "46")]


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("plain", "4896.0"),
        ("numbers", "pass different numbers to the invoke 'spread' of diffuse at "),
        ("calls", "rank 1: a reduction or a gather at "),
        ("late", "waits in the invoke 'keep' of copy at "),
        ("end", "rank 1: the end of the program"),
    ],
)
def test_ranks_report_calls_that_differ(mode: str, says: str, tmp_path: Path) -> None:
    ranks = 3 if mode == "late" else 2
    said = _observed(mode, ranks, "1", tmp_path)
    assert says in said
    if mode == "late":
        assert "for rank 1, last seen in the invoke 'spread' of diffuse at " in said
        assert said.count("4896.0") == 3


def _restart() -> tuple[list[str], list[str]]:
    """Return the words that set the path of modules, and the program that continues."""
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    return ["env", f"PYTHONPATH={paths}"], [sys.executable, str(PROGRAMS / "restart.py")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what the program prints that runs without a checkpoint."""
    pytest.importorskip("mpi4py")
    with_path, program = _restart()
    return command([*with_path, *program, "plain", "none"], tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (4, 1),
        (2, 6),
        pytest.param(3, 2, marks=pytest.mark.matrix),
        pytest.param(1, 4, marks=pytest.mark.matrix),
    ],
)
def test_checkpoints_continue_on_other_numbers_of_ranks(
    whole: str, before: int, after: int, tmp_path: Path
) -> None:
    with_path, program = _restart()
    command([*with_path, *MPIRUN, str(before), *program, "write", "saved"], tmp_path)
    said = command([*with_path, *MPIRUN, str(after), *program, "continue", "saved"], tmp_path)
    assert set(said.split()) == set(whole.split())


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
