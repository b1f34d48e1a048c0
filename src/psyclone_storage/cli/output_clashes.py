"""Diagnostics for output files that would overwrite each other or an input: `L002`."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.base.diagnostic import Diagnostic


def overwrites_input(path: Path) -> Diagnostic:
    """Return the diagnostic for an output that would overwrite the input `path`."""
    message = f"'{path}' is an input and would be overwritten."
    return Diagnostic("L002", message, hint="Name another output.")


def written_twice(path: Path) -> Diagnostic:
    """Return the diagnostic for two outputs with the same `path`."""
    message = f"'{path}' would be written twice."
    return Diagnostic("L002", message, hint="Name another output for one of them.")
