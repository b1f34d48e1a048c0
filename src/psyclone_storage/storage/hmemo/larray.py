"""`LArray`, an `HArray` with element access and arithmetic.

Each operation is a kernel that runs at one context: that of the innermost `with context:` block,
else one where the first array has valid values (HM-95). Data are transferred only by the accesses
of the operation, so a chain of operations stays on one device.
"""

# pylint: disable=invalid-name  # the names of HMemo

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ClassVar, TypeAlias

import numpy as np

from psyclone_storage.storage.core.acquire import acquire_all
from psyclone_storage.storage.core.casting import as_stored
from psyclone_storage.storage.core.context import Context, context_at
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.core.token import AccessToken
from psyclone_storage.storage.hmemo.harray import HArray, _HArray
from psyclone_storage.storage.hmemo.kernels import DispatchedKernel

Operand: TypeAlias = "_HArray | int | float | complex | np.generic"
_SCALARS = (int, float, complex, np.generic)


def _gather(out: Any, values: Any, indices: Any) -> None:
    out[...] = values[indices]


def _scatter(values: Any, indices: Any, source: Any) -> None:
    values[indices] = source


def _assign(out: Any, values: Any) -> None:
    out[...] = values


def _outside(indices: Any, n: int) -> bool:
    return bool(indices.size) and bool((indices.min() < -n) or (indices.max() >= n))


def _into(operation: Callable[..., Any]) -> Callable[..., None]:
    """Return a kernel body that writes the result of a NumPy function to its first argument."""

    def work(out: Any, *operands: Any) -> None:
        operation(*operands, out=out)

    return work


ADD = DispatchedKernel("add", _into(np.add))
SUBTRACT = DispatchedKernel("subtract", _into(np.subtract))
MULTIPLY = DispatchedKernel("multiply", _into(np.multiply))
DIVIDE = DispatchedKernel("divide", _into(np.true_divide))
NEGATE = DispatchedKernel("negate", _into(np.negative))
CONVERT = DispatchedKernel("convert", _assign)
GATHER = DispatchedKernel("gather", _gather)
SCATTER = DispatchedKernel("scatter", _scatter)
OUTSIDE = DispatchedKernel("outside", _outside)
SUM = DispatchedKernel("sum", lambda values: values.sum())
MINIMUM = DispatchedKernel("minimum", lambda values: values.min())
MAXIMUM = DispatchedKernel("maximum", lambda values: values.max())


class LArray(HArray):
    """An array with arithmetic; members and constructors are those of `HArray` (HM-87).

    `LArray(a, dtype="f4")` converts the values of any `HArray` (HM-88). `a[0]` reads an element and
    `a[1] = x` writes one at a valid context, without transferring others (HM-89, HM-90). `c =
    b[ind]` gathers and `a[ind] = c` scatters (HM-91, HM-92); `ind` is an array of integers. `+ - *
    /` are elementwise, between arrays of equal size and with scalars (HM-93, HM-94). Operations
    raise the errors of accesses, `IndexError` for an index out of bounds, and `ValueError` for
    unequal sizes.
    """

    __slots__ = ()
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    converts: ClassVar[bool] = True

    # -- elements --------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """Return the element at an integer index, or gather the elements at an array of indices."""
        if isinstance(key, (int, np.integer)):
            token, window = self._element(int(key), AccessMode.READ)
            with token:
                return (window.copy() if isinstance(window, np.ndarray) else window.get())[0]
        indices = _as_indices(key)
        ctx = _executing(self)
        result = LArray(indices.size(), dtype=self.dtype)
        self._check_indices(ctx, indices)
        _run(GATHER, ctx, result, (self, indices))
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set the element at an integer index, or scatter to an array of indices."""
        if isinstance(key, (int, np.integer)):
            stored = as_stored(value, self.dtype)
            token, window = self._element(int(key), AccessMode.READ_WRITE)
            with token:
                window[...] = stored
            return
        indices = _as_indices(key)
        source = value if isinstance(value, (_HArray, *_SCALARS)) else LArray(value)
        if isinstance(source, _HArray) and source.size() != indices.size():
            raise ValueError(
                f"{source.size()} values cannot be scattered to {indices.size()} indices."
            )
        ctx = _executing(self)
        self._check_indices(ctx, indices)
        _run(SCATTER, ctx, self, (indices, source), AccessMode.READ_WRITE)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return a host copy of the values; raise `ValueError` for `copy=False`."""
        if copy is False:
            raise ValueError("The values of an LArray leave it as a copy only: use an access.")
        with self.acquire(Context.host(), AccessMode.READ) as token:
            return np.array(token.array, dtype)

    # -- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: Operand) -> Any:
        return _combine(ADD, self, other)

    def __radd__(self, other: Operand) -> Any:
        return _combine(ADD, other, self)

    def __iadd__(self, other: Operand) -> Any:
        return _update(ADD, self, other)

    def __sub__(self, other: Operand) -> Any:
        return _combine(SUBTRACT, self, other)

    def __rsub__(self, other: Operand) -> Any:
        return _combine(SUBTRACT, other, self)

    def __isub__(self, other: Operand) -> Any:
        return _update(SUBTRACT, self, other)

    def __mul__(self, other: Operand) -> Any:
        return _combine(MULTIPLY, self, other)

    def __rmul__(self, other: Operand) -> Any:
        return _combine(MULTIPLY, other, self)

    def __imul__(self, other: Operand) -> Any:
        return _update(MULTIPLY, self, other)

    def __truediv__(self, other: Operand) -> Any:
        return _combine(DIVIDE, self, other)

    def __rtruediv__(self, other: Operand) -> Any:
        return _combine(DIVIDE, other, self)

    def __itruediv__(self, other: Operand) -> Any:
        return _update(DIVIDE, self, other)

    def __neg__(self) -> LArray:
        result = LArray(self.size(), dtype=self.dtype)
        _run(NEGATE, _executing(self), result, (self,))
        return result

    def sum(self) -> Any:
        """Return the sum of all elements."""
        return self._reduce(SUM)

    def min(self) -> Any:
        """Return the smallest element; raise `ValueError` for an empty array."""
        return self._reduce(MINIMUM)

    def max(self) -> Any:
        """Return the largest element; raise `ValueError` for an empty array."""
        return self._reduce(MAXIMUM)

    def dotProduct(self, other: _HArray) -> Any:  # noqa: N802
        """Return the dot product of two arrays."""
        return (self * other).sum()

    # -- private ---------------------------------------------------------------------------------

    def _transfer(self, write: AccessToken, read: AccessToken) -> None:
        """Copy the values; convert them if the element types differ."""
        if self.dtype == read.buffer.dtype:
            super()._transfer(write, read)
        else:
            CONVERT[context_at(write.space)](write.array, read.array)

    def _reduce(self, kernel: DispatchedKernel) -> Any:
        ctx = _executing(self)
        with self.acquire(ctx, AccessMode.READ) as token:
            return kernel[ctx](token.array).item()

    def _check_indices(self, ctx: Context, indices: _HArray) -> None:
        with indices.acquire(ctx, AccessMode.READ) as token:
            if OUTSIDE[ctx](token.array, self.size()):
                raise IndexError(
                    f'An index lies outside of "{self.label}", {self.size()} elements.'
                )

    def _element(self, index: int, mode: AccessMode) -> tuple[AccessToken, Any]:
        """Return an access to the valid replica, and an array with the selected element."""
        n = self.size()
        if not -n <= index < n:
            raise IndexError(f'There is no element {index} in "{self.label}", {n} elements.')
        token = self.acquire(self.getValidContext(), mode)
        offset = index % n * self.buffer.itemsize
        return token, token.window(self.dtype, (1,), None, offset)


def _combine(kernel: DispatchedKernel, left: Operand, right: Operand) -> Any:
    """Return a new array with the result of a binary kernel; one operand may be a scalar."""
    if not (_is_operand(left) and _is_operand(right)):
        return NotImplemented
    arrays = [operand for operand in (left, right) if isinstance(operand, _HArray)]
    _check_sizes(arrays)
    kinds = [x.dtype if isinstance(x, _HArray) else x for x in (left, right)]
    dtype = np.result_type(*kinds)
    if kernel is DIVIDE:
        dtype = np.true_divide(dtype.type(1), dtype.type(1)).dtype
    result = LArray(arrays[0].size(), dtype=dtype)
    _run(kernel, _executing(arrays[0]), result, (left, right))
    return result


def _update(kernel: DispatchedKernel, target: LArray, other: Operand) -> Any:
    """Store the result of a kernel of `target` and `other` in `target`."""
    if not _is_operand(other):
        return NotImplemented
    _check_sizes([target, other] if isinstance(other, _HArray) else [target])
    _run(kernel, _executing(target), target, (target, other))
    return target


def _run(
    kernel: DispatchedKernel,
    ctx: Context,
    target: LArray,
    operands: tuple[Any, ...],
    mode: AccessMode = AccessMode.WRITE_ONLY,
) -> None:
    """Run a kernel at `ctx` that stores its result in `target`.

    All read accesses precede the write access, so that `target` may be one of the operands (HM-73).
    The result array is the first argument of the kernel.
    """
    tokens = [
        operand.token(ctx, AccessMode.READ) for operand in operands if isinstance(operand, _HArray)
    ]
    written = target.token(ctx, mode)
    acquire_all((*tokens, written))
    with ExitStack() as stack:
        for token in (*tokens, written):
            stack.enter_context(token)
        read = iter(tokens)
        arguments = [
            next(read).array if isinstance(operand, _HArray) else operand for operand in operands
        ]
        kernel[ctx](written.array, *arguments)


def _executing(array: _HArray) -> Context:
    return Context.scope() or array.getValidContext()


def _is_operand(value: Any) -> bool:
    return isinstance(value, (_HArray, *_SCALARS))


def _check_sizes(arrays: list[_HArray]) -> None:
    sizes = {array.size() for array in arrays}
    if len(sizes) > 1:
        raise ValueError(
            f"Arrays of {' and '.join(map(str, sorted(sizes)))} elements do not match."
        )


def _as_indices(key: Any) -> _HArray:
    indices = key if isinstance(key, _HArray) else LArray(np.asarray(key))
    if indices.dtype.kind not in "iu":
        raise TypeError(
            f"An LArray is indexed by integers and arrays of integers, not by {indices.dtype}."
        )
    return indices
