"""Settings from files: the default configuration, and a user's file over it."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.config.locate import (
    Surroundings,
    find_settings_file,
    shipped_settings_file,
)
from psyclone_storage.config.read import read_settings
from psyclone_storage.config.settings import Settings


def default_settings() -> Settings:
    """Return what the default configuration says, and nothing else."""
    return _read(shipped_settings_file())


def load_settings(explicit: str, overrides: str, around: Surroundings) -> Settings:
    """Find and read the settings file, over the default configuration.

    `explicit` is the file named on the command line, or empty; `overrides` the text behind
    `--config-opts`. The order of the search is that of `find_settings_file`.

    Raises:
        CompileError: `C001` for a file that does not exist or is not text, or whatever
            `read_settings` finds wrong in it.
    """
    path = find_settings_file(explicit, around)
    shipped = shipped_settings_file()
    if path == shipped:
        return _read(path, None, overrides)
    return _read(path, default_settings(), overrides)


def _read(path: Path, base: Settings | None = None, overrides: str = "") -> Settings:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CompileError(
            Diagnostic("C001", f"The settings file '{path}' cannot be read: {reason}.")
        ) from error
    return read_settings(text, str(path), base=base, overrides=overrides)
