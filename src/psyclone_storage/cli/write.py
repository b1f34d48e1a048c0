"""Atomic writing of output files: all of them or none, and only if their contents change.

Each text is first written to a temporary file next to its target, where most errors occur. Then the
targets are replaced. If one cannot be replaced, the others are restored.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from psyclone_storage.base.diagnostic import (
    CompileError,
    Diagnostic,
    InternalError,
    Severity,
    raise_if_any,
)
from psyclone_storage.base.hints import cure_of_system
from psyclone_storage.base.reading import read_if_present, resolved
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.stopping import deferred, interruptible
from psyclone_storage.base.temporaries import remove_leftovers, temporary_name
from psyclone_storage.cli.output_clashes import written_twice

_LONGEST_WAIT = 10.0
"""Seconds for which the command waits for a process that reads a named pipe."""
_BETWEEN_ATTEMPTS = 0.05
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}


@dataclass(frozen=True, slots=True)
class Output:
    """Output text with its file.

    - `shared`: the file belongs to all layers that generate the same text. The first command writes
      it, and it remains if another output fails.

    - `outdated`: an old text that may be replaced, or None.
    """

    path: Path
    text: str
    shared: bool = False
    outdated: str | None = None


def write_together(outputs: Iterable[Output], between: Callable[[], None] = lambda: None) -> None:
    """Write all files; if one cannot be written, write none.

    A file that already has its text keeps its time stamp, so that nothing is rebuilt. Any other
    file is replaced atomically. A target that is not a regular file, such as `/dev/null` or a pipe,
    is written before any file is changed, as is the output of `between`. Surrogates are written as
    the original bytes that were not UTF-8.

    Raises:
        CompileError: `L003`, for each path that cannot be written; `L002`, two texts have the same
            file; `L015`, a shared file has another text.
    """
    landing = _Landing()
    with deferred():
        try:
            streams = landing.prepare(outputs)
            with interruptible():
                for output in streams:
                    with _reported(output.path):
                        _write_stream(output.path, encoded(output.text))
                between()
            landing.land()
        except BaseException:
            landing.undo()
            raise
        finally:
            landing.tidy()


def cannot_write(path: Path, error: OSError) -> Diagnostic:
    """Return the diagnostic `L003` with the reason why `path` cannot be written."""
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason = f"'{error.filename}' is not a directory"
    message = f"'{path}' cannot be written: {reason}."
    return Diagnostic("L003", message, file=str(path), hint=_cure(path, error))


def _cure(path: Path, error: OSError) -> str:
    """Return the hint for a path that cannot be written, '' if that of the code applies."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return "Free space on this device, or write to another one."
        case errno.EPIPE:
            return "Let the process that reads the pipe read it to its end."
        case errno.ENXIO if path.is_fifo():
            return "Start the process that reads the pipe first."
        case errno.ENXIO | errno.EINVAL if path.is_socket() or path.is_block_device():
            return "Write to a regular file or a named pipe."
    return cure_of_system(error)


def ignored_cache(reason: str, hint: str) -> Diagnostic:
    """Return the diagnostic `L018` with the reason why cached files are not used."""
    message = f"Cached files are ignored: {reason}."
    return Diagnostic("L018", message, hint=hint, severity=Severity.WARNING)


def differs(path: Path) -> Diagnostic:
    """Return the diagnostic `L015`: the changed kernel at `path` has another text."""
    message = f"The changed kernel '{path.stem}' differs from the one in '{path}'."
    hint = (
        "With '--kernel-renaming single' all layers must change a kernel alike: repeat all commands"
        " whose options have changed after removing the file, or use 'multiple'."
    )
    return Diagnostic("L015", message, file=str(path), hint=hint)


def given_name(temporary: Path, path: Path) -> bool:
    """Rename `temporary` to `path`; return False if that exists.

    This is atomic, except on file systems without hard links, where a reader may see an incomplete
    file.
    """
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:
        data = temporary.read_bytes()
        try:
            with path.open("xb") as stream:
                stream.write(data)
        except FileExistsError:
            return False
    return True


def is_same(path: Path, text: str) -> bool:
    """Return whether the file at `path` contains `text`, or False if it does not exist.

    Raises:
        CompileError: `L015`, it contains another text; `L003`, it cannot be read.
    """
    with _reported(path):
        found = read_if_present(path)
    if found not in (None, encoded(text)):
        raise CompileError(differs(path))
    return found is not None


def encoded(text: str) -> bytes:
    """Return the bytes that represent `text` in a file."""
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """Return the text of a file with the bytes `data`."""
    return data.decode("utf-8", "surrogateescape")


def _descriptor(path: Path) -> int | None:
    """Return the open file that a path such as `/dev/stdout` or `/dev/fd/3` denotes, or None."""
    text = str(path)
    number = text.removeprefix("/dev/fd/").removeprefix("/proc/self/fd/")
    return _STANDARD.get(text, int(number) if number.isdecimal() and number != text else None)


def is_stream(path: Path) -> bool:
    """Return whether `path` is an open file, or exists and is no regular file and no folder.

    An open file keeps what others write to it, as after `>> log`. One call of the system decides
    about other paths, because another command may remove a file between two calls.
    """
    if _descriptor(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


# ------------------------------------------------------------------ many files at once


@dataclass(slots=True)
class _Replacement:
    """File to be replaced: its resolved path, and the files with its new and its old content."""

    output: Output
    target: Path
    temporary: Path
    aside: Path | None = None
    landed: bool = False


class _Landing:
    """Outputs of one command while they are written."""

    def __init__(self) -> None:
        self._parts: list[_Replacement] = []
        self._folders: list[Path] = []
        self._searched: set[Path] = set()

    def prepare(self, outputs: Iterable[Output]) -> list[Output]:
        """Write every text to a temporary file in the folder of its target.

        Return the outputs whose targets are not regular files.
        """
        problems: list[Diagnostic] = []
        streams: list[Output] = []
        seen: dict[Path, Output] = {}
        for output in outputs:
            try:
                if is_stream(output.path):
                    streams.append(output)
                    continue
                target = resolved(output.path)
                if (earlier := seen.setdefault(target, output)) is not output:
                    problems += _twice(earlier, output)
                    continue
                self._prepare(output, target)
            except OSError as error:
                problems.append(cannot_write(output.path, error))
            except CompileError as error:
                problems += error.problems
        raise_if_any(problems)
        return streams

    def land(self) -> None:
        """Replace the targets in reverse order, with the PSy layer and the algorithm last.

        A build without stamps checks only these two. Therefore it never takes a killed run for a
        complete one. Shared files remain if a later target cannot be replaced.
        """
        for part in reversed(self._parts):
            with _reported(part.output.path):
                if part.output.shared and self._is_settled(part):
                    continue
                if part.target.exists() and not part.output.shared:
                    part.aside = _aside(part.target)
                part.temporary.replace(part.target)
                part.landed = not part.output.shared

    def _is_settled(self, part: _Replacement) -> bool:
        """Return whether a shared file is already complete, written by this or another command.

        Without hard links, another command may still be writing it. Its incomplete file is
        replaced, like that of a killed command. A file that another command removes meanwhile is
        written again.
        """
        while not given_name(part.temporary, part.target):
            found = read_if_present(part.target)
            if found is not None and _may_replace(part.output, found):
                return False
            if is_same(part.target, part.output.text):
                break
        return True

    def undo(self) -> None:
        """Restore the replaced files, and remove the new ones."""
        for part in self._parts:
            aside, part.aside = part.aside, None
            # An old file that cannot be restored stays next to its target.
            with suppress(OSError):
                if part.landed and aside is not None:
                    aside.replace(part.target)
                elif part.landed:
                    part.target.unlink(missing_ok=True)
                elif aside is not None:
                    aside.unlink(missing_ok=True)
        self.tidy()
        for folder in reversed(self._folders):
            with suppress(OSError):
                folder.rmdir()

    def tidy(self) -> None:
        """Remove the temporary files next to the targets."""
        for part in self._parts:
            part.temporary.unlink(missing_ok=True)
            if part.aside is not None:
                part.aside.unlink(missing_ok=True)

    def _prepare(self, output: Output, target: Path) -> None:
        data = encoded(output.text)
        if target.parent not in self._searched:
            self._searched.add(target.parent)
            remove_leftovers(target.parent)
        if output.shared:
            found = read_if_present(target)
            if found == data:
                return
            if found is not None and not _may_replace(output, found):
                raise CompileError(differs(output.path))
        elif target.exists():
            if target.is_file() and target.read_bytes() == data:
                return
            with target.open("ab"):
                pass
        missing = [
            parent
            for parent in (output.path.parent, *output.path.parent.parents)
            if not parent.is_dir()
        ]
        for parent in reversed(missing):
            parent.mkdir(exist_ok=True)
            self._folders.append(parent)
        self._parts.append(_Replacement(output, target, _written_beside(target, data)))


def _may_replace(output: Output, found: bytes) -> bool:
    """Return whether the content `found` of a shared file is outdated or incomplete."""
    data = encoded(output.text)
    is_old = output.outdated is not None and found == encoded(output.outdated)
    return is_old or (data.startswith(found) and found != data)


def _twice(earlier: Output, later: Output) -> tuple[Diagnostic, ...]:
    if not (earlier.shared and later.shared):
        return (written_twice(later.path),)
    return () if earlier.text == later.text else (differs(later.path),)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CompileError(cannot_write(path, error)) from error


def _write_stream(path: Path, data: bytes) -> None:
    """Write to an existing stream.

    Raises:
        OSError: `path` is a block device or a socket, or no process reads the named pipe.
    """
    opened = _opened_stream(path)
    with os.fdopen(opened, "wb") as stream:
        if stat.S_ISBLK(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "it is a block device", str(path))
        os.set_blocking(opened, True)
        stream.write(data)


def _opened_stream(path: Path) -> int:
    """Open an existing stream; wait for a reader of a named pipe.

    Raises:
        OSError: the stream cannot be opened, or no process opens the named pipe for reading.
    """
    if (descriptor := _descriptor(path)) is not None:
        try:
            return os.dup(descriptor)
        except OverflowError:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), str(path)) from None
    end = time.monotonic() + _LONGEST_WAIT
    while True:
        try:
            return os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO or not path.is_fifo():
                raise
            if time.monotonic() >= end:
                reason = "no process reads this named pipe"
                raise OSError(errno.ENXIO, reason, str(path)) from error
        time.sleep(_BETWEEN_ATTEMPTS)


def _aside(path: Path) -> Path:
    """Return a hard link to the file at `path`, or a copy if hard links are not supported."""
    handle, aside = _new_file_beside(path)
    os.close(handle)
    aside.unlink()
    try:
        aside.hardlink_to(path)
    except OSError:
        from shutil import copy2  # noqa: PLC0415

        copy2(path, aside)
    return aside


def _written_beside(path: Path, data: bytes) -> Path:
    handle, temporary = _new_file_beside(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        temporary.chmod(_mode_of(path))
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _mode_of(path: Path) -> int:
    """Return the permission bits of the file at `path`, or those of a new file."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _new_file_beside(path: Path) -> tuple[int, Path]:
    """Create a private empty file in the folder of `path`; return its descriptor and path.

    `tempfile` is not used, because it would import three archive modules at every start.
    """
    for number in count():
        new = temporary_name(path, number)
        with suppress(FileExistsError):
            return os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), new
    raise InternalError("The numbers are at an end.")


def _umask() -> int:
    """Return the permission bits that are removed from new files of this process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
