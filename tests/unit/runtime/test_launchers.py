"""Launchers that do not match the MPI library: one warning, not for children of ranks."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from psyclone_storage.runtime import launchers

WORDS = "each process computes the whole model"
DETACHED = '(sleep 0.5; "$@" >"$0/out" 2>"$0/err"; echo $? >"$0/status") &'
"""Runs a program whose ancestors end: the process of other tests may have loaded an MPI library."""
PROGRAM = "from psyclone_storage.runtime.ranks import world; print(world().size)"


def warned(variables: dict[str, str], *before: str) -> bool:
    """Return whether a program with one rank warns; `before` are the words of its parent."""
    pytest.importorskip("mpi4py")
    kept = {name: text for name, text in os.environ.items() if not is_of_launcher(name)}
    with tempfile.TemporaryDirectory() as folder:
        words = ["sh", "-c", DETACHED, folder, *before, sys.executable, "-c", PROGRAM]
        subprocess.run(words, env=kept | variables, check=True)
        end, status = time.monotonic() + 120, Path(folder, "status")
        while not (status.exists() and status.read_text()) and time.monotonic() < end:
            time.sleep(0.05)
        out, err = (Path(folder, name).read_text(encoding="utf-8") for name in ("out", "err"))
        assert status.read_text() == "0\n", err
    assert out == "1\n"
    assert err.count(WORDS) <= 1
    return WORDS in err


def is_of_launcher(name: str) -> bool:
    return name.startswith(("OMPI_COMM_", "PMI", "MV2_", "SLURM_"))


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, False),
        ({"PMI_SIZE": "4", "PMI_RANK": "0"}, True),
        ({"PMI_SIZE": "4", "PMI_RANK": "3"}, False),
        ({"PMI_SIZE": "1", "PMI_RANK": "0"}, False),
        ({"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}, True),
        ({"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "2"}, False),
        ({"PMIX_RANK": "0"}, False),
        ({"PMIX_RANK": "1"}, True),
        ({"PMIX_RANK": "2"}, False),
        ({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}, True),
        ({"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, False),
        ({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, False),
    ],
)  # fmt: skip
def test_one_rank_of_a_launcher_of_another_library_warns(
    variables: dict[str, str], expected: bool
) -> None:
    assert warned(variables) == expected


@pytest.mark.mpi
def test_a_program_that_a_rank_starts_does_not_warn(tmp_path: Path) -> None:
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import subprocess, sys\nfrom mpi4py import MPI\nsubprocess.run(sys.argv[1:], check=True)\n"
    )
    several = {"PMI_SIZE": "4", "PMI_RANK": "0"}
    assert not warned(several, sys.executable, str(parent))
    shell = ("sh", "-c", '"$@"; exit', "sh")
    assert not warned(several, sys.executable, str(parent), *shell)
    assert warned(several, *shell)


def test_numbers_of_launchers_may_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMI_SIZE", "many")
    launchers.warn_of_single_rank.__wrapped__("MPI")
