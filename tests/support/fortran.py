"""Calls a Fortran compiler, and what it has made."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from libraries import STRICT, archive_in

AT_ONCE = 24
"""How many modules the compiler gets in a file, of which it keeps what it has read to the end."""


def run(command: list[str], **more: str) -> str:
    """Run a command, which must succeed, and return what it prints.

    Threads that wait do not spin, but leave the cores to other tests.
    """
    environment = {**os.environ, "LC_ALL": "C", "OMP_WAIT_POLICY": "passive", **more}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def join(sources: Iterable[Path], folder: Path) -> Path:
    """Write modules one behind the other to a file with the name of `folder`, in it, to compile.

    To start the compiler, the assembler and their wrappers for each would be a third of the time.
    What is wrong is said of the file that it is in.
    """
    folder.mkdir()
    whole = folder / f"{folder.name}.f90"
    texts = (f'# 1 "{path.name}"\n{path.read_text(encoding="utf-8")}\n' for path in sources)
    whole.write_text("".join(texts), "utf-8")
    return whole


def check_sources(f90: tuple[str, ...], sources: Iterable[Path], folder: Path, *flags: str) -> None:
    """Check modules in their order, and leave their module files; a warning is an error."""
    left = list(sources)
    with tempfile.TemporaryDirectory() as scratch:
        parts = [left[start : start + AT_ONCE] for start in range(0, len(left), AT_ONCE)]
        joined = [join(part, Path(scratch, f"part_{n}")) for n, part in enumerate(parts)]
        run([*f90, *STRICT, "-fsyntax-only", *flags, f"-J{folder}", *map(str, joined)])


@dataclass(frozen=True)
class Compiler:
    """A Fortran compiler with a library."""

    command: tuple[str, ...]
    library: Path

    def complaints(self, source: Path, folder: Path, *flags: str) -> str:
        """Compile a file into a folder; return errors and warnings, in English."""
        command = [*self.command, *flags, f"-I{self.library}", f"-J{folder}", "-c", str(source)]
        command += ["-o", str(folder / f"{source.stem}.o")]
        language = {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(command, env=language, capture_output=True, text=True, check=False)
        assert bool(done.returncode) == bool(done.stderr), done.stderr
        return done.stderr

    def linked(self, sources: Iterable[Path], folder: Path, *flags: str) -> Path:
        """Compile `sources` in their order, without a warning, and return the program."""
        sources = list(sources)
        for source in sources:
            assert not self.complaints(source, folder, *STRICT, *flags)
        objects = [str(folder / f"{source.stem}.o") for source in sources]
        program = folder / "program"
        run([*self.command, *flags, *objects, archive_in(self.library), "-o", str(program)])
        return program


def written(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write a source file for each text, and return them in their order."""
    files = [folder / f"{stem}.f90" for stem in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text, encoding="utf-8")
    return files
