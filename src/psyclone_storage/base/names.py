"""Names: unique ones, and those that resemble what was meant.

A `NameTable` is the one place that gives out new Fortran names for a scope. Fortran compares
names without case, and so does the table.
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
    """The names taken in one scope; hands out new ones.

    The table changes as names are taken, so it belongs to the one function that builds a scope.
    Names in `shared`, in lower case, are taken too; many tables can share that set.
    """

    def __init__(self, taken: Iterable[str] = (), shared: Set[str] = frozenset()) -> None:
        self._taken = {name.lower() for name in taken}
        self._shared = shared
        self._numbers: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        key = name.lower()
        return key in self._taken or key in self._shared

    def reserve(self, name: str) -> None:
        """Take `name` without asking whether it was free."""
        self._taken.add(name.lower())

    def fresh(self, wish: str) -> str:
        """Take and return `wish` if it is free, else `wish` with the first free suffix `_<n>`.

        A wish longer than a Fortran name may be (63 characters) is shortened.
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
    """Return a hint that names the closest of `known`, or an empty text if none is close.

    Close is what a slip of the fingers makes: another case, another ending of the conventions, a
    prefix that was forgotten, or a few letters that are wrong, left out, doubled or exchanged.
    Names that merely share an ending, such as `_kernel_mod`, and those that differ in a number are
    strangers, unless a digit is doubled.
    """
    wanted = word.lower()
    found = {choice: _distance(wanted, choice.lower()) for choice in known}
    near = {choice: slips for choice, slips in found.items() if slips is not None}
    closest = min(near, default="", key=lambda name: (near[name], abs(len(name) - len(word))))
    return f"Did you mean '{closest}'?" if closest else ""


def listed(words: Iterable[str], last: str = "or") -> str:
    """Return `words` quoted and joined as a sentence lists them: 'a', 'b' or 'c'."""
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
    """Return how many slips lie between two names, None if they are strangers."""
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
    """Return how many letters are wrong, missing, too many or exchanged with their neighbours.

    The result is None for more than `limit`: only pairs of letters are compared that so many slips
    can exchange.
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
