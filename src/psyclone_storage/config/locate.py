"""Search for a user's settings file, and its text; the package contains the default file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.base.reading import read_text_input
from psyclone_storage.base.records import dataclass

SETTINGS_FILE = "psyclone.cfg"
ENVIRONMENT_VARIABLE = "PSYCLONE_CONFIG"


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Environment of the search for a settings file.

    - `environment`: the environment variables.

    - `prefix`: the installation folder of Python.

    - `in_venv`: whether the prefix is a virtual environment.
    """

    environment: Mapping[str, str]
    directory: Path
    home: Path
    prefix: Path
    in_venv: bool


def search_context(environment: Mapping[str, str]) -> SearchContext:
    """Return the search context of this process; `environment` is usually `os.environ`."""
    return SearchContext(
        environment=environment,
        directory=Path(),
        home=Path(environment.get("HOME", "~")).expanduser(),
        prefix=Path(sys.prefix),
        in_venv=sys.prefix != sys.base_prefix,
    )


def shipped_settings_file() -> Path:
    """Return the path of the default configuration."""
    return shared_file(f"config/{SETTINGS_FILE}")


def find_settings_file(explicit: str, around: SearchContext) -> Path:
    """Return the path of the settings file.

    The first of these is used: `explicit`, the file named by `PSYCLONE_CONFIG`,
    `.psyclone/psyclone.cfg` in the current directory, `share/psyclone/psyclone.cfg` in a virtual
    environment, the same in `~/.local`, and the default file in the package. Outside a virtual
    environment, `~/.local` is searched before the prefix. This is PSyclone's order, so both tools
    read the same file.

    Raises:
        CompileError: `C001`, a named file does not exist. It is never replaced by another file.
    """
    if explicit:
        return _named(explicit, "on the command line")
    if chosen := around.environment.get(ENVIRONMENT_VARIABLE):
        return _named(chosen, f"by the environment variable '{ENVIRONMENT_VARIABLE}'")
    shares = [around.prefix / "share", around.home / ".local" / "share"]
    if not around.in_venv:
        shares.reverse()
    candidates = [
        around.directory / ".psyclone" / SETTINGS_FILE,
        *(share / "psyclone" / SETTINGS_FILE for share in shares),
    ]
    return next((path for path in candidates if path.is_file()), shipped_settings_file())


def read_settings_texts(explicit: str, around: SearchContext) -> dict[Path, str]:
    """Return the texts of the settings files by path, starting with the default file.

    Raises:
        CompileError: `C001`, a file does not exist or is not text.
    """
    shipped, path = shipped_settings_file(), find_settings_file(explicit, around)
    return {name: text_of(name) for name in dict.fromkeys((shipped, path))}


def text_of(path: Path) -> str:
    """Return the text of a settings file.

    Raises:
        CompileError: `C001`, it cannot be read, or is not text.
    """
    try:
        return read_text_input(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CompileError(
            Diagnostic("C001", f"The settings file '{path}' cannot be read: {reason}.")
        ) from error


def _named(name: str, by: str) -> Path:
    path = Path(name)
    if path.exists():
        return path
    raise CompileError(
        Diagnostic(
            "C001",
            f"The settings file '{name}', named {by}, does not exist.",
            hint="Give the path of an existing file, or leave it out to use the default settings.",
        )
    )
