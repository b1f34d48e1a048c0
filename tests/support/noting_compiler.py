"""A Fortran compiler that makes empty files, and notes how often it is called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROGRAM = """\
#!/bin/sh
if [ "$1" = --version ]; then echo "{version}"; exit; fi
echo "$@" >> "$(dirname "$0")/log"
while [ $# -gt 1 ]; do
  if [ "$1" = -o ]; then touch "$2"; fi
  shift
done
{more}
"""


@dataclass(frozen=True)
class NotingCompiler:
    """The compiler in a folder, which says that it is of `version`, and does `more` than note."""

    folder: Path
    version: str = "1.0"
    more: str = ""

    def __post_init__(self) -> None:
        """Write the program."""
        self.path.write_text(PROGRAM.format(version=self.version, more=self.more), encoding="utf-8")
        self.path.chmod(0o755)

    @property
    def path(self) -> Path:
        """The program, to be called."""
        return self.folder / "f90"

    def calls(self) -> int:
        """Return how often a file was compiled, also by compilers that were here before."""
        log = self.folder / "log"
        return len(log.read_text("utf-8").splitlines()) if log.exists() else 0
