"""Options of a compilation; this module does not import the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.config.settings import API_NAMES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import SUFFIXES

_PYTHON = ".py"
_WORDS = regex(r"\bpsyclone_storage(?:\.|\s+import\s+)(\w+)")


class LineLimit(Enum):
    """Lines limited to 132 characters, in addition to generated ones.

    `ALL` rejects longer lines in input files. `OUTPUT` splits long lines of the algorithm.
    """

    OFF = "off"
    ALL = "all"
    OUTPUT = "output"


_IN_PYTHON = "gocean"
"""The API of a Python program that imports no API."""


def for_file(request: CompileRequest, file: Path) -> CompileRequest:
    """Return `request` for the kind of `file`; a Python program determines its API."""
    return replace(request, api=request.api or _api_of(file), suffix=file.suffix)


def check_languages(files: Sequence[Path]) -> None:
    """Raise `CompileError` `L002` if some of the algorithms are in Python and others in Fortran."""
    in_python = [file for file in files if key_of(file.suffix) == _PYTHON]
    others = [file for file in files if key_of(file.suffix) != _PYTHON]
    if in_python and others:
        message = f"'{in_python[0]}' is in Python, but '{others[0]}' is not."
        hint = "Compile algorithms in Python by a command of their own."
        raise CompileError(Diagnostic("L002", message, hint=hint))


def suffixes_of(request: CompileRequest) -> tuple[str, ...]:
    """Return the suffixes of kernel files."""
    return (_PYTHON, *SUFFIXES) if key_of(request.suffix) == _PYTHON else SUFFIXES


def _api_of(file: Path) -> str | None:
    """Return the API that a Python program imports, or a default; None for other files."""
    if key_of(file.suffix) != _PYTHON:
        return None
    found = _WORDS.findall(read_source(file).text) if file.is_file() else ()
    return next((name for name in found if name in API_NAMES), _IN_PYTHON)


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Options of a compilation other than settings.

    - `api`, `distributed`: None if the settings decide.

    - `target`: '' for the first target of the API.

    - `suffix`: the suffix of the algorithm file, which selects among the targets of an API.

    - `directories`: directory trees with kernels.

    - `includes`: folders for include files, and for modules that are not in `directories`.

    - `steps`: transformations as text, applied after the script.

    - `profile`: `invokes`, `kernels` or both: the regions measured by a profiler.

    - `keywords`: additional arguments for the script's `trans`.

    - `kernel_output`: the output folder of kernels, which a script can read.

    - `beside`: if several files have one name, the file in the folder of the algorithm is used.

    - `checks`: each final schedule is executed with the worst-case models.
    """

    api: str | None = None
    distributed: bool | None = None
    directories: tuple[Path, ...] = ()
    script: Path | None = None
    steps: str = ""
    line_limit: LineLimit = LineLimit.OFF
    profile: tuple[str, ...] = ()
    keywords: tuple[tuple[str, object], ...] = ()
    kernel_output: Path | None = None
    includes: tuple[Path, ...] = ()
    beside: bool = False
    suffix: str = ""
    target: str = ""
    checks: bool = False
