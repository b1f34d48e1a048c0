"""Expected properties of the data of a routine, and their check.

The description of each argument is a text. Its first word is `field`, `operator` or
`columnwise_operator`. Further words may follow:

- `mesh=1`: all data with the same number are on one mesh.
- `surface=1`: all data with the same number are on meshes with one horizontal mesh.
- `space=2:w3` (for operators `to_space=`, `from_space=`): all with the same number are on one
  space, whose possible names are listed.
- `nlayers=5`, `ndata=3`: the number of layers and of values at a dof in the metadata.
- `dofs=7` (`to_dofs=`, `from_dofs=`): the number of dofs of a cell that kernels access.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from psyclone_storage.base.uncaught import blamed
from psyclone_storage.runtime.lfric.cell_operator import CellOperator
from psyclone_storage.runtime.lfric.columnwise_operator import ColumnwiseOperator
from psyclone_storage.runtime.lfric.field import DofField
from psyclone_storage.runtime.lfric.matrices import Matrices

_KINDS = {"field": DofField, "operator": CellOperator, "columnwise_operator": ColumnwiseOperator}
_SPACES = ("space", "to_space", "from_space")
_DOFS = {"dofs": "space", "to_dofs": "to_space", "from_dofs": "from_space"}


def check_vector(fields: Any, count: int, name: str) -> None:
    """Check that an argument is a vector with `count` fields.

    Raises:
        TypeError: it is not a vector.
        ValueError: it has another number of fields.
    """
    if not isinstance(fields, Sequence) or isinstance(fields, str):
        raise TypeError(f"'{name}' is no vector of fields: the invoke takes one of {count}.")
    if len(fields) != count:
        raise ValueError(
            f"'{name}' has {len(fields)} fields: the invoke takes a vector of {count}."
        )


def check_meant(data: Sequence[DofField | Matrices], meant: Sequence[str]) -> None:
    """Check that data have the properties that a routine expects; `meant` describes each.

    Raises:
        TypeError: a field is passed instead of an operator, or vice versa.
        ValueError: an argument is on another space or mesh, has another number of layers or values,
            or fewer dofs in a cell than kernels access.
    """
    seen: dict[tuple[str, str], tuple[Any, Any]] = {}
    for datum, words in zip(data, meant, strict=True):
        try:
            _check_datum(datum, words, seen)
        except (TypeError, ValueError) as error:
            raise blamed(error, datum) from None


def _check_datum(datum: Any, words: str, seen: dict[tuple[str, str], tuple[Any, Any]]) -> None:
    """Check one datum; `seen` contains the earlier data by their spaces and meshes."""
    kind, *stated = words.split()
    if not isinstance(datum, _KINDS[kind]):
        named = f"{'an' if kind == 'operator' else 'a'} {kind.replace('_', ' ')}"
        raise TypeError(f"{_subject(datum)} is passed where the invoke takes {named}.")
    for word in stated:
        what, _, value = word.partition("=")
        if what in _SPACES:
            number, colon, names = value.partition(":")
            _check_name(datum, what, names.split(",") if colon else None)
            _check_space(datum, what, seen.setdefault(("space", number), (datum, what)))
        elif what in ("mesh", "surface"):
            _check_mesh(datum, what, value, seen)
        elif what in _DOFS:
            _check_dofs(datum, _DOFS[what], int(value))
        else:
            _check_number(datum, what, int(value))


def _check_dofs(datum: Any, what: str, least: int) -> None:
    space = getattr(datum, what)
    if space.ndf < least:
        raise ValueError(
            f"{_subject(datum)} {_VERBS[what]} {space.describe()}, where a cell has {space.ndf} "
            f"dofs, but what is called looks at dof {least - 1}, counted from 0."
        )


def _check_name(datum: Any, what: str, names: list[str] | None) -> None:
    space = getattr(datum, what)
    if names is not None and space.name not in names:
        taken = " or ".join(name.upper() for name in names if name) or "nothing that is both"
        raise ValueError(
            f"{_subject(datum)} {_VERBS[what]} {space.describe()}, but what is called takes "
            f"{taken} there."
        )


_VERBS = {"space": "is on", "to_space": "maps to", "from_space": "maps from"}


def _check_space(datum: Any, what: str, other: tuple[Any, str]) -> None:
    """Raise `ValueError` if `datum` is not on the same space as an earlier argument."""
    here, there = getattr(datum, what), getattr(other[0], other[1])
    if here is there or here.mesh is not there.mesh:  # the error about meshes is more specific
        return
    if _made_of(here) == _made_of(there):
        return
    with_values = ["", ""]
    if (here.name, here.order) == (there.name, there.order):
        with_values = [f", {one.ndata} values at a dof" for one in (here, there)]
    raise ValueError(
        f"{_subject(datum)} {_VERBS[what]} {here.describe()}{with_values[0]}, "
        f"{other[0].describe()} {_VERBS[other[1]]} {there.describe()}{with_values[1]}, but what is "
        f"called takes both on one space."
    )


def _made_of(space: Any) -> tuple[Any, ...]:
    return space.name, space.order, space.ndata, space.ndata_first


def _check_mesh(datum: Any, what: str, number: str, seen: dict[Any, Any]) -> None:
    """Raise `ValueError` if `datum` is not on the same mesh or surface as an earlier argument."""
    taken = "on one mesh" if what == "mesh" else "over one horizontal mesh"
    for same in ("surface", what):
        other, _ = seen.setdefault((same, number), (datum, None))
        here, there = datum.mesh, other.mesh
        if here is not there and (same == "mesh" or here.surface is not there.surface):
            raise ValueError(
                f"{_subject(datum)} is on {here.describe()}, {other.describe()} on another "
                f"object, {there.describe()}, but what is called takes both {taken}: make their "
                f"spaces from one mesh, also where two meshes are made alike."
            )


def _check_number(datum: Any, what: str, wanted: int) -> None:
    for space in _spaces_of(datum):
        if getattr(space, what) != wanted:
            named = "layers" if what == "nlayers" else "values at a dof"
            raise ValueError(
                f"{_subject(datum)} has {getattr(space, what)} {named}, but what is called takes "
                f"{wanted}."
            )


def _spaces_of(datum: Any) -> Iterator[Any]:
    yield from (getattr(datum, what) for what in _SPACES if hasattr(datum, what))


def _subject(datum: Any) -> str:
    words: str = datum.describe()
    return words[:1].upper() + words[1:]
