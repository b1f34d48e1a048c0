"""A folder of bytes by key, which many commands use at once; whatever is wrong with it is a miss.

An entry is written beside its place and renamed, so that a reader sees all of it or nothing, and a
command that is killed leaves a file behind that a later one takes away. The folder is divided
by the first digit of the keys; each part is kept below its share of the limit by taking away
what was not asked for longest. Nobody is told that the folder cannot be written: then nothing is
kept.
"""

from __future__ import annotations

import os
import time
import zlib
from contextlib import suppress
from pathlib import Path

LIMIT = 256 * 1024 * 1024
_PARTS = 16
_KEPT = 0.75  # of its share, when a part has grown beyond it
_HOUR = 3600
_UNFINISHED = ".new-"


class Cache:
    """The entries below `folder`, of at most `limit` bytes together; a key is hexadecimal."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self._folder = folder
        self._limit = limit
        self._usable = True

    def find(self, key: str) -> bytes | None:
        """Return what was kept under `key`, None if that is nothing or not whole."""
        path = self._path(key)
        try:
            data = zlib.decompress(path.read_bytes())
            if time.time() - path.stat().st_mtime > _HOUR:
                with suppress(OSError):
                    os.utime(path)
        except (OSError, zlib.error):
            return None
        mark = key.encode() + b"\n"
        return data.removeprefix(mark) if data.startswith(mark) else None

    def keep(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`, if the folder can be written."""
        if not self._usable:
            return
        path = self._path(key)
        # No other thread, process or machine may write to the same file.
        unfinished = path.with_name(f"{_UNFINISHED}{os.urandom(8).hex()}-{path.name}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                unfinished.write_bytes(zlib.compress(key.encode() + b"\n" + data, 1))
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
            self._tidy(path.parent)
        except OSError:
            self._usable = False

    def _path(self, key: str) -> Path:
        return self._folder / key[0] / key

    def _tidy(self, part: Path) -> None:
        """Take away what is oldest, where a part has grown beyond its share, and what is dead."""
        found = []
        with os.scandir(part) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    known = entry.stat()
                    found.append((known.st_mtime, known.st_size, entry))
        share = self._limit / _PARTS
        total = sum(size for _, size, _ in found)
        goal = share * _KEPT if total > share else share
        for changed, size, entry in sorted(found, key=lambda item: item[0]):
            is_dead = entry.name.startswith(_UNFINISHED) and time.time() - changed > _HOUR
            if total > goal or is_dead:
                Path(entry.path).unlink(missing_ok=True)
                total -= size
