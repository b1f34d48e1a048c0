"""One column of cells for a kernel that Python executes, for tests of kernels.

A field is an array with a row for each dof of the cell and a value for each layer; with a stencil
its third dimension has the neighbours. A columnwise operator is the matrix of the column, (band,
row). Rows do not share dofs, although the top of a layer is the bottom of the next one in a model.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psyclone_storage.base.records import dataclass
from psyclone_storage.embedded.words import AROUND, Annotation, MetadataWord

_FIELDS = ("field", "operator", "columnwise_operator")


class ColumnArray:
    """Values of a field or an operator, of which some are read and some may be written."""

    def __init__(self, name: str, values: Any, written: bool, spaces: int = 1) -> None:
        self._name, self.written, self.spaces = name, written, spaces
        self.values = copy.deepcopy(values) if written else values

    def __str__(self) -> str:
        """Return the name of the argument."""
        return self._name

    def __getitem__(self, index: Any) -> Any:
        """Return one value."""
        values, rest = _taken(self.values, index)
        return values[_own(values, rest)]

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write one value."""
        if not self.written:
            raise TypeError(f"'{self._name}' is only read.")
        values, rest = _taken(self.values, index)
        values[_own(values, rest)] = value


def _taken(values: Any, index: Any) -> tuple[Any, Any]:
    """Return the selected component, and the rest of an index."""
    if isinstance(values, list | tuple) and isinstance(index, tuple):
        return values[index[0]], index[1:] if len(index) > _PAIR else index[1]
    return values, index


def _own(values: Any, index: Any) -> Any:
    """Return an index, completed with the cell itself for the neighbours."""
    missing = len(values.shape) - (len(index) if isinstance(index, tuple) else 1)
    return index if missing < 1 else (*index, *[0] * missing)


_PAIR = 2
_OF_BANDS = {"bands": 0, "rows": 1}
"""The dimension of a columnwise operator that a word counts."""


@dataclass(frozen=True, slots=True)
class Column:
    """The loop bounds and data of a column that are not arguments of a kernel.

    `dofs` are the numbers of dofs by function space. `given` has all other data by the words of the
    kernel, as in `{"points_xy": 4, "basis(W0)": array}`.
    """

    layers: int
    dofs: Mapping[str, int]
    given: Mapping[str, Any]

    def look_up(self, word: str, said: tuple[Any, ...]) -> Any:
        """Return the value of a word in a kernel body.

        Raises:
            KeyError: it is not given.
        """
        given = {key.replace(" ", ""): value for key, value in self.given.items()}
        names = [str(one) for one in said if not isinstance(one, ColumnArray)]
        text = f"{word}({', '.join(names)})" if names else word
        for key in (f"{word}({','.join(map(str, said))})", text):
            if (found := given.get(key.replace(" ", ""))) is not None:
                return found
        if word == "layers":
            return self.layers
        if word == "dofs" and names and names[0] in self.dofs:
            return self.dofs[names[0]]
        if said and isinstance(said[0], ColumnArray):
            shape = said[0].values.shape
            if word == "neighbours":
                return int(shape[said[0].spaces + 1])
            if word in _OF_BANDS:
                return int(shape[_OF_BANDS[word]])
        raise KeyError(f"Nothing is known of '{text}': give it, as in given={{'{text}': ...}}.")


def run_column(
    function: Callable[..., Any],
    annotations: Mapping[str, Annotation],
    passed: tuple[tuple[Any, ...], dict[str, Any]],
    given: Mapping[str, Any] | None,
) -> Any:
    """Run a kernel's function for one column, and return the values that it writes."""
    bound = inspect.signature(function).bind(*passed[0], **passed[1]).arguments
    arrays, column = _seen(annotations, bound, given or {})
    token = AROUND.set(column.look_up)
    try:
        function(**{**bound, **arrays})
    finally:
        AROUND.reset(token)
    found = {name: one.values for name, one in arrays.items() if one.written}
    return next(iter(found.values())) if len(found) == 1 else found


def _seen(
    annotations: Mapping[str, Annotation], bound: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, ColumnArray], Column]:
    """Return the arrays in a kernel's view, and its loop ranges."""
    arrays: dict[str, ColumnArray] = {}
    dofs: dict[str, int] = {}
    layers = 0
    for name, said in annotations.items():
        if said.name not in _FIELDS:
            continue
        access, spaces = _access_and_spaces(said)
        written = "WRITE" in access or "INC" in access
        arrays[name] = ColumnArray(name, bound[name], written, max(len(spaces), 1))
        if said.name == "columnwise_operator":
            continue
        shape = _shape(bound[name])
        for space, count in zip(spaces, shape, strict=False):
            dofs.setdefault(space, count)
        layers = layers or (shape[len(spaces)] if len(shape) > len(spaces) else 0)
    return arrays, Column(layers, dofs, given)


def _shape(values: Any) -> Sequence[int]:
    shape: Sequence[int] = (values[0] if isinstance(values, list | tuple) else values).shape
    return shape


def _access_and_spaces(said: Annotation) -> tuple[str, tuple[str, ...]]:
    """Return the access of an argument, and its spaces."""
    words = [one for one in said.items if isinstance(one, MetadataWord)]
    words = [one for one in words if one.name not in _TYPES]
    spaces = (one.name for one in words[1:] if not one.items)
    return words[0].name, tuple(one for one in spaces if not one.startswith("GH_"))


_TYPES = ("GH_REAL", "GH_INTEGER", "GH_LOGICAL")
