"""What functions make of objects that never change, kept with these objects.

No table of the process knows them: what was made of an object goes when that goes. It is kept by
which object it is, not by what it equals, as equal records may differ in what takes no part in
comparing them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple

Record = TypeVar("Record")
Others = TypeVarTuple("Others")
Made = TypeVar("Made")


def kept_with_first(make: Callable[[Record, *Others], Made]) -> Callable[[Record, *Others], Made]:
    """Return `make`, which is asked once for an object and the same further arguments.

    Of the object, the first argument, nothing may change, and it needs a `__dict__`; the others can
    be hashed. `make` depends on these alone, and nobody changes what it returns.
    """
    place = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def known(record: Record, *others: *Others) -> Made:
        kept: dict[tuple[Any, ...], Made] = vars(record).setdefault(place, {})
        if others not in kept:
            kept[others] = make(record, *others)
        return kept[others]

    return known
