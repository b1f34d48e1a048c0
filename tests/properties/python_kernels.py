"""Kernels in Python at random, and one kernel read, printed, run and compared."""

from __future__ import annotations

import ctypes
import random
import sys
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.c.entry_points import emit_loops
from psyclone_storage.languages.c.printer import print_c
from psyclone_storage.languages.python.parse.body import read_python_body
from psyclone_storage.languages.python.parse.metadata import python_kernel_names, read_python_kernel
from psyclone_storage.runtime.compiling import load_library
from psyclone_storage.runtime.computing import greater, lesser, module_value, power, quotient
from psyclone_storage.runtime.gocean.held import points
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean import GOCEAN, interpret_gocean
from psyclone_storage.targets.native.apis import GRIDS
from psyclone_storage.targets.native.module_context import modules_around
from psyclone_storage.targets.numpy.kernel import emit_box_function

AROUND = modules_around({}, GRIDS.kinds)
SETTINGS = load_settings("", "", search_context({}))
HEAD = """\
import math
import numpy as np
from psyclone_storage.gocean import *

DEPTH = 3
SLOPE = 0.5


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def work(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("111,111,111")],
    both: field[GO_READWRITE, GO_CT],
    rate: scalar[GO_READ, GO_R_SCALAR],
    step: scalar[GO_READ, GO_I_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
):
"""
SHAPE = (7, 6)
INSIDE = (slice(1, 6), slice(1, 5))


def printed(text: str) -> str:
    """Return the kernel of a file as a function of NumPy; raise what the compiler raises."""
    return "\n\n".join("\n".join(emit_box_function(code)) for code in codes_of(text))


def codes_of(text: str) -> list[Routine]:
    """Return the code of the kernels of a file; raise what the compiler raises."""
    source = SourceText("work_mod.py", text)
    codes = []
    for name in python_kernel_names(GOCEAN_WORDS, source):
        parsed = read_python_kernel(GOCEAN_WORDS, source, name)
        kernel = interpret_gocean(parsed, SETTINGS)
        codes.append(
            read_python_body(GOCEAN_WORDS, source, parsed.procedure, GOCEAN.dummies(kernel))
        )
    return codes


def as_library(texts: dict[int, str]) -> ctypes.CDLL:
    """Return a library with the kernel of each text as loops of C: `work<seed>_code_loop`."""
    units = []
    for seed, text in texts.items():
        (code,) = codes_of(text.replace("def work(", f"def work{seed}("))
        units.append((code, print_c(code, AROUND)))
    return load_library(emit_loops(tuple(units)))


def by_c(library: ctypes.CDLL, text: str, seed: int) -> tuple[Any, Any]:
    """Return what the loops of C write; the kernel's module has the variables that it reads."""
    given = arguments(seed)
    arrays = [np.asfortranarray(one) for one in (given.new, given.old, given.both)]
    mask = np.asfortranarray(given.mask.astype(np.int32))
    passed: list[Any] = [ctypes.c_int32(end) for part in INSIDE
                         for end in (part.start + 1, part.stop)]  # fmt: skip
    extents = [ctypes.c_int64(extent) for extent in SHAPE]
    for array in arrays:
        passed += [array.ctypes.data_as(ctypes.c_void_p), *extents]
    passed += [ctypes.c_double(given.rate), ctypes.c_int32(given.step)]
    passed += [mask.ctypes.data_as(ctypes.c_void_p), *extents]
    known = {"depth": ctypes.c_int32(3), "slope": ctypes.c_double(0.5)}
    (code,) = codes_of(text)
    shared = [item.key for item in print_c(code, AROUND).main.parameters if item.module]
    passed += [ctypes.byref(known[key]) for key in shared]
    getattr(library, f"work{seed}_code_loop")(*passed)
    return arrays[0], arrays[2]


@dataclass(frozen=True)
class Arguments:
    """What a kernel of `HEAD` is called with."""

    new: Any
    old: Any
    both: Any
    rate: float
    step: int
    mask: Any


def arguments(seed: int) -> Arguments:
    rng = np.random.default_rng(seed)
    reals = (rng.choice([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0], SHAPE) for _ in range(3))
    rate, step = float(rng.choice([-1.5, 0.0, 2.0])), int(rng.integers(-3, 5))
    return Arguments(*reals, rate, step, rng.integers(0, 3, SHAPE))


def by_numpy(text: str, seed: int) -> tuple[Any, Any]:
    """Return what the printed function writes."""
    given = arguments(seed)
    names: dict[str, Any] = {
        "np": np, "points": points, "power": power, "quotient": quotient, "lesser": lesser,
        "greater": greater, "module_value": module_value,
    }  # fmt: skip
    module = types.ModuleType("work_mod")
    module.DEPTH, module.SLOPE = 3, 0.5
    sys.modules["work_mod"] = module
    exec(printed(text), names)
    with np.errstate(all="ignore"):
        names["work_code"](
            *INSIDE, given.new, given.old, given.both, given.rate, given.step, given.mask
        )
    return given.new, given.both


def by_python(text: str, seed: int) -> tuple[Any, Any]:
    """Return what Python computes, one point after the other."""
    given = arguments(seed)
    names: dict[str, Any] = {}
    exec(text, names)
    old, mask = given.old.copy(), given.mask.copy()
    for i in range(INSIDE[0].start, INSIDE[0].stop):
        for j in range(INSIDE[1].start, INSIDE[1].stop):
            found = names["work"].at(
                new=float(given.new[i, j]),
                old=lambda x, y, i=i, j=j: float(old[i + x, j + y]),
                both=float(given.both[i, j]),
                rate=given.rate,
                step=given.step,
                mask=lambda x, y, i=i, j=j: int(mask[i + x, j + y]),
            )
            given.new[i, j], given.both[i, j] = found["new"], found["both"]
    return given.new, given.both


class Writer:
    """Writes statements that are all right, more often than not."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._locals = ["a", "b", "n"]

    def kernel(self) -> str:
        start = ["a = rate", "b = 0.0", "n = step"]
        lines = [*start, *self._block(2), "new[0, 0] = a + b * n"]
        return HEAD + "".join(f"    {line}\n" for line in lines)

    def _block(self, depth: int) -> list[str]:
        return [line for _ in range(self._random.randint(1, 3)) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        kinds = ["assign"] * 4 + (["if", "if", "for", "leave"] if depth else [])
        match self._random.choice(kinds):
            case "if":
                lines = [f"if {self.condition()}:", *indented(self._block(depth - 1))]
                if self._random.random() < 0.3:
                    lines += [f"elif {self.condition()}:", *indented(self._block(depth - 1))]
                if self._random.random() < 0.5:
                    lines += ["else:", *indented(self._block(depth - 1))]
                return lines
            case "for":
                bounds = self._random.choice(["3", "1, 4", "3, 0, -1", "DEPTH", "0, 5, 2", "2, 2"])
                return [f"for k in range({bounds}):", *indented(self._block(depth - 1))]
            case "leave":
                return [f"if {self.condition()}:", "    new[0, 0] = -1.0", "    return"]
        target = self._random.choice(["a", "a", "b", "n", "both[0, 0]", "new[0, 0]", "c"])
        if target == "n":
            return [f"n = {self.whole(2)}"]
        op = self._random.choice(["=", "=", "+=", "*="]) if target in "ab" else "="
        return [f"{target} {op} {self.real(2)}"]

    def real(self, depth: int) -> str:
        if not depth:
            choices = ["a", "b", "rate", "old[0, 0]", "old[1, -1]", "old[-1, 0]", "both[0, 0]"]
            return self._random.choice([*choices, "0.5", "2.0", "SLOPE", "1", "n", "mask[0, 1]"])
        first, second = self.real(depth - 1), self.real(depth - 1)
        return self._random.choice(
            [
                f"({first} + {second})",
                f"({first} - {second})",
                f"{first} * {second}",
                f"{first} / (1.5 + abs({second}))",
                f"min({first}, {second})",
                f"max({first}, {second}, 0)",
                f"math.sqrt(abs({first}))",
                f"({first} if {self.condition()} else {second})",
                f"-{self.real(0)}",
                f"{self.real(0)}**2",
                f"math.floor({first})",
                f"int({first})",
                f"{first} % 3.0",
                f"float({self.whole(1)})",
            ]
        )

    def whole(self, depth: int) -> str:
        if not depth:
            return self._random.choice(["n", "step", "mask[0, 0]", "mask[-1, 1]", "2", "DEPTH"])
        first, second = self.whole(depth - 1), self.whole(depth - 1)
        return self._random.choice(
            [
                f"({first} + {second})",
                f"({first} - {second})",
                f"{first} // {self._random.choice([2, 3, 7])}",
                f"{first} % {self._random.choice([2, 3, 7])}",
                f"min({first}, {second})",
                f"abs({first})",
            ]
        )

    def condition(self) -> str:
        first, second = self.real(0), self.real(0)
        test = f"{first} {self._random.choice(['<', '<=', '>', '>=', '==', '!='])} {second}"
        return self._random.choice(
            [
                test,
                test,
                f"{test} and mask[0, 0] != 1",
                f"not {test}",
                f"{test} or rate > 0",
                f"-1 < {second} <= {first}",
                "step > 1",
                "step > 1 and rate < 1",
            ]
        )


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
