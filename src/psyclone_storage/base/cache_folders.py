"""Locations of the cache folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

RESULTS_VARIABLE = "PSYCLONE_STORAGE_CACHE"
LIBRARIES_VARIABLE = "PSYCLONE_STORAGE_LIBRARIES"


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the cache folder of this tool, following the XDG specification.

    Raises:
        RuntimeError: the user has no home directory.
    """
    base = environment.get("XDG_CACHE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "psyclone-storage"


def results_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder of cached results, or None if the environment disables the cache."""
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
