"""A few random interrupts of all facades, with both cores; `random_interrupts.py` runs more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import random_interrupts

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] not in ((3, 11), (3, 12)), reason="other opcodes"
)


@pytest.mark.parametrize("core", ["compiled", "python"])
@pytest.mark.parametrize("how", ["trace", "signal"])
def test_values_stay_intact_or_an_error_is_raised(core: str, how: str) -> None:
    words = [sys.executable, random_interrupts.__file__, "--count", "150", "--seed", "7"]
    source = str(Path(random_interrupts.gt.__file__).parents[2])
    done = subprocess.run(
        [*words, "--how", how],
        env={**os.environ, "PSYCLONE_STORAGE_CORE": core, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "'interrupted': 150" in done.stdout
