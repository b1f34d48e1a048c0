"""Settings from files: the default configuration, and a user's file over it."""

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
    """Return what the default configuration says, and nothing else."""
    shipped = shipped_settings_file()
    return settings_of({shipped: text_of(shipped)}, "")


def load_settings(explicit: str, overrides: str, around: SearchContext) -> Settings:
    """Find and read the settings file, over the default configuration.

    `explicit` is the file named on the command line, or empty; `overrides` the text after
    `--config-opts`. The order of the search is that of `find_settings_file`.

    Raises:
        CompileError: `C001` for a file that does not exist or is not text, or whatever
            `read_settings` finds wrong in it.
    """
    return settings_of(read_settings_texts(explicit, around), overrides)


def settings_of(texts: dict[Path, str], overrides: str) -> Settings:
    """Return what `texts` say, each over those before it, and `overrides` over all.

    Raises:
        CompileError: whatever `read_settings` finds wrong in them.
    """
    return _settings_of(tuple(texts.items()), overrides)


@lru_cache(maxsize=_REMEMBERED)
def _settings_of(texts: tuple[tuple[Path, str], ...], overrides: str) -> Settings:
    """Return what texts say, for a program that asks for many compilers read once."""
    settings, last = None, texts[-1][0]
    for path, text in texts:
        added = overrides if path == last else ""
        settings = read_settings(text, str(path), base=settings, overrides=added)
    if settings is None:
        raise InternalError("There are no settings to read.")
    return settings
