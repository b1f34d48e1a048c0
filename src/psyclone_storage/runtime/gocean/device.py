"""Kernels of CUDA beside a generated module, run by CuPy, or by this machine where it has no GPU.

On an emulated device the text is compiled as C behind a header that gives CUDA's words a meaning:
threads run one after the other, forwards, backwards or shuffled, so that what depends on their
order shows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from psyclone_storage.runtime.native import CompiledLibrary
from psyclone_storage.storage.core.device import DeviceKind
from psyclone_storage.storage.memory.cuda import raw_module
from psyclone_storage.storage.memory.registry import resolved_device

ORDER_VARIABLE = "PSYCLONE_STORAGE_THREAD_ORDER"
"""How threads follow each other on a device that is emulated: 0 forwards, 1 backwards, 2 mixed."""
_HEADER = """\
#include <stdint.h>
#define PSY_ON_HOST
#define PSY_KERNEL static
#define __device__
typedef struct { uint32_t x, y; } psy_place;
static psy_place threadIdx, blockIdx, blockDim = {4, 2};
static uint64_t psy_thread(uint64_t at, uint64_t count)
{
    if (PSY_ORDER == 1)
        return count - 1 - at;
    /* A step without a common divisor visits every thread once. */
    return PSY_ORDER == 2 ? (at * 7919u + 31u) % count : at;
}
static void psy_enter(uint64_t thread, uint64_t blocks)
{
    const uint64_t width = blocks * blockDim.x;
    blockIdx.x = thread % width / blockDim.x, threadIdx.x = thread % width % blockDim.x;
    blockIdx.y = thread / width / blockDim.y, threadIdx.y = thread / width % blockDim.y;
}
#define PSY_LAUNCH(columns, rows, call) do { \\
        const uint64_t blocks = ((columns) + blockDim.x - 1) / blockDim.x; \\
        const uint64_t lines = ((rows) + blockDim.y - 1) / blockDim.y; \\
        const uint64_t count = blocks * lines * blockDim.x * blockDim.y; \\
        for (uint64_t at = 0; at < count; ++at) { \\
            psy_enter(psy_thread(at, count), blocks); \\
            call; \\
        } \\
    } while (0)
"""


_BLOCK = (32, 4)
_SCALARS: Mapping[str, Callable[[Any], Any]] = {"d": np.float64, "i": np.int32}


class KernelLaunch:
    """A kernel of CUDA, which is called as a function of C is: with tables, and with scalars.

    `tables` are positions in those of arrays, counts and reals. What runs `alone` has one thread.
    """

    def __init__(
        self,
        kernel: Any,
        types: str,
        tables: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
        alone: bool,
    ) -> None:
        self._kernel, self._tables, self._alone = kernel, tables, alone
        self._types = [_SCALARS[one] for one in types]

    def __call__(self, data: Any, reals: Any, counts: Any, *scalars: Any) -> None:
        """Launch a thread for each point of the arrays."""
        of_arrays, of_counts, of_reals = self._tables
        passed = (
            *(np.uint64(data[at]) for at in of_arrays),
            *(np.int64(counts[at]) for at in of_counts),
            *(np.float64(reals[at]) for at in of_reals),
            *(made(one) for made, one in zip(self._types, scalars, strict=True)),
        )
        if self._alone:
            self._kernel((1, 1), (1, 1), passed)
        else:
            blocks = tuple(-(-counts[at] // extent) for at, extent in enumerate(_BLOCK))
            self._kernel(blocks, _BLOCK, passed)


class DeviceLibrary(CompiledLibrary):
    """The kernels of the CUDA beside a generated module, loaded when one is first needed."""

    device = "gpu"
    suffix = ".cu"

    _module_of_gpu: Any = None

    def function(self, name: str, types: str, *launch: Any, result: str = "") -> Any:
        """Return a kernel, ready to be launched; `types` are those of its scalars, by letter.

        Raises:
            ValueError: it would return something, which kernels on a GPU do not.
        """
        if resolved_device() is not DeviceKind.CUDA:
            return super().function(name, types, result=result)
        if result:
            raise ValueError(f"The kernel '{name}' runs on a GPU, and returns nothing.")
        if self._module_of_gpu is None:
            self._module_of_gpu = raw_module(super().text())
        *tables, alone = launch
        kernel = self._module_of_gpu.get_function(f"{name}_points")
        return KernelLaunch(kernel, types, (tables[0], tables[1], tables[2]), alone)

    def text(self) -> str:
        """Return the text as C."""
        order = os.environ.get(ORDER_VARIABLE, "0")
        if order not in ("0", "1", "2"):
            raise ValueError(f"{ORDER_VARIABLE} is 0, 1 or 2, not '{order}'.")
        return f"#define PSY_ORDER {order}\n{_HEADER}{super().text()}"
