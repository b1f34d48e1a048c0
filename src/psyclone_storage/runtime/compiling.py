"""Libraries that are compiled when they are first needed, and kept by content.

They are C that was generated, or Fortran that comes with the package. A library is found by the
digest of all that it is made of: the texts, the compiler and its options, the processor. So
whatever is found is what would be made. Many processes may want one at once: each compiles to a
file of its own, which then takes the library's name in one step, so that none is ever seen half
written. A folder that cannot be written is done without: the library lives as long as the process
then.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from psyclone_storage.base.compilers import (
    VARIABLE,
    NoCompilerError,
    compiler_options,
    find_c_compiler,
    why_not_found,
)
from psyclone_storage.base.digest import digest_of

FOLDER_VARIABLE = "PSYCLONE_STORAGE_LIBRARIES"
OPTIONS_VARIABLE = "PSYCLONE_STORAGE_CFLAGS"
_OPTIONS = ("-O3", "-march=native", "-fno-math-errno")
_NEEDED = ("-std=c99", "-ffp-contract=off", "-shared", "-fPIC", "-w")
_THREADS = "#pragma omp"
_EDITION = 1

Builder = Callable[[Path, Path], None]
"""What compiles, in a folder of its own, a library with a given path there."""


def load_library(text: str) -> ctypes.CDLL:
    """Return the library that `text` becomes, compiled if it was never before.

    Raises:
        NoCompilerError: it has to be compiled, and cannot be.
    """
    return load_kept(_digest(text), partial(_compile, text))


def load_kept(digest: str, build: Builder, *, takes_long: bool = False) -> ctypes.CDLL:
    """Return the library that is kept under `digest`, built if there is none, or a broken one.

    `build` is given a folder of its own, and the path of the library that it is to make there. Of
    processes that want what `takes_long` at once, one builds, and the others wait.
    """
    folder = library_folder()
    path = None if folder is None else folder / f"{digest}.so"
    return _loaded(path) or _built(build, path, takes_long)


def _loaded(path: Path | None) -> ctypes.CDLL | None:
    if path is None or not path.is_file():
        return None
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return None


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


def _built(build: Builder, path: Path | None, takes_long: bool) -> ctypes.CDLL:
    """Build a file of this process alone, which is given its name when it is whole."""
    with ExitStack() as stack:
        if path is not None and takes_long:
            stack.enter_context(_one_at_a_time(path))
            if found := _loaded(path):
                return found
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="psyclone-storage-")))
        made = folder / "made.so"
        build(folder, made)
        if path is None or not _is_kept(made, path):
            # Loaded, a library needs no name: the folder goes away while it is in use.
            return ctypes.CDLL(str(made))
    return ctypes.CDLL(str(path))


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Let one process at a time in; a process that is killed lets the next in.

    Where files cannot be locked all go in.
    """
    beside = path.with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = beside.open("w", encoding="utf-8")
    except OSError:
        yield
        return
    with lock:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Whoever waits has the file open; whoever comes makes another, and finds the library.
            beside.unlink(missing_ok=True)


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
            f"There is no C compiler for the generated code: {why_not_found(VARIABLE)}. Install "
            f"one, name it in the variable {VARIABLE}, or generate NumPy ('--target numpy')."
        )
    source = folder / "made.c"
    source.write_text(text, encoding="utf-8")
    command = [
        str(compiler),
        *compiler_options(VARIABLE),
        *_options(text),
        str(source),
        "-o",
        str(made),
        "-lm",
    ]
    run_compiler(command, made, "what was generated")


def run_compiler(command: list[str], made: Path, what: str) -> None:
    """Run a compiler, which makes a file of `what`.

    Raises:
        NoCompilerError: it does not.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not made.is_file():
        lines = done.stderr.strip().splitlines()
        told = [line for line in lines if "rror" in line] or lines
        said = told[:1] or [f"it ended with {done.returncode}"]
        raise NoCompilerError(f"'{command[0]}' did not compile {what}: {said[0]}")


def _options(text: str) -> tuple[str, ...]:
    chosen = os.environ.get(OPTIONS_VARIABLE)
    options = _OPTIONS if chosen is None else tuple(chosen.split())
    return (*options, *_NEEDED, *(("-fopenmp",) if _THREADS in text else ()))


def _digest(text: str) -> str:
    """Return what tells libraries apart. The compiler counts by its place, size and time."""
    options = (*compiler_options(VARIABLE), *_options(text))
    return library_key(_machine(), _identity(), " ".join(options), text)


def library_key(*parts: str) -> str:
    """Return what tells apart libraries that are made of different things."""
    return digest_of("\0".join((str(_EDITION), *parts)))


@cache
def _identity() -> str:
    return identity_of(find_c_compiler())


def identity_of(compiler: Path | None) -> str:
    """Return what tells one compiler from another, nothing where there is none."""
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
