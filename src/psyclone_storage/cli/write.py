"""Writing files: whole or not at all, and only when they change."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic


def write_text(path: Path, text: str) -> bool:
    """Give the file at `path` the content `text`; return whether it changed.

    A file that holds `text` already keeps its time stamp, so that nothing is built again. Another
    one is replaced in one step: a reader sees the old content or the new, never a part. What is
    no file, such as `/dev/null` or a pipe, is written to. Characters that stand for bytes which
    were not UTF-8 become those bytes again.

    Raises:
        CompileError: `L003`, the file cannot be written.
    """
    data = text.encode("utf-8", "surrogateescape")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return True
        if path.is_file() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path.resolve(), data)
    except OSError as error:
        raise CompileError(cannot_write(path, error)) from error
    return True


def cannot_write(path: Path, error: OSError) -> Diagnostic:
    """Return `L003`: why `path` is not written."""
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason = f"'{error.filename}' is not a directory"
    return Diagnostic("L003", f"'{path}' cannot be written: {reason}.", file=str(path))


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        mode = path.stat().st_mode if path.exists() else 0o666 & ~umask()
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def umask() -> int:
    """Return the permissions that new files of this process do not have."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
