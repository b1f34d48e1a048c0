"""Temporary files next to outputs, and removal of those that killed commands have left.

A name contains the machine and the process, so a later command can check whether the process is
still running. Files of other machines, or of a process number in use again, are removed after one
day. No command needs its temporary files for so long.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from zlib import crc32

from psyclone_storage.base.regex import regex

_DAY = 24 * 3600.0
_SHOWN = 180  # bytes of the target's name; a file name has at most 255
_MARK = "psyclone-storage"
_LEFT = regex(rf"\..*\.{_MARK}-(?P<machine>[0-9a-f]{{8}})-(?P<process>\d+)-\d+")


def temporary_name(path: Path, number: int = 0) -> Path:
    """Return the path of temporary file `number` of this process next to `path`."""
    shown = os.fsdecode(os.fsencode(path.name)[:_SHOWN])
    return path.with_name(f".{shown}.{_MARK}-{_machine()}-{os.getpid()}-{number}")


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files and claims in `folder` that killed commands have left."""
    try:
        names = os.listdir(folder)  # noqa: PTH208  (names are enough, paths take longer)
    except OSError:
        return
    for found in filter(None, map(_LEFT.fullmatch, names)):
        path = folder / found[0]
        is_here = found["machine"] == _machine()
        with suppress(OSError):
            if (is_here and not _is_running(int(found["process"]))) or _is_old(path):
                _remove(path)


def _remove(path: Path) -> None:
    if not path.is_dir() or path.is_symlink():
        path.unlink()
        return
    for inner in path.iterdir():
        inner.unlink()
    path.rmdir()


def _is_old(path: Path) -> bool:
    return time.time() - path.lstat().st_mtime > _DAY


def _is_running(process: int) -> bool:
    """Return whether `process` exists on this machine, for any user."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


@cache
def _machine() -> str:
    """Return a checksum of the machine, its boot and the process namespace."""
    facts = [os.uname().nodename]
    with suppress(OSError):
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8"))
    with suppress(OSError):
        facts.append(str(Path("/proc/self/ns/pid").readlink()))
    return f"{crc32(os.fsencode(chr(10).join(facts))):08x}"
