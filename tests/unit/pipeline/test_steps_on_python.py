"""Steps on kernels in Python that read constants, call helpers and hold comments, by value.

Each step is applied to one kernel of each kind, in a program that runs and ahead of it, and what
the program computes is compared with the same program without steps. A step is legal for a kind if
the plain kernel, which differs in its last statement alone, takes it.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from command import run_command
from pairwise import selected
from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.gocean import configure
from psyclone_storage.runtime import lfric as meshes
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.storage import use_device
from psyclone_storage.transform.catalogue import RECIPES, STEPS
from psyclone_storage.transform.kernel.code import ChangesCode

TARGETS = ("c", "cuda", "numpy")

CONSTANTS = """\
OTHER = 2.25
COUNT = 3
SHIFT = 0.5
IN_HELPER = 7.5


def doubled(value):
    return 2.0 * value + IN_HELPER
"""
HEAD = """\
import numpy as np
import python_constants
from python_constants import OTHER, doubled, SHIFT as moved
from psyclone_storage.{api} import *

GRAVITY = 9.75
WHOLE = 3
IS_ON = True
h1 = 1.5


def weighed(value):
    # The weight is a constant of this module.
    return GRAVITY * value + h1


"""
ENDS = {
    "plain": "{new} = 9.75 * {old} + total",
    "module constant": "if IS_ON:\n    {new} = GRAVITY * {old} + total * WHOLE - h1",
    "other module": "count: int = python_constants.COUNT\n"
    "{new} = OTHER * {old} + total - moved * count",
    "helper": "{new} = weighed({old}) + doubled(total)",
    "comment": "# 1. if it is\n{new} = 9.75 * {old} + total  # as it is\n# include 'it'\n#else",
    "docstring": "{new} = 9.75 * {old} + total",
    "closure": "{new} = inner({old}) + total",
}
"""The last statements of a kernel of each kind."""
KINDS = tuple(ENDS)
AHEAD = tuple(kind for kind in KINDS if kind != "closure")
"""The kinds of kernels that a file has: a function around a kernel runs in a program alone."""
DOCSTRING = '"""Do it.\n\n#if it is no comment\n"""'


@dataclass(frozen=True)
class Form:
    """Kernels of an API: their head, the statements before the last, and the elements in that."""

    api: str
    head: str
    body: str
    new: str
    old: str
    loop: str = ""
    """The loop around the last statements."""

    def kernel(self, name: str, kind: str) -> str:
        """Return the kernel of a kind."""
        end = ENDS[kind].format(new=self.new, old=self.old)
        if self.loop:
            end = f"{self.loop}\n{indented(end)}"
        text = DOCSTRING if kind == "docstring" else '"""Do it."""'
        return self.head.replace("work", name) + indented(f"{text}\n{self.body}\n{end}") + "\n\n\n"

    def module(self, kinds: tuple[str, ...]) -> str:
        """Return a module with a kernel of each kind."""
        text = HEAD.format(api=self.api)
        text += "".join(self.kernel(name_of(kind), kind) for kind in kinds if kind != "closure")
        if "closure" in kinds:
            inner = "def inner(value):\n    return GRAVITY * value + 2.0\n\n\n"
            inner += self.kernel("closure", "closure") + "return closure"
            text += f"def made():\n{indented(inner)}\n\n\nclosure = made()\n"
        return text


def indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


def name_of(kind: str) -> str:
    return kind.replace(" ", "_")


_LOOPS = """\
total = 0.0
limit = max({one}, 0.25)
for k in range(3):
    for m in range(2):
        rate = 2.0 * limit
        total = total + rate * k - m
for k in range(3):
    total = total + 0.25 * k
for n in range(3):
    total = total - 0.5 * n
"""
_ARRAYS = """\
w = np.zeros((4, 2))
for i in range(4):
    for j in range(2):
        w[i, j] = 0.5 * i + j
for k in range(2):
    for m in range(4):
        w[m, k] = w[m, k] * 2.0
total = abs(w[3, 1]) + min(w[2, 0], 0.5)
"""
FORMS = {
    "grid": Form(
        "gocean",
        "@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def work(\n    h: field[GO_READWRITE, GO_CT],\n"
        '    u: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")],\n):\n',
        _LOOPS.format(one="u[1, 0]"),
        "h[0, 0]",
        "u[0, 0]",
    ),
    "columns": Form(
        "lfric",
        "@kernel(operates_on=CELL_COLUMN)\n"
        "def work(h: field[GH_READWRITE, W3], u: field[GH_READ, W3]):\n",
        _LOOPS.format(one="u[0, 0]").replace("total = 0.0", _ARRAYS),
        "h[0, z]",
        "u[0, z]",
        "for z in layers():",
    ),
    "sums": Form(
        "lfric",
        "@kernel(operates_on=CELL_COLUMN)\n"
        "def work(h: field[GH_INC, W0], u: field[GH_READ, W3]):\n",
        "total = 0.5",
        "h[d, z]",
        "h[d, z] + u[0, z]",
        "for d in dofs(W0):\n  for z in layers():",
    ),
    "dofs": Form(
        "lfric",
        "@kernel(operates_on=DOF)\ndef work(h: field[GH_READWRITE, W3], u: field[GH_READ, W3]):\n",
        _LOOPS.format(one="u[0]"),
        "h[0]",
        "u[0]",
    ),
}
OPTIONS = {"kernel-constants": "{number_of_layers=4}"}
STEPS_OF_KERNELS = tuple(
    f"{name}{OPTIONS.get(name, '')}"
    for name, step in STEPS.items()
    if ".kernel." in step.__module__ or issubclass(step, ChangesCode)
)
RECIPE = """\
import json
from pathlib import Path


def trans(psy):
    for schedule in psy.children:
        schedule.apply({steps!r})
        done = [getattr(one, "call", "") for one in schedule.history]
        Path(__file__).with_suffix(".json").write_text(json.dumps([done, len(schedule.history)]))
"""
CALLS = """\
from {module} import {names}
from psyclone_storage.{api} import *


def run(u, {fields}):
    invoke({calls})
"""


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    configure()
    use_device("auto")


class Models:
    """Modules of kernels in a folder, and what their invoke computes."""

    def __init__(self, folder: Path, form: str, target: str) -> None:
        self.folder, self.form, self.target = folder, FORMS[form], target
        self.stem, self.number = f"steps_on_{form}_for_{target}", 0
        # Columns that share dofs have a thread of their own on a device in each colour alone.
        self.before = "colour; " if (form, target) == ("sums", "cuda") else ""
        (folder / "python_constants.py").write_text(CONSTANTS)
        (folder / f"{self.stem}_kernels.py").write_text(self.form.module(KINDS))
        (folder / f"{self.stem}.py").write_text(self.algorithm(KINDS))
        (folder / f"{self.stem}_ahead.py").write_text(self.algorithm(AHEAD))

    def algorithm(self, kinds: tuple[str, ...]) -> str:
        """Return a program whose fields have the name of a constant that kernels read, too."""
        names = list(map(name_of, kinds))
        fields = [f"h{number}" for number in range(len(names))]
        calls = ", ".join(f"{name}({one}, u)" for name, one in zip(names, fields, strict=True))
        return CALLS.format(module=f"{self.stem}_kernels", names=", ".join(names), calls=calls,
                            fields=", ".join(fields), api=self.form.api)  # fmt: skip

    def computed(self, steps: str) -> tuple[dict[str, Any], list[str]]:
        """Return what kernels of all kinds compute behind steps, and which of them these took."""
        self.number += 1
        script = self.folder / f"{self.stem}_{self.number}.py"
        script.write_text(RECIPE.format(steps=self.before + steps))
        configure(target=self.target, script=script)
        found = self._run(importlib.import_module(self.stem), KINDS)
        done, _ = json.loads(script.with_suffix(".json").read_text())
        taken = {uid.partition("@")[0] for uid in done}
        return found, [kind for kind in KINDS if name_of(kind) in taken]

    def computed_ahead(self, steps: str) -> dict[str, Any]:
        """Return what kernels compute in a program that was compiled ahead."""
        self.number += 1
        name = f"{self.stem}_ahead"
        made = self.folder / f"{self.stem}_{self.number}_ahead"
        made.mkdir()
        words = [
            f"{name}.py",
            "-d",
            ".",
            "--target",
            self.target,
            "-oalg",
            f"{made.name}/{name}.py",
        ]
        words += ["-opsy", f"{made.name}/{name}_psy.py", "--apply", self.before + steps]
        done = run_command(["psyclone-storage", *words], self.folder)
        assert done.status == 0, done.err
        sys.path.insert(0, str(made))
        try:
            return self._run(importlib.import_module(name), AHEAD)
        finally:
            sys.path.remove(str(made))
            for one in (name, f"{name}_psy"):
                sys.modules.pop(one, None)

    def _run(self, module: ModuleType, kinds: tuple[str, ...]) -> dict[str, Any]:
        device = "gpu" if self.target == "cuda" else None
        if self.form.api == "gocean":
            grid = Grid((5, 4), periodic=(True, True), device=device)
            u = Field(grid, values=np.arange(20.0).reshape(5, 4) / 4)
            fields = [Field(grid, values=-1.0) for _ in kinds]
        else:
            mesh = meshes.Mesh.planar((3, 2), layers=4, device=device)
            space = mesh.space("W0" if "W0" in self.form.head else "W3")
            u = meshes.Field(mesh.space("W3"), values=np.arange(24.0) / 4)
            fields = [meshes.Field(space, values=-1.0) for _ in kinds]
        module.run(u, *fields)
        return {kind: one.values.copy() for kind, one in zip(kinds, fields, strict=True)}


def wrong(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    return [kind for kind in found if not np.array_equal(found[kind], wanted[kind])]


ACCEPTED = {
    ("grid", "numpy"): 11 * 7, ("grid", "c"): 12 * 7, ("grid", "cuda"): 12 * 7,
    ("columns", "numpy"): 15 * 7, ("columns", "c"): 15 * 7, ("columns", "cuda"): 15 * 7,
    ("sums", "numpy"): 7 * 7, ("sums", "c"): 8 * 7, ("sums", "cuda"): 8 * 7,
    ("dofs", "numpy"): 11 * 7, ("dofs", "c"): 11 * 7, ("dofs", "cuda"): 11 * 7,
}  # fmt: skip
"""How many combinations of a step and a kind are legal and accepted: none may be lost."""


@pytest.mark.parametrize(
    "combination",
    selected(
        [*ACCEPTED],
        ("grid", "c"), ("columns", "numpy"), ("sums", "cuda"), ("dofs", "cuda"),
    ),
)  # fmt: skip
def test_steps_keep_the_values_of_kernels_of_all_kinds(
    combination: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that a target has no words for is refused for kernels of all kinds, the plain one."""
    form, target = combination
    if form != "grid" and (find_c_compiler() is None or find_fortran_compiler() is None):
        pytest.skip("no compilers")
    monkeypatch.syspath_prepend(str(tmp_path))
    use_device("emulated")
    models = Models(tmp_path, form, target)
    wanted, _ = models.computed("")
    accepted, legal = 0, 0
    refused: list[tuple[str, str]] = []
    for steps in (*STEPS_OF_KERNELS, *RECIPES):
        try:
            found, kinds = models.computed(steps)
        except CompileError as error:
            refused += [(steps, one.code) for one in error.problems]
            continue
        assert wrong(found, wanted) == [], steps
        if "plain" in kinds:
            legal += len(KINDS)
            accepted += len(kinds)
        if "plain" in kinds and (steps in RECIPES or "inline" in steps):
            assert wrong(models.computed_ahead(steps), wanted) == [], steps
    assert accepted >= ACCEPTED[form, target]
    assert accepted >= 0.8 * legal
    assert {code for _, code in refused} <= ({"G010"} if target == "numpy" else set()), refused
