"""Random models in Python: modules of kernels with constants, and a program that invokes them.

    mpirun -n 2 python random_models.py FOLDER ANSWERS SEED...

runs the models in a folder, each without and with its recipe, and writes both results. A model
reads constants that change between its invokes, and passes its fields repeatedly.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from properties.python_kernels import Writer, indented
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.gocean import configure
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.runtime.ranks import world

FIELDS = "abcd"
TIMES = 2
NUMBERS = """\
GRAVITY = {gravity}
SHIFT = {shift}
LEVELS = {levels}
STRENGTH = 0.25


def bent(value):
    # STRENGTH is that of this module.
    return value * STRENGTH + GRAVITY
"""
HEAD = '''\
"""A model."""

import math

import numpy as np
import {numbers} as numbers
from {numbers} import GRAVITY, LEVELS, SHIFT as moved, bent

from psyclone_storage.gocean import *

DEPTH = 3
SLOPE = 0.5
STRENGTH = {strength}
FLAG = {flag}
RATIO = np.float64({ratio})
a = -0.75  # the name of a field, and of a local of some kernels


def limited(value, most: float = 4.0):
    """Return a value that is not too large.

    #if it is, it is cut
    """
    if value > most:
        return most * STRENGTH
    return value


def chosen(value):
    return RATIO * value if FLAG else limited(value) - moved


'''
KERNEL = """\
@kernel(iterates_over={over}, index_offset=GO_OFFSET_NE)
def {name}(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("111,111,111")],
    both: field[GO_READWRITE, GO_CT],
    rate: scalar[GO_READ, GO_R_SCALAR],
    step: scalar[GO_READ, GO_I_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
):
"""
RECIPES = (
    "auto",
    "inline-call",
    "inline-kernel-module",
    "inline-point-kernel",
    "fuse",
    "fuse{tested=true}",
    "swap-loops",
    "tile-loops{columns=4}",
    "openmp-parallel-do",
    "openmp-do; openmp-parallel",
    "overlap",
    "constant-loop-bounds",
    "intrinsics-to-code",
    "hoist",
    "kernel-chunk",
    "unswitch",
    "openmp-simd",
)


class ModelWriter(Writer):
    """Writes kernels that read constants of their module and of another, and call functions."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._inner = False

    def work(self, name: str, over: str, *, inner: bool) -> str:
        """Return a kernel; one that has functions of the function around it calls them."""
        self._inner = inner
        lines = ["a = rate", "b = 0.0", "n = step", "# The rate: #define RATE", *self._block(2)]
        lines += ["new[0, 0] = min(max(a + b * n, -50.0), 50.0)  # in bounds"]
        lines += ["both[0, 0] = min(max(both[0, 0], -50.0), 50.0)"]
        return KERNEL.format(name=name, over=over) + "\n".join(indented(lines)) + "\n"

    def _statement(self, depth: int) -> list[str]:
        choice = self._random.random()
        if choice < 0.1:
            return ["count: int = numbers.LEVELS", f"n = count - {self.whole(1)}"]
        if depth == 2 and choice < 0.2:
            bound = self._random.choice(["LEVELS", "LEVELS - 1", "0, 4, 2"])
            return [f"for m in range({bound}):", *indented(self._block(0))]
        if depth and choice < 0.3:
            return [f"if {self._random.choice(['FLAG', 'LEVELS > 2', 'GRAVITY < SLOPE'])}:",
                    *indented(self._block(depth - 1))]  # fmt: skip
        return super()._statement(depth)

    def real(self, depth: int) -> str:
        """Return a real number, or a whole one."""
        choice = self._random.random()
        if not depth and choice < 0.35:
            return self._random.choice(["GRAVITY", "moved", "STRENGTH", "RATIO", "LEVELS"])
        if depth and choice < 0.25:
            functions = ["limited", "chosen", "bent", "numbers.bent", *["near"] * self._inner]
            return f"{self._random.choice(functions)}({self.real(depth - 1)} * 1.0)"
        return super().real(depth)

    def whole(self, depth: int) -> str:
        """Return an integer."""
        return "LEVELS" if not depth and self._random.random() < 0.2 else super().whole(depth)

    def model(self, name: str) -> dict[str, str]:
        """Return the files of a model: a module of numbers, and the program."""
        pick, number = self._random, lambda: self._random.choice([-1.5, 0.25, 0.75, 2.0, 9.81])
        kernels = [f"k{at}" for at in range(pick.randint(2, 4))]
        text = HEAD.format(numbers=f"{name}_numbers", strength=number(), ratio=number(),
                           flag=pick.choice([True, False]))  # fmt: skip
        for one in kernels:
            # Kernels of a function run on all points, others on the points of the rank.
            inner = pick.random() < 0.4
            over = pick.choice(["GO_INTERNAL_PTS", "GO_INTERNAL_PTS", "GO_ALL_PTS"])
            work = self.work(one, over, inner=inner)
            if inner:
                near = "def near(value):\n    return value - STRENGTH * moved\n\n"
                inside = "\n".join(indented(f"{near}{work}return {one}".splitlines()))
                work = f"def made_{one}():\n{inside}\n\n\n{one} = made_{one}()\n"
            text += f"{work}\n\n"
        text += f"def run({', '.join(FIELDS)}, change):\n"
        for at in range(pick.randint(2, 3)):
            calls = ", ".join(self._call(kernels) for _ in range(pick.randint(1, 4)))
            text += f"    invoke({calls})\n    change({at})\n"
        numbers = NUMBERS.format(gravity=number(), shift=number(), levels=pick.randint(1, 4))
        return {f"{name}_numbers.py": numbers, f"{name}.py": text}

    def _call(self, kernels: list[str]) -> str:
        new, old, both = self._random.sample(FIELDS, 3)
        rate, step = self._random.choice(["0.5", "-1.5", "2.0"]), self._random.randint(-3, 4)
        return f"{self._random.choice(kernels)}({new}, {old}, {both}, {rate}, {step})"

    def recipe(self) -> str:
        """Return some steps, in any order."""
        return "; ".join(self._random.sample(RECIPES, self._random.randint(1, 4)))


def write_models(folder: Path, seeds: list[int]) -> None:
    """Write models to a folder, with their recipes."""
    for seed in seeds:
        writer, name = ModelWriter(seed), f"model_{seed}"
        for file, text in writer.model(name).items():
            (folder / file).write_text(text)
        apply = f"        schedule.apply({writer.recipe()!r})\n"
        apply += "    Path(__file__).with_suffix('.taken').write_text(str(len(schedule.history)))\n"
        head = "from pathlib import Path\n\n\ndef trans(psy):\n    for schedule in psy.children:\n"
        (folder / f"{name}_recipe.py").write_text(head + apply)


def answer(folder: Path, seed: int, *, with_recipe: bool) -> str:
    """Run a model, and return what its fields have; nothing on other ranks than the first."""
    name, rng = f"model_{seed}", random.Random(seed)
    for one in (name, f"{name}_numbers"):
        sys.modules.pop(one, None)
    model, numbers = importlib.import_module(name), importlib.import_module(f"{name}_numbers")
    target = rng.choice(["c", "c", "c", "numpy"])
    configure(script=folder / f"{name}_recipe.py" if with_recipe else None, target=target)
    size, periodic = (rng.randint(8, 13), rng.randint(8, 11)), rng.choice([True, False])
    numbered = np.random.default_rng(seed)
    mask = numbered.integers(0, 3, size).astype(np.int32)
    grid = Grid(size, periodic=(periodic, periodic), halo=2, mask=mask, ranks=world())
    values = {label: 0.25 * numbered.integers(-8, 9, size) for label in FIELDS}
    fields = [Field(grid, label=label, values=one) for label, one in values.items()]

    def change(at: int) -> None:
        model.STRENGTH, model.GRAVITY = 0.5 + at, model.GRAVITY * 0.5
        model.FLAG, model.LEVELS = not model.FLAG, 1 + (model.LEVELS + at) % 4
        numbers.GRAVITY, numbers.LEVELS = numbers.GRAVITY + 0.25, 1 + at
        model.RATIO = np.float64(model.RATIO + 0.125)

    for _ in range(TIMES):
        model.run(*fields, change)
    found = [one.gather() for one in fields]
    if any(one is None for one in found):
        return ""
    return sha256(b"".join(np.ascontiguousarray(one + 0.0) for one in found)).hexdigest()


def is_answer(text: str) -> bool:
    """Return whether a model has run."""
    return len(text) == sha256().digest_size * 2 and " " not in text


def is_refusal(text: str) -> bool:
    """Return whether the compiler has refused a model or its recipe."""
    return text[:1] in "GMPST" and text[1:4].isdigit()


def main(folder: str, answers: str, *seeds: str) -> None:
    """Run models, and write a line for each: its two answers, or why there are none."""
    sys.path.insert(0, folder)
    found: dict[str, Any] = {}
    for seed in map(int, seeds):
        done = []
        for with_recipe in (False, True):
            try:
                done.append(answer(Path(folder), seed, with_recipe=with_recipe))
            except CompileError as error:
                codes = sorted({one.code for one in error.problems})
                done.append(" ".join([*codes, str(error)[:200]]))
            except Exception as error:  # noqa: BLE001 - what a model raises is an answer
                done.append(f"{type(error).__name__}: {error}"[:300])
        found[str(seed)] = done
    if world().rank == 0:
        Path(answers).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
