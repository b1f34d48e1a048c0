"""Cache folders of this tool."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

RESULTS_VARIABLE = "PSYCLONE_STORAGE_CACHE"
LIBRARIES_VARIABLE = "PSYCLONE_STORAGE_LIBRARIES"


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of this tool among the user's caches, by the rules of XDG.

    Raises:
        RuntimeError: the user has no home.
    """
    base = environment.get("XDG_CACHE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "psyclone-storage"


def results_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder of cached results, None if the environment turns the cache off."""
    chosen = environment.get(RESULTS_VARIABLE)
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        return cache_folder(environment) / "results"
    except RuntimeError:
        return None


def libraries_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder of cached libraries, None for a user without a home."""
    if chosen := environment.get(LIBRARIES_VARIABLE):
        return Path(chosen)
    try:
        return cache_folder(environment) / "libraries"
    except RuntimeError:
        return None
