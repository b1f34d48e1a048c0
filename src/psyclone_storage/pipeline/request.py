"""What a user asks of a compilation. Nothing of the compiler is imported here."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.config.settings import API_NAMES
from psyclone_storage.frontend.files import read_source
from psyclone_storage.frontend.search import SUFFIXES
from psyclone_storage.ir.keys import key_of

_PYTHON = ".py"
_WORDS = regex(r"\bpsyclone_storage(?:\.|\s+import\s+)(\w+)")


class LineLimit(Enum):
    """Where lines are kept within 132 characters, beyond what is generated.

    `ALL` refuses longer ones in what is read; `OUTPUT` breaks those of the algorithm's author.
    """

    OFF = "off"
    ALL = "all"
    OUTPUT = "output"


_IN_PYTHON = "gocean"
"""The API of programs in Python that import the words of none: it alone can be one."""


def for_file(request: CompileRequest, file: Path) -> CompileRequest:
    """Return `request` for algorithms such as `file`; a program in Python tells its API."""
    return replace(request, api=request.api or _api_of(file), suffix=file.suffix)


def suffixes_of(request: CompileRequest) -> tuple[str, ...]:
    """Return what the names of files with kernels end in."""
    return (_PYTHON, *SUFFIXES) if key_of(request.suffix) == _PYTHON else SUFFIXES


def _api_of(file: Path) -> str | None:
    """Return the API of a program in Python: whose words it imports, or the only one there is."""
    if key_of(file.suffix) != _PYTHON:
        return None
    found = _WORDS.findall(read_source(file).text) if file.is_file() else ()
    return next((name for name in found if name in API_NAMES), _IN_PYTHON)


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What a user asks for beyond the settings.

    `suffix` is what the names of algorithms end in, which chooses among what an API generates.
    `api` and `distributed` are None where the settings decide. `steps` are transformations as text,
    applied after those of the script. `profile` names what a profiler is to tell apart: `invokes`,
    `kernels` or both, when all that is done.
    `keywords` are what the script's `trans` is called with besides the program. `kernel_output` and
    `includes` are folders that the script may ask for; included files are looked for in the latter,
    and modules that are not below `directories`.
    `target` names what is generated, the first of the API's if it is empty.
    With `beside` the file beside an algorithm wins where `directories` hold several of one name.
    With `checks` each final schedule is executed against the adversaries.
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
