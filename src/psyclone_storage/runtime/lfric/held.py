"""Access of generated NumPy code to data while it is executed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

import numpy as np

from psyclone_storage.base.uncaught import blamed
from psyclone_storage.runtime.binding import HeldData, check_once, enter, holding
from psyclone_storage.runtime.lfric.field import DofField
from psyclone_storage.runtime.lfric.matrices import Matrices
from psyclone_storage.runtime.lfric.meant import check_meant
from psyclone_storage.storage import WRONLY, bound

Data: TypeAlias = DofField | Matrices


@contextmanager
def held(
    read: Sequence[Data] = (),
    written: Sequence[Data] = (),
    covered: Sequence[Data] = (),
    meant: Sequence[str] = (),
    types: Sequence[str] = (),
) -> Iterator[tuple[Any, ...]]:
    """Acquire data on the host for a context and yield their arrays, in this order.

    All owned dofs of `covered` data are written, so their old values are not transferred. No data
    are marked dirty, because only the caller knows the depth.

    - `meant`: words for `check_meant`.

    - `types`: for each datum its data type and the name of the argument.

    Raises:
        TypeError: an argument is neither a field nor an operator, or has another type.
        ValueError: a written datum is passed twice, or data are on unexpected ranks, meshes or
            spaces.
        RuntimeError: an exchange of a field is not finished.
    """
    data = (*read, *written, *covered)
    check_data(data, (*written, *covered))
    if types:
        words = [one.partition(" ") for one in types]
        check_types(data, [one[0] for one in words], [one[2] for one in words])
    if meant:
        check_meant(data, meant)
    for datum in covered:
        overwrite(datum, None)
    names = {str(number): datum.storage for number, datum in enumerate(data)}
    changed = [str(number) for number in range(len(read), len(data))]
    binding = bound(names, writes=changed)
    found = enter(binding, data, [one for one in covered if is_whole(one)], None)
    with ExitStack() as ended, np.errstate(all="ignore"):
        ended.push(binding)
        arrays = tuple(found.values())
        ended.enter_context(holding(HeldData(list(zip(data, arrays, strict=True))[len(read) :])))
        yield arrays


def overwrite(datum: Data, device: str | None) -> None:
    """Make values current on one side without a transfer, because all will be overwritten.

    If dofs have several values, kernels write only the first, so all values are transferred.
    """
    if (
        is_whole(datum)
        and datum.storage.device is not None
        and not datum.storage.is_current(device)
    ):
        with datum.storage.access(device, WRONLY):
            pass


def is_whole(datum: Data) -> bool:
    """Return whether a kernel that writes all dofs writes all values."""
    return not isinstance(datum, DofField) or datum.space.ndata == 1


def check_types(data: Sequence[Data], types: Sequence[Any], names: Sequence[str]) -> None:
    """Raise `TypeError` if a datum has another type than the invoke expects.

    `names` contains the names of the arguments. The last one may represent all others, as in
    `*data`.
    """
    for at, (datum, dtype) in enumerate(zip(data, types, strict=True)):
        if datum.dtype != dtype:
            name = names[min(at, len(names) - 1)]
            words = datum.describe()
            of_reals = {np.dtype(one).kind for one in (datum.dtype, dtype)} == {"f"}
            other = (
                f"say in the algorithm of which type '{name}' is, as in "
                f"'{name}: r_solver_field_type'"
                if of_reals
                else "let the metadata of the kernel name the type that it has"
            )
            text = (
                f"{words[:1].upper()}{words[1:]}, which is passed for '{name}', has values of the "
                f"type {datum.dtype}, but the invoke computes with {np.dtype(dtype)} there: give "
                f"it another 'dtype', or {other}."
            )
            raise blamed(TypeError(text), datum)


def check_data(data: Sequence[Any], changed: Sequence[Any]) -> None:
    """Raise an error for an invalid object, other ranks, or a written argument passed twice."""
    for datum in data:
        if not isinstance(datum, (DofField, Matrices)):
            text = f"An invoke takes fields and operators, not a {type(datum).__name__}."
            raise blamed(TypeError(text), datum)
        if datum.mesh.ranks.size != data[0].mesh.ranks.size:
            text = f"{datum.describe()} and {data[0].describe()} are on different ranks."
            raise blamed(ValueError(text), datum)
        datum.check_idle()
    check_once(data, changed)
