"""Operators and NumPy functions of storages: comparisons, but no arithmetic (GDP-2).

GDP-3 leaves arithmetic to array libraries: a storage has up to two sides, and no operator specifies
on which one to compute. So each operator raises an error that contains the label and the size of
the storage, and names the array to compute with.

However, NumPy and xarray silently compare by identity if they cannot compare by value, so equal
fields would count as different. Therefore comparisons, and the tests for missing values that xarray
performs with them, return plain host arrays. They read the values where these are readable, and do
not change the validity of either side.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from numbers import Number
from typing import Any, Never

import numpy as np

from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.gdp.indexing import host_values

_UFUNCS = {np.equal, np.not_equal, np.isnan, np.isfinite, np.isinf, np.isnat}


def compared(ufunc: Any, left: Any, right: Any) -> Any:
    """Return `ufunc` of the values of both sides; raise `ValueError` where they do not match."""
    with ExitStack() as stack:
        return ufunc(_values(left, stack), _values(right, stack))


def applied(ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return a comparison or a test of values; `NotImplemented` for everything else."""
    if ufunc not in _UFUNCS or method != "__call__" or "out" in keywords:
        return NotImplemented
    with ExitStack() as stack:
        return ufunc(*[_values(thing, stack) for thing in inputs], **keywords)


def answered(function: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function of NumPy makes of a storage; `NotImplemented` for most of them."""
    if function is np.transpose and hasattr(args[0], "transpose"):
        axes = kwargs.get("axes", args[1] if len(args) > 1 else None)
        return args[0].transpose() if axes is None else args[0].transpose(axes)
    if function is np.full_like:
        # For xarray, which makes the flags of missing integers so: there are none.
        pattern, value, *rest = args
        dtype = kwargs.get("dtype", rest[0] if rest else None) or pattern.dtype
        return np.full(kwargs.get("shape") or pattern.shape, value, dtype)
    if function is np.array_equal:
        with ExitStack() as stack:
            return np.array_equal(*[_values(thing, stack) for thing in args], **kwargs)
    return NotImplemented


def _values(thing: Any, stack: ExitStack) -> Any:
    """Return the values of a storage, held until `stack` ends; return other objects unchanged."""
    if not hasattr(thing, "reading_window"):
        return thing
    if thing.backing().host is None:
        return host_values(thing)
    if thing.backing().buffer is not None:
        stack.enter_context(thing.acquire(None, AccessMode.READ))
    return thing.reading_window()


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
