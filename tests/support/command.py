"""Run a command inside the test process, in a copy of a folder, and see what it did."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from psyclone_storage.cli import kern, main
from psyclone_storage.config.locate import shipped_settings_file

# The commands that the words of `options` may start with; without one it is the first.
COMMANDS = {"psyclone-storage": main.main, "psyclone-storage-kern": kern.main}

# What a case folder holds beside its input.
NOT_INPUT = ("expected", "expected.txt", "options")


@dataclass(frozen=True)
class Outcome:
    """What a command did: its exit status, its streams, and the files that it wrote or changed."""

    status: int
    out: str
    err: str
    written: dict[str, str]


def run_folder(folder: Path, options: str, scratch: Path, kernels: Path | None = None) -> Outcome:
    """Run the command in a copy of `folder` below `scratch`.

    The words of the command line are those of the file `options` in the folder, or else the
    argument `options`. The command finds the files of `kernels` in a folder of that name.
    """
    work = scratch / folder.name
    shutil.copytree(folder, work, ignore=shutil.ignore_patterns(*NOT_INPUT))
    if kernels:
        (work / "kernels").symlink_to(kernels, target_is_directory=True)
    file = folder / "options"
    words = shlex.split(file.read_text(encoding="utf-8") if file.is_file() else options)
    return run_command(words, work)


def run_command(words: list[str], directory: Path) -> Outcome:
    """Run the command that `words` start with, or else `psyclone-storage`, in `directory`."""
    before = _texts(directory)
    status, out, err = run_words(words, directory)
    after = _texts(directory)
    written = {name: text for name, text in after.items() if before.get(name) != text}
    return Outcome(status, out, err, written)


def run_words(words: list[str], directory: Path) -> tuple[int, str, str]:
    """Run a command in `directory`; return its exit status and both streams."""
    out, err = io.StringIO(), io.StringIO()
    with _inside(directory), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = _status(words)
    return status, out.getvalue(), err.getvalue()


def _status(words: list[str]) -> int:
    """Return the exit status; option parsers leave through `SystemExit`."""
    first = words[0] if words and words[0] in COMMANDS else ""
    try:
        return COMMANDS[first or "psyclone-storage"](words[bool(first) :])
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)


def _texts(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(directory.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@contextlib.contextmanager
def _inside(directory: Path) -> Iterator[None]:
    """Change to `directory`, away from the settings, the cache and the colours of the user."""
    before = dict(os.environ)
    os.environ.pop("NO_COLOR", None)
    os.environ["PSYCLONE_CONFIG"] = str(shipped_settings_file())
    os.environ["XDG_CACHE_HOME"] = str(directory.parent / "cache")
    try:
        with contextlib.chdir(directory):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
