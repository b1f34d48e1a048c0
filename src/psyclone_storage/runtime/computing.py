"""Numeric functions for generated NumPy code with the results of compiled code."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from psyclone_storage.base.index_errors import out_of_bounds
from psyclone_storage.runtime.native import WholeNumber, number_of

_SPLIT = {2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 9: 6, 10: 5, 11: 6, 12: 6, 13: 10, 14: 7, 15: 9}


def power(base: Any, exponent: int) -> Any:
    """Return an integer power computed by products in the order used by compilers."""
    if exponent <= 1:
        return base if exponent else base * 0 + 1
    part = _SPLIT.get(exponent, exponent // 2)
    return power(base, exponent - part) * power(base, part)


def whole_power(base: Any, exponent: int) -> Any:
    """Return a real power with an integer exponent, multiplied in the order of C compilers."""
    rest, result = abs(exponent), np.float32(1.0) if _is_short(base) else np.float64(1.0)
    while rest:
        if rest % 2:
            result = result * base
        base = base * base
        rest //= 2
    return 1.0 / result if exponent < 0 else result


def of_library(name: str, *values: Any) -> Any:
    """Return the result of a C math library function, whose bits may differ from NumPy's."""
    is_short = all(map(_is_short, values))
    function = _function(name, len(values), is_short)
    if not any(map(np.ndim, values)):
        return (np.float32 if is_short else np.float64)(function(*values))
    arrays = np.broadcast_arrays(*values)
    found = [
        function(*one) for one in zip(*(np.ravel(one).tolist() for one in arrays), strict=True)
    ]
    return np.array(found, np.float32 if is_short else np.float64).reshape(arrays[0].shape)


def _is_short(value: Any) -> bool:
    return getattr(value, "dtype", None) == np.float32


@cache
def _function(name: str, count: int, is_short: bool) -> Any:
    type_ = ctypes.c_float if is_short else ctypes.c_double
    made = ctypes.CFUNCTYPE(type_, *([type_] * count))
    return made((f"{name}f" if is_short else name, ctypes.CDLL(None)))


def whole_number(value: Any) -> Any:
    """Return a real truncated to a 32-bit integer.

    An array may contain values of levels that the kernel does not use. Values out of range
    therefore become the least 32-bit integer.

    Raises:
        OverflowError: a scalar is out of range.
    """
    if np.ndim(value):
        is_one = (value > _LEAST - 1.0) & (value < _MOST + 1.0)
        return np.trunc(np.where(is_one, value, _LEAST)).astype(int)
    if not _LEAST - 1.0 < value < _MOST + 1.0:
        raise OverflowError(f"A kernel makes a 32-bit integer of {float(value)!r}.")
    return int(value)


def kept_whole(value: Any) -> Any:
    """Return an integer that a kernel stores; check its range unless it is an array.

    Raises:
        OverflowError: the integer has more than 32 bits.
    """
    if not np.ndim(value) and not _LEAST <= value <= _MOST:
        raise OverflowError(f"A kernel keeps the integer {value} in 32 bits.")
    return value


_LEAST, _MOST = -(2**31), 2**31 - 1
_USUAL: dict[str, Any] = {"float": float, "int": int, "bool": bool}


def quotient(dividend: Any, divisor: Any) -> Any:
    """Return the quotient of integers, rounded towards zero."""
    whole = np.abs(dividend) // np.abs(divisor)
    return np.where((dividend < 0) == (divisor < 0), whole, -whole)


def lesser(first: Any, second: Any) -> Any:
    """Return the first of two reals unless the second is smaller, like Python's `min`."""
    return np.where(second < first, second, first)[()]


def greater(first: Any, second: Any) -> Any:
    """Return the first of two reals unless the second is greater, like Python's `max`."""
    return np.where(second > first, second, first)[()]


def checked_index(index: Any, length: int, what: str, where: Any = np.True_) -> Any:
    """Return an index as one that is not negative; negative ones count from the end.

    Raises:
        IndexError: an index at one of the points `where` is out of bounds.
    """
    outside = ((index < -length) | (index >= length)) & where
    if np.any(outside):
        first = np.broadcast_to(index, np.shape(outside))[outside].flat[0]
        raise IndexError(f"{what}: {out_of_bounds(int(first), length)}")
    return np.mod(index, length)


def pick(elements: Any, index: Any) -> Any:
    """Return the element at an index that differs between points.

    `elements` maps indices to values, or is an array with layers as its last dimension.
    """
    found: Any = 0
    for place, value in _items(elements):
        found = np.where(_is_at(place, index), value, found)
    return found


def put(elements: Any, index: Any, value: Any, where: Any) -> None:
    """Assign to the element at an index that differs between points, at the points `where`."""
    for place, old in _items(elements):
        key = place if isinstance(elements, dict) else (..., *place)
        elements[key] = np.where(_is_at(place, index) & where, value, old)


def layer_or_zeros(elements: Any, layer: int) -> Any:
    """Return the values of a layer, or zeros if the field does not have it.

    `elements` has the layers as its last dimension. Zeros are used for no point, because NumPy
    evaluates statements and expressions under conditions for all points.
    """
    if -elements.shape[-1] <= layer < elements.shape[-1]:
        return elements[..., layer]
    return np.zeros_like(elements[..., 0])


def _items(elements: Any) -> Iterable[tuple[tuple[int, ...], Any]]:
    """Return the indices and the values of all elements."""
    if isinstance(elements, dict):
        return elements.items()
    return [((layer,), elements[..., layer]) for layer in range(elements.shape[-1])]


def _is_at(place: tuple[int, ...], index: tuple[Any, ...]) -> Any:
    found: Any = np.True_
    for own, wanted in zip(place, index, strict=True):
        found = found & (wanted == own)
    return found


def added(start: Any, values: Any) -> Any:
    """Return the sum of `start` and the values, added in the order of loops."""
    flat = np.ravel(values, order="F")
    return np.add.accumulate(np.concatenate(([start], flat)))[-1]


def least(start: Any, values: Any) -> Any:
    """Return the minimum of `start` and the values, with the result of a loop over `lesser`."""
    return _extreme(start, values, np.argmin)


def greatest(start: Any, values: Any) -> Any:
    """Return the maximum of `start` and the values, with the result of a loop over `greater`."""
    return _extreme(start, values, np.argmax)


def _extreme(start: Any, values: Any, place: Any) -> Any:
    """Return `start` if it is NaN, else the first extreme of all values except NaN."""
    if np.isnan(start):
        return start
    every = np.concatenate(([start], np.ravel(values, order="F")))
    numbers = every[~np.isnan(every)]
    return numbers[place(numbers)]


def scalar(value: Any, kind: str) -> Any:
    """Return a scalar argument of a loop; `kind` is `float`, `int`, `bool` or `single`.

    Raises:
        TypeError: the value is not such a number.
        OverflowError: the value is an integer that is too large.
    """
    if kind == "float":
        return np.float64(number_of(value, ctypes.c_double))
    if kind == "single":
        return np.float32(number_of(value, ctypes.c_float))
    found = number_of(value, WholeNumber)
    return bool(found) if kind == "bool" else found


def module_value(name: str, value: Any, kind: str, *index: int) -> int | float | bool:
    """Return a module variable, or its element at `index`, with the type that a kernel expects.

    `kind` is `float`, `int` or `bool`.

    Raises:
        IndexError: there is no such element.
        TypeError: the value is not a scalar of this type.
    """
    if value.__class__ is _USUAL.get(kind) and (kind != "int" or _LEAST <= value <= _MOST):
        usual: int | float | bool = value
        return usual
    said = f"{name}[{', '.join(map(str, index))}]" if index else name
    try:
        found = value[index if len(index) > 1 else index[0]] if index else value
    except (IndexError, TypeError) as error:
        raise type(error)(f"A kernel reads '{said}', which is not there: {error}.") from None
    if getattr(found, "ndim", 0):
        raise TypeError(
            f"A kernel reads '{said}' as one number, and it is an array of the shape "
            f"{np.shape(found)}: write all indices."
        )
    try:
        number: int | float = number_of(found, ctypes.c_double if kind == "float" else WholeNumber)
    except TypeError:
        what = f"{found!r} of the type {type(found).__name__}"
        raise TypeError(f"A kernel reads '{said}' as {kind}, and it is {what}.") from None
    return bool(number) if kind == "bool" else number
