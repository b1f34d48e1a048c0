"""Results that several tests need and that are expensive to build are built once.

Coordinates the processes of one or several test runs: one process builds, the others wait or find
the result. It is independent of the kind of result.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return the temporary folder that all worker processes of this test run share."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def fingerprint(folder: Path, files: Iterable[Path], *words: str) -> str:
    """Return a name for what is made of files in `folder` in the way that `words` say."""
    made_of = hashlib.sha256("\0".join(words).encode())
    for path in sorted(files):
        made_of.update(str(path.relative_to(folder)).encode())
        made_of.update(hashlib.sha256(path.read_bytes()).digest())
    return made_of.hexdigest()[:16]


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
