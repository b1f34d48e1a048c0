"""The language survey: kernels on each target, compared with CPython point by point.

`python tests/survey/survey.py [NAME...]` prints what is refused or differs, and the counts.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.runtime.device import ORDER_VARIABLE

KERNELS = Path(__file__).with_name("kernels.txt")
HEAD = """\
import math
import numpy as np
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid, Points

{before}

@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def work(
    new: field[GO_WRITE, GO_CT],
    {old}: field[GO_READ, GO_CT, GO_STENCIL("{ring}")],
    {both}: field[GO_READWRITE, GO_CT],
    rate: scalar[GO_READ, GO_R_SCALAR],
    step: scalar[GO_READ, GO_I_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
):
{body}

def run(grid, values, rate, step):
    new = Field(grid, Points.T, "new")
    old = Field(grid, Points.T, "old", values=values[0])
    both = Field(grid, Points.T, "both", values=values[1])
    invoke(work(new, old, both, rate, step))
    return new.gather(), both.gather()
"""
RING = ",".join(["1111111"] * 7)
POINTS, HALO, RATE, STEP = (9, 7), 3, 0.75, 3
TARGETS = ("c", "cuda", "numpy")
OF_LIBRARIES = re.compile(
    r"\b(?:sin|cos|tan|exp|expm1|exp2|log|log1p|log2|hypot|cbrt|radians|degrees)\b"
)
SUMS = re.compile(r"np\.(?:sum|dot|mean|prod)\b|\.sum\(|@ |\*\*")


@dataclass(frozen=True)
class SurveyKernel:
    """A kernel of the survey, as text."""

    name: str
    text: str

    @property
    def tolerance(self) -> int:
        """The units in the last place by which a result may differ from CPython's."""
        if SUMS.search(self.text) or self.name.startswith("model_"):
            return 4
        return 1 if OF_LIBRARIES.search(self.text.partition("def work")[2]) else 0


@dataclass(frozen=True)
class Outcome:
    """What became of a kernel on one target: the refusal, and the points that differ."""

    refused: tuple[str, ...] = ()
    different: str = ""


def survey_kernels() -> Iterator[SurveyKernel]:
    """Yield the kernels in the order of the file."""
    for part in re.split(r"(?m)^== ", KERNELS.read_text(encoding="utf-8"))[1:]:
        head, _, rest = part.partition("\n")
        name, _, said = head.partition(" | ")
        names = {"old": "old", "both": "both", **dict(word.split("=") for word in said.split())}
        before, dashes, body = rest.partition("\n---\n")
        if not dashes:
            before, body = "", rest
        lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
        yield SurveyKernel(name, HEAD.format(before=before.strip(), ring=RING, body=lines, **names))


def loaded(kernel: SurveyKernel, folder: Path) -> ModuleType:
    """Return the module of a kernel, imported from a file."""
    name = f"survey_{kernel.name}"
    (folder / f"{name}.py").write_text(kernel.text, encoding="utf-8")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return importlib.import_module(name)


def given_values() -> tuple[Any, Any]:
    """Return the values of the fields: few distinct ones, so that ties and zeros occur."""
    rng = np.random.default_rng(7)
    choice = [-2.5, -1.0, 0.0, 0.3, 1.0, 3.7]
    return rng.choice(choice, POINTS), rng.normal(size=POINTS)


def mask_values() -> Any:
    """Return the mask of the grid."""
    return np.random.default_rng(8).integers(0, 3, POINTS)


def by_python(module: ModuleType) -> tuple[Any, Any]:
    """Return what CPython computes, one point after the other, in a periodic domain."""
    old, both = given_values()
    mask = mask_values()
    new, changed = np.zeros(POINTS), both.copy()
    names = list(module.work.function.__annotations__)

    def around(array: Any, i: int, j: int) -> Any:
        return lambda x, y: array[(i + x) % POINTS[0], (j + y) % POINTS[1]].item()

    for i, j in np.ndindex(*POINTS):
        given = {
            "new": 0.0, names[1]: around(old, i, j), names[2]: float(both[i, j]),
            "rate": RATE, "step": STEP, "mask": around(mask, i, j),
        }  # fmt: skip
        found = module.work.at(**given)
        new[i, j], changed[i, j] = found["new"], found[names[2]]
    return new, changed


def computed(module: ModuleType, target: str) -> tuple[Any, Any]:
    """Return what a target computes."""
    from psyclone_storage.gocean import configure  # noqa: PLC0415
    from psyclone_storage.runtime.gocean import Grid  # noqa: PLC0415

    device = "gpu" if target == "cuda" else None
    grid = Grid(
        POINTS, (1.0, 1.0), periodic=(True, True), halo=HALO, mask=mask_values(), device=device
    )
    configure(target=target)
    try:
        found: tuple[Any, Any] = module.run(grid, given_values(), RATE, STEP)
    finally:
        configure()
    return found


SURVEY = {kernel.name: kernel for kernel in survey_kernels()}


def outcome_of(
    kernel: SurveyKernel, folder: Path, orders: str = "012", targets: tuple[str, ...] = TARGETS
) -> Outcome:
    """Return what became of a kernel on all targets, or some."""
    wanted = None
    for target in targets:
        for order in orders if target == "cuda" else "0":
            os.environ[ORDER_VARIABLE] = order
            module = loaded(kernel, folder)
            try:
                found = computed(module, target)
            except CompileError as error:
                return Outcome(
                    tuple(f"{target}: {one.code} {one.message}" for one in error.problems)
                )
            wanted = by_python(module) if wanted is None else wanted
            for one, other in zip(wanted, found, strict=True):
                if not is_near(one, other, kernel.tolerance):
                    with np.errstate(invalid="ignore"):
                        worst = np.nanmax(np.abs(one - other))
                    return Outcome(different=f"{target} {order}: {worst}")
    return Outcome()


def is_near(first: Any, second: Any, units: int, term: float = 0.0) -> bool:
    """Return whether two arrays have equal bits, or differ by some units in the last place.

    With several units, these are units of the largest value, and at least of `term`.
    """
    same = (first == second) & (np.signbit(first) == np.signbit(second))
    same |= np.isnan(first) & np.isnan(second)
    sizes = np.maximum(np.abs(first), np.abs(second))
    sizes = np.where(np.isfinite(sizes), sizes, np.zeros_like(sizes))
    if units > 1:
        # Terms of a sum may be larger than the sum.
        sizes = np.maximum(sizes, np.nanmax(sizes, initial=term))
    with np.errstate(invalid="ignore"):
        near = np.abs(first - second) <= units * np.spacing(sizes)
    return bool(np.all(same | (near if units else False)))


def main(names: list[str]) -> int:
    """Print the outcome of the kernels of these names, or of all."""
    accepted = wrong = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for kernel in SURVEY.values():
            if names and not any(re.fullmatch(name, kernel.name) for name in names):
                continue
            found = outcome_of(kernel, Path(folder))
            refused += bool(found.refused)
            wrong += bool(found.different)
            accepted += not found.refused
            if found.refused:
                sys.stdout.write(f"refused {kernel.name}: {found.refused[0]}\n")
            elif found.different:
                sys.stdout.write(f"DIFFERS {kernel.name}: {found.different}\n")
    sys.stdout.write(f"{accepted} accepted, {refused} refused, {wrong} differ\n")
    return wrong


if __name__ == "__main__":
    os.environ.setdefault("PSYCLONE_STORAGE_DEVICE", "emulated")
    os.environ.setdefault("PSYCLONE_STORAGE_CFLAGS", "-O1")
    sys.exit(main(sys.argv[1:]))
