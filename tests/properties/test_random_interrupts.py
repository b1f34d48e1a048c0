"""A few random interrupts of all facades, with both cores; `random_interrupts.py` runs more."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import random_interrupts

TRACED = sys.version_info[:2] in ((3, 11), (3, 12))
"""Whether `interrupts.py` knows the opcodes at which CPython handles signals."""


@pytest.mark.parametrize("core", ["compiled", "python"])
@pytest.mark.parametrize(
    ("how", "device"), [("trace", "emulated"), ("trace", "stand-in"), ("signal", "emulated")]
)
def test_values_stay_intact_or_an_error_is_raised(core: str, how: str, device: str) -> None:
    if how == "trace" and not TRACED:
        pytest.skip("The opcodes at which this Python handles signals are not known.")
    words = [sys.executable, random_interrupts.__file__, "--count", "150", "--seed", "7"]
    source = str(Path(random_interrupts.gt.__file__).parents[2])
    done = subprocess.run(
        [*words, "--how", how, "--device", device],
        env={**os.environ, "PSYCLONE_STORAGE_CORE": core, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    seen = ast.literal_eval(done.stdout.partition("}")[0] + "}")
    assert seen["interrupted"] == 150
    # Poisoned values pass each check of a trial: most trials must leave values that can be read.
    assert seen["intact"] > 2 * seen["raised"], seen
