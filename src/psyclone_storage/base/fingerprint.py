"""Fingerprint of this tool: the digest of all its source files.

Reading 800 files takes a tenth of a small translation, so the digest is cached under the names and
change times of the files. Users cannot set a change time, and each change of a file sets it. The
digest is not cached if a file changed within the last seconds, because two contents may then have
the same time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from psyclone_storage.base.cache import Cache
from psyclone_storage.base.digest import digest_of

_PACKAGE = Path(__file__).resolve().parents[1]
_OTHERS = ("share", "__pycache__")
_SETTLED = 5.0  # seconds; clocks of file systems are coarser than those of processors


def tool_digest(cache: Cache, package: Path = _PACKAGE, *, excluded: Collection[str] = ()) -> str:
    """Return the digest of the sources in `package` and of the Python version.

    Sources in the `excluded` subpackages do not count. The result is empty if the sources do not
    exist or cannot be read; then nothing is cached.
    """
    try:
        return _digest(cache, package, excluded)
    except OSError:
        return ""


def _digest(cache: Cache, package: Path, excluded: Collection[str]) -> str:
    """Return the digest of the sources in `package` and of the Python version.

    Raises:
        OSError: a file cannot be read.
    """
    stamps = sorted(_stamps(str(package), excluded))
    if not stamps:
        return ""
    key = digest_of(ascii((sys.version, str(package), stamps)))
    known = cache.find(key)
    if known is not None:
        return known.decode()
    parts: list[str | bytes] = [sys.version]
    for name, _ in stamps:
        with open(name, "rb") as file:  # noqa: PTH123 (each path object would cost as much)
            content = file.read()
        parts += [f"\0{name.removeprefix(str(package))}\0{len(content)}\0", content]
    digest = digest_of(*parts)
    if max(changed for _, changed in stamps) < (time.time() - _SETTLED) * 1e9:
        cache.keep(key, digest.encode())
    return digest


def _stamps(package: str, excluded: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield the path and the change time of each source file outside the `excluded` subpackages."""
    waiting, others = [package], (*_OTHERS, *excluded)
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield entry.path, entry.stat().st_ctime_ns
                elif entry.name not in others and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
        others = _OTHERS
