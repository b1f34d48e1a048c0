"""Access of generated NumPy code to fields: a context that yields arrays, and index boxes.

`held` is the interface to storages. All data of an invoke are acquired together on the host, and
written data are marked at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from psyclone_storage.base.uncaught import HaloWidthError, blamed
from psyclone_storage.runtime.binding import HeldData, check_once, enter, holding
from psyclone_storage.runtime.gocean.field import Field
from psyclone_storage.runtime.gocean.points import Offset, Points
from psyclone_storage.storage import Storage, bound
from psyclone_storage.storage.core.errors import PoisonedDataError

Box = tuple[slice, slice]
_BEFORE_SIGN = re.compile("(?=[+-])")


@contextmanager
def held(  # noqa: PLR0913 - what a compiler knows of an invoke
    read: Sequence[Field] = (),
    written: Sequence[Field] = (),
    covered: Sequence[Field] = (),
    meant: Sequence[str] = (),
    *,
    moved: Sequence[Field] = (),
    depths: Sequence[int] = (),
    sets_flags: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Acquire fields on the host for a context and yield arrays: read, moved, written, covered.

    The halos of `moved` fields are exchanged to their `depths` if they are dirty. All points of the
    whole region of `covered` fields are written. If that region contains all points, their old
    values are not transferred. Written fields are marked dirty, unless the block `sets_flags` and
    does not fail. `meant` contains words for `check_meant`.

    Raises:
        TypeError: an argument is not a field.
        ValueError: a written field is passed twice, or fields are on different grids or on
            unexpected points.
    """
    fields = (*read, *moved, *written, *covered)
    check_fields(fields, (*moved, *written, *covered))
    check_meant(fields, meant)
    for field in covered:
        if field.region_is_all and field.storage.device:
            _omit_transfer(field.storage)
    changed = {*written, *covered, *_dirty(moved, depths)}
    is_done = False
    try:
        made = _binding(fields, changed)
        block = _Recovering(made, fields, covered) if covered else made
        with block as found, np.errstate(all="ignore"):
            arrays = tuple(found.values())
            pairs = zip(fields, arrays, strict=True)
            with holding(HeldData([pair for pair in pairs if pair[0] in changed])):
                yield arrays
        is_done = sets_flags
    finally:
        if not is_done:
            for field in (*written, *covered):
                field.set_dirty()


def _omit_transfer(values: Storage) -> None:
    """Make values on the host current without a transfer, unless they are lost."""
    if values.buffer.poisoned is None:
        _ = values.data_wo


def _binding(fields: Sequence[Field], changed: Container[Field]) -> Any:
    """Return the binding of fields, some of which are `changed`."""
    names = {str(number): field.storage for number, field in enumerate(fields)}
    writes = [name for name, field in zip(names, fields, strict=True) if field in changed]
    return bound(names, writes=writes)


class _Recovering:
    """A `with` block that enters a binding, again with `begin` if values are lost."""

    __slots__ = ("_again", "_binding")

    def __init__(self, binding: Any, fields: Sequence[Field], covered: Sequence[Field]) -> None:
        self._binding, self._again = binding, (fields, covered)

    def __enter__(self) -> Any:
        try:
            return self._binding.__enter__()  # pylint: disable=unnecessary-dunder-call
        except PoisonedDataError:
            return begin(self._binding, *self._again)

    def __exit__(self, *error: Any) -> None:
        self._binding.__exit__(*error)


def begin(
    binding: Any, fields: Sequence[Field], covered: Sequence[Field], device: str | None = None
) -> Any:
    """Enter a binding; lost values of `covered` fields without other points are discarded.

    Raises:
        PoisonedDataError: values of other fields are lost.
    """
    whole = [field for field in covered if field.region_is_all]
    try:
        return enter(binding, fields, whole, device)
    except PoisonedDataError as error:
        for field in covered:
            if field not in whole and field.storage.buffer.poisoned is not None:
                error.add_note(
                    f"{field.describe()} also has points that the kernels do not set: call fill() "
                    f"first."
                )
        raise


def _dirty(fields: Sequence[Field], depths: Sequence[int]) -> Iterator[Field]:
    """Yield the fields whose halo an exchange to a depth would change."""
    for field, depth in zip(fields, depths, strict=True):
        if field.is_moved(depth):
            yield field


def check_fields(fields: Sequence[Any], changed: Sequence[Any]) -> None:
    """Raise an error for a non-field, another grid, or a written field passed twice."""
    for field in fields:
        if not isinstance(field, Field):
            text = f"An invoke takes fields, not a {type(field).__name__}."
            raise blamed(TypeError(text), field)
        if field.grid is not fields[0].grid:
            text = f"{field.describe()} and {fields[0].describe()} are on different grids."
            raise blamed(ValueError(text), field)
        field.check_idle()
    check_once(fields, changed)


def check_meant(fields: Sequence[Field], meant: Sequence[str]) -> None:
    """Check that fields are on the points, and grids have the offset, expected by kernels.

    `meant` contains words for each of the first fields: `points=u`, or `field` for any points;
    `layers` if the field has layers; `type=float32` for values other than reals of 64 bits, which
    are expected without this word; `offset=ne`; `layers>=u+2/v>=3` if the field needs two
    layers more than the field with the word `name=u`, provided that `v` has at least 3; `halo=1` if
    kernels read the halo to depth 1 and the invoke exchanges no halos.

    Raises:
        TypeError: a field has values of another type.
        ValueError: a field or its grid does not match.
    """
    named = {
        word.removeprefix("name="): field
        for field, words in zip(fields, meant, strict=False)
        for word in words.split()
        if word.startswith("name=")
    }
    for field, words in zip(fields, meant, strict=False):
        try:
            _check_field(field, words, named)
        except (TypeError, ValueError) as error:
            raise blamed(error, field) from None


def _check_field(field: Field, words: str, named: Mapping[str, Field]) -> None:
    """Check one field; the fields that the words of others name are in `named`."""
    if ("layers" in words.split()) is not (field.layers is not None):
        has, takes = ("no", "with") if field.layers is None else (field.layers, "without")
        raise ValueError(
            f"{field.describe()} has {has} layers, but what is called takes a field {takes} "
            f"layers there."
        )
    if "type=" not in words and field.storage.dtype != np.float64:
        raise TypeError(
            f"{field.describe()} has values of the type {field.storage.dtype}, but what is "
            f"called takes float64: declare the argument of the kernel with GO_FLOAT32 or "
            f"GO_INT32."
        )
    for what, _, wanted in (word.partition("=") for word in words.split()):
        if what == "type" and field.storage.dtype != wanted:
            raise TypeError(
                f"{field.describe()} has values of the type {field.storage.dtype}, but what is "
                f"called takes {wanted}: write Field(..., dtype=np.{wanted})."
            )
        if what == "points" and field.points.value not in (wanted, Points.ALL.value):
            raise ValueError(
                f"{field.describe()} is on {field.points.name} points, but what is called "
                f"takes one on {wanted.upper()} points there."
            )
        if what == "layers>":
            _check_layers(field, wanted, named)
        if what == "halo":
            _check_halo(field, int(wanted))
        if what == "offset" and field.grid.offset.value != wanted:
            raise ValueError(
                f"The grid of {field.describe()} has the offset {field.grid.offset}, but what "
                f"is called is written for {Offset(wanted)}."
            )


def _check_halo(field: Field, depth: int) -> None:
    """Check that no exchange is necessary before kernels read the halo to a depth.

    Another check finds a halo that is narrower.

    Raises:
        ValueError: the halo contains images or points of other ranks.
    """
    grid = field.grid
    if depth > grid.halo or (
        grid.plan(depth).is_empty and not grid.reflections(field.points, depth)
    ):
        return
    why = "is periodic" if any(grid.periodic) else "has closed boundaries"
    if grid.ranks.size > 1:
        why = f"is distributed over {grid.ranks.size} ranks"
    raise ValueError(
        f"The grid of {field.describe()} {why}, but the invoke was compiled without halo "
        f"exchanges: omit 'distributed=False' of configure(), or the option '-nodm'."
    )


def _check_layers(field: Field, wanted: str, named: Mapping[str, Field]) -> None:
    """Check that a field has the layers that kernels access; `wanted` is described above.

    Raises:
        ValueError: it has fewer.
    """
    count, _, condition = wanted.partition("/")
    given, _, enough = condition.partition(">=")
    if condition and (named[given].layers or 0) < int(enough):
        return
    name, *more = _BEFORE_SIGN.split(count)
    least, why = int(more[0] if more else name), "."
    if more:
        other = named[name]
        least += other.layers or 0
        why = f", because {other.describe()} has {other.layers}."
    if (field.layers or 0) < least:
        raise ValueError(
            f"{field.describe()} has too few layers: {field.layers}. What is called accesses "
            f"{least} there{why}"
        )


def points(columns: slice, rows: slice, shape: tuple[int, int]) -> Callable[[int, int], Box]:
    """Return a function that returns the box of points shifted by `i` columns and `j` rows.

    Raises:
        HaloWidthError: the function is called for points outside arrays of this `shape`.
    """
    known: dict[tuple[int, int], Box] = {}

    def at(i: int, j: int) -> Box:
        found = known.get((i, j))
        if found is None:
            starts = columns.start + i, rows.start + j
            stops = max(columns.stop + i, starts[0]), max(rows.stop + j, starts[1])
            if min(starts) < 0 or stops[0] > shape[0] or stops[1] > shape[1]:
                raise HaloWidthError(
                    f"A kernel looks ({i}, {j}) away from its point, which is outside of the "
                    f"arrays of this rank: the halo of the grid is too narrow for it."
                )
            found = known[i, j] = slice(starts[0], stops[0]), slice(starts[1], stops[1])
        return found

    return at
