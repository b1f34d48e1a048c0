"""What becomes of fields when a process is forked, and when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FORK = """
import os, signal
import numpy as np
from psyclone_storage.storage.core.buffer import Buffer, BufferOptions
from psyclone_storage.storage.core.device import Emulation, use_device

use_device("emulated", Emulation(latency=%r))
buffer = Buffer(8, "f8", BufferOptions(init=3.0))
buffer.make_valid("host")
buffer.prefetch("gpu").result(10)
buffer.touch("host")
%s
child = os.fork()
if not child:
    signal.alarm(20)
    moved = buffer.prefetch("gpu")
    error = moved.exception(5)
    assert buffer.is_valid("gpu") or error is not None
    buffer.prefetch("gpu").result(5)
    with buffer.acquire("gpu") as token:
        assert token.kernel_array.tolist() == [3.0] * 8
    os._exit(7)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status
buffer.prefetch("gpu").result(5)
print("both went on")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize(("latency", "before"), [(0.0, ""), (0.3, 'buffer.prefetch("gpu")')])
def test_a_child_has_prefetches_of_its_own(latency: float, before: str) -> None:
    assert run(FORK % (latency, before)) == "both went on"


@pytest.mark.spec("GDP-52")
@pytest.mark.parametrize("ends", ["", "raise SystemExit(0)", "storages = None"])
def test_borrowed_memory_is_written_back_at_exit(tmp_path: Path, ends: str) -> None:
    name = tmp_path / "field.npy"
    np.save(name, np.zeros(4))
    run(
        f"""
import numpy as np
import psyclone_storage.storage as gt
gt.use_device("emulated")
storages = [gt.as_storage(np.load({str(name)!r}, mmap_mode="r+"), device="gpu")]
with storages[0].access("gpu", "rw") as array:
    array[...] += 5.0
{ends}
"""
    )
    assert np.load(name).tolist() == [5.0] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.spec("GDP-52")
def test_a_child_leaves_borrowed_memory_to_its_parent(tmp_path: Path) -> None:
    name = tmp_path / "field.npy"
    np.save(name, np.zeros(4))
    run(
        f"""
import os, sys
import numpy as np
import psyclone_storage.storage as gt
gt.use_device("emulated")
storage = gt.as_storage(np.load({str(name)!r}, mmap_mode="r+"), device="gpu")
with storage.access("gpu", "rw") as array:
    array[...] = 5.0
ready, go = os.pipe()
child = os.fork()
if not child:
    os.read(ready, 1)
    sys.exit(0)
with storage.access("gpu", "rw") as array:
    array[...] = 9.0
storage.synchronize()
os.write(go, b"!")
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
"""
    )
    assert np.load(name).tolist() == [9.0] * 4


def test_values_that_cannot_come_home_are_said_to_be_lost() -> None:
    said = run(
        """
import warnings
import numpy as np
import psyclone_storage.storage as gt
gt.use_device("emulated")
warnings.simplefilter("always")
warnings.showwarning = lambda message, *_: print(message)
storage = gt.as_storage(np.zeros(4), device="gpu", label="mine")
storage.host_to_device()
held = storage.buffer.acquire("gpu", gt.RDWR)
"""
    )
    assert said.startswith('The values of "mine" were not written back')


def run(program: str) -> str:
    """Run a program in a process of its own, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
