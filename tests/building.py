"""What several tests need and is expensive to build is built once, by whoever comes first.

Owns the agreement between the processes of a test run: one builds, the others wait. It does not
know what is built.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder that all worker processes of this test run share."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def built_once(folder: Path, build: Callable[[Path], object]) -> Path:
    """Return `folder` with what `build` puts there, unless another process has done it.

    A build that fails leaves nothing that counts, so that the next one starts anew.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder)
            done.touch()
    return folder
