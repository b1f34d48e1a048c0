"""Names: unique ones, and those that resemble what was meant.

A `NameTable` is the one place that gives out new Fortran names for a scope. Fortran compares
names without case, and so does the table.
"""

from __future__ import annotations

from collections.abc import Iterable

MAX_FORTRAN_NAME = 63


class NameTable:
    """The names taken in one scope; hands out new ones.

    The table changes as names are taken, so it belongs to the one function that builds a scope.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in taken}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._taken

    def reserve(self, name: str) -> None:
        """Take `name` without asking whether it was free."""
        self._taken.add(name.lower())

    def fresh(self, wish: str) -> str:
        """Take and return `wish` if it is free, else `wish` with the first free `_<n>` behind it.

        A wish longer than a Fortran name may be (63 characters) is shortened.
        """
        name = wish[:MAX_FORTRAN_NAME]
        number = 0
        while name.lower() in self._taken:
            number += 1
            suffix = f"_{number}"
            name = wish[: MAX_FORTRAN_NAME - len(suffix)] + suffix
        self._taken.add(name.lower())
        return name


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest of `known`, or an empty text if none is close."""
    from difflib import get_close_matches  # noqa: PLC0415

    choices = {choice.lower(): choice for choice in known}
    close = get_close_matches(word.lower(), choices, n=1, cutoff=0.66)
    return f"Did you mean '{choices[close[0]]}'?" if close else ""


def listed(words: Iterable[str], last: str = "or") -> str:
    """Return `words` quoted and joined as a sentence lists them: 'a', 'b' or 'c'."""
    quoted = [f"'{word}'" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"
