"""Libraries made of C that was generated: compiled once for a text, and kept by content.

A library is found by the digest of all that it is made of: the text, the compiler and its options,
the processor. So whatever is found is what would be made. Many processes may want one at once: each
compiles to a file of its own, which then takes the library's name in one step, so that none is ever
seen half written. A folder that cannot be written is done without: the library lives as long as the
process then.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path

from psyclone_storage.base.compilers import VARIABLE, NoCompilerError, find_c_compiler

FOLDER_VARIABLE = "PSYCLONE_STORAGE_LIBRARIES"
OPTIONS_VARIABLE = "PSYCLONE_STORAGE_CFLAGS"
_OPTIONS = ("-O3", "-march=native", "-fno-math-errno")
_NEEDED = ("-std=c99", "-ffp-contract=off", "-shared", "-fPIC", "-w")
_THREADS = "#pragma omp"
_EDITION = 1


def load_library(text: str) -> ctypes.CDLL:
    """Return the library that `text` becomes, compiled if it was never before.

    Raises:
        NoCompilerError: it has to be compiled, and cannot be.
    """
    folder = library_folder()
    path = None if folder is None else folder / f"{_digest(text)}.so"
    if path is None or not path.is_file():
        return _compiled(text, path)
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return _compiled(text, path)


def library_folder() -> Path | None:
    """Return the folder in which libraries are kept, None for a user without a home."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "psyclone-storage" / "libraries"


def _compiled(text: str, path: Path | None) -> ctypes.CDLL:
    """Compile to a file of this process alone, which is given its name when it is whole."""
    with tempfile.TemporaryDirectory(prefix="psyclone-storage-") as folder:
        made = Path(folder) / "made.so"
        _compile(text, Path(folder), made)
        if path is None or not _is_kept(made, path):
            # Loaded, a library needs no name: the folder goes away while it is in use.
            return ctypes.CDLL(str(made))
    return ctypes.CDLL(str(path))


def _is_kept(made: Path, path: Path) -> bool:
    """Give a library the name `path` in one step; return whether that could be done."""
    own = path.with_name(f".{path.stem}-{os.getpid()}-{made.parent.name}.so")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(made, own)
            own.replace(path)
        finally:
            own.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _compile(text: str, folder: Path, made: Path) -> None:
    compiler = find_c_compiler()
    if compiler is None:
        raise NoCompilerError(
            "No compiler for C was found, to compile what was generated: install one, name it in "
            f"the variable {VARIABLE}, or generate NumPy ('--target numpy')."
        )
    source = folder / "made.c"
    source.write_text(text, encoding="utf-8")
    command = [str(compiler), *_options(text), str(source), "-o", str(made), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not made.is_file():
        said = done.stderr.strip().splitlines()[:1] or [f"it ended with {done.returncode}"]
        raise NoCompilerError(f"'{compiler}' did not compile what was generated: {said[0]}")


def _options(text: str) -> tuple[str, ...]:
    chosen = os.environ.get(OPTIONS_VARIABLE)
    options = _OPTIONS if chosen is None else tuple(chosen.split())
    return (*options, *_NEEDED, *(("-fopenmp",) if _THREADS in text else ()))


def _digest(text: str) -> str:
    """Return what tells libraries apart. The compiler counts by its place, size and time."""
    parts = [str(_EDITION), _machine(), _identity(), " ".join(_options(text)), text]
    return sha256("\0".join(parts).encode()).hexdigest()


@cache
def _identity() -> str:
    """Return what tells one compiler from another, nothing where there is none."""
    compiler = find_c_compiler()
    if compiler is None:
        return ""
    real = compiler.resolve()
    state = real.stat()
    return f"{real} {state.st_size} {state.st_mtime_ns}"


@cache
def _machine() -> str:
    """Return what tells apart processors that cannot do each other's code."""
    found = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{found} {platform.processor()}"
    known = ("flags", "Features", "model name")
    return " ".join([found, *(line for line in lines if line.startswith(known))][:4])
