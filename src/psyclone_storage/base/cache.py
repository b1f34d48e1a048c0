"""An on-disk cache of bytes by key, shared by concurrent processes.

Any problem with the cache is treated as a miss. An entry is written to a temporary file and
renamed, so that readers see a complete entry or none. The folder is divided by the first digit of
the keys. Each part evicts the least recently used entries when it exceeds its share of the limit,
and loses the temporary files of killed processes when an entry is added. If the folder is not
writable, nothing is cached and no message is printed. Cached entries become executable code, so
files that another user may have written are ignored and reported.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from psyclone_storage.base.regex import regex
from psyclone_storage.base.temporaries import remove_leftovers, unique_name
from psyclone_storage.base.trusted import UntrustedError, check_folder, read_owned, write_owned

LIMIT = 256 * 1024 * 1024
_PARTS = 16
_KEPT = 0.75  # of its share, when a part has grown beyond it
_HOUR = 3600
_ENTRY = regex(r"[0-9a-f]{64}")


class Cache:
    """A cache in `folder` with at most `limit` bytes of entries; keys are hexadecimal."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self._folder = folder
        self._limit = limit
        self._usable = True
        self._checked: set[Path] = set()
        self.ignored: dict[str, None] = {}
        """Why entries were ignored, in the order in which that was found."""

    def find(self, key: str) -> bytes | None:
        """Return the entry for `key`, or None if it is missing or incomplete."""
        path = self._path(key)
        try:
            if path.parent not in self._checked:
                self._check(path.parent)
            data = zlib.decompress(read_owned(path))
            if time.time() - path.stat().st_mtime > _HOUR:
                with suppress(OSError):
                    os.utime(path)
        except (OSError, zlib.error):
            return None
        except UntrustedError as error:
            self.ignored[str(error)] = None
            return None
        mark = key.encode() + b"\n"
        return data.removeprefix(mark) if data.startswith(mark) else None

    def keep(self, key: str, data: bytes) -> None:
        """Store `data` under `key` if the folder is writable."""
        if not self._usable:
            return
        path = self._path(key)
        unfinished = unique_name(path)
        try:
            self._check(path.parent, create=True)
            try:
                write_owned(unfinished, zlib.compress(key.encode() + b"\n" + data, 1))
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
            self._tidy(path.parent)
        except OSError:
            self._usable = False
        except UntrustedError as error:
            self.ignored[str(error)] = None
            self._usable = False

    def entries(self) -> Iterator[Path]:
        """Yield the entries, without temporary files and files of other origin.

        Raises:
            UntrustedError: another user may have written to the folder.
            OSError: the folder does not exist, or cannot be read.
        """
        check_folder(self._folder)
        for part in map(self._folder.joinpath, "0123456789abcdef"):
            if part.is_symlink() or not part.is_dir():
                continue
            for path in sorted(part.iterdir()):
                if _ENTRY.fullmatch(path.name) and path.name[0] == part.name:
                    yield path

    def is_complete(self, entry: Path) -> bool:
        """Return whether a file begins as `keep` writes it.

        Raises:
            OSError: it cannot be read.
        """
        with suppress(UntrustedError, zlib.error):
            mark = entry.name.encode() + b"\n"
            return zlib.decompressobj().decompress(read_owned(entry), len(mark)) == mark
        return False

    def _check(self, part: Path, *, create: bool = False) -> None:
        """Check that no other user can have written to `part`, a subfolder of the cache.

        Raises:
            UntrustedError: another user may have written to it.
            OSError: the folder does not exist, or cannot be created.
        """
        check_folder(self._folder, create=create)
        check_folder(part, create=create)
        self._checked.add(part)

    def _path(self, key: str) -> Path:
        return self._folder / key[0] / key

    def _tidy(self, part: Path) -> None:
        """Evict old entries if `part` exceeds its share of the limit."""
        remove_leftovers(part)
        found = []
        with os.scandir(part) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    known = entry.stat()
                    found.append((known.st_mtime, known.st_size, entry))
        share = self._limit / _PARTS
        total = sum(size for _, size, _ in found)
        goal = share * _KEPT if total > share else share
        for _, size, entry in sorted(found, key=lambda item: item[0]):
            if total > goal:
                Path(entry.path).unlink(missing_ok=True)
                total -= size
