"""What C that Python compiles needs to run under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CHECKS = "-O0 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
LIBRARIES = ("libasan.so", "libubsan.so")


def checked() -> list[str]:
    """Return variables that make a program in Python stop at what is undefined in its C.

    The libraries of the sanitizers come before all others. Skip where gcc has none.
    """
    gcc = shutil.which("gcc")
    found = [_library(gcc, name) for name in LIBRARIES] if gcc else []
    if not found or not all(Path(one).is_absolute() for one in found):
        pytest.skip("needs the sanitizers of gcc")
    return [
        f"LD_PRELOAD={':'.join(found)}",
        "ASAN_OPTIONS=detect_leaks=0",
        f"PSYCLONE_STORAGE_CFLAGS={CHECKS}",
    ]


def _library(gcc: str, name: str) -> str:
    said = subprocess.run(
        [gcc, f"-print-file-name={name}"], check=True, capture_output=True, text=True
    )
    return said.stdout.strip()
