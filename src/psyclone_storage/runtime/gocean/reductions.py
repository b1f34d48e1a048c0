"""Reductions of fields: what the points of a rank contribute, and the result over all ranks.

Only internal points count. The values are where they are current: a device reduces its own, except
for exact sums, which the host computes. A field may be acquired by the invoke that reduces it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

import numpy as np

from psyclone_storage.runtime.binding import side_of
from psyclone_storage.runtime.exact_sum import exact_multiple, rounded


class ReducedField(Protocol):
    """A field on a grid, as a reduction uses it."""

    grid: Any
    points: Any
    layers: int | None
    internal: Any

    @property
    def storage(self) -> Any:
        """Values of all points on this rank."""

    def describe(self) -> str:
        """Return the name of the field in error messages."""

    def check_idle(self) -> None:
        """Raise an error if an exchange is in progress."""


Part = float | int
"""What a rank contributes: an integer is an exact sum, in units of `exact_sum`."""


def _sum(values: Any) -> Any:
    # Reals of 32 bits are added with 64 bits. Sums of integers of 64 bits may overflow.
    is_short = values.dtype.kind != "f" and values.dtype.itemsize < np.dtype(np.int64).itemsize
    return values.sum(dtype=np.int64 if is_short else np.float64)


_ON_RANK: Mapping[str, Callable[[Any], Any]] = {
    "sum": _sum,
    "min": lambda values: values.min() if values.size else math.inf,
    "max": lambda values: values.max() if values.size else -math.inf,
}
_OVER_RANKS: Mapping[str, Callable[[Sequence[Part]], Any]] = {
    "sum": sum,
    "min": np.min,
    "max": np.max,
}


def reduced_on_rank(operation: str, *fields: ReducedField, exact: bool = False) -> Part:
    """Return what this rank contributes to the sum, minimum or maximum of a field.

    Of two fields, the products are reduced, each rounded to 64 bits. The contribution to an `exact`
    sum is an integer, or infinite or NaN if a value is. Minimum and maximum are NaN if a value is,
    and infinite without points.

    Raises:
        TypeError: an argument is not a field.
        ValueError: two fields are not on the same points of one grid.
    """
    with _internal(fields) as arrays, np.errstate(over="ignore", invalid="ignore"):
        values = arrays[0]
        for other in arrays[1:]:
            values = values.astype(np.float64, copy=False) * other
        return _exact_sum(values) if exact else float(_ON_RANK[operation](values))


def _exact_sum(values: Any) -> Part:
    host = values.get() if hasattr(values, "get") else values
    if host.dtype.kind == "f" and not np.all(np.isfinite(host)):
        return float(_sum(host[~np.isfinite(host)]))
    return exact_multiple(host)


def reduced_over_ranks(operation: str, field: ReducedField, part: Part) -> float:
    """Return the result over all ranks of the grid of `field`; see `combined`.

    Collective: all ranks must call it.
    """
    return combined(operation, field.grid.ranks.gathered(part))


def combined(operation: str, parts: Sequence[Part]) -> float:
    """Return the result of the contributions of all ranks, in their order.

    Exact sums are rounded once. If values were infinite or NaN, the sum is that of these values.
    """
    exact = [one for one in parts if isinstance(one, int)]
    if not exact:
        return float(_OVER_RANKS[operation](parts))
    if len(exact) == len(parts):
        return rounded(sum(exact))
    return float(sum(one for one in parts if not isinstance(one, int)))


def rounded_part(part: Part) -> float:
    """Return the exact sum of one rank as a number."""
    return combined("sum", [part])


@contextmanager
def _internal(fields: Sequence[ReducedField]) -> Iterator[list[Any]]:
    """Yield the values of fields at the internal points of the rank, where all are current."""
    first = fields[0]
    for field in fields:
        if not hasattr(field, "internal"):
            raise TypeError(f"A reduction takes fields, not a {type(field).__name__}.")
        is_alike = field.points is first.points and field.layers == first.layers
        if field.grid is not first.grid or not is_alike:
            raise ValueError(
                f"{first.describe()} and {field.describe()} are not on the same points of one grid."
            )
        field.check_idle()
    side = side_of(fields)
    with ExitStack() as stack:
        arrays = {
            id(field): stack.enter_context(field.storage.access(side))
            for field in dict.fromkeys(fields)
        }
        yield [arrays[id(field)][field.internal.box] for field in fields]
