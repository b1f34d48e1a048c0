"""Files read by a script: imported modules and opened files.

Files of Python, this package and installed packages are omitted, because a build does not depend on
installations.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from psyclone_storage.base.records import dataclass, field

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_COMPILED = (".pyc", ".pyo")
_OURS = (Path(os.__file__).resolve().parent, Path(__file__).resolve().parents[1])
_INSTALLED = {"site-packages", "dist-packages"}


@dataclass(frozen=True, slots=True)
class Reads:
    """Files that scripts read while they were watched, in the order of first use."""

    _files: dict[str, None] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Path, ...]:
        """Files, with relative paths below the current folder."""
        here = f"{Path.cwd()}{os.sep}"
        return tuple(Path(name.removeprefix(here)) for name in self._files)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Record the files that are imported or opened in this context."""
        _listen()
        before = set(sys.modules)
        token = _WATCHING.set(self)
        try:
            yield
        finally:
            _WATCHING.reset(token)
            for name in [name for name in sys.modules if name not in before]:
                file = getattr(sys.modules[name], "__file__", None)
                if isinstance(file, str):
                    self.note(file)

    def note(self, name: str) -> None:
        """Record the file `name` if it is an existing user file."""
        path = os.path.abspath(name)  # noqa: PTH100  (links stay what they are)
        if path.endswith(_COMPILED) or path in self._files:
            return
        real = Path(path).resolve()
        is_installed = any(map(real.is_relative_to, _OURS)) or _INSTALLED.intersection(real.parts)
        if not is_installed and real.is_file():
            self._files[path] = None


_WATCHING: ContextVar[Reads | None] = ContextVar("_WATCHING", default=None)


@cache
def _listen() -> None:
    """Install an audit hook that records opened files; it remains until the process ends."""
    sys.addaudithook(_heard)


def _heard(event: str, given: tuple[object, ...]) -> None:
    if event != "open":
        return
    watching = _WATCHING.get(None)
    name, _, flags = given
    if watching and isinstance(name, str) and isinstance(flags, int) and not flags & _WRITES:
        watching.note(name)
