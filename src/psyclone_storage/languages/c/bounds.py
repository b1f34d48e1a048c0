"""Bounds checks of array elements in C, for debugging.

An index is counted from 0. The first index that is out of bounds is recorded, and a scratch
variable replaces the element. Therefore no access leaves the array. The caller gets the message
from `psy_outside`. The threads of a loop share the record, so callers must call a library from one
thread at a time. On a GPU the kernel prints the message and stops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from psyclone_storage.base.index_errors import MOST_LOCAL_ELEMENTS, out_of_bounds
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import Span
from psyclone_storage.ir.operators import Precedence
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.c.variables import Array

HELPER, INDEX = "psy_element", "psy_index"
TEXT = """\
#ifdef __CUDACC__
static inline int psy_inside(int64_t index, int64_t length, const char *what)
{
    asm("" : "+l"(index));
    if (index >= 0 && index < length)
        return 1;
    printf("%s: index %lld, length %lld\\n", what, (long long) index, (long long) length);
    __trap();
    return 0;
}
static inline void *psy_element(const void *array, int64_t offset, int inside)
{
    return inside ? (char *) array + offset : 0;
}
#else
#include <stdio.h>
static int psy_is_outside;
static char psy_outside_text[1000];
static inline int psy_inside(int64_t index, int64_t length, const char *what)
{
#ifdef __GNUC__
    __asm__("" : "+r"(index)); /* a compiler must not conclude anything about it */
#endif
    if (index >= 0 && index < length)
        return 1;
    if (!__atomic_exchange_n(&psy_is_outside, 1, __ATOMIC_ACQ_REL))
        snprintf(psy_outside_text, sizeof psy_outside_text,
                 "%s: OUT_OF_BOUNDS", what,
                 (long long) index, (long long) length);
    return 0;
}
static inline void *psy_element(const void *array, int64_t offset, int inside)
{
    static __thread double scratch[2];
    if (inside)
        return (char *) array + offset;
    scratch[0] = 0;
    return scratch;
}
const char *psy_outside(void)
{
    return __atomic_exchange_n(&psy_is_outside, 0, __ATOMIC_ACQ_REL) ? psy_outside_text : 0;
}
#endif
""".replace("OUT_OF_BOUNDS", out_of_bounds("%lld", "%lld"))


INDEX_TEXT = """\
static inline int32_t psy_index(int32_t index, int32_t length, const char *what)
{
    /* A compiler must not conclude anything about it, or compute it again, with more bits. */
#ifdef __CUDACC__
    asm("" : "+r"(index));
#elif defined(__GNUC__)
    __asm__("" : "+r"(index));
#endif
    if (index >= 0 && index < length)
        return index;
    if (index < 0 && index >= -length)
        return index + length;
    psy_inside(index, length, what);
    return 0;
}
"""
"""A checked index that counts from the end if it is negative, and is always within the length."""


ROOM = "psy_has_room"
ROOM_TEXT = """\
static int psy_has_room(double elements, const char *what)
{
    if (elements <= MOST_ELEMENTS)
        return 1;
    if (!__atomic_exchange_n(&psy_is_outside, 1, __ATOMIC_ACQ_REL))
        snprintf(psy_outside_text, sizeof psy_outside_text,
                 "%s: local arrays have %.0f elements, but at most MOST_ELEMENTS are possible.",
                 what, elements);
    return 0;
}
""".replace("MOST_ELEMENTS", str(MOST_LOCAL_ELEMENTS))
"""Records the size of local arrays if the stack of a thread cannot contain them."""


@dataclass(frozen=True, slots=True)
class CheckedPlace:
    """Contents of an out-of-bounds message: the routine, the source location and the array."""

    routine: str
    place: Span | None
    array: str

    def texts(self, rank: int) -> Iterator[str]:
        """Yield the start of the message for each dimension of an array with `rank` dimensions."""
        text = start_of_message(self.routine, self.place)
        for at in range(1, rank + 1):
            yield f"{text}{f'dimension {at} of ' if rank > 1 else ''}'{self.array}'"


def start_of_message(routine: str, place: Span | None) -> str:
    """Return the start of the message about an index in a statement."""
    text = f"kernel '{routine.removesuffix('_code')}'"
    if place is not None:
        statement = "".join(f": {line.rstrip(':')}" for line in place.text.splitlines()[:1])
        text += f", {place.source.name} line {place.line}{statement}"
    return f"{text}: "


def check_of_room(elements: Sequence[str], where: CheckedPlace) -> str:
    """Return the condition that local arrays with these numbers of elements fit on the stack."""
    (text,) = where.texts(1)
    # Products of integers may overflow.
    count = " + ".join(f"1.0 * {one}" for one in elements)
    return f"{ROOM}({count}, {_literal(text)})"


def checked_index(index: CValue, extent: CValue, where: CheckedPlace) -> CValue:
    """Return an index that is checked against an extent."""
    (text,) = where.texts(1)
    return CValue(f"{INDEX}({index.text}, {extent.text}, {_literal(text)})", index.type)


def checked_element(array: Array, positions: tuple[str, ...], where: CheckedPlace) -> CValue:
    """Return the element of an array at `positions`, counted from 0, with a bounds check."""
    tests = [
        f"psy_inside({position}, {dimension.extent}, {_literal(text)})"
        for position, dimension, text in zip(
            positions, array.dimensions, where.texts(len(positions)), strict=True
        )
        if dimension.extent
    ]
    offset = f"(int64_t) ({array.offset(positions)}) * sizeof({array.type.name})"
    inside = " & ".join(tests) or "1"
    return CValue(
        f"*({array.type.name} *) {HELPER}({array.name}, {offset}, {inside})",
        array.type,
        Precedence.PREFIX,
    )


def _literal(text: str) -> str:
    """Return an ASCII string in C, split into one literal per word so that lines can be broken."""
    return " ".join(f'"{_escaped(word)}"' for word in text.replace(" ", " \0").split("\0"))


def _escaped(word: str) -> str:
    return "".join(
        char if char.isascii() and (char.isalnum() or char in "_'.,:;=+*/()<>") else _octal(char)
        for char in word
    )


def _octal(char: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "replace"))
