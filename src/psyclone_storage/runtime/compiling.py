"""Compilation of shared libraries at first use, with a cache keyed by content.

The libraries are generated C code, or Fortran code shipped with this package. A key is the digest
of the texts, the compiler and its options, and the processor if the options refer to it. A cached
library is therefore always equal to a new one. If several processes need a library, each one
compiles it to its own file, which is then renamed atomically. The next program that compiles or
loads a library removes the temporary files of killed processes. If the cache folder cannot be
written, the library exists only as long as the process.

A cached library ends with a digest of its key and contents. A library that is damaged, or that
another user may have written, is compiled again. A process loads a private copy of the verified
bytes, so that the library cannot be changed afterwards. The copy is made in the folder for
temporary files or, if that is mounted without execution, in the cache folder.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import gettempdir
from typing import IO, TypeVar

from psyclone_storage.base.cache_folders import LIBRARIES_VARIABLE, libraries_folder
from psyclone_storage.base.compilers import (
    VARIABLE,
    FailedCompilerError,
    NoCompilerError,
    SharedFailureError,
    compiler_options,
    find_c_compiler,
    run_compiler,
    why_not_found,
)
from psyclone_storage.base.digest import SEAL_LENGTH, digest_of, seal_of
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.stopping import HeldSignals
from psyclone_storage.base.temporaries import new_folder, remove_leftovers, unique_name
from psyclone_storage.base.trusted import UntrustedError, check_folder, read_owned, write_owned
from psyclone_storage.runtime.launchers import is_launched

OPTIONS_VARIABLE = "PSYCLONE_STORAGE_CFLAGS"
_OPTIONS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math")
"""They change no values; the last one lets gcc vectorise loops with conditions."""
_OF_HOST = ("native", "host")
"""Parts of options that let compilers use the instructions of the processor on which they run."""
_NEEDED = ("-std=c99", "-ffp-contract=off", "-shared", "-fPIC", "-w")
_THREADS = "#pragma omp"
_CHECKED = "*) psy_element("
"""An element in code with BOUNDS_CHECKS: an overflow must not make its check superfluous."""
_EDITION = 2
_LONGEST_WAIT = 600.0
"""Seconds for which a process waits for another one that compiles the same library."""
_BETWEEN_ATTEMPTS = 0.02

_Result = TypeVar("_Result")
Builder = Callable[[Path, Path], None]
"""A function that compiles a library in a private folder; arguments are folder and library."""


def load_library(text: str) -> ctypes.CDLL:
    """Return the library compiled from `text`, from the cache if possible.

    If several processes of a node, such as ranks, request it at the same time, one of them compiles
    it.

    Raises:
        NoCompilerError: the library must be compiled, but cannot be.
    """
    build = partial(_compile, text)
    return load_kept(_digest(text, _identity()), build, one_builds=True, last=_digest(text, ""))


def why_not_kept(text: str) -> str:
    """Return the reason why the library of `text` is not in the cache, or '' if it is."""
    folder = libraries_folder()
    if folder is None:
        return "there is no home folder"
    try:
        check_folder(folder, create=True)
    except OSError as error:
        return f"'{folder}': {error.strerror or error}"
    except UntrustedError as error:
        return str(error)
    is_kept = (folder / f"{_digest(text, _identity())}.so").is_file()
    return "" if is_kept else f"no file can be written in '{folder}'"


def load_kept(
    digest: str, build: Builder, *, one_builds: bool = False, last: str = ""
) -> ctypes.CDLL:
    """Return the library cached under `digest`; build it if it is missing or damaged.

    A new library is cached under `last`, too: processes that find no compiler use the last one.

    `build` receives a private folder, and the path of the library to be created there. If
    `one_builds` is true and several processes request the library, one of them builds it while the
    others wait.
    """
    folders = _library_folders()
    path = None if folders.libraries is None else folders.libraries / f"{digest}.so"
    paths = () if path is None else (path, *([path.with_name(f"{last}.so")] if last else ()))
    with HeldSignals.released():
        return _found(path, folders) or _built(build, paths, folders, one_builds)


@dataclass(frozen=True, slots=True)
class _LibraryFolders:
    """Cache folder, and the parent folders for private folders in order of preference."""

    libraries: Path | None
    private: tuple[Path, ...]


def _library_folders() -> _LibraryFolders:
    """Return the folders of this process; folders that another user can write to are ignored."""
    temporary = _trusted(_temporary_folder(), "TMPDIR", shared=True)
    cached = _trusted(libraries_folder(), LIBRARIES_VARIABLE)
    if cached is not None:
        _remove_locks(cached)
    return _LibraryFolders(cached, tuple(one for one in (temporary, cached) if one is not None))


def _temporary_folder() -> Path | None:
    try:
        return Path(gettempdir())
    except FileNotFoundError:
        return None


def _in_private_folder(folders: _LibraryFolders, act: Callable[[Path], _Result]) -> _Result:
    """Return the result of `act` for a new private folder, using the first usable parent.

    Raises:
        OSError: no parent folder is usable.
    """
    problem = OSError("there is no folder that only this user can write to")
    for parent in folders.private:
        try:
            if parent == folders.libraries:
                check_folder(parent, create=True)
            folder = new_folder(parent, "library")
            try:
                return act(folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError as error:
            problem = error
        except UntrustedError as error:
            problem = OSError(str(error))
    raise problem


def _trusted(folder: Path | None, variable: str, *, shared: bool = False) -> Path | None:
    """Return `folder`, or None with a warning if another user can write to it."""
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
    """Return a cached library, or None if there is no complete and trusted one."""
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
    """Load a private copy of a library; the file is deleted after loading.

    Raises:
        OSError: the library cannot be loaded from any folder.
    """

    def load(folder: Path) -> ctypes.CDLL:
        write_owned(folder / "library.so", library)
        return ctypes.CDLL(str(folder / "library.so"))

    return _in_private_folder(folders, load)


def _built(
    build: Builder, paths: Sequence[Path], folders: _LibraryFolders, one_builds: bool
) -> ctypes.CDLL:
    """Build a library in a private folder, cache it at all `paths` and load it."""

    def made(folder: Path) -> bytes:
        build(folder, folder / "made.so")
        return (folder / "made.so").read_bytes()

    with ExitStack() as stack:
        if paths and one_builds:
            stack.enter_context(_one_at_a_time(paths[0]))
            if found := _found(paths[0], folders):
                return found
        try:
            library = _in_private_folder(folders, made)
            for path in dict.fromkeys(paths):
                _keep(library, path)
            return _loaded(library, folders)
        except OSError as error:
            raise NoCompilerError(
                f"A library cannot be made and loaded: {error}. Set TMPDIR to a folder that only "
                "you can write to, on a file system that permits execution."
            ) from error


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Admit one process at a time; if it ends or is killed, the next one is admitted.

    If the compiler ends with an error, the waiting ranks of the same launcher raise this error.
    Other processes compile, because their environment may differ. If files cannot be locked, or
    after a long wait, other processes are also admitted.
    """
    beside = path.with_suffix(".lock")
    try:
        check_folder(path.parent, create=True)
        lock = _wait_for(beside)
    except (OSError, UntrustedError):
        yield
        return
    with lock:
        try:
            yield
        except FailedCompilerError as error:
            with suppress(OSError):
                lock.write(f"{_launcher()}\n{error}")
                lock.flush()
            raise
        finally:
            beside.unlink(missing_ok=True)


def _wait_for(path: Path) -> IO[str]:
    """Return a locked file; warn if another process holds the lock longer than the maximum wait.

    Raises:
        SharedFailureError: the compiler failed for the rank that held the lock.
        OSError: the file cannot be written, or files cannot be locked.
    """
    end = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < end:
        with ExitStack() as stack:
            lock = stack.enter_context(path.open("a+", encoding="utf-8"))
            waits = False
            while not (is_mine := _is_locked(lock, path)) and time.monotonic() < end:
                waits = True
                time.sleep(_BETWEEN_ATTEMPTS)
            if is_mine and waits:
                _raise_failure(lock, path)
            if is_mine and _is_at(lock, path):
                lock.truncate(0)  # a process that has failed may have been killed
                stack.pop_all()
                return lock
    _warn(f"Another process has compiled a library for more than {_LONGEST_WAIT:.0f} seconds, "
          f"with the lock '{path}': this process compiles it, too.")  # fmt: skip
    return path.open("a", encoding="utf-8")


def _raise_failure(lock: IO[str], path: Path) -> None:
    """Raise the error of the process that held the lock, if it is a rank of the same launcher."""
    lock.seek(0)
    launcher, _, said = lock.read().partition("\n")
    if said and launcher and launcher == _launcher():
        if _is_at(lock, path):
            path.unlink(missing_ok=True)
        raise SharedFailureError(said)


def _launcher() -> str:
    """Return a text that is equal for ranks that one launcher has started on one node.

    It is '' for a process without a launcher.
    """
    return f"{platform.node()} {os.getppid()}" if is_launched() else ""


def _is_locked(lock: IO[str], path: Path) -> bool:
    """Lock an open file, unless another process has locked it; return whether this succeeded."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return True


def _is_at(lock: IO[str], path: Path) -> bool:
    """Return whether no process has removed an open file from its path."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _keep(data: bytes, path: Path) -> None:
    """Store a library atomically in the cache at `path`, if the folder can be written."""
    own = unique_name(path)
    with suppress(OSError, UntrustedError):
        check_folder(path.parent, create=True)
        try:
            write_owned(own, data + seal_of(path.name, data), durable=True)
            own.replace(path)
        finally:
            own.unlink(missing_ok=True)


@cache
def _remove_locks(folder: Path) -> None:
    """Remove the locks and temporary files of killed processes in the cache folder, once."""
    remove_leftovers(folder)
    for left in folder.glob("*.lock"):
        with suppress(OSError), left.open(encoding="utf-8") as lock:
            if _is_locked(lock, left) and _is_at(lock, left):
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
    compile_library(command, made, "what was generated")


def compile_library(command: list[str], made: Path, what: str) -> None:
    """Run a compiler that creates the file `made`; `what` describes it in messages.

    Raises:
        FailedCompilerError: the compiler ends with an error, or creates no file.
        NoCompilerError: a signal ends the compiler.
    """
    done = run_compiler(command, made.parent)
    if done.returncode != 0 or not made.is_file():
        lines = done.stderr.strip().splitlines()
        told = [line for line in lines if "rror" in line] or lines
        said = told[:1] or [f"it ended with {done.returncode}"]
        kind = NoCompilerError if done.returncode < 0 else FailedCompilerError
        raise kind(f"'{command[0]}' did not compile {what}: {said[0]}")


def _options(text: str) -> tuple[str, ...]:
    chosen = os.environ.get(OPTIONS_VARIABLE)
    options = _OPTIONS if chosen is None else tuple(chosen.split())
    threads = ("-fopenmp",) if _THREADS in text else ()
    return (*options, *_NEEDED, *threads, *(("-fwrapv",) if _CHECKED in text else ()))


def _digest(text: str, compiler: str) -> str:
    """Return the cache key of a library, which includes path, size and time of the compiler."""
    options = " ".join((*compiler_options(VARIABLE), *_options(text)))
    machine = _machine() if any(one in options.lower() for one in _OF_HOST) else platform.machine()
    return library_key(machine, compiler, options, text)


def library_key(*parts: str) -> str:
    """Return the part of the cache key that depends on the inputs of a library."""
    return digest_of("\0".join((str(_EDITION), *parts)))


@cache
def _identity() -> str:
    return identity_of(find_c_compiler())


def identity_of(compiler: Path | None) -> str:
    """Return the part of the cache key that depends on the compiler, or '' without one."""
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
