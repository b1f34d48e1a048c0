"""Tests of the exit status and the messages of a program whose deferred work has failed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HELD = """
import sys
import numpy as np
import psyclone_storage.storage as gt
gt.use_device("emulated")
storage = gt.as_storage(np.zeros(4), device="gpu", label="mine")
storage.host_to_device()
held = storage.buffer.acquire("gpu", gt.RDWR)
"""

FAILING = """
from itertools import chain
import numpy as np
import psyclone_storage.storage as gt
from psyclone_storage.storage.gdp.binding import LaunchBlock
gt.use_device("emulated", gt.Emulation(order="late"))
field = gt.as_storage(np.zeros(8), device="gpu", label="mine")
field[...] = 1.0
def kernel():
    raise ZeroDivisionError("kernel")
block = LaunchBlock({"0": field}, "gpu", ("0",))
with block:
    block.start(kernel, tuple(chain(*block.uses())))
"""


def ended(program: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", program]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("then", ["sys.stderr.close()", "sys.stderr = None", "del sys.stderr"])
def test_a_program_without_error_output_has_the_status_all_the_same(then: str) -> None:
    end = ended(HELD + then)
    assert (end.returncode, end.stdout, end.stderr) == (120, "", "")


def test_an_error_output_that_is_closed_last_keeps_the_status() -> None:
    closing = "import atexit\natexit.register(lambda: sys.stderr.close())\n"
    end = ended(HELD.replace("import sys\n", f"import sys\n{closing}", 1))
    assert '"mine" were not written back' in end.stderr
    assert end.returncode == 120


@pytest.mark.parametrize("then", ["sys.exit(3)", "raise ValueError('of the user')"])
def test_the_status_of_lost_values_takes_the_place_of_others(then: str) -> None:
    end = ended(HELD + then)
    assert '"mine" were not written back' in end.stderr
    assert ("of the user" in end.stderr) == ("user" in then)
    assert end.returncode == 120


def test_a_kernel_that_fails_only_at_the_end_loses_values_with_a_warning() -> None:
    end = ended(FAILING)
    assert end.returncode == 120
    assert (
        'RuntimeWarning: The values of "mine" were not written back: the task that wrote them '
        "failed (ZeroDivisionError('kernel')). This was asked for at <string>:13" in end.stderr
    )
    assert "Traceback" not in end.stderr
