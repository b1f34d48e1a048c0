"""Regular expressions that are compiled on first use.

The modules define over 120 patterns, of which a small translation uses 70. Compiling the others
would take 5 % of its time.
"""

from __future__ import annotations

import re
from typing import Any, cast


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of `re.compile`, compiled on first use."""
    return cast("re.Pattern[str]", _DeferredPattern(pattern, flags))


class _DeferredPattern:
    """A pattern that is compiled on first use."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        """Compile the pattern, and store its methods as attributes of this object."""
        compiled = re.compile(*self._source)
        value = getattr(compiled, name)
        self.__dict__.update((one, getattr(compiled, one)) for one in _ASKED)
        return value


_ASKED = [name for name in dir(re.Pattern) if not name.startswith("_")]
