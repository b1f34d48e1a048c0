"""Modules that a Fortran file defines and uses, found by scanning its lines."""

from __future__ import annotations

import re

from psyclone_storage.base.regex import regex
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES

_USE = regex(
    r"^[ \t]*use(?:[ \t]*,[ \t]*(?P<nature>\w+)[ \t]*::|[ \t]*::|[ \t])[ \t]*(?P<name>[a-z]\w*)",
    re.IGNORECASE | re.MULTILINE,
)
_SUBMODULE = regex(
    r"^[ \t]*submodule[ \t]*\([ \t]*(?P<name>[a-z]\w*)", re.IGNORECASE | re.MULTILINE
)
# It starts with plain letters, which is much faster than a search for each start of a line.
_MODULE = regex(
    r"module[ \t]+(?!procedure\b|subroutine\b|function\b)([a-z]\w*)[ \t]*(?:!.*)?\r?$",
    re.MULTILINE,
)


def used_modules(text: str) -> tuple[str, ...]:
    """Return the modules that a file uses or extends, in lower case, without duplicates.

    Intrinsic modules are omitted. Modules that the file itself defines are included.
    """
    used = [
        match["name"].lower()
        for match in _USE.finditer(text)
        if (match["nature"] or "").lower() != "intrinsic"
    ]
    extended = [match["name"].lower() for match in _SUBMODULE.finditer(text)]
    return tuple(
        dict.fromkeys(name for name in (*used, *extended) if name not in INTRINSIC_MODULES)
    )


def defined_modules(text: str) -> tuple[str, ...]:
    """Return the modules that a file defines, in lower case."""
    text = text.lower()
    return tuple(
        found[1]
        for found in _MODULE.finditer(text)
        if not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip(" \t")
    )
