"""What a user asks of a compilation. Nothing of the compiler is imported here."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from psyclone_storage.base.records import dataclass


class LineLimit(Enum):
    """Where lines are kept within 132 characters, beyond what is generated.

    `ALL` refuses longer ones in what is read; `OUTPUT` breaks those of the algorithm's author.
    """

    OFF = "off"
    ALL = "all"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asks for beyond the settings.

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
    target: str = ""
    checks: bool = False
