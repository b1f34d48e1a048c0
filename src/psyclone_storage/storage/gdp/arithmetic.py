"""The rejection of arithmetic on storages (GDP-2), with the alternative in each message.

GDP-3 leaves arithmetic to array libraries: a storage has up to two sides, and no operator specifies
on which one to compute. So each operator raises an error that contains the label and the size of
the storage, and names the array to compute with. Only equality comparisons are supported, because
their result is the same on either side (`comparison`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any, Never

import numpy as np


class NoArithmetic:
    """The rejection of operators, ufuncs and other functions of NumPy."""

    __slots__ = ()

    @abstractmethod
    def describe(self) -> str:
        """Return the subject of a message."""

    def refuse(self, operation: str) -> Never:
        """Raise a `TypeError` that names the array to compute with."""
        raise TypeError(
            f'{self.describe()} has no operation "{operation}", as it does not say on which side '
            f"to compute: use its data_ro on the host, its to_cupy() on the device, or the array "
            f"of access()."
        )

    def astype(self, *_: Any, **__: Any) -> Never:
        """Reject the array operation of this name, which xarray calls."""
        self.refuse("astype")

    def answer(self, found: Any, operation: str, types: Iterable[type]) -> Any:
        """Return what was found; refuse where nothing was, unless other types may know better."""
        known = (NoArithmetic, np.ndarray, np.generic, Number, str, list, tuple)
        if found is NotImplemented and all(issubclass(kind, known) for kind in types):
            self.refuse(operation)
        return found


def _refusing(name: str) -> Callable[..., Any]:
    operation = name.strip("_")

    def refuse(self: NoArithmetic, *_: Any) -> Any:
        self.refuse(operation)

    refuse.__name__ = name
    refuse.__doc__ = f"Refuse the operation `{operation}`."
    return refuse


_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or",
    "xor", "lshift", "rshift",
)  # fmt: skip
_OTHERS = ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge")

for _name in (*_BINARY, *(f"{way}{word}" for way in "ri" for word in _BINARY), *_OTHERS):
    if _name != "idivmod":
        setattr(NoArithmetic, f"__{_name}__", _refusing(f"__{_name}__"))
