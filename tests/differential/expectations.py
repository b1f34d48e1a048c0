"""What is expected to differ between the two compilers, and why: `expectations.toml` as records.

Owns the reading of the table and the matching of its patterns; a table entry that nothing needs is
found by the tests.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from differential.peer import Mode


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry: where it holds, what is seen there, and why that is right.

    Attributes:
        algorithms: patterns of algorithm names.
        modes: patterns of mode names, such as `dm-*` or `*-annexed`.
        seen: regular expressions for the refusal or the line of difference.
    """

    algorithms: tuple[str, ...]
    modes: tuple[str, ...]
    seen: tuple[str, ...]
    reason: str

    def covers(self, algorithm: str, mode: Mode) -> bool:
        """Tell whether the entry speaks of `algorithm` under `mode`."""
        return _any_matches(self.algorithms, algorithm) and _any_matches(self.modes, str(mode))

    def matches(self, text: str) -> bool:
        """Tell whether `text` is what the entry says is seen."""
        return any(re.search(pattern, text, re.DOTALL) for pattern in self.seen)


@dataclass(frozen=True, slots=True)
class Expectations:
    """The three tables.

    Attributes:
        refused: PSyclone refuses an algorithm that is right.
        broken: PSyclone's texts do not compile together, so that they are no measure for ours.
        differences: the PSy layers differ in a line, for a reason.
    """

    refused: tuple[Expectation, ...]
    broken: tuple[Expectation, ...]
    differences: tuple[Expectation, ...]


def read_expectations(path: Path) -> Expectations:
    """Read the tables from a TOML file."""
    tables = tomllib.loads(path.read_text())
    return Expectations(
        *(
            tuple(_entry(item) for item in tables.get(name, ()))
            for name in ("refused", "broken", "difference")
        )
    )


def covering(
    entries: tuple[Expectation, ...], algorithm: str, mode: Mode
) -> tuple[Expectation, ...]:
    """Return the entries that speak of `algorithm` under `mode`."""
    return tuple(entry for entry in entries if entry.covers(algorithm, mode))


def _entry(item: dict[str, Any]) -> Expectation:
    modes, seen = item.get("modes", ["*"]), item["seen"]
    patterns = (seen,) if isinstance(seen, str) else tuple(seen)
    return Expectation(tuple(item["algorithms"]), tuple(modes), patterns, item["reason"])


def _any_matches(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
