"""Settings from files: the default configuration, and a user's file over it."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError
from psyclone_storage.config.locate import (
    SearchContext,
    find_settings_file,
    shipped_settings_file,
)
from psyclone_storage.config.read import read_settings
from psyclone_storage.config.settings import Settings


def default_settings() -> Settings:
    """Return what the default configuration says, and nothing else."""
    shipped = shipped_settings_file()
    return settings_of({shipped: _text(shipped)}, "")


def load_settings(explicit: str, overrides: str, around: SearchContext) -> Settings:
    """Find and read the settings file, over the default configuration.

    `explicit` is the file named on the command line, or empty; `overrides` the text behind
    `--config-opts`. The order of the search is that of `find_settings_file`.

    Raises:
        CompileError: `C001` for a file that does not exist or is not text, or whatever
            `read_settings` finds wrong in it.
    """
    return settings_of(read_settings_texts(explicit, around), overrides)


def read_settings_texts(explicit: str, around: SearchContext) -> dict[Path, str]:
    """Return the texts of the settings files by their paths: the default one first.

    Raises:
        CompileError: `C001`, for a file that does not exist or is not text.
    """
    shipped, path = shipped_settings_file(), find_settings_file(explicit, around)
    return {name: _text(name) for name in dict.fromkeys((shipped, path))}


def settings_of(texts: dict[Path, str], overrides: str) -> Settings:
    """Return what `texts` say, each over those before it, and `overrides` over all.

    Raises:
        CompileError: whatever `read_settings` finds wrong in them.
    """
    settings, last = None, list(texts)[-1]
    for path, text in texts.items():
        added = overrides if path == last else ""
        settings = read_settings(text, str(path), base=settings, overrides=added)
    if settings is None:
        raise InternalError("There are no settings to read.")
    return settings


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CompileError(
            Diagnostic("C001", f"The settings file '{path}' cannot be read: {reason}.")
        ) from error
