"""Types of C, and what values and arrays of them look like while an expression is printed."""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.operators import Precedence, Ranked, RankedText
from psyclone_storage.ir.types import Intrinsic


class PrintError(Exception):
    """What cannot be printed in C: why, and the name that it is about, if it is about one."""

    def __init__(self, reason: str, name: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.name = name


@dataclass(frozen=True, slots=True)
class CType:
    """A type of the language with its size in bytes, and so a type of C."""

    intrinsic: Intrinsic
    size: int

    @property
    def name(self) -> str:
        """The type as C spells it; truth values are stored as whole numbers, 0 and 1."""
        if self.intrinsic is Intrinsic.REAL:
            return "float" if self.size == 4 else "double"
        return f"int{8 * self.size}_t"

    @property
    def is_real(self) -> bool:
        """Whether values are floating-point numbers."""
        return self.intrinsic is Intrinsic.REAL

    @property
    def is_integer(self) -> bool:
        """Whether values are whole numbers."""
        return self.intrinsic is Intrinsic.INTEGER

    @property
    def is_logical(self) -> bool:
        """Whether values are truth values."""
        return self.intrinsic is Intrinsic.LOGICAL


INTEGER = CType(Intrinsic.INTEGER, 4)
LONG = CType(Intrinsic.INTEGER, 8)
REAL = CType(Intrinsic.REAL, 4)
DOUBLE = CType(Intrinsic.REAL, 8)
LOGICAL = CType(Intrinsic.LOGICAL, 4)

SIZES = {
    Intrinsic.REAL: (4, 8),
    Intrinsic.INTEGER: (1, 2, 4, 8),
    Intrinsic.LOGICAL: (1, 4, 8),
}
"""The sizes, in bytes, of the types that can be printed."""


def ctype(intrinsic: Intrinsic, size: int) -> CType:
    """Return the type of this size; raise `PrintError` if C has none like it."""
    if intrinsic not in SIZES:
        raise PrintError(f"values of type {intrinsic.value} are not printed")
    if size not in SIZES[intrinsic]:
        raise PrintError(f"a {intrinsic.value} of {size} bytes has no type in C that is the same")
    return CType(intrinsic, size)


@dataclass(frozen=True, slots=True)
class Value(Ranked):
    """A printed scalar expression with its type."""

    text: str
    type: CType
    rank: int = Precedence.PRIMARY

    @classmethod
    def of(cls, written: RankedText, type_: CType) -> Value:
        """Return a printed expression of type `type_`."""
        return cls(written.text, type_, written.rank)

    def converted(self, to: CType) -> Value:
        """Return the value as one of type `to`, as an assignment converts it."""
        if to == self.type:
            return self
        return Value(f"({to.name}) {self.within(Precedence.PREFIX)}", to, Precedence.PREFIX)


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """An array expression: its extents, as texts of C, and the element at indices from 0."""

    type: CType
    extents: tuple[str, ...]
    at: Callable[[tuple[str, ...]], Value]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.extents)


def common_type(left: CType, right: CType) -> CType:
    """Return the type in which two numbers are combined."""
    if left.is_real or right.is_real:
        sizes = [item.size for item in (left, right) if item.is_real]
        return CType(Intrinsic.REAL, max(sizes))
    return CType(left.intrinsic, max(left.size, right.size))


def number(value: int) -> str:
    """Return a whole number as C writes it."""
    if not -(2**31) <= value < 2**31:
        return f"INT64_C({value})"
    return str(value)


def plus(first: str, second: str) -> str:
    """Return the sum of two whole numbers; what is known is computed."""
    return _combined(first, second, 1)


def minus(first: str, second: str) -> str:
    """Return the difference of two whole numbers; what is known is computed."""
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
    """Return a sum without the number that it ends in, and that number."""
    words = text.rsplit(" ", 2)
    is_sum = len(words) == 3 and words[1] in "+-" and words[2].isdigit()
    if is_sum and words[0].count("(") == words[0].count(")"):
        return words[0], int(words[1] + words[2])
    return text, 0


def is_number(text: str) -> bool:
    """Return whether a text is a whole number."""
    return text.lstrip("-").isdigit()
