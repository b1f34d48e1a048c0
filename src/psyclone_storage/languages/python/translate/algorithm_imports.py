"""Imports of kernels into a translated algorithm file, where each name denotes one kernel."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.languages.python.translate.values import NoPythonError


@dataclass(slots=True)
class KernelImports:
    """Names of kernels, with the modules that define them, for all procedures of a file.

    Each Fortran procedure has its own imports, but all procedures of a Python file share one set of
    names. `units` has the names of the procedures of the file.
    """

    units: frozenset[str]
    homes: dict[str, tuple[str, str]] = field(default_factory=dict)

    def named(self, name: str, home: tuple[str, str]) -> str:
        """Return `name` for a kernel; raise `NoPythonError` if it already has another meaning."""
        if name in self.units:
            raise NoPythonError(f"'{name}' is a kernel, and a procedure of the file")
        known = self.homes.setdefault(name, home)
        if known != home:
            one, other = (".".join(each) for each in (known, home))
            raise NoPythonError(f"'{name}' is '{one}' for one procedure, and '{other}' for another")
        if any(keyword.iskeyword(part) for part in (*home[0].split("."), home[1])):
            raise NoPythonError(f"'{'.'.join(home)}' has a word of Python in it")
        return name

    def lines(self) -> Iterator[str]:
        """Yield the import statements."""
        for name, (module, original) in sorted(self.homes.items(), key=lambda one: (one[1], one)):
            renamed = "" if original == name else f" as {name}"
            yield f"from {module} import {original}{renamed}"
