"""C and Fortran compilers for generated code: search and execution."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from psyclone_storage.base.stopping import deferred, ending

if TYPE_CHECKING:
    import subprocess

VARIABLE = "CC"
FORTRAN_VARIABLE = "FC"
_COMPILERS = ("gcc", "cc", "clang")
_FORTRAN_COMPILERS = ("gfortran",)
_GRACE = 1.0  # seconds in which a stopped compiler removes its temporary files


class NoCompilerError(ImportError):
    """No compiler was found, or the compilation of a required program failed."""


class FailedCompilerError(NoCompilerError):
    """The compiler itself ended the compilation with an exit status, not a signal."""


class SharedFailureError(NoCompilerError):
    """The compiler failed for another rank on this node, which reports the error."""


@cache
def find_c_compiler() -> Path | None:
    """Return the C compiler that CC names; if CC is not set, the first one found."""
    return _first_of(os.environ.get(VARIABLE, ""), _COMPILERS)


@cache
def find_fortran_compiler() -> Path | None:
    """Return the Fortran compiler that FC names; if FC is not set, gfortran."""
    return _first_of(os.environ.get(FORTRAN_VARIABLE, ""), _FORTRAN_COMPILERS)


def compiler_options(variable: str) -> tuple[str, ...]:
    """Return the options in the environment variable `variable`, as in `CC="gcc -m64"`."""
    return tuple(os.environ.get(variable, "").split()[1:])


def why_not_found(variable: str) -> str:
    """Return the reason why no compiler was found, as the end of a sentence."""
    wanted = os.environ.get(variable, "").split()[:1]
    return f"{variable} names '{wanted[0]}', which is not found" if wanted else "none is installed"


def run_compiler(
    command: Sequence[str],
    temporary: Path | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    errors: str = "replace",
    captured: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run a compiler, whose temporary files are in the folder `temporary`.

    If this process is interrupted, the compiler and its child processes end, too. If it is killed,
    they end with the current file.

    - `errors`: how output that is not UTF-8 is decoded; `captured`: whether output is captured.
    """
    import subprocess  # noqa: PLC0415 (most programs compile nothing)

    variables = dict(environment)
    if temporary is not None:
        variables["TMPDIR"] = str(temporary)
    stream = subprocess.PIPE if captured else None
    with (
        deferred(),
        subprocess.Popen(
            command, stdout=stream, stderr=stream, env=variables, encoding="utf-8", errors=errors
        ) as process,
        ending(partial(_end, process)),
    ):
        out, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and its child processes unless it has ended."""
    import subprocess  # noqa: PLC0415 (most programs compile nothing)

    if process.returncode is not None:
        return
    children = list(_children(process.pid))
    for number in (signal.SIGTERM, signal.SIGKILL):
        process.send_signal(number)
        for one in children:
            with suppress(ProcessLookupError):
                os.kill(one, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)


def _children(process: int) -> Iterator[int]:
    """Yield the numbers of all child processes of `process`, directly and indirectly."""
    with suppress(OSError):
        found = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
        for one in map(int, found.split()):
            yield one
            yield from _children(one)


def _first_of(wanted: str, usual: tuple[str, ...]) -> Path | None:
    import shutil  # noqa: PLC0415 (most programs compile nothing)

    for name in wanted.split()[:1] or usual:
        if found := shutil.which(name):
            return Path(found)
    return None
