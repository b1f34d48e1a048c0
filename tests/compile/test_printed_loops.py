"""Loops over points in C, and kernels of CUDA, compute what the authors' subroutines do in Fortran.

CUDA runs on the CPU by a header that gives its words a meaning: threads forwards, backwards and
shuffled.
"""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from printed_bodies import Bodies, Datum, Input, Printed, build, c_arguments
from psyclone_storage.languages.c.entry_points import emit_cuda, emit_loops

pytestmark = pytest.mark.fortran

HERE = Path(__file__).parent
HEADER = HERE / "printed" / "cuda_on_cpu.h"
FOLDERS = (
    HERE.parent / "corpus" / "gocean" / "kernels",
    HERE.parents[1] / "external" / "gocean_infrastructure",
)
FIRST, LAST = 3, 10
FLAGS = ("-O2", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC", "-w")


@dataclass(frozen=True)
class Libraries:
    """All kernels of the corpus: the authors', as loops of C, and as CUDA on the CPU."""

    kernels: dict[str, tuple[Printed, Input]]
    fortran: ctypes.CDLL
    loops: ctypes.CDLL
    cuda: ctypes.CDLL


def bounds_first(data: list[Datum], memory: np.ndarray) -> list[object]:
    """Return the arguments of a loop: bounds, and what follows the indices of the point."""
    bounds = [ctypes.c_int32(end) for _ in range(2) for end in (FIRST, LAST)]
    return [*bounds, *list(c_arguments(data, memory))[2:]]


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    folder, bodies = tmp_path_factory.mktemp("loops"), Bodies(FOLDERS)
    found = [bodies.printed(source, name, f"k{place}")
             for place, (source, name) in enumerate(bodies.kernels())]  # fmt: skip
    kernels = [item for item in found if isinstance(item, Printed)]
    ready = [(kernel, Input(kernel, 0)) for kernel in kernels]
    fortran = build(ready, folder)
    pairs = tuple((kernel.code, kernel.unit) for kernel in kernels)
    (folder / "loops.c").write_text(emit_loops(pairs), encoding="utf-8")
    subprocess.run(["gcc", "-std=c99", *FLAGS, "-fopenmp", str(folder / "loops.c"), "-o",
                    str(folder / "loops.so"), "-lm"], check=True)  # fmt: skip
    launchers = "".join(map(launcher, kernels))
    text = f'#include "{HEADER}"\n{emit_cuda(pairs)}\n{launchers}'
    (folder / "cuda.cpp").write_text(text, encoding="utf-8")
    subprocess.run(["g++", *FLAGS, str(folder / "cuda.cpp"), "-o", str(folder / "cuda.so")],
                   check=True)  # fmt: skip
    return Libraries(
        {kernel.name: (kernel, given) for kernel, given in ready},
        ctypes.CDLL(str(fortran)),
        ctypes.CDLL(str(folder / "loops.so")),
        ctypes.CDLL(str(folder / "cuda.so")),
    )


def launcher(kernel: Printed) -> str:
    """Return a function that launches the CUDA kernel in an order."""
    parameters = kernel.unit.main.parameters
    first, second = (item.name for item in parameters[:2])
    ends = [f"{name}_{end}" for name in (first, second) for end in ("first", "last")]
    texts = [text.replace("restrict", "__restrict__") for item in parameters[2:]
             for text in item.texts()]  # fmt: skip
    names = [name for item in parameters[2:] for name in (item.name, *item.assumed)]
    declared = ", ".join(("int order", *(f"int32_t {end}" for end in ends), *texts))
    called = ", ".join((*ends, *names))
    return (
        f'extern "C" void launch_{kernel.name}({declared})\n{{\n'
        f"    psy_launch(order, {ends[1]} - {ends[0]} + 1, {ends[3]} - {ends[2]} + 1,\n"
        f"        [&] {{ {kernel.name}_points({called}); }});\n}}\n"
    )


def expected(libraries: Libraries, name: str) -> np.ndarray:
    """Return memory after the author's subroutine was called for each point."""
    kernel, given = libraries.kernels[name]
    memory = given.memory.copy()
    indices = [memory[datum.start : datum.stop].view(datum.dtype) for datum in given.data[:2]]
    for second in range(FIRST, LAST + 1):
        for first in range(FIRST, LAST + 1):
            indices[0][0], indices[1][0] = first, second
            getattr(libraries.fortran, f"f_{kernel.tag}")(
                *(ctypes.c_void_p(memory.ctypes.data + datum.start) for datum in given.data)
            )
    for index, datum in zip(indices, given.data[:2], strict=True):
        index[:] = given.memory[datum.start : datum.stop].view(datum.dtype)
    return memory


NAMES = sorted(name for _, name in Bodies(FOLDERS).kernels())


@pytest.mark.parametrize("name", NAMES)
def test_a_loop(name: str, libraries: Libraries) -> None:
    _, given = libraries.kernels[name]
    memory = given.memory.copy()
    getattr(libraries.loops, f"{name}_loop")(*bounds_first(given.data, memory))
    assert (memory != given.memory).any()
    assert (memory == expected(libraries, name)).all()


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_of_cuda(name: str, order: int, libraries: Libraries) -> None:
    _, given = libraries.kernels[name]
    memory = given.memory.copy()
    getattr(libraries.cuda, f"launch_{name}")(order, *bounds_first(given.data, memory))
    assert (memory == expected(libraries, name)).all()


def test_the_header_shows_an_order_that_matters(tmp_path: Path) -> None:
    text = f"""#include "{HEADER}"
extern "C" void sums(int order, int *a)
{{
    psy_launch(order, 8, 1, [&] {{
        const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i > 0 && i < 8 && threadIdx.y == 0) a[i] += a[i - 1];
    }});
}}
"""
    (tmp_path / "sums.cpp").write_text(text, encoding="utf-8")
    library = tmp_path / "sums.so"
    command = ["g++", *FLAGS, str(tmp_path / "sums.cpp"), "-o", str(library)]
    subprocess.run(command, check=True)
    found = []
    for order in (0, 1, 2):
        numbers = (ctypes.c_int * 8)(*([1] * 8))
        ctypes.CDLL(str(library)).sums(order, numbers)
        found.append(list(numbers))
    assert found[0] == list(range(1, 9))
    assert found[1] == [1, *([2] * 7)]
    assert found[2] not in found[:2]
