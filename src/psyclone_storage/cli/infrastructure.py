"""Compiled interfaces of an infrastructure, built once and stored in the user's cache."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from functools import partial
from pathlib import Path

from psyclone_storage.base.cache_folders import cache_folder
from psyclone_storage.base.compilers import run_compiler
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.stopping import deferred, ending
from psyclone_storage.base.temporaries import new_folder, remove_leftovers
from psyclone_storage.base.trusted import UntrustedError, check_folder
from psyclone_storage.cli.write import cannot_write, ignored_cache
from psyclone_storage.tools.compile_order import modules_defined_in

_FLAGS = ("-std=f2008", "-O0")
_INCLUDE = regex(r"^\s*include\s+['\"]([^'\"]+)['\"]", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CompiledModules:
    """Compiled modules: their folder and names, and reasons for ignoring cached ones."""

    directory: Path
    modules: frozenset[str]
    warnings: tuple[Diagnostic, ...] = ()


def find_infrastructure(name: str, compiler: str, scratch: Path) -> CompiledModules:
    """Return an infrastructure compiled by `compiler`, from the cache if possible.

    `name` is the name of its folder in `external`. If another user can write to the cache, the
    infrastructure is compiled in `scratch`.

    Raises:
        CompileError: `L010`, there is no such compiler; `L011`, it cannot compile the interfaces;
            `L003`, the cache or `scratch` cannot be written.
    """
    root = shared_file(f"external/{name}")
    files = (root / "files.txt").read_text(encoding="utf-8").split()
    sources = [root / file for file in files]
    directory = cache_folder() / f"{name}-{_fingerprint(sources, compiler)}"
    modules = frozenset(modules_defined_in(sources))
    warnings: tuple[Diagnostic, ...] = ()
    hint = "Set XDG_CACHE_HOME to a writable folder."
    try:
        try:
            remove_leftovers(directory.parent)
            if not directory.is_dir():
                check_folder(directory.parent, create=True)
                _build(sources, compiler, directory)
            check_folder(directory)
        except UntrustedError as error:
            safe = "Set XDG_CACHE_HOME to a folder that only you can write to."
            warnings = (ignored_cache(str(error), safe),)
            hint = "Set TMPDIR to a writable folder."
            directory = scratch / directory.name
            _build(sources, compiler, directory)
    except OSError as error:
        problem = replace(cannot_write(directory, error), hint=hint)
        raise CompileError(*warnings, problem) from error
    return CompiledModules(directory, modules, warnings)


def run_in_english(
    command: list[str], temporary: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a compiler command and capture its output, with messages in English and ASCII."""
    return run_compiler(command, temporary, environment={**os.environ, "LC_ALL": "C"})


def compiler_message(done: subprocess.CompletedProcess[str]) -> str:
    """Return the messages of a failed compiler, or its exit status if none exist."""
    if said := done.stderr.strip():
        return said
    if done.returncode < 0:
        return f"It was ended by signal {-done.returncode} ({signal.strsignal(-done.returncode)})."
    return f"It said nothing and ended with status {done.returncode}."


def _fingerprint(sources: list[Path], compiler: str) -> str:
    """Return a digest of the sources with their included files, the compiler and the flags."""
    facts = " ".join((_version(compiler), *_FLAGS)).encode()
    contents = (source.read_bytes() for source in _with_included(sources))
    return digest_of(b"".join((facts, *contents)))[:16]


def _with_included(sources: list[Path]) -> tuple[Path, ...]:
    """Return files with all directly and indirectly included files, without duplicates."""
    found: dict[Path, None] = {}
    waiting = list(reversed(sources))
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        names = _INCLUDE.findall(path.read_text(encoding="utf-8"))
        waiting += [(path.parent / name).resolve() for name in reversed(names)]
    return tuple(found)


def _version(compiler: str) -> str:
    path = shutil.which(compiler)
    if path is None:
        raise CompileError(
            Diagnostic(
                "L010",
                f"The Fortran compiler '{compiler}' is not found.",
                hint="Install gfortran, or name another compiler with '--f90'.",
            )
        )
    return path + run_in_english([path, "--version"]).stdout


def _build(sources: list[Path], compiler: str, directory: Path) -> None:
    """Compile `sources` into a temporary folder and rename it to `directory`.

    Other processes therefore never see an incomplete folder.
    """
    with deferred():
        scratch = new_folder(directory.parent, directory.name)
        with ending(partial(shutil.rmtree, scratch, ignore_errors=True)):
            _compile_in(scratch, sources, compiler)
            try:
                scratch.rename(directory)
            except OSError:
                if not directory.is_dir():
                    raise


def _compile_in(scratch: Path, sources: list[Path], compiler: str) -> None:
    for source in sources:
        words = [compiler, *_FLAGS, "-c", str(source), f"-J{scratch}", "-o"]
        done = run_in_english([*words, str(scratch / f"{source.stem}.o")], scratch)
        if done.returncode:
            raise CompileError(_rejected(compiler, source, compiler_message(done)))


def _rejected(compiler: str, source: Path, complaint: str) -> Diagnostic:
    return Diagnostic(
        "L011",
        f"The Fortran compiler '{compiler}' rejects '{source.name}' of our interfaces:\n"
        f"{complaint}",
        hint="Use gfortran, or a compiler that takes its options, with '--f90'.",
    )
