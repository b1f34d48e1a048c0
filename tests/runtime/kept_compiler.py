"""A wrapper of the Fortran compiler that caches results for scripts and makefiles.

Each source of a command that compiles, or compiles and links, is compiled once in a test run. The
wrapper passes other commands, and commands that fail or warn, to the compiler.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from runtime.objects import compile_once, kept_compilation
from served_commands import Call, served

COMPILERS = ("gfortran", "mpif90")
APART = ("-I", "-J", "-fsyntax-only", "-E", "-S")
"""Words with which a command does something else, or that have another one behind them."""


@contextmanager
def kept_compilers(folder: Path, kept: Path) -> Iterator[None]:
    """Write commands into `folder` that compile as the compilers of these names do.

    What they compile is in `kept`.
    """
    with served("runtime.kept_compiler:answer", forks=False) as command:
        for name in COMPILERS:
            if compiler := shutil.which(name):
                command.write(folder / name, compiler, str(kept))
        yield


@dataclass(frozen=True)
class Compilation:
    """What a command line asks for.

    Attributes:
        how: the compiler and its options, but those that name folders.
        sources: the files that are compiled.
        modules: where their modules go.
        searched: where modules are looked for besides.
        linked: the files that are linked with them, if they are.
        made: the object file or the program.
        links: whether it makes a program.
    """

    how: list[str]
    sources: list[Path]
    modules: Path
    searched: list[Path]
    linked: list[str]
    made: Path
    links: bool


def answer(call: Call) -> int:
    """Do what the command line says, by the compiler that it names; it names the folder next."""
    compiler, kept, *words = call.words
    asked = _read(compiler, words, Path(call.folder))
    status = _carried_out(asked, Path(kept), call) if asked else None
    return _started([compiler, *words], call) if status is None else status


def _read(compiler: str, words: list[str], folder: Path) -> Compilation | None:
    """Return what is asked for, None if it is something else than to compile into one place."""
    sources = [word for word in words if word.endswith(".f90")]
    places = [word[2:] for word in words if word.startswith("-J")]
    behind = [word for before, word in pairwise(words) if before == "-o"]
    if {*APART} & {*words} or not sources or len(places) != 1 or len(behind) != 1:
        return None
    links = "-c" not in words
    rest = [word for word in words if word not in (*sources, *behind, "-o", "-c")]
    linked = [word for word in rest if not word.startswith("-")]
    if not links and (linked or len(sources) > 1):
        return None
    return Compilation(
        [compiler, *(word for word in rest if word[:1] == "-" and word[1:2] not in ("I", "J"))],
        [(folder / source).resolve() for source in sources],
        folder / places[0],
        [(folder / word[2:]).resolve() for word in words if word.startswith("-I")],
        linked,
        folder / behind[0],
        links,
    )


def _carried_out(asked: Compilation, kept: Path, call: Call) -> int | None:
    """Compile what is not kept, and link; return the status, None if a source does not compile."""
    try:
        if asked.links:
            return _compile_and_link(asked, kept, call)
        folders = [asked.modules.resolve(), *asked.searched]
        made = kept_compilation(kept, asked.how, asked.sources[0], folders, _silent)
    except (AssertionError, OSError, subprocess.CalledProcessError):
        return None
    for path in made.iterdir():
        shutil.copyfile(path, asked.made if path.suffix == ".o" else asked.modules / path.name)
    return 0


def _compile_and_link(asked: Compilation, kept: Path, call: Call) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        for source in asked.sources:
            compile_once(kept, asked.how, source, [made, *asked.searched], _silent)
        for module in made.glob("*.mod"):
            shutil.copyfile(module, asked.modules / module.name)
        objects = [str(made / f"{source.stem}.o") for source in asked.sources]
        return _started([*asked.how, *objects, *asked.linked, "-o", str(asked.made)], call)


def _started(words: list[str], call: Call) -> int:
    """Run a command as it was called, and return its status."""
    given, out, err = call.streams
    return subprocess.call(
        words, cwd=call.folder, env=call.environment, stdin=given, stdout=out, stderr=err
    )


def _silent(words: list[str], folder: Path) -> None:
    """Run a command in a folder, and fail if it has anything to say."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    assert not done.stdout + done.stderr
