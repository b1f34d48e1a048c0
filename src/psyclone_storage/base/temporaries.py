"""Temporary files and folders, and removal of those that killed processes have left.

A name contains the machine and the process, so a later command can check whether the process is
still running. Files of other machines, or of a process number in use again, are removed after one
day. No process needs its temporary files for so long.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from zlib import crc32

from psyclone_storage.base.regex import regex
from psyclone_storage.base.trusted import PRIVATE_FOLDER

_DAY = 24 * 3600.0
_SHOWN = 180  # bytes of the target's name; a file name has at most 255
_MARK = "psyclone-storage"
_DEAD = ("Z", "X")  # states of processes that no parent has waited for
_LEFT = regex(rf"\..*\.{_MARK}-(?P<machine>[0-9a-f]{{8}})-(?P<process>\d+)-\d+")


def temporary_name(path: Path, number: int = 0) -> Path:
    """Return the path of temporary file `number` of this process next to `path`."""
    shown = os.fsdecode(os.fsencode(path.name)[:_SHOWN])
    return path.with_name(f".{shown}.{_MARK}-{_machine()}-{os.getpid()}-{number}")


def unique_name(path: Path) -> Path:
    """Return the path of a temporary file next to `path` that no thread or process uses."""
    return temporary_name(path, int.from_bytes(os.urandom(8), "big"))


def new_folder(parent: Path, purpose: str) -> Path:
    """Create a private folder in `parent`, after removal of those that killed processes have left.

    Its name is never used again: the dynamic linker identifies a library by its path.

    Raises:
        OSError: `parent` does not exist, or cannot be written.
    """
    remove_leftovers(parent)
    folder = unique_name(parent / purpose)
    folder.mkdir(PRIVATE_FOLDER)
    return folder


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files, folders and claims in `folder` that killed processes have left."""
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
    from shutil import rmtree  # noqa: PLC0415

    rmtree(path)


def _is_old(path: Path) -> bool:
    return time.time() - path.lstat().st_mtime > _DAY


def _is_running(process: int) -> bool:
    """Return whether `process` exists on this machine, for any user, and has not ended."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    with suppress(OSError):
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        return not status.rpartition(")")[2].lstrip().startswith(_DEAD)
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
