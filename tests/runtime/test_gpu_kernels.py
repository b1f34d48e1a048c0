"""What `make gpu` judges of generated kernels, on an emulated device: all but the times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu_kernels.py"

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]
pytest.importorskip("mpi4py")


def test_answers_and_transfers_are_judged_on_an_emulated_device() -> None:
    sizes = ["--points", "24", "--cells", "4", "--layers", "3", "--repeats", "2"]
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), "--emulated", *sizes],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = [line for line in ran.stdout.splitlines() if line.startswith("|")]
    judged = [row for row in rows if row.endswith("| met |")]
    assert len(judged) == 4 + 1 + 8
    for bar in ("point kernel: of", "product: of", "a kernel more", "hidden of what can be"):
        (row,) = (one for one in rows if bar in one)
        assert row.endswith("| not judged |")
        assert "= " in row
