"""Dependencies of what was written, in the notation that Make and Ninja read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_SPECIAL = re.compile(r"(\\*)([ \t#])")


def depfile_text(rules: Iterable[tuple[tuple[Path, ...], tuple[Path, ...]]]) -> str:
    """Return one rule `targets: sources` per pair, one source on a line.

    Each source also gets an empty rule, so that a source that is removed does not stop Make.
    """
    texts: list[str] = []
    seen: dict[str, None] = {}
    for targets, sources in rules:
        names = [_escaped(source) for source in dict.fromkeys(sources)]
        seen |= dict.fromkeys(names)
        left = " ".join(map(_escaped, targets))
        texts.append(f"{left}: \\\n  " + " \\\n  ".join(names) + "\n")
    return "\n".join((*texts, *(f"{name}:\n" for name in seen)))


def _escaped(path: Path) -> str:
    """Return `path` as Make reads it: a backslash is special only before a blank or `#`."""
    return _SPECIAL.sub(r"\1\1\\\2", str(path)).replace("$", "$$")
