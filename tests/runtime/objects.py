"""Compile each Fortran source once in a test run.

Identifies a compilation by the words of the command, the text of the source, and the contents of
the modules that it uses. Algorithms are the same in most programs of the run tests, and so are
layers that an option does not change.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from building import built_once

USED = re.compile(r"^\s*use\b\s*(?:,\s*\w+\s*::)?\s*(?:::)?\s*(\w+)", re.IGNORECASE | re.MULTILINE)
INCLUDED = re.compile(r"^\s*#?\s*include\b(.*)$", re.IGNORECASE | re.MULTILINE)

Compile = Callable[[list[str], Path], object]
"""Runs a command in a folder."""


def compile_once(
    kept: Path, words: Sequence[str], source: Path, folders: Sequence[Path], compile_in: Compile
) -> None:
    """Put into the first of `folders` what the command `words` makes of `source`.

    Modules are looked for in all `folders`, in this order.
    """
    for path in kept_compilation(kept, words, source, folders, compile_in).iterdir():
        shutil.copyfile(path, folders[0] / path.name)


def kept_compilation(
    kept: Path, words: Sequence[str], source: Path, folders: Sequence[Path], compile_in: Compile
) -> Path:
    """Return the folder with what a command makes of `source`, compiled unless `kept` has it."""
    command = [*words, *(f"-I{folder}" for folder in folders), "-c", str(source)]
    return built_once(
        kept / fingerprint_of(source, words, folders), lambda folder: compile_in(command, folder)
    )


def fingerprint_of(source: Path, words: Sequence[str], folders: Sequence[Path]) -> str:
    """Return a name for what a command makes of a source with the modules in `folders`."""
    text = text_of(source)
    parts = [*words, source.name, text]
    for name in sorted({match.lower() for match in USED.findall(text)}):
        files = (folder / f"{name}.mod" for folder in folders)
        found = next((file for file in files if file.exists()), None)
        # The compiler has its own.
        parts.append(content_of(found, found.stat().st_mtime_ns) if found else name)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def text_of(source: Path) -> str:
    """Return the text of a source, and what it includes from its own folder."""
    text = source.read_text(encoding="utf-8")
    included = [name.strip().strip("'\"") for name in INCLUDED.findall(text)]
    return "\0".join((text, *(text_of(source.parent / name) for name in included)))


@lru_cache(maxsize=4096)
def content_of(module: Path, _when_written: int) -> str:
    """Return a name for what a module says, but for the path of its source, in its first line."""
    with gzip.open(module) as file:
        file.readline()
        return hashlib.sha256(file.read()).hexdigest()
