"""Kinds of a number in Python, and the result kinds of operations.

A Python float (`WEAK`) has 8 bytes and takes the kind of the other operand. NumPy numbers have 4 or
8 bytes, and integers from arrays have 8. They keep their kind. Sometimes the kind is known only at
run time: after `max(x, 0.0)` it is the kind of the selected number. This module is independent of
kernels.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from itertools import product

from psyclone_storage.base.records import dataclass, replace

_MOST_VALUES = 4


class Kind(Enum):
    """Kind of a number: a Python float, or a NumPy number of 4 or 8 bytes."""

    WEAK = "Python's"
    SINGLE = "4 bytes"
    DOUBLE = "8 bytes"


@dataclass(frozen=True, slots=True)
class NumberKinds:
    """Set of kinds that a number may have.

    A number that may be `WEAK` or `SINGLE` is stored in 4 bytes, and a weak value is then rounded.

    - `exact`: the stored value equals the weak value.

    - `values`: the possible weak values, or None if unknown.
    """

    of: frozenset[Kind]
    exact: bool = True
    values: frozenset[float] | None = None

    @property
    def in_single(self) -> bool:
        """True if such a number is stored in 4 bytes."""
        return Kind.SINGLE in self.of and Kind.DOUBLE not in self.of

    @property
    def one(self) -> Kind | None:
        """Kind of the number, or None if it is known only at run time."""
        return next(iter(self.of)) if len(self.of) == 1 else None

    @property
    def is_lost(self) -> bool:
        """True if a number with 8 bytes in Python may have been rounded to 4 bytes."""
        return {Kind.WEAK, Kind.SINGLE} <= self.of and not self.exact


WEAK, SINGLE, DOUBLE = (NumberKinds(frozenset({one})) for one in Kind)
UNKNOWN_NUMBER = NumberKinds(frozenset({Kind.WEAK}), exact=False)
"""A number of Python of which nothing is known."""


def literal_kinds(value: float) -> NumberKinds:
    """Return the kinds of a literal."""
    return _weak({value})


def _weak(values: Iterable[float]) -> NumberKinds:
    known = frozenset(values)
    exact = all(_in_single(one) == one for one in known)
    return NumberKinds(frozenset({Kind.WEAK}), exact, known if len(known) <= _MOST_VALUES else None)


def _in_single(value: float) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return found


def either(one: NumberKinds, other: NumberKinds) -> NumberKinds:
    """Return the kinds of one of two numbers."""
    values = _both(one, other)
    return NumberKinds(one.of | other.of, _weak_exact(one) and _weak_exact(other), values)


def _weak_exact(one: NumberKinds) -> bool:
    return one.exact or Kind.WEAK not in one.of


def _both(one: NumberKinds, other: NumberKinds) -> frozenset[float] | None:
    parts = [part.values for part in (one, other) if Kind.WEAK in part.of]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    found = frozenset[float]().union(*known)
    return found if len(found) <= _MOST_VALUES else None


def negation_kinds(one: NumberKinds) -> NumberKinds:
    """Return the kinds of a negated number."""
    values = None if one.values is None else frozenset(-value for value in one.values)
    return replace(one, values=values)


def sized(one: NumberKinds) -> NumberKinds:
    """Return the kinds of an absolute value."""
    return replace(one, values=None if one.values is None else frozenset(map(abs, one.values)))


def common_kinds(one: NumberKinds, other: NumberKinds) -> frozenset[Kind]:
    """Return the possible result kinds of an operation on two numbers."""
    return frozenset(_of_two(*pair) for pair in product(one.of, other.of))


def _of_two(one: Kind, other: Kind) -> Kind:
    for kind in (Kind.DOUBLE, Kind.SINGLE):
        if kind in (one, other):
            return kind
    return Kind.WEAK


def operation_kinds(op: str, one: NumberKinds, other: NumberKinds) -> NumberKinds | None:
    """Return the kinds of an operation's result; None if the result could differ from Python's.

    The operation uses 4 bytes if the result may not have more, otherwise 8 bytes.
    """
    found = common_kinds(one, other)
    if found == {Kind.WEAK}:
        pairs = _pairs(one, other)
        made = _folded(op, pairs) if pairs is not None else None
        return UNKNOWN_NUMBER if made is None else _weak(made)
    if found == {Kind.SINGLE}:
        return SINGLE
    if Kind.SINGLE not in found:
        return None if one.is_lost or other.is_lost else NumberKinds(found)
    if Kind.DOUBLE in found:
        return None
    beside = _beside(op, one, other)
    return None if beside is None else replace(beside, of=found)


def compares_as_in_python(op: str, one: NumberKinds, other: NumberKinds, *, small: bool) -> bool:
    """Return whether a comparison has the same result as in Python.

    The comparison uses 4 bytes if one operand has at most 4. If `small` is true, one operand is an
    integer.
    """
    found = common_kinds(one, other)
    if found == {Kind.SINGLE}:
        return True
    if Kind.SINGLE not in found:
        return not (one.is_lost or other.is_lost)
    if Kind.DOUBLE in found:
        return False
    if one.exact and other.exact:
        return True
    pairs = _pairs(one, other)
    if pairs is not None:
        compare = _COMPARED[op]
        return all(compare(a, b) == compare(_in_single(a), _in_single(b)) for a, b in pairs)
    values = one.values if one.in_single else other.values
    return small and values is not None and all(abs(value) <= _WHOLE for value in values)


_WHOLE = 2.0**24
"""All integers up to this one have 4 bytes as reals."""
_COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "/=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
_COMPUTED: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "**": operator.pow, "%": operator.mod,
}  # fmt: skip
_ROUNDED_ONCE = ("+", "-", "*", "/")


def _pairs(one: NumberKinds, other: NumberKinds) -> list[tuple[float, float]] | None:
    if one.values is None or other.values is None:
        return None
    return list(product(one.values, other.values))


def _folded(op: str, pairs: Iterable[tuple[float, float]]) -> set[float] | None:
    compute, found = _COMPUTED.get(op), set()
    if compute is None:
        return None
    for pair in pairs:
        try:
            found.add(float(compute(*pair)))
        except (ArithmeticError, ValueError):
            continue  # Python raises: what is computed then means nothing
        except TypeError:
            return None  # the power of a negative number is no real one
    return found


def _beside(op: str, one: NumberKinds, other: NumberKinds) -> NumberKinds | None:
    """Return the kinds of an operation on weak numbers stored in 4 bytes; None if inexact.

    For operands with 4 bytes, the results of `+`, `-`, `*` and `/` in 8 bytes, rounded to 4, equal
    the results in 4 bytes. The reason is that 8 bytes have more than twice as many digits, plus
    two.
    """
    pairs = _pairs(one, other)
    if pairs is not None and (wide := _folded(op, pairs)) is not None:
        narrow = [_folded(op, [(_in_single(a), _in_single(b))]) for a, b in pairs]
        exact = [_folded(op, [pair]) for pair in pairs]
        same = all(
            {_in_single(value) for value in first or ()}
            == {_in_single(value) for value in second or ()}
            for first, second in zip(exact, narrow, strict=True)
        )
        return _weak(wide) if same else None
    if op in _ROUNDED_ONCE and one.exact and other.exact:
        return UNKNOWN_NUMBER
    return _scaled(op, one, other)


def _scaled(op: str, one: NumberKinds, other: NumberKinds) -> NumberKinds | None:
    """Return the result kinds if an operand of 0, 1 or -1 makes the operation exact, or None."""
    for known, is_first in ((one.values, True), (other.values, False)):
        if known is None:
            continue
        if known == {0.0} and (op == "*" or (op == "/" and is_first)):
            return _weak(known)
        if op == "*" and known <= {-1.0, 0.0, 1.0}:
            return UNKNOWN_NUMBER
        if known == {0.0} and op in ("+", "-"):
            return UNKNOWN_NUMBER
        if op == "/" and not is_first and known <= {-1.0, 1.0}:
            return UNKNOWN_NUMBER
    return None
