"""Random GOcean invokes: kernels whose stencils look in every direction, in a row."""

from __future__ import annotations

import random
from collections.abc import Mapping

from gocean_programs import kernel
from psyclone_storage.ir.kernel import Kernel

STENCILS = {
    "here": "go_pointwise",
    "west": "go_stencil(000,110,000)",
    "east": "go_stencil(000,013,000)",
    "south": "go_stencil(000,010,020)",
    "north": "go_stencil(010,010,000)",
    "northwest": "go_stencil(100,010,000)",
    "southwest": "go_stencil(000,010,200)",
    "cross": "go_stencil(010,111,010)",
}
KERNELS: Mapping[str, Kernel] = {
    **{
        f"set_{name}": kernel(
            "go_write, go_ct, go_pointwise", f"go_read, go_ct, {text}", name=f"set_{name}"
        )
        for name, text in STENCILS.items()
    },
    **{
        f"change_{name}": kernel(f"go_readwrite, go_ct, {text}", name=f"change_{name}")
        for name, text in STENCILS.items()
    },
    "count": kernel(
        "go_write, go_ct, go_pointwise", "go_readwrite, go_i_scalar, go_pointwise", name="count"
    ),
}
_POINTS = {"u": "go_cu", "v": "go_cv", "f": "go_cf", "a": "go_ct", "b": "go_ct"}
STAGGERED: Mapping[str, Kernel] = {
    f"set_{one}_from_{two}_{name}": kernel(
        f"go_write, {_POINTS[one]}, go_pointwise",
        f"go_read, {_POINTS[two]}, {STENCILS[name]}",
        name=f"set_{one}_from_{two}_{name}",
    )
    for one in "uvfa"
    for two in "uvfa"
    for name in ("here", "west", "north")
}
"""Kernels between fields on all types of points."""
ON_RANKS = tuple(name for name in sorted(KERNELS) if name != "count")
"""Kernels for points that are spread over ranks: those that count them are refused there."""


def random_invoke(rng: random.Random, names: tuple[str, ...] = tuple(sorted(KERNELS))) -> str:
    """Return up to four calls of kernels of these names."""
    calls = []
    for _ in range(rng.randint(1, 4)):
        name = rng.choice(names)
        first, second = rng.sample("abc", 2)
        args = "n" if name == "count" else second
        calls.append(
            f"{name}({first})" if name.startswith("change") else f"{name}({first}, {args})"
        )
    return ", ".join(calls)


def random_staggered(rng: random.Random) -> str:
    """Return up to five calls between the fields `u`, `v` and `f`, and `a` and `b` on T points."""
    calls = []
    for _ in range(rng.randint(2, 5)):
        first, second = rng.sample(tuple(_POINTS), 2)
        types = [name.replace("b", "a") for name in (first, second)]
        stencil = rng.choice(("here", "here", "west", "north"))
        calls.append(f"set_{types[0]}_from_{types[1]}_{stencil}({first}, {second})")
    return ", ".join(calls)
