"""Inputs of a script that ran, the digest of their present state, and what the script printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.records import dataclass


@dataclass(frozen=True, slots=True)
class ScriptRecord:
    """The inputs of a script and what it has printed, as pairs of a stream and a text.

    `files` are absolute paths, `modules` the names of imported modules, and `variables` those of
    the environment. `folder` is that of the script.
    """

    folder: str
    files: tuple[str, ...]
    modules: tuple[str, ...]
    variables: tuple[str, ...]
    printed: tuple[tuple[str, str], ...] = ()

    def state(self) -> str:
        """Return the digest of all inputs as they are now."""
        search = [self.folder, *sys.path]
        found = ((name, PathFinder.find_spec(name, search)) for name in self.modules)
        facts = (
            str(Path.cwd()),
            [(name, _content(Path(name))) for name in self.files],
            [(name, None if spec is None else spec.origin) for name, spec in found],
            [(name, os.environ.get(name)) for name in self.variables],
        )
        return digest_of(ascii(facts))

    def joined(self, other: ScriptRecord) -> ScriptRecord:
        """Return the inputs of two runs of a script, without what they have printed."""
        return ScriptRecord(
            self.folder,
            tuple(sorted({*self.files, *other.files})),
            tuple(sorted({*self.modules, *other.modules})),
            tuple(sorted({*self.variables, *other.variables})),
        )

    def changed_since(self, time: float) -> bool:
        """Return whether a file has changed after a point in time, or does not exist."""
        try:
            return any(Path(name).stat().st_mtime >= time for name in self.files)
        except OSError:
            return True


def _content(path: Path) -> tuple[str | None, bool]:
    """Return the digest of a file, and whether a package would be imported instead of it."""
    try:
        digest = digest_of(path.read_bytes().hex())
    except OSError:
        digest = None
    return digest, (path.with_suffix("") / "__init__.py").is_file()


# ---------------------------------------------------------------------------- printed text

_RECORDING: ContextVar[list[tuple[str, str]] | None] = ContextVar("_RECORDING", default=None)
"""What the running script has printed; a logger may hold the stream of an earlier script."""


class _Recorded:
    """Output stream that also records what is written while a script runs."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name

    def write(self, text: str) -> int:
        """Write and record a text."""
        found = _RECORDING.get()
        if found is not None:
            found.append((self._name, text))
        return int(self._stream.write(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write and record several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def recorded_output() -> Iterator[list[tuple[str, str]]]:
    """Record what is printed in this context, in pairs of a stream (`stdout`) and a text."""
    found: list[tuple[str, str]] = []
    before = sys.stdout, sys.stderr
    sys.stdout = _Recorded(sys.stdout, "stdout")
    sys.stderr = _Recorded(sys.stderr, "stderr")
    token = _RECORDING.set(found)
    try:
        yield found
    finally:
        _RECORDING.reset(token)
        sys.stdout, sys.stderr = before


def print_again(record: ScriptRecord) -> None:
    """Print what a script has printed in an earlier run."""
    for stream, text in record.printed:
        (sys.stderr if stream == "stderr" else sys.stdout).write(text)
