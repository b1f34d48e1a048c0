"""Types of printed C values and arrays, with operator precedences."""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.operators import Precedence, Ranked, RankedText
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.typing import CType


@dataclass(frozen=True, slots=True)
class CValue(Ranked):
    """A printed scalar expression with its type."""

    text: str
    type: CType
    rank: int = Precedence.PRIMARY

    @classmethod
    def of(cls, written: RankedText, type_: CType) -> CValue:
        """Return a printed expression of type `type_`."""
        return cls(written.text, type_, written.rank)

    def converted(self, to: CType) -> CValue:
        """Convert the value to the type `to`, as an assignment would."""
        if to == self.type:
            return self
        return CValue(f"({to.name}) {self.within(Precedence.PREFIX)}", to, Precedence.PREFIX)


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """Printed array expression: its extents as C text, and a function from indices to an element.

    Indices are counted from 0.
    """

    type: CType
    extents: tuple[str, ...]
    at: Callable[[tuple[str, ...]], CValue]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.extents)


def common_type(left: CType, right: CType) -> CType:
    """Return the type of the result of an arithmetic operation on two types."""
    if left.is_real or right.is_real:
        sizes = [item.size for item in (left, right) if item.is_real]
        return CType(Intrinsic.REAL, max(sizes))
    return CType(left.intrinsic, max(left.size, right.size))


def integer_literal(value: int) -> str:
    """Return an integer literal in C."""
    if not -(2**31) <= value < 2**31:
        return f"INT64_C({value})"
    return str(value)


def plus(first: str, second: str) -> str:
    """Return the sum of two integers, with constants folded."""
    return _combined(first, second, 1)


def minus(first: str, second: str) -> str:
    """Return the difference of two integers, with constants folded."""
    return _combined(first, second, -1)


def _combined(first: str, second: str, sign: int) -> str:
    if is_number(second):
        amount = sign * int(second)
        if is_number(first):
            return str(int(first) + amount)
        base, last = _last_number(first)
        total = last + amount
        if total == 0:
            return base
        return f"{base} {'+' if total > 0 else '-'} {abs(total)}"
    if sign > 0 and first == "0":
        return second
    inner = second if sign > 0 or second.isidentifier() else f"({second})"
    return f"{first} {'+' if sign > 0 else '-'} {inner}"


def _last_number(text: str) -> tuple[str, int]:
    """Split an integer constant from the end of a sum; return the rest and the constant."""
    words = text.rsplit(" ", 2)
    is_sum = len(words) == 3 and words[1] in "+-" and words[2].isdigit()
    if is_sum and words[0].count("(") == words[0].count(")"):
        return words[0], int(words[1] + words[2])
    return text, 0


def is_number(text: str) -> bool:
    """Return whether a text is an integer literal."""
    return text.lstrip("-").isdigit()
