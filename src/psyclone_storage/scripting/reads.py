"""Inputs of a script: imported modules, opened files, and environment variables.

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
    """Inputs that scripts read while they were watched, in the order of first use.

    `others` contains accesses that no list of names describes: files that are written or missing,
    and changes of the environment or reads of all its variables.
    """

    _files: dict[str, None] = field(default_factory=dict)
    variables: dict[str, None] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

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
        kind = type(os.environ)
        os.environ.__class__ = _Environment
        try:
            yield
        finally:
            os.environ.__class__ = kind
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
        if is_users_file(path):
            self._files[path] = None
        elif not Path(path).exists():
            self.others.append(path)


def is_users_file(name: str) -> bool:
    """Return whether a file belongs neither to Python nor to an installed package."""
    real = Path(name).resolve()
    is_installed = any(map(real.is_relative_to, _OURS)) or _INSTALLED.intersection(real.parts)
    return not is_installed and real.is_file()


class _Environment(os._Environ[str]):  # noqa: SLF001  # pylint: disable=protected-access
    """The environment, which records the variables that a script looks up."""

    def __getitem__(self, key: str) -> str:
        _note_variable(key)
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: str) -> None:
        _note_variable(None)
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        _note_variable(None)
        super().__delitem__(key)

    def __iter__(self) -> Iterator[str]:
        _note_variable(None)
        return super().__iter__()

    def __len__(self) -> int:
        _note_variable(None)
        return super().__len__()


def _note_variable(key: str | None) -> None:
    """Record a variable, or with None that all variables were read or some were changed."""
    watching = _WATCHING.get(None)
    if watching is None:
        return
    if isinstance(key, str):
        watching.variables[key] = None
    else:
        watching.others.append("environment")


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
    if watching is None or not isinstance(name, str) or not isinstance(flags, int):
        return
    if flags & _WRITES:
        watching.others.append(name)
    else:
        watching.note(name)
