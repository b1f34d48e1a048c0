"""The folder of changed kernels, which many commands of one build may write to at once (spec 7.9).

Under the scheme `multiple` every changed kernel gets a number that nobody else has: its file is
made where there was none, in one step and complete, so that of two commands one sees the file
of the other and goes on to the next number. Under `single` the number is 0 for all, and whoever
comes later must have made the same text; it is written with the other outputs. A command that fails
takes its files away.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.cli.write import (
    Output,
    cannot_write,
    check_same,
    differs,
    encoded,
    given_name,
    temporary_file,
)

if TYPE_CHECKING:
    from psyclone_storage.driver.numbering import KernelText


class KernelFolder:
    """The changed kernels of one compilation: a numbering whose numbers are files of a folder."""

    def __init__(self, folder: Path, *, single: bool) -> None:
        self._folder = folder
        self._single = single
        self._texts: dict[Path, str] = {}

    def allocate(self, base: str, kernel: Callable[[int], KernelText]) -> int:
        """Return the number of a kernel: 0, or the first one that has no file.

        Raises:
            CompileError: `L003`, its file cannot be written; `L015`, kernel 0 has another text.
        """
        number = 0
        while not self._take(kernel(number)):
            number += 1
        return number

    @property
    def written(self) -> tuple[Path, ...]:
        """The files that were claimed by making them."""
        return () if self._single else tuple(self._texts)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The files that are still to be written, which others may write as well."""
        given = self._texts.items() if self._single else ()
        return tuple(Output(path, text, shared=True) for path, text in given)

    def discard(self) -> None:
        """Take away what was written: the compilation has failed."""
        discard(self.written)
        self._texts.clear()

    def _take(self, kernel: KernelText) -> bool:
        """Return whether the file of `kernel` is its own now."""
        path = self._folder / f"{kernel.module}{kernel.suffix}"
        if self._single:
            if self._texts.get(path, kernel.text) != kernel.text:
                raise CompileError(differs(path))
            if path.exists():
                check_same(path, kernel.text)
        elif not _create(path, kernel.text):
            return False
        self._texts[path] = kernel.text
        return True


def discard(paths: tuple[Path, ...]) -> None:
    """Take away the files at `paths`."""
    for path in paths:
        path.unlink(missing_ok=True)


def _create(path: Path, text: str) -> bool:
    """Make the file at `path` with `text`, whole at once; return False if there is one already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_file(path, encoded(text)) as temporary:
            return given_name(temporary, path)
    except OSError as error:
        raise CompileError(cannot_write(path, error)) from error
