"""The folder of changed kernels, which many commands of one build may write to at once (spec 7.9).

Under the scheme `multiple` every changed kernel gets a number that nobody else has: its file is
made where there was none, in one step and complete, so that of two commands one sees the file
of the other and goes on to the next number. Under `single` the number is 0 for all, and whoever
comes later must have made the same text. A command that fails takes its files away; under
`single` it has not written any.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.cli.write import cannot_write, umask
from psyclone_storage.driver.placing import KernelText


class KernelFolder:
    """The changed kernels of one compilation: a shelf whose numbers are files of a folder."""

    def __init__(self, folder: Path, *, single: bool) -> None:
        self._folder = folder
        self._single = single
        self._texts: dict[Path, str] = {}

    def claim(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return the number of a kernel: 0, or the first one that has no file.

        Raises:
            CompileError: `L003`, its file cannot be written; `L015`, kernel 0 has another text.
        """
        number = 0
        while not self._take(kernel(number)):
            number += 1
        return number

    def deliver(self) -> tuple[Path, ...]:
        """Write the files that are not there yet; return all, as they were claimed.

        Raises:
            CompileError: `L003`, one cannot be written; `L015`, one has another text by now.
        """
        for path, text in self._texts.items() if self._single else ():
            if not _create(path, text):
                _check_same(path, text)
        return tuple(self._texts)

    def discard(self) -> None:
        """Take away what was written: the compilation has failed."""
        for path in () if self._single else self._texts:
            path.unlink(missing_ok=True)
        self._texts.clear()

    def _take(self, kernel: KernelText) -> bool:
        """Return whether the file of `kernel` is its own now."""
        path = self._folder / f"{kernel.module}{kernel.suffix}"
        if self._single:
            if self._texts.get(path, kernel.text) != kernel.text:
                raise _differs(path)
            if path.exists():
                _check_same(path, kernel.text)
        elif not _create(path, kernel.text):
            return False
        self._texts[path] = kernel.text
        return True


def _create(path: Path, text: str) -> bool:
    """Make the file at `path` with `text`, whole at once; return False if there is one already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(_encoded(text))
            temporary.chmod(0o666 & ~umask())
            return _link(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise CompileError(cannot_write(path, error)) from error


def _link(temporary: Path, path: Path) -> bool:
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    return True


def _check_same(path: Path, text: str) -> None:
    """Raise `CompileError` unless the file at `path` holds `text`."""
    try:
        found = path.read_bytes()
    except OSError as error:
        raise CompileError(cannot_write(path, error)) from error
    if found != _encoded(text):
        raise _differs(path)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _differs(path: Path) -> CompileError:
    message = f"The changed kernel '{path.stem}' differs from the one in '{path}'."
    hint = (
        "With '--kernel-renaming single' all changes of a kernel must be the same: remove the"
        " file if it is an old one, or take 'multiple'."
    )
    return CompileError(Diagnostic("L015", message, file=str(path), hint=hint))
