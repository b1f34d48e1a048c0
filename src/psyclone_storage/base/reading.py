"""Reading input files: regular files and explicit streams only, up to a limit.

Opening a named pipe blocks until another program writes to it, and a device file may never end.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

LIMIT = 16 * 1024 * 1024
"""The largest input file, in bytes."""

_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device file",
    stat.S_IFBLK: "a device file",
}


def resolved(path: Path) -> Path:
    """Return the absolute path without symbolic links; if these form a loop, they remain.

    `Path.resolve` raises a `RuntimeError` then, depending on the version of Python.
    """
    return Path(os.path.realpath(path))


def read_input(path: Path, limit: int = LIMIT) -> bytes:
    """Return the content of the file at `path`.

    A shell passes a stream as `/dev/stdin` or `/dev/fd/N`; other special files are rejected.

    Raises:
        OSError: the file cannot be read, is not a regular file, or has more than `limit` bytes;
            `strerror` is the reason.
    """
    state = path.stat()
    is_stream = str(path).startswith(_STREAMS)
    if not is_stream:
        _check_regular(path, state)
    # The file may have been replaced since: a named pipe must not block here either.
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if is_stream else os.O_NONBLOCK))
    with os.fdopen(opened, "rb") as stream:
        if not is_stream:
            state = os.fstat(opened)
            _check_regular(path, state)
        data = b"" if state.st_size > limit else stream.read(limit + 1)
        if max(len(data), state.st_size) > limit:
            reason = f"it is larger than {limit // 2**20} MiB"
            raise OSError(errno.EFBIG, reason, str(path))
    return data


def read_if_present(path: Path) -> bytes | None:
    """Return the content of the file at `path`, or None if it does not exist.

    Another process may remove the file at any time, so no check precedes this call.

    Raises:
        OSError: as for `read_input`.
    """
    try:
        return read_input(path)
    except FileNotFoundError:
        return None


def read_text_input(path: Path) -> str:
    """Return the content of a UTF-8 file with line ends converted to newlines.

    Raises:
        OSError: as for `read_input`.
        UnicodeDecodeError: the file is not valid UTF-8.
    """
    with io.TextIOWrapper(io.BytesIO(read_input(path)), encoding="utf-8") as stream:
        return stream.read()


def _check_regular(path: Path, state: os.stat_result) -> None:
    if kind := _KINDS.get(stat.S_IFMT(state.st_mode)):
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))
