"""Settings from files: the default configuration, overridden by a user's file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.config.locate import (
    SearchContext,
    read_settings_texts,
    shipped_settings_file,
    text_of,
)
from psyclone_storage.config.read import read_settings
from psyclone_storage.config.settings import Settings

_REMEMBERED = 8


def default_settings() -> Settings:
    """Return the settings of the default configuration."""
    shipped = shipped_settings_file()
    return settings_of({shipped: text_of(shipped)}, "")


def load_settings(explicit: str, overrides: str, around: SearchContext) -> Settings:
    """Find and read the settings file, which overrides the default configuration.

    - `explicit`: the file given on the command line, or ''.

    - `overrides`: the text after `--config-opts`.

    The file is searched in the order of `find_settings_file`.

    Raises:
        CompileError: `C001`, the file does not exist or is not text; or the errors of
            `read_settings`.
    """
    return settings_of(read_settings_texts(explicit, around), overrides)


def settings_of(texts: dict[Path, str], overrides: str) -> Settings:
    """Return the settings in `texts`; later texts override earlier ones, and `overrides` all.

    Raises:
        CompileError: the errors of `read_settings`.
    """
    return _settings_of(tuple(texts.items()), overrides)


@lru_cache(maxsize=_REMEMBERED)
def _settings_of(texts: tuple[tuple[Path, str], ...], overrides: str) -> Settings:
    """Return the settings in texts; results are cached."""
    settings, last = None, texts[-1][0]
    for path, text in texts:
        added = overrides if path == last else ""
        settings = read_settings(text, str(path), base=settings, overrides=added)
    if settings is None:
        raise InternalError("There are no settings to read.")
    return settings
