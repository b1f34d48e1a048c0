"""Stands for the Fortran compiler where scripts of examples compile the same sources many times.

    python -m runtime.kept_compiler COMPILER KEPT WORD...

Of a command that compiles and links, each source is compiled once in a test run; any other command,
and one that fails or warns, is the compiler's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from runtime.objects import compile_once

COMPILERS = ("gfortran", "mpif90")
TESTS = Path(__file__).parents[1]
APART = ("-c", "-I", "-J", "-o", "-fsyntax-only")
"""Words with which a command does something else, or that have another one behind them."""


def write_compilers(folder: Path, kept: Path) -> None:
    """Write commands into `folder` that compile as the compilers of these names do."""
    for name in COMPILERS:
        program = folder / name
        python = f'PYTHONPATH="{TESTS}" exec "{sys.executable}" -S -m runtime.kept_compiler'
        words = f'{python} "{shutil.which(name)}" "{kept}" "$@"'
        program.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
        program.chmod(0o755)


def main() -> None:
    """Compile and link what the command line says, by the compiler that it names."""
    compiler, kept, *words = sys.argv[1:]
    sources = [word for word in words if word.endswith(".f90")]
    places = [word[2:] for word in words if word.startswith("-J") and word != "-J"]
    behind = [word for before, word in pairwise(words) if before == "-o"]
    if sources and len(places) == len(behind) == 1 and words.count("-o") == 1:
        flags = [word for word in words if word not in (*sources, *behind, "-o")]
        if not {*APART} & {*flags}:
            _compile_and_link(Path(kept), compiler, (flags, sources, Path(places[0]), behind[0]))
    os.execv(compiler, [compiler, *words])


def _compile_and_link(
    kept: Path, compiler: str, asked: tuple[list[str], list[str], Path, str]
) -> None:
    """Become the command that links what is kept of the sources; return if that fails."""
    flags, sources, modules, program = asked
    linked = [word for word in flags if not word.startswith("-")]
    how = [word for word in flags if word not in linked and not word.startswith(("-I", "-J"))]
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        folders = [made, *(Path(word[2:]).resolve() for word in flags if word.startswith("-I"))]
        try:
            for source in sources:
                compile_once(kept, [compiler, *how], Path(source).resolve(), folders, _silent)
        except (AssertionError, subprocess.CalledProcessError):
            return
        for module in made.glob("*.mod"):
            shutil.copy(module, modules)
        objects = [str(made / f"{Path(source).stem}.o") for source in sources]
        link = [compiler, *how, *objects, *linked, "-o", program]
        raise SystemExit(subprocess.call(link))


def _silent(words: list[str], folder: Path) -> None:
    """Run a command in a folder, and fail if it has anything to say."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    assert not done.stdout + done.stderr


if __name__ == "__main__":
    main()
