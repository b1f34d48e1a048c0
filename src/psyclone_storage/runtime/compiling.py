"""Libraries that are compiled when they are first needed, and kept by content.

They are C that was generated, or Fortran that comes with the package. A library is found by the
digest of all that it is made of: the texts, the compiler and its options, the processor. So
whatever is found is what would be made. Many processes may want one at once: each compiles to a
file of its own, which then takes the library's name in one step, so that none is ever seen half
written. A folder that cannot be written is done without: the library lives as long as the process
then.

A cached library ends in a digest of its key and contents. A library that is damaged, or that
another user may have written, is compiled again. What is loaded is a private copy of the verified
bytes, so that nothing can change or truncate it afterwards. The copy is made in the folder for
temporary files, or, if that is mounted without execution, in the cache folder.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import shutil
import stat
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import IO, TypeVar

from psyclone_storage.base.cache_folders import LIBRARIES_VARIABLE, libraries_folder
from psyclone_storage.base.compilers import (
    VARIABLE,
    NoCompilerError,
    compiler_options,
    find_c_compiler,
    why_not_found,
)
from psyclone_storage.base.digest import SEAL_LENGTH, digest_of, seal_of
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.trusted import UntrustedError, check_folder, read_owned, write_owned

OPTIONS_VARIABLE = "PSYCLONE_STORAGE_CFLAGS"
_OPTIONS = ("-O3", "-march=native", "-fno-math-errno")
_NEEDED = ("-std=c99", "-ffp-contract=off", "-shared", "-fPIC", "-w")
_THREADS = "#pragma omp"
_EDITION = 2
_UNFINISHED = ".new-"
_HOUR = 3600
_LONGEST_WAIT = 600.0
"""Seconds for which a process waits for another one that compiles the same library."""
_BETWEEN_ATTEMPTS = 0.02
_PREFIX = "psyclone-storage-"

_Result = TypeVar("_Result")
Builder = Callable[[Path, Path], None]
"""What compiles, in a folder of its own, a library with a given path there."""


def load_library(text: str) -> ctypes.CDLL:
    """Return the library that `text` becomes, compiled if it was never before.

    Of the processes of a node that request it at once, such as ranks, one compiles.

    Raises:
        NoCompilerError: it has to be compiled, and cannot be.
    """
    return load_kept(_digest(text), partial(_compile, text), one_builds=True)


def load_kept(digest: str, build: Builder, *, one_builds: bool = False) -> ctypes.CDLL:
    """Return the library cached under `digest`; build it if it is missing or broken.

    `build` is given a folder of its own, and the path of the library that it is to make there. With
    `one_builds`, one of the processes that request the library at once builds it, and the others
    wait.
    """
    folders = _library_folders()
    path = None if folders.libraries is None else folders.libraries / f"{digest}.so"
    return _found(path, folders) or _built(build, path, folders, one_builds)


@dataclass(frozen=True, slots=True)
class _LibraryFolders:
    """The cache folder, and where private folders are made, in order of preference."""

    libraries: Path | None
    private: tuple[Path, ...]


def _library_folders() -> _LibraryFolders:
    """Return the folders of this process; one that another user may write to is ignored."""
    temporary = _trusted(_temporary_folder(), "TMPDIR", shared=True)
    cached = _trusted(libraries_folder(), LIBRARIES_VARIABLE)
    return _LibraryFolders(cached, tuple(one for one in (temporary, cached) if one is not None))


def _temporary_folder() -> Path | None:
    try:
        return Path(gettempdir())
    except FileNotFoundError:
        return None


def _in_private_folder(folders: _LibraryFolders, act: Callable[[Path], _Result]) -> _Result:
    """Return what `act` returns for a new folder of this process alone; the first that works.

    Raises:
        OSError: none does.
    """
    problem = OSError("there is no folder that only this user can write to")
    for parent in folders.private:
        prefix = _PREFIX
        try:
            if parent == folders.libraries:
                check_folder(parent, create=True)
                _remove_unfinished(parent)
                prefix = _UNFINISHED
            with TemporaryDirectory(
                prefix=prefix, dir=parent, ignore_cleanup_errors=True
            ) as folder:
                return act(Path(folder))
        except OSError as error:
            problem = error
        except UntrustedError as error:
            problem = OSError(str(error))
    raise problem


def _trusted(folder: Path | None, variable: str, *, shared: bool = False) -> Path | None:
    """Return `folder`, or None, with a warning, if another user may write to it."""
    if folder is None:
        return None
    try:
        check_folder(folder, shared=shared)
    except FileNotFoundError:
        return folder.absolute()
    except OSError:
        return None
    except UntrustedError as error:
        _warn(f"The folder '{folder}' is ignored, as it would hold code of other users: {error}. "
              f"Set {variable} to a folder that only you can write to.")  # fmt: skip
        return None
    return folder.absolute()


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _found(path: Path | None, folders: _LibraryFolders) -> ctypes.CDLL | None:
    """Return a cached library, None if no trusted and complete one exists."""
    if path is None:
        return None
    try:
        data = read_owned(path)
        library, found = data[:-SEAL_LENGTH], data[-SEAL_LENGTH:]
        return _loaded(library, folders) if found == seal_of(path.name, library) else None
    except OSError:
        return None
    except UntrustedError as error:
        _warn(f"A cached library is ignored and compiled again: {error}.")
        return None


def _loaded(library: bytes, folders: _LibraryFolders) -> ctypes.CDLL:
    """Load a private copy of a library; it needs no name after it is loaded.

    Raises:
        OSError: it cannot be loaded from any folder.
    """

    def load(folder: Path) -> ctypes.CDLL:
        write_owned(folder / "library.so", library)
        return ctypes.CDLL(str(folder / "library.so"))

    return _in_private_folder(folders, load)


def _built(
    build: Builder, path: Path | None, folders: _LibraryFolders, one_builds: bool
) -> ctypes.CDLL:
    """Build a library in a folder of this process alone, cache it and load it."""

    def made(folder: Path) -> bytes:
        build(folder, folder / "made.so")
        return (folder / "made.so").read_bytes()

    with ExitStack() as stack:
        if path is not None and one_builds:
            stack.enter_context(_one_at_a_time(path))
            if found := _found(path, folders):
                return found
        try:
            library = _in_private_folder(folders, made)
            if path is not None:
                _keep(library, path)
            return _loaded(library, folders)
        except OSError as error:
            raise NoCompilerError(
                f"A library cannot be made and loaded: {error}. Set TMPDIR to a folder that only "
                "you can write to, on a file system that permits execution."
            ) from error


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Admit one process at a time; if that process ends or is killed, the next one is admitted.

    Where files cannot be locked, all processes are admitted, as are those that have waited for too
    long.
    """
    beside = path.with_suffix(".lock")
    try:
        check_folder(path.parent, create=True)
        lock = beside.open("w", encoding="utf-8")
    except (OSError, UntrustedError):
        yield
        return
    with lock:
        with suppress(OSError):
            _wait_for(lock)
        try:
            yield
        finally:
            # Waiting processes have the file open; later ones make another one.
            beside.unlink(missing_ok=True)


def _wait_for(lock: IO[str]) -> None:
    """Lock a file; warn if another process has held the lock for the longest time to wait."""
    end = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < end:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_BETWEEN_ATTEMPTS)
        else:
            return
    _warn(f"Another process has compiled a library for more than {_LONGEST_WAIT:.0f} seconds, "
          f"with the lock '{lock.name}': this process compiles it, too.")  # fmt: skip


def _keep(data: bytes, path: Path) -> None:
    """Cache a library under the name `path` in one step, if the folder can be written."""
    own = path.with_name(f"{_UNFINISHED}{os.urandom(8).hex()}-{path.name}")
    with suppress(OSError, UntrustedError):
        check_folder(path.parent, create=True)
        try:
            write_owned(own, data + seal_of(path.name, data), durable=True)
            own.replace(path)
        finally:
            own.unlink(missing_ok=True)
        _remove_unfinished(path.parent)


def _remove_unfinished(folder: Path) -> None:
    """Remove what processes that were killed more than an hour ago left in the cache folder."""
    for left in (*folder.glob(f"{_UNFINISHED}*"), *folder.glob("*.lock")):
        with suppress(OSError):
            state = left.lstat()
            if time.time() - state.st_mtime <= _HOUR:
                continue
            if stat.S_ISDIR(state.st_mode):
                shutil.rmtree(left)
            else:
                left.unlink()


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
    """Return the cache key of a library. It contains the path, size and time of the compiler."""
    options = (*compiler_options(VARIABLE), *_options(text))
    return library_key(_machine(), _identity(), " ".join(options), text)


def library_key(*parts: str) -> str:
    """Return the part of the cache key that depends on the inputs of a library."""
    return digest_of("\0".join((str(_EDITION), *parts)))


@cache
def _identity() -> str:
    return identity_of(find_c_compiler())


def identity_of(compiler: Path | None) -> str:
    """Return the part of the cache key that depends on the compiler; empty without one."""
    if compiler is None:
        return ""
    real = compiler.resolve()
    state = real.stat()
    return f"{real} {state.st_size} {state.st_mtime_ns}"


@cache
def _machine() -> str:
    """Return the part of the cache key that depends on the processor's instruction set."""
    found = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{found} {platform.processor()}"
    known = ("flags", "Features", "model name")
    return " ".join([found, *(line for line in lines if line.startswith(known))][:4])
