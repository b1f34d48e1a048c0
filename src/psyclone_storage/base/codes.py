"""Every diagnostic code and what it stands for.

The first letter names the room: P parsing, M metadata, S schedule, T transformation,
V verifier, G generation, R run time, C configuration, L command line. A code is never reused.
Each has at least one folder under `tests/errors/`.
"""

from __future__ import annotations

CODES: dict[str, str] = {
}
