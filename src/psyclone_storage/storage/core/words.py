"""Own what both cores are told of: the objects of other files, for the twin; which changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

EDITION = 9
"""Counts the changes that one of the two cores cannot make without the other."""

WORDS = SimpleNamespace()
"""What `register` was told: the modes, the plain request, the classes that are made here."""


def register(**words: Any) -> None:
    """Take the objects of other files that this one has to know.

    `read`, `read_write` and `auto` are the modes and the policy of most accesses, `plain` is the
    request with nothing unusual, `token`, `block` and `arguments` are the classes of what is made
    here, `array` is that of NumPy. `piece` is the class of allocations and `pin` that of what keeps
    them in place, `use` that of notes on what a device does. `total` counts all copies, and `timed`
    says that emulated devices take the time that is asked of them.
    """
    WORDS.__dict__.update(words)
