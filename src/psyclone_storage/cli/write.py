"""Writing files: all that belong together or none, each one whole, and only when they change.

Every text is first written to a temporary file next to its target, where most errors occur. Only
then are the targets replaced, and restored if one of them cannot be replaced.
"""

from __future__ import annotations

import os
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
from psyclone_storage.base.reading import read_input
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.stopping import deferred, interruptible
from psyclone_storage.cli.output_clashes import written_twice
from psyclone_storage.cli.temporaries import remove_leftovers, temporary_name


@dataclass(frozen=True, slots=True)
class Output:
    """A text and the file that it is for.

    What is `shared` belongs to all layers that make the same text: the first command writes it, and
    undoing another one leaves it. It takes the place of the text `outdated`, if there is one.
    """

    path: Path
    text: str
    shared: bool = False
    outdated: str | None = None


def write_together(outputs: Iterable[Output], between: Callable[[], None] = lambda: None) -> None:
    """Give each file its text; if one cannot be written, none is.

    A file that holds its text already keeps its time stamp, so that nothing is built again. Another
    one is replaced in one step: a reader sees the old content or the new, never a part. What is
    no file, such as `/dev/null` or a pipe, is written to before any file changes, and so is what
    `between` writes. Surrogates for bytes that were not UTF-8 become those bytes again.

    Raises:
        CompileError: `L003`, for each path that cannot be written; `L002`, two texts are for the
            same file; `L015`, a shared file has another text.
    """
    landing = _Landing()
    with deferred():
        try:
            streams = landing.prepare(outputs)
            with interruptible():
                for output in streams:
                    with _reported(output.path):
                        output.path.write_bytes(encoded(output.text))
                between()
            landing.land()
        except BaseException:
            landing.undo()
            raise
        finally:
            landing.tidy()


def cannot_write(path: Path, error: OSError) -> Diagnostic:
    """Return `L003`: why `path` is not written."""
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason = f"'{error.filename}' is not a directory"
    return Diagnostic("L003", f"'{path}' cannot be written: {reason}.", file=str(path))


def ignored_cache(reason: str, hint: str) -> Diagnostic:
    """Return `L018`: why cached files are not used."""
    message = f"Cached files are ignored: {reason}."
    return Diagnostic("L018", message, hint=hint, severity=Severity.WARNING)


def differs(path: Path) -> Diagnostic:
    """Return `L015`: the changed kernel at `path` is another one."""
    message = f"The changed kernel '{path.stem}' differs from the one in '{path}'."
    hint = (
        "With '--kernel-renaming single' all layers must change a kernel alike: repeat all commands"
        " whose options have changed after removing the file, or use 'multiple'."
    )
    return Diagnostic("L015", message, file=str(path), hint=hint)


def given_name(temporary: Path, path: Path) -> bool:
    """Rename `temporary` to `path`; return False if that exists.

    That is one step, but where files cannot have two names: there a reader may see a part.
    """
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:
        try:
            with path.open("xb") as stream:
                stream.write(temporary.read_bytes())
        except FileExistsError:
            return False
    return True


def check_same(path: Path, text: str) -> None:
    """Raise `CompileError` unless the file at `path` holds `text`: `L015`, or `L003`."""
    try:
        found = read_input(path)
    except OSError as error:
        raise CompileError(cannot_write(path, error)) from error
    if found != encoded(text):
        raise CompileError(differs(path))


def encoded(text: str) -> bytes:
    """Return the bytes of a file for `text`."""
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """Return the text of a file with the bytes `data`."""
    return data.decode("utf-8", "surrogateescape")


def is_stream(path: Path) -> bool:
    """Return whether there is something at `path` that is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


# ------------------------------------------------------------------ many files at once


@dataclass(slots=True)
class _Replacement:
    """A file to be replaced: its resolved path, and the files of its new and old content."""

    output: Output
    target: Path
    temporary: Path
    aside: Path | None = None
    landed: bool = False


class _Landing:
    """The files of one command on their way."""

    def __init__(self) -> None:
        self._parts: list[_Replacement] = []
        self._folders: list[Path] = []
        self._searched: set[Path] = set()

    def prepare(self, outputs: Iterable[Output]) -> list[Output]:
        """Write every text to a temporary file in the folder of its target.

        Return the outputs whose targets are no files.
        """
        problems: list[Diagnostic] = []
        streams: list[Output] = []
        seen: dict[Path, Output] = {}
        for output in outputs:
            try:
                if is_stream(output.path):
                    streams.append(output)
                    continue
                target = output.path.resolve()
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
        """Replace the targets in reverse order: the algorithm and the PSy layer after the rest.

        A build without stamps checks these two, so that it never takes a killed run for a complete
        one. Shared files stay if a later target cannot be replaced.
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
        """Return whether this command or another one has written the shared file.

        Where files cannot have two names, another one may still be writing it: its part is
        replaced, as that of one that was killed.
        """
        if _may_replace(part.output, part.target):
            return False
        if not given_name(part.temporary, part.target):
            if _may_replace(part.output, part.target):
                return False
            check_same(part.target, part.output.text)
        return True

    def undo(self) -> None:
        """Put back what was there, and take away what was not."""
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
        if target.exists():
            if target.is_file() and target.read_bytes() == data:
                return
            if output.shared and not _may_replace(output, target):
                raise CompileError(differs(output.path))
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


def _may_replace(output: Output, target: Path) -> bool:
    """Return whether a shared file is there that is old, or was not written to its end."""
    if not target.is_file():
        return False
    found, data = target.read_bytes(), encoded(output.text)
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


def _aside(path: Path) -> Path:
    """Return a second name for the file at `path`, or a copy where files have one name only."""
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
        temporary.chmod(path.stat().st_mode if path.exists() else 0o666 & ~_umask())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _new_file_beside(path: Path) -> tuple[int, Path]:
    """Make a private empty file in the folder of `path`; return it open, and its path.

    `tempfile` would do it, and load the modules of three archive formats at every start.
    """
    for number in count():
        new = temporary_name(path, number)
        with suppress(FileExistsError):
            return os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), new
    raise InternalError("The numbers are at an end.")


def _umask() -> int:
    """Return the permissions that new files of this process do not have."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
