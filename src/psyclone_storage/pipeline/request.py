"""The request of a compilation; this module imports nothing of the compiler."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.config.settings import API_NAMES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import SUFFIXES

_PYTHON = ".py"
_WORDS = regex(r"\bpsyclone_storage(?:\.|\s+import\s+)(\w+)")


class LineLimit(Enum):
    """The lines, in addition to generated ones, that are limited to 132 characters.

    `ALL` rejects longer ones in input files; `OUTPUT` breaks long lines of the algorithm.
    """

    OFF = "off"
    ALL = "all"
    OUTPUT = "output"


_IN_PYTHON = "gocean"
"""The API of a Python program that imports no API."""


def for_file(request: CompileRequest, file: Path) -> CompileRequest:
    """Return `request` for algorithms such as `file`; a Python program determines its API."""
    return replace(request, api=request.api or _api_of(file), suffix=file.suffix)


def suffixes_of(request: CompileRequest) -> tuple[str, ...]:
    """Return the suffixes of files with kernels."""
    return (_PYTHON, *SUFFIXES) if key_of(request.suffix) == _PYTHON else SUFFIXES


def _api_of(file: Path) -> str | None:
    """Return the API that a Python program imports, or the default one."""
    if key_of(file.suffix) != _PYTHON:
        return None
    found = _WORDS.findall(read_source(file).text) if file.is_file() else ()
    return next((name for name in found if name in API_NAMES), _IN_PYTHON)


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """The options of a compilation other than the settings.

    `suffix` is that of the algorithm's file, which selects among the targets of an API. `api` and
    `distributed` are None if the settings decide. `steps` are transformations as text, applied
    after the script. `profile` has `invokes`, `kernels` or both: regions for a profiler.
    `keywords` are additional arguments of the script's `trans`. A script can read `kernel_output`
    and `includes`; include files, and modules that are not below `directories`, are searched for in
    the latter. An empty `target` is the first one of the API.
    With `beside` the file in the folder of the algorithm wins if several have one name.
    With `checks` each final schedule is executed against the worst-case models.
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
