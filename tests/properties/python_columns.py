"""Kernels of LFRic in Python at random, and one kernel read, printed as C, run and compared."""

from __future__ import annotations

import ast
import ctypes
import sys
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from properties.python_kernels import SETTINGS, Writer, indented
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.infrastructures.lfric import OF_SIZE
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.c.printer import CUnit, emit_c, print_c
from psyclone_storage.languages.python.parse.body import read_python_body
from psyclone_storage.languages.python.parse.metadata import python_kernel_names, read_python_kernel
from psyclone_storage.runtime import lfric
from psyclone_storage.runtime.compiling import load_library
from psyclone_storage.targets.dialects import LFRIC_WORDS
from psyclone_storage.targets.lfric import LFRIC
from psyclone_storage.targets.lfric_python.abi import FOR_NUMPY
from psyclone_storage.targets.native.apis import MESHES
from psyclone_storage.targets.native.module_context import modules_around
from psyclone_storage.targets.numpy.columns import KernelCalled, emit_kernel
from psyclone_storage.targets.numpy.vectorize import ColumnFacts

HEAD = """\
import math
import numpy as np
from psyclone_storage.lfric import *

DEPTH = 3
SLOPE = 0.5


@kernel(operates_on=CELL_COLUMN)
def work(
    new: field[GH_WRITE, W3],
    both: field[2, GH_READWRITE, WTHETA],
    old: field[GH_READ, W2, STENCIL(CROSS)],
    m: operator[GH_READ, W3, W2],
    mask: field[GH_INTEGER, GH_READ, W3],
    rate: scalar[GH_READ],
    step: scalar[GH_INTEGER, GH_READ],
):
    u = np.zeros(len(layers()) + 1)
    d = np.zeros((3, 2), dtype=int)
    f = np.zeros(DEPTH, dtype=bool)
    for z in layers():
"""
LAYERS, CELLS = 4, 5
DOFS = {"w3": 1, "wtheta": 2, "w2": 6}


class ColumnWriter(Writer):
    """Writes statements on columns that are all right, more often than not."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._counted: list[str] = []

    def kernel(self) -> str:
        """Return a module with one kernel."""
        start = ["a = rate", "b = 0.0", "n = step"]
        lines = [*start, *self._block(2), "new[0, z] = a + b * n + u[z]"]
        return HEAD + "".join(f"        {line}\n" for line in lines)

    def _statement(self, depth: int) -> list[str]:
        choice = self._random.random()
        if depth and choice < 0.2:
            return self._loop(depth)
        if choice < 0.35:
            return [self._random.choice([
                f"u[z + 1] = {self.real(1)}", f"u[z] += {self.real(1)}",
                f"d[{self._random.choice('012')}, 1] = {self.whole(1)}",
                f"f[1] = {self.condition()}", "u = np.zeros(len(layers()) + 1)",
                f"both[1, 0, z] = {self.real(1)}", f"both[0, 1, z] -= {self.real(1)}",
            ])]  # fmt: skip
        lines = super()._statement(depth)
        return [line.replace("[0, 0]", "[0, z]") if "both" not in line
                else line.replace("both[0, 0]", "both[0, 1, z]") for line in lines]  # fmt: skip

    def _loop(self, depth: int) -> list[str]:
        name, words = self._random.choice([
            ("e", "dofs(W2)"), ("e", "reversed(dofs(W2))"), ("s", "neighbours(old)"),
            ("j", "range(len(layers()))"), ("t", "dofs(WTHETA)"),
        ])  # fmt: skip
        if name in self._counted:
            return ["pass"]
        self._counted.append(name)
        body = self._block(depth - 1)
        self._counted.pop()
        return [f"for {name} in {words}:", *indented(body)]

    def real(self, depth: int) -> str:
        """Return a real number, or a whole one."""
        if depth:
            return super().real(depth)
        choices = ["a", "b", "rate", "old[0, z]", "old[5, z, 1]", "both[0, 1, z]", "m[0, 2, z]"]
        choices += ["u[z]", "u[z + 1]", "d[2, 1]", "0.5", "SLOPE", "1", "n", "z", "both[1, 0, 0]"]
        choices += [one for name, one in _IN_LOOPS if name in self._counted]
        return self._random.choice(choices)

    def whole(self, depth: int) -> str:
        """Return an integer."""
        if depth:
            return super().whole(depth)
        choices = ["n", "step", "mask[0, z]", "2", "DEPTH", "len(dofs(W2))", "d[0, 1]", "z"]
        return self._random.choice([*choices, *self._counted])

    def condition(self) -> str:
        """Return a condition."""
        found = super().condition().replace("mask[0, 0]", "mask[0, z]")
        return self._random.choice([found, found, found, "f[1]", "not f[1] and f[2]"])


_IN_LOOPS = (
    ("e", "old[e, z]"),
    ("e", "m[0, e, z]"),
    ("e", "float(e)"),
    ("s", "old[0, z, s]"),
    ("j", "u[j]"),
    ("j", "u[len(layers()) - 1 - j]"),
    ("t", "both[0, t, z]"),
)


class PrecisionWriter(ColumnWriter):
    """Writes statements in which numbers of Python and of NumPy, of 4 bytes and of 8, meet."""

    def real(self, depth: int) -> str:
        """Return a real number, or a whole one."""
        if not depth or self._random.random() < 0.6:
            return super().real(depth)
        first, second = self.real(depth - 1), self.real(depth - 1)
        return self._random.choice([
            f"float({first})", f"np.float32({first})", f"np.float64({first})",
            f"math.sqrt(abs({first}))", f"np.sqrt(np.abs({first}))", f"np.minimum({first}, 0.1)",
            f"np.maximum({first}, {second})", f"abs({first})", f"max({first}, 0.0) * {second}",
            f"np.where({self.condition()}, {first}, {second})", f"math.fabs({first})",
            f"math.copysign({first}, {second})", f"mask[0, z] * {first}", f"np.abs({first})",
            f"{first} / 7", f"0.1 * {first}", f"np.abs({self.whole(1)}) * {first}",
            f"math.trunc(2.0 * {first})", f"(0.1 + 0.2) * {first}",
        ])  # fmt: skip


REALS = ("new", "both", "old", "m", "rate")
"""The arguments that have real numbers."""


def codes_of(text: str, single: frozenset[str] = frozenset()) -> list[Routine]:
    """Return the code of the kernels of a file; raise what the compiler raises.

    Some of the arguments have reals of 4 bytes.
    """
    source = SourceText("work_mod.py", text)
    codes = []
    for name in python_kernel_names(LFRIC_WORDS, source):
        parsed = read_python_kernel(LFRIC_WORDS, source, name)
        kernel = LFRIC.interpret(parsed, SETTINGS)
        kinds = [OF_SIZE[4].kind if name in single else "" for name in parsed_names(text)]
        args = tuple(
            replace(arg, precision=kind) for arg, kind in zip(kernel.args, kinds, strict=True)
        )
        dummies = LFRIC.dummies(replace(kernel, args=args))
        codes.append(read_python_body(LFRIC_WORDS, source, parsed.procedure, dummies))
    return codes


def parsed_names(text: str) -> tuple[str, ...]:
    """Return the names of the arguments of `work`, or of any other one kernel."""
    node = next(one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef))
    return tuple(arg.arg for arg in node.args.args)


def printed(text: str, single: frozenset[str] = frozenset()) -> list[CUnit]:
    """Return the kernels of a file as functions of C."""
    return [print_c(code, modules_around({}, MESHES.kinds)) for code in codes_of(text, single)]


def as_library(
    texts: dict[int, str], single: dict[int, frozenset[str]] | None = None
) -> tuple[ctypes.CDLL, dict[int, CUnit]]:
    """Return a library with the kernel of each text as `work<seed>_code`, and their functions."""
    units = {}
    for seed, text in texts.items():
        of_four = (single or {}).get(seed, frozenset())
        (units[seed],) = printed(text.replace("def work(", f"def work{seed}("), of_four)
    return load_library(emit_c(tuple(units.values()))), units


@dataclass(frozen=True)
class Arguments:
    """What a kernel of `HEAD` is called with: rows of dofs, with a value for each layer."""

    new: Any
    both: list[Any]
    old: Any
    m: Any
    mask: Any
    rate: float
    step: int


def arguments(seed: int, single: frozenset[str] | None = None) -> Arguments:
    """Return arguments at random; where some are `single`, with numbers that have no short form."""
    rng = np.random.default_rng(seed)
    if single is not None:
        return _of_kinds(rng, single)

    def reals(*shape: int) -> Any:
        return rng.choice([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0], shape)

    both = [reals(DOFS["wtheta"], LAYERS) for _ in range(2)]
    new, old = reals(DOFS["w3"], LAYERS), reals(DOFS["w2"], LAYERS, CELLS)
    m, mask = reals(DOFS["w3"], DOFS["w2"], LAYERS), rng.integers(0, 3, (DOFS["w3"], LAYERS))
    return Arguments(new, both, old, m, mask, float(rng.choice([-1.5, 0.0, 2.0])),
                     int(rng.integers(-3, 5)))  # fmt: skip


def _of_kinds(rng: np.random.Generator, single: frozenset[str]) -> Arguments:
    def reals(name: str, *shape: int) -> Any:
        return (3.0 * rng.random(shape) - 1.0).astype("f" if name in single else "d")

    both = [reals("both", DOFS["wtheta"], LAYERS) for _ in range(2)]
    new, old = reals("new", DOFS["w3"], LAYERS), reals("old", DOFS["w2"], LAYERS, CELLS)
    m = reals("m", DOFS["w3"], DOFS["w2"], LAYERS)
    mask = rng.integers(0, 3, (DOFS["w3"], LAYERS)).astype(np.int32)
    return Arguments(new, both, old, m, mask, reals("rate")[()], int(rng.integers(-3, 5)))


def by_python(text: str, seed: int, single: frozenset[str] | None = None) -> list[Any]:
    """Return what Python computes for a column."""
    given, names = arguments(seed, single), dict[str, Any]()
    exec(text, names)
    with np.errstate(all="ignore"):
        found = names["work"].at(**vars(given), given={"neighbours(old)": CELLS})
    return [found["new"], *found["both"]]


def by_numpy(code: Routine, seed: int, single: frozenset[str]) -> list[Any]:
    """Return what the function of NumPy writes, which does levels at once where it can."""
    given, problems = arguments(seed, single), list[Diagnostic]()
    ranks = tuple(len(declared.shape) for name in code.dummies
                  if (declared := code.declared(name)) is not None)  # fmt: skip
    layered = {("new", "map_w3"), ("mask", "map_w3"), ("both_1", "map_wtheta")}
    facts = ColumnFacts(frozenset(layered), frozenset({"nlayers"}))
    text = "\n".join(emit_kernel(code, [KernelCalled(code.key, facts, ranks)], problems))
    assert not problems, text
    maps = {name: np.arange(count, dtype=np.int32) * LAYERS + 1 for name, count in DOFS.items()}
    near = [maps["w2"] + cell * DOFS["w2"] * LAYERS for cell in range(CELLS)]
    values: dict[str, Any] = {
        "new": given.new.copy().ravel(),
        "both_1": given.both[0].copy().ravel(),
        "both_2": given.both[1].copy().ravel(),
        "old": np.ascontiguousarray(given.old.transpose(2, 0, 1)).ravel(),
        "m": np.asfortranarray(given.m.transpose(2, 0, 1)),
        "mask": given.mask.ravel(),
        "rate": given.rate,
        "step": given.step,
        "field_3_stencil_map": np.array(near, np.int32).T,
        "field_3_stencil_size": CELLS,
        "cell": 1,
        "nlayers": LAYERS,
        "op_4_ncell_3d": LAYERS,
        **{f"map_{name}": one for name, one in maps.items()},
        **{f"ndf_{name}": count for name, count in DOFS.items()},
        **{f"undf_{name}": count * LAYERS * CELLS for name, count in DOFS.items()},
    }
    names = {one: getattr(lfric, one) for one in FOR_NUMPY if hasattr(lfric, one)}
    names["np"] = np
    module: Any = types.ModuleType("work_mod")
    module.DEPTH, module.SLOPE = 3, 0.5
    sys.modules["work_mod"] = module
    exec(text, names)
    with np.errstate(all="ignore"):
        names[code.name](*(values[name.lower()] for name in code.dummies))
    return [values["new"], values["both_1"], values["both_2"]]


def by_c(
    library: ctypes.CDLL, unit: CUnit, seed: int, single: frozenset[str] | None = None
) -> list[Any]:
    """Return what the function of C writes; rows of dofs stand one after the other."""
    given = arguments(seed, single)
    maps = {f"map_{name}": np.arange(count, dtype=np.int32) * LAYERS + 1
            for name, count in DOFS.items()}  # fmt: skip
    own = maps["map_w2"]
    near = np.array([own + cell * DOFS["w2"] * LAYERS for cell in range(CELLS)], np.int32)
    arrays = {
        "new": given.new.copy(),
        "both_1": given.both[0].copy(),
        "both_2": given.both[1].copy(),
        "old": np.ascontiguousarray(given.old.transpose(2, 0, 1)),
        "m": np.asfortranarray(given.m.transpose(2, 0, 1)),
        "mask": given.mask.astype(np.int32),
        "field_3_stencil_map": near,
        "depth": np.array(3, np.int32),
        "slope": np.array(0.5),
        **maps,
    }
    numbers = {"cell": 1, "nlayers": LAYERS, "step": given.step, "op_4_ncell_3d": LAYERS}
    numbers |= {f"ndf_{name}": count for name, count in DOFS.items()}
    numbers |= {f"undf_{name}": count * LAYERS * CELLS for name, count in DOFS.items()}
    passed: list[Any] = []
    for item in unit.main.parameters:
        if item.key in arrays:
            passed.append(arrays[item.key].ctypes.data_as(ctypes.c_void_p))
        elif item.key == "rate":
            is_single = single is not None and "rate" in single
            passed.append((ctypes.c_float if is_single else ctypes.c_double)(given.rate))
        elif item.key.endswith("stencil_size"):
            passed.append(ctypes.c_int32(CELLS))
        else:
            passed.append(ctypes.c_int32(numbers[item.key]))
    getattr(library, unit.main.name)(*passed)
    return [arrays[name] for name in ("new", "both_1", "both_2")]
