"""Objects of other modules for the pure-Python fallback, and the edition that both cores share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

EDITION = 9
"""Counts the changes that one of the two cores cannot make without the other."""

WORDS = SimpleNamespace()
"""What `register` was told: the modes, the plain request, the classes that are made here."""


def register(**words: Any) -> None:
    """Register the objects of other modules that the core needs.

    `read`, `read_write` and `auto` are the modes and the policy of most accesses, `plain` is the
    request without uncommon options, `token`, `block` and `arguments` are the classes of objects
    that the core creates, `array` is that of NumPy. `piece` is the class of allocations, `pin` that
    of pins that keep them in place, `use` that of notes on device work. `total` counts all copies,
    and `timed` is true if emulated devices simulate the configured transfer times.
    """
    WORDS.__dict__.update(words)
