"""Unique names, and names similar to a misspelled one.

A `NameTable` creates all new Fortran names of a scope. Names are case-insensitive.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from psyclone_storage.base.regex import regex

MAX_FORTRAN_NAME = 63
_NOT_IN_WORD = regex(r"\W")


def module_word(stem: str) -> str:
    """Return the stem of a file as a module can be named: `_` replaces all other characters."""
    word = _NOT_IN_WORD.sub("_", stem)
    return f"_{word}" if word[:1].isdecimal() else word


class NameTable:
    """The names used in one scope; creates new ones.

    The table is mutable and belongs to the function that creates the scope. Names in `shared`
    (lower case), which several tables can share, also count as used.
    """

    def __init__(self, taken: Iterable[str] = (), shared: Set[str] = frozenset()) -> None:
        self._taken = {name.lower() for name in taken}
        self._shared = shared
        self._numbers: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        key = name.lower()
        return key in self._taken or key in self._shared

    def reserve(self, name: str) -> None:
        """Mark `name` as used, even if it already was."""
        self._taken.add(name.lower())

    def fresh(self, wish: str) -> str:
        """Mark as used and return `wish`, with a suffix `_<n>` if it is not free.

        Names are limited to 63 characters, the maximum in Fortran.
        """
        name = wish[:MAX_FORTRAN_NAME]
        number = self._numbers.get(wish.lower(), 0)  # names are never free again
        while name in self:
            number += 1
            suffix = f"_{number}"
            name = wish[: MAX_FORTRAN_NAME - len(suffix)] + suffix
        self._numbers[wish.lower()] = number
        self._taken.add(name.lower())
        return name


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest of `known`; empty if none is close.

    Close names differ in case, in a conventional ending, by a missing prefix, or by a few wrong,
    missing, duplicated or transposed letters. Names that only share an ending such as `_kernel_mod`
    are not close. Neither are names that differ in a number, unless a digit is duplicated.
    """
    wanted = word.lower()
    found = {choice: _distance(wanted, choice.lower()) for choice in known}
    near = {choice: slips for choice, slips in found.items() if slips is not None}
    closest = min(near, default="", key=lambda name: (near[name], abs(len(name) - len(word))))
    return f"Did you mean '{closest}'?" if closest else ""


def listed(words: Iterable[str], last: str = "or") -> str:
    """Return `words` quoted and joined as in a sentence: 'a', 'b' or 'c'."""
    quoted = [f"'{word}'" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


# ------------------------------------------------------------------ near names

_ENDINGS = regex(r"(?:_(?:kernel|mod|type|code))+$")
_DIGITS = regex(r"\d+")
_DOUBLED = regex(r"(\d)\1")
_PREFIX_COST = 4


def _distance(word: str, other: str) -> int | None:
    """Return the edit distance of two names, None if they are not similar."""
    if word == other:
        return 0
    if _DIGITS.sub("0", word) == _DIGITS.sub("0", other):
        is_doubled = _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", other)
        return 1 if is_doubled else None
    one, two = (_ENDINGS.sub("", name) for name in (word, other))
    if one == two:
        return 1
    short, long = sorted((one, two), key=len)
    limit = min(3, len(short) // 3)
    if len(long) - len(short) <= limit:
        slips = _slips(short, long, limit)
        if slips is not None:
            return slips + 1
    if len(long) >= 3 and _slips(word, other, 1) is not None:
        return 2
    is_part = long.endswith(short) or long.startswith(short)
    return _PREFIX_COST + 1 if len(short) >= 4 and is_part and 2 * len(short) >= len(long) else None


def _slips(one: str, two: str, limit: int) -> int | None:
    """Return the edit distance of two strings, None if it exceeds `limit`.

    Edits are substitutions, insertions, deletions and transpositions of neighbours.
    """
    if abs(len(one) - len(two)) > limit:
        return None
    far = [limit + 1] * len(two)
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, letter in enumerate(one, 1):
        last, row, older = row, [i, *far], before
        for j in range(max(1, i - limit), min(len(two), i + limit) + 1):
            other = two[j - 1]
            cost = min(row[j - 1] + 1, last[j] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == two[j - 2] and one[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row[j] = cost
        if min(row) > limit:
            return None
        before = last
    return row[-1] if row[-1] <= limit else None
