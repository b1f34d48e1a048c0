"""Every feature of LFRic metadata computes the same where layers acquire and release fields.

The suite is that of `test_generated`. Its layers run where there is one memory, on the host beside
an emulated device, or in regions for it. Beside a device half of the fields are there before each
invoke, and copies that are stale are NaN. Fields have storages, or a registry has them, which the
program tells what it does, or does not. Any run tries some ways; `--matrix` tries all for fields
with storages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

from building import built_once, shared_folder
from libraries import LFRIC_EMULATED, LFRIC_MPI, Library
from runtime.answers import Answers, merge_answers
from runtime.generated import builds
from runtime.generated.builds import ANNEXED, OWNED
from runtime.programs import SERIAL, Mode, run_program
from runtime.test_generated import RANKS, differing

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

REGIONS = ("-s", str(Path(__file__).parent / "generated" / "in_regions.py"))
ONE_MEMORY, BESIDE, THERE = "one memory", "beside a device", "on the device"
MODES = {mode.name: mode for mode in (OWNED, ANNEXED)}


class Way(NamedTuple):
    """How layers are made and run; behind a comma in `dofs` stands what the program does, too."""

    target: str
    place: str
    dofs: str
    ranks: int

    def __str__(self) -> str:
        """Return what a test is called."""
        return f"{self.target} {self.place} {self.dofs} {self.ranks}"


CHOSEN = (
    Way("storage", BESIDE, "owned", 1),
    Way("storage", BESIDE, "owned", 4),
    Way("storage", THERE, "annexed", 2),
    Way("storage", THERE, "annexed", 6),
    Way("registry", BESIDE, "annexed", 1),
    Way("registry", BESIDE, "annexed", 2),
    Way("registry", BESIDE, "annexed,told", 4),
)
EVERY = (Way("storage", *some) for some in product((ONE_MEMORY, BESIDE, THERE), MODES, RANKS))
WAYS = (*CHOSEN, *(pytest.param(way, marks=pytest.mark.matrix) for way in EVERY
                   if way not in CHOSEN))  # fmt: skip


@pytest.fixture(scope="module")
def storages(
    built: Callable[[Library], Path], suite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Way], Path]:
    """Return what gives the program of a way."""
    folder = shared_folder(tmp_path_factory)

    def build(way: Way, there: Path) -> None:
        library = built(LFRIC_MPI if way.place == ONE_MEMORY else LFRIC_EMULATED)
        name = "suite_support" if way.place == ONE_MEMORY else "emulated_suite_support"
        support = built_once(
            folder / name, lambda where: builds.build_support(library, suite, where)
        )
        plain = MODES[way.dofs]
        regions = REGIONS if way.place == THERE else ()
        builds.generate(
            Mode(plain.name, (*plain.options, "--target", way.target, *regions)), suite, there
        )
        builds.build_program(library, support, suite, there)

    def program(way: Way) -> Path:
        one = way._replace(dofs=way.dofs.partition(",")[0])
        name = "_".join(("suite_in", *one[:-1])).replace(" ", "_")
        return built_once(folder / name, lambda where: build(one, where)) / "program"

    return program


@pytest.fixture(scope="module")
def serial(
    suite_program: Callable[[Mode], Path], tmp_path_factory: pytest.TempPathFactory
) -> Answers:
    """Return the answers of plain layers without MPI."""
    run = tmp_path_factory.mktemp("suite_serial")
    return merge_answers(run_program(suite_program(SERIAL), SERIAL, 1, run).values)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_answers_are_those_of_plain_layers(
    storages: Callable[[Way], Path], serial: Answers, way: Way, tmp_path: Path
) -> None:
    mode = replace(OWNED, name=way.dofs)
    run = run_program(storages(way), mode, way.ranks, tmp_path / "run")
    assert differing(serial, merge_answers(run.values)) == []
