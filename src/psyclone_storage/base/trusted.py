"""Checks that no other user can have written a cached file, because cached code is executed.

Each component of a path is checked, starting at the root. It must belong to this user or root, and
other users must not have write permission unless it is sticky, like `/tmp`. Other users then cannot
replace the next component, so the result remains valid. The cache folder and its files must belong
to this user. A file is checked through the descriptor from which it is read.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MOST_LINKS = 40
_ROOT = 0


class UntrustedError(Exception):
    """Another user may have written a cached folder or file; the text gives the reason."""


def check_owned(path: str, state: os.stat_result, user: int) -> None:
    """Check a cached folder or file, given its state.

    Raises:
        UntrustedError: `user` does not own it, or other users may write to it.
    """
    if state.st_uid != user:
        raise UntrustedError(f"'{path}' belongs to another user (uid {state.st_uid})")
    if state.st_mode & _OTHERS_WRITE:
        raise UntrustedError(_writable(path, state))


def check_parent(path: str, state: os.stat_result, user: int, system: int = _ROOT) -> None:
    """Check a component of the path to a cache folder, given its state.

    `system` is the owner of the root directory, which is not uid 0 in some containers.

    Raises:
        UntrustedError: other users may replace the component or what it contains.
    """
    if state.st_uid not in (user, system, _ROOT):
        raise UntrustedError(f"'{path}' belongs to another user (uid {state.st_uid})")
    if stat.S_ISLNK(state.st_mode) or state.st_mode & stat.S_ISVTX:
        return
    if state.st_mode & _OTHERS_WRITE:
        raise UntrustedError(_writable(path, state))


def _writable(path: str, state: os.stat_result) -> str:
    mode = stat.S_IMODE(state.st_mode)
    origin = ", as the umask 002 sets it" if mode & _OTHERS_WRITE == stat.S_IWGRP else ""
    return f"other users may write to '{path}' (mode {mode:04o}{origin}; run 'chmod go-w' on it)"


def check_folder(folder: Path, *, create: bool = False, shared: bool = False) -> None:
    """Check a cache folder and all folders above it.

    `create` makes missing levels, with mode 0700. `shared` admits a folder of another owner that is
    safe as a parent, such as `/tmp`.

    Raises:
        UntrustedError: another user may write to the folder, or replace it.
        OSError: the folder does not exist, or cannot be created.
    """
    user = os.geteuid()
    place = Path(os.sep)
    state = place.stat()
    system = state.st_uid
    waiting = list(reversed(folder.absolute().parts[1:]))
    links = 0
    while waiting:
        check_parent(str(place), state, user, system)
        below = place / waiting.pop()
        state = _state(below, create=create)
        if not stat.S_ISLNK(state.st_mode):
            place = below
            continue
        check_parent(str(below), state, user, system)
        links += 1
        if links > _MOST_LINKS:
            raise UntrustedError(f"'{folder}' has too many symbolic links")
        target = below.readlink()
        if target.is_absolute():
            place = Path(os.sep)
        waiting += [part for part in reversed(target.parts) if part != os.sep]
        state = place.stat()
    if not stat.S_ISDIR(state.st_mode):
        raise NotADirectoryError(f"'{folder}' is not a folder")
    check = check_parent if shared else check_owned
    check(str(place), state, user)


def _state(path: Path, *, create: bool) -> os.stat_result:
    if create and not os.path.lexists(path):
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)
    return path.lstat()


def read_owned(path: Path) -> bytes:
    """Return the contents of a cached file; its folder has been checked.

    Raises:
        UntrustedError: it is a symbolic link or no regular file, this user does not own it, or
            other users may write to it.
        OSError: it cannot be read.
    """
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise UntrustedError(f"'{path}' is a symbolic link") from error
        raise
    with os.fdopen(opened, "rb") as stream:
        state = os.fstat(opened)
        if not stat.S_ISREG(state.st_mode):
            raise UntrustedError(f"'{path}' is not a regular file")
        check_owned(str(path), state, os.geteuid())
        return stream.read()


def write_owned(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Create a file with `data` that only this user can read; `durable` waits for the disk.

    Raises:
        OSError: it exists, or cannot be written.
    """
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    with os.fdopen(opened, "wb") as stream:
        stream.write(data)
        if durable:
            stream.flush()
            os.fsync(opened)
