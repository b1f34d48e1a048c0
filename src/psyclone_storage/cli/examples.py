"""Option `--examples`: copies the examples, and the Fortran libraries that they need."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.package_files import shared_file

FOLDERS = ("examples", "external")
_LEFT_OUT = ("build", "__pycache__", "*.o", "*.mod", "*.a", "*.so")


class UnpackExamples(argparse.Action):
    """Option that copies the examples to the given folder, and ends the command."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Copy the examples, print their location, and exit."""
        folder = Path(str(values))
        unpack_examples(folder)
        sys.stdout.write(f"The examples are in '{folder / 'examples'}'; read README.md there.\n")
        parser.exit()


def unpack_examples(folder: Path) -> None:
    """Copy the examples, and the Fortran libraries that they need, to `folder`.

    Either both folders are created completely, or none.

    Raises:
        CompileError: `L003`, one of the folders exists already.
        OSError: a folder cannot be written.
    """
    import shutil  # noqa: PLC0415

    taken = [folder / name for name in FOLDERS if (folder / name).exists()]
    if taken:
        hint = "Name another folder, or remove what is there."
        said = (f"'{path}' is there already: no example is written." for path in taken)
        raise CompileError(*(Diagnostic("L003", message, hint=hint) for message in said))
    begun = [folder / f".{name}.begun" for name in FOLDERS]
    ignored = shutil.ignore_patterns(*_LEFT_OUT)
    try:
        for name, path in zip(FOLDERS, begun, strict=True):
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(shared_file(name), path, ignore=ignored)
        for name, path in zip(FOLDERS, begun, strict=True):
            path.rename(folder / name)
    finally:
        for path in begun:
            shutil.rmtree(path, ignore_errors=True)
