"""Operators and NumPy functions of storages: comparisons, but no arithmetic (GDP-2).

GDP-3 leaves arithmetic to array libraries: a storage may have two sides, and an operator does not
specify on which one to compute. Each arithmetic operator therefore raises an error with the label
and the shape of the storage, which suggests the array to compute with.

NumPy and xarray silently compare by identity if they cannot compare by value; equal fields would
then count as different. Therefore comparisons, and the tests for missing values that xarray
performs with them, return host arrays. They do not change the validity of either side.
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
    """Return `ufunc(left, right)` as a host array; raise `ValueError` for unequal shapes."""
    with ExitStack() as stack:
        return ufunc(_values(left, stack), _values(right, stack))


def applied(ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the result of a comparison or a test such as `isnan`, else `NotImplemented`."""
    if ufunc not in _UFUNCS or method != "__call__" or "out" in keywords:
        return NotImplemented
    with ExitStack() as stack:
        return ufunc(*[_values(thing, stack) for thing in inputs], **keywords)


def answered(function: Any, args: Any, kwargs: Any) -> Any:
    """Return the result of a supported NumPy function, else `NotImplemented`."""
    if function is np.transpose and hasattr(args[0], "transpose"):
        axes = kwargs.get("axes", args[1] if len(args) > 1 else None)
        return args[0].transpose() if axes is None else args[0].transpose(axes)
    if function is np.full_like:
        # xarray creates the mask of missing integers (always False) with this function.
        pattern, value, *rest = args
        dtype = kwargs.get("dtype", rest[0] if rest else None) or pattern.dtype
        return np.full(kwargs.get("shape") or pattern.shape, value, dtype)
    if function is np.array_equal:
        with ExitStack() as stack:
            return np.array_equal(*[_values(thing, stack) for thing in args], **kwargs)
    return NotImplemented


def _values(thing: Any, stack: ExitStack) -> Any:
    """Return the host values of a storage, locked until `stack` closes.

    Other objects are returned unchanged.
    """
    if not hasattr(thing, "reading_window"):
        return thing
    if thing.backing().host is None:
        return host_values(thing)
    if thing.backing().buffer is not None:
        stack.enter_context(thing.acquire(None, AccessMode.READ))
    return thing.reading_window()


class NoArithmetic:
    """Base class that rejects operators, ufuncs and other NumPy functions."""

    __slots__ = ()

    @abstractmethod
    def describe(self) -> str:
        """Return a description of the storage, used as the subject of an error message."""

    def refuse(self, operation: str) -> Never:
        """Raise a `TypeError` that suggests the array to compute with."""
        raise TypeError(
            f'{self.describe()} has no operation "{operation}", as it does not say on which side '
            f"to compute: use its data_ro on the host, its to_cupy() on the device, or the array "
            f"of access()."
        )

    def astype(self, *_: Any, **__: Any) -> Never:
        """Reject the array method `astype`, which xarray calls."""
        self.refuse("astype")

    def answer(self, found: Any, operation: str, types: Iterable[type]) -> Any:
        """Return `found`; if it is `NotImplemented`, raise `TypeError`.

        If one of `types` is a foreign type, `NotImplemented` is returned instead, because that type
        may implement the operation.
        """
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
