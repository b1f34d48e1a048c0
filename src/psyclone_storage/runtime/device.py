"""CUDA kernels of a generated module, executed by CuPy or emulated on the CPU.

For an emulated device, the text is compiled as C with a header that defines the CUDA keywords.
Threads run one after the other in forward, reverse or random order, so that dependences on their
order are detected.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from psyclone_storage.runtime.native import CompiledLibrary
from psyclone_storage.storage.core.device import DeviceKind
from psyclone_storage.storage.memory.cuda import raw_module
from psyclone_storage.storage.memory.registry import resolved_device

ORDER_VARIABLE = "PSYCLONE_STORAGE_THREAD_ORDER"
"""The order of threads on an emulated device: 0 forward, 1 reverse, 2 shuffled."""
_HEADER = """\
#include <stdint.h>
#define PSY_ON_HOST
#define PSY_KERNEL static
#define __device__
typedef struct { uint32_t x, y; } psy_place;
static psy_place threadIdx, blockIdx, blockDim = {4, 2};
static uint64_t psy_step(uint64_t count)
{
    /* A prime that is no divisor visits every thread once: no number of 64 bits has all five. */
    static const uint64_t primes[] = {7919, 7907, 7901, 7883, 7879};
    const uint64_t *step = primes;
    while (count % *step == 0)
        ++step;
    return *step;
}
static uint64_t psy_thread(uint64_t at, uint64_t count)
{
    if (PSY_ORDER == 1)
        return count - 1 - at;
    return PSY_ORDER == 2 ? (at * psy_step(count) + 31u) % count : at;
}
static void psy_enter(uint64_t thread, uint64_t blocks)
{
    const uint64_t width = blocks * blockDim.x;
    blockIdx.x = thread % width / blockDim.x, threadIdx.x = thread % width % blockDim.x;
    blockIdx.y = thread / width / blockDim.y, threadIdx.y = thread / width % blockDim.y;
}
#define PSY_LAUNCH(columns, rows, call) do { \\
        const uint64_t psy_blocks = ((columns) + blockDim.x - 1) / blockDim.x; \\
        const uint64_t psy_lines = ((rows) + blockDim.y - 1) / blockDim.y; \\
        const uint64_t psy_count = psy_blocks * psy_lines * blockDim.x * blockDim.y; \\
        for (uint64_t psy_at = 0; psy_at < psy_count; ++psy_at) { \\
            psy_enter(psy_thread(psy_at, psy_count), psy_blocks); \\
            call; \\
        } \\
    } while (0)
#define PSY_LAUNCH_LINE(threads, call) do { \\
        const uint64_t psy_count = ((threads) + blockDim.x - 1) / blockDim.x * blockDim.x; \\
        for (uint64_t psy_at = 0; psy_at < psy_count; ++psy_at) { \\
            const uint64_t psy_own = psy_thread(psy_at, psy_count); \\
            blockIdx.x = psy_own / blockDim.x, threadIdx.x = psy_own % blockDim.x; \\
            call; \\
        } \\
    } while (0)
"""


Made = TypeVar("Made")


class OfTables(Generic[Made]):
    """Cache of the results of `make` for recently used groups of three constant tables.

    Converting the contents of tables to numbers takes longer than a kernel launch.
    """

    _MOST = 16

    def __init__(self, make: Callable[[Any, Any, Any], Made]) -> None:
        self._make = make
        self._kept: dict[int, tuple[Any, Any, Any, Made]] = {}

    def __call__(self, data: Any, reals: Any, counts: Any) -> Made:
        """Return the result for these table objects, from the cache if possible."""
        kept = self._kept.get(id(data))
        # Cached tables are alive, so that no other table can have the same `id`.
        if kept is not None and kept[1] is reals and kept[2] is counts:
            return kept[3]
        if len(self._kept) >= self._MOST:
            self._kept.clear()
        made = self._make(data, reals, counts)
        self._kept[id(data)] = data, reals, counts, made
        return made


class KernelLibrary(CompiledLibrary):
    """CUDA kernels of a generated module, loaded at first use.

    A derived class defines `launches` for kernels on a GPU.
    """

    device = "gpu"
    suffix = ".cu"

    _module_of_gpu: Any = None

    def function(self, name: str, types: str, *launch: Any, result: str = "") -> Any:
        """Return a kernel for launching; `types` contains the type letters of its scalars."""
        if resolved_device() is not DeviceKind.CUDA:
            return super().function(name, types, result=result)
        if self._module_of_gpu is None:
            self._module_of_gpu = raw_module(super().text())
        kernel = self._module_of_gpu.get_function(f"{name}_points")
        return self.launches(kernel, types, *launch)

    def launches(self, kernel: Any, types: str, *launch: Any) -> Any:
        """Return a function that launches a kernel on a GPU and is called like a C function."""
        raise NotImplementedError

    def text(self) -> str:
        """Return the text as C, for an emulated device."""
        order = os.environ.get(ORDER_VARIABLE, "0")
        if order not in ("0", "1", "2"):
            raise ValueError(f"{ORDER_VARIABLE} is 0, 1 or 2, not '{order}'.")
        return f"#define PSY_ORDER {order}\n{_HEADER}{super().text()}"
