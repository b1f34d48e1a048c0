"""A stand-in for CuPy, which runs on machines without a GPU what is written for machines with one.

It is no emulation for users, as `use_device("emulated")` is: it has CuPy's own names, and it is as
hard to work with as a GPU can be. Device memory has addresses that no host code can use, the
current device is enforced, the work of a stream is done as late as CUDA allows, and memory comes
with garbage in it. What it offers was written from the documentation of CuPy and CUDA, and
`tests/unit/test_cupy_stand_in.py` asserts it, of the real CuPy as well where there is a GPU.

    with installed(devices=2):
        import cupy
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from cupy_stand_in import cuda, machine, runtime
from cupy_stand_in.array import (
    arange,
    array,
    asarray,
    asnumpy,
    from_dlpack,
    full,
    ndarray,
)
from cupy_stand_in.functions import (
    add,
    all,  # noqa: A004
    any,  # noqa: A004
    broadcast_to,
    max,  # noqa: A004
    maximum,
    min,  # noqa: A004
    minimum,
    prod,
    subtract,
    sum,  # noqa: A004
    where,
)
from cupy_stand_in.memory import PINNED_POOL, POOL, MemoryPool, PinnedMemoryPool

__all__ = [
    "add", "all", "any", "arange", "array", "asarray", "asnumpy", "broadcast_to", "cuda",
    "from_dlpack", "full", "installed", "max", "maximum", "min", "minimum", "ndarray", "prod",
    "subtract", "sum", "where",
]  # fmt: skip
__version__ = "13+stand.in"

float32, float64, int32, int64 = np.float32, np.float64, np.int32, np.int64
bool_ = np.bool_


@contextmanager
def installed(devices: int = 2, capacity: int = machine.CAPACITY) -> Iterator[None]:
    """Make `import cupy` find the stand-in, with fresh devices, for a block."""
    names = {"cupy": sys.modules[__name__], "cupy.cuda": cuda, "cupy.cuda.runtime": runtime}
    before = {name: sys.modules.get(name) for name in names}
    POOL.forget_all()
    machine.reset(devices, capacity)
    sys.modules.update(names)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
        POOL.forget_all()
        machine.reset(0)


def empty(shape: object, dtype: object = float, order: str = "C") -> ndarray:
    """Return a new array of the current device with garbage in it."""
    return ndarray(shape, dtype, order=order)


def zeros(shape: object, dtype: object = float) -> ndarray:
    """Return a new array of the current device with zeros in it."""
    return full(shape, 0, dtype)


def ones(shape: object, dtype: object = float) -> ndarray:
    """Return a new array of the current device with ones in it."""
    return full(shape, 1, dtype)


def get_default_memory_pool() -> MemoryPool:
    """Return the pool that arrays come from."""
    return POOL


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """Return the pool of page-locked memory."""
    return PINNED_POOL
