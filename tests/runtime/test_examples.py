"""The examples that compute something: they run and conserve, ranks and threads make no difference,
PSyclone makes the same of them, and the pictures in the documentation are what they compute.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from itertools import pairwise, product
from math import cos, pi
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from libraries import LFRIC_EMULATED_OF_EXAMPLES, LFRIC_OF_EXAMPLES, Library, copy_library
from pairwise import selected
from runtime.examples import EXAMPLES, BuiltExample, path_to
from runtime.programs import command
from runtime.test_lfric_storage import DEVICE_STEPS

ROOT = Path(__file__).parents[2]
RANKS = (1, 2, 4, 6)
CHOSEN = selected(RANKS, 1, 6)
IN_ONE_MEMORY = {"TARGET": "storage"}
IN_STORAGES = {**IN_ONE_MEMORY, "DEVICE": "emulated"}
ON_DEVICE = {**IN_STORAGES, "STEPS": DEVICE_STEPS}
COLOURED = {"STEPS": "colour"}
FOR_THREADS = {"STEPS": "auto", "F90FLAGS": "-fopenmp", "OMP_NUM_THREADS": "2"}
PICTURES = {"advection": "tracer", "globe": "globe", "waves": "waves", "multigrid": "spread"}
"""The examples, by their fixtures, and the names of their pictures."""

NUMBER = r" +(\S+) *"
ADVECTION = re.compile(
    rf"^step +\d+ +total{NUMBER}least{NUMBER}greatest{NUMBER}$", re.MULTILINE
)  # fmt: skip
WAVES = re.compile(
    rf"^step +\d+ +volume{NUMBER}energy{NUMBER}iterations +\d+$", re.MULTILINE
)  # fmt: skip
CYCLES = re.compile(
    rf"^cycle +\d+ +sum{NUMBER}of{NUMBER}residual{NUMBER}$", re.MULTILINE
)  # fmt: skip

# The integral over a sphere of (1 + cos(2 pi angle)) / 2, up to half a radian from a place.
SPOT = 4 * 6371.0e3**2 * pi * (1 - cos(0.5) + (1 + cos(0.5)) / (1 - 4 * pi**2))
"""What the spot of the globe has in its four layers."""

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


class Answers(NamedTuple):
    """What an example prints, the lines of its last files, sorted, and what draws them all."""

    output: str
    lines: list[str]
    picture: Callable[[], str]


class Made(Enum):
    """Who makes the layer of an example, and for whom."""

    BY_US = "by us"
    BY_US_FOR_THREADS = "by us for threads"
    BY_US_COLOURED = "by us, coloured"
    BY_US_COLOURED_WITH_ANNEXED_DOFS = "by us, coloured, with annexed dofs computed"
    BY_US_IN_ONE_MEMORY = "by us in storages, in one memory"
    BY_US_IN_STORAGES = "by us in storages"
    BY_US_ON_A_DEVICE = "by us in storages, on a device"
    BY_US_WITH_ANNEXED_DOFS = "by us in storages, on a device, with annexed dofs computed"
    BY_PSYCLONE = "by PSyclone"


VARIABLES = {
    Made.BY_US_FOR_THREADS: FOR_THREADS,
    Made.BY_US_COLOURED: COLOURED,
    Made.BY_US_COLOURED_WITH_ANNEXED_DOFS: COLOURED,
    Made.BY_US_IN_ONE_MEMORY: IN_ONE_MEMORY,
    Made.BY_US_IN_STORAGES: IN_STORAGES,
    Made.BY_US_ON_A_DEVICE: ON_DEVICE,
    Made.BY_US_WITH_ANNEXED_DOFS: ON_DEVICE,
}
"""What the scripts are told; nothing else."""
ANNEXED = (Made.BY_US_WITH_ANNEXED_DOFS, Made.BY_US_COLOURED_WITH_ANNEXED_DOFS)
ON_THE_HOST = {
    Made.BY_US_ON_A_DEVICE: Made.BY_US_COLOURED,
    Made.BY_US_WITH_ANNEXED_DOFS: Made.BY_US_COLOURED_WITH_ANNEXED_DOFS,
}
"""What adds in the same order as a layer on a device, without storages."""


class Example(Protocol):
    """Runs an example on so many ranks."""

    def __call__(self, ranks: int, made: Made = Made.BY_US) -> Answers: ...


@pytest.fixture(scope="session")
def runner(
    tools: Path,
    peer: Path,
    compilers: Path,
    built: Callable[[Library], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, str], Example]:
    """Return what gives for an LFRic example, and the name of its picture, what runs and draws it.

    It finds its library built.
    """

    def of(name: str, picture: str) -> Example:
        @cache
        def script(made: Made) -> BuiltExample:
            build = tmp_path_factory.mktemp(f"{name}_{made.name}")
            variables = dict(VARIABLES.get(made, {}))
            emulated = "DEVICE" in variables
            library = LFRIC_EMULATED_OF_EXAMPLES if emulated else LFRIC_OF_EXAMPLES
            copy_library(built(library), build / "library")
            command_folder = peer if made is Made.BY_PSYCLONE else tools
            if made in ANNEXED:
                variables["PSYCLONE_CONFIG"] = str(annexed_config(tmp_path_factory))
            path = EXAMPLES / "lfric" / name / "run"
            variables["PATH"] = path_to(command_folder, compilers)
            return BuiltExample(path, command_folder, build, variables)

        @cache
        def run(ranks: int, made: Made = Made.BY_US) -> Answers:
            output = script(made)(ranks)
            build = script(made).build
            last = sorted(build.glob("*_[0-9][0-9][0-9].*"))[-ranks:]
            lines = [line for file in last for line in file.read_text("utf-8").splitlines()]
            words = [sys.executable, str(EXAMPLES / "draw.py"), picture]
            files = tmp_path_factory.mktemp("drawn")
            for file in build.glob("*_[0-9][0-9][0-9].*"):
                shutil.copy(file, files)
            return Answers(output, sorted(lines), lambda: command([*words, str(files)], files))

        return run

    return of


def annexed_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with the default settings, but for annexed dofs, which are computed."""
    text = (ROOT / "config" / "psyclone.cfg").read_text(encoding="utf-8")
    changed = text.replace("COMPUTE_ANNEXED_DOFS = false", "COMPUTE_ANNEXED_DOFS = true")
    assert changed != text
    path = tmp_path_factory.mktemp("annexed") / "psyclone.cfg"
    path.write_text(changed, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def advection(runner: Callable[[str, str], Example]) -> Example:
    return runner("advection", "tracer")


@pytest.fixture(scope="session")
def globe(runner: Callable[[str, str], Example]) -> Example:
    return runner("globe", "globe")


@pytest.fixture(scope="session")
def waves(runner: Callable[[str, str], Example]) -> Example:
    return runner("shallow_water", "waves")


@pytest.fixture(scope="session")
def multigrid(runner: Callable[[str, str], Example]) -> Example:
    return runner("multigrid", "spread")


@pytest.mark.parametrize("ranks", CHOSEN)
def test_advection_conserves_the_tracer(advection: Example, ranks: int) -> None:
    """What leaves a cell enters another, so only rounding changes the sum.

    A first-order upwind step takes means of values, so extremes cannot grow.
    """
    states = [tuple(map(float, state)) for state in ADVECTION.findall(advection(ranks).output)]
    assert len(states) == 5
    totals, least, greatest = zip(*states, strict=True)
    assert totals == pytest.approx([400.0] * 5, rel=1e-12)
    assert list(least) == sorted(least)
    assert list(greatest) == sorted(greatest, reverse=True)
    assert greatest[-1] < greatest[0]


@pytest.mark.parametrize("ranks", CHOSEN[1:])
def test_advection_is_the_same_on_any_number_of_ranks(advection: Example, ranks: int) -> None:
    """Each value is computed from the same values in the same order, so digits agree."""
    alone = advection(1).lines
    assert len(alone) == 32 * 32
    assert advection(ranks).lines == alone


@pytest.mark.parametrize("ranks", CHOSEN)
def test_a_globe_keeps_the_tracer(globe: Example, ranks: int) -> None:
    """The wind has no divergence, so that an upwind step takes means of values on a sphere, too."""
    states = [tuple(map(float, state)) for state in ADVECTION.findall(globe(ranks).output)]
    assert len(states) == 4
    totals, least, greatest = zip(*states, strict=True)
    assert totals == pytest.approx([totals[0]] * 4, rel=1e-12)
    assert totals[0] == pytest.approx(SPOT, rel=1e-3)
    assert list(least) == sorted(least)
    assert list(greatest) == sorted(greatest, reverse=True)
    assert 0.3 < greatest[-1] < greatest[0]


@pytest.mark.parametrize("ranks", CHOSEN[1:])
def test_a_globe_is_the_same_on_any_number_of_ranks(globe: Example, ranks: int) -> None:
    """Each value is computed from the same values in the same order, so digits agree."""
    alone = globe(1).lines
    assert len(alone) == 6 * 24 * 24
    assert globe(ranks).lines == alone


@pytest.mark.parametrize("ranks", CHOSEN)
def test_waves_keep_the_volume_of_water_and_their_energy(waves: Example, ranks: int) -> None:
    """Crank and Nicolson's step keeps a quadratic form; the solver stops at 1e-13."""
    states = [tuple(map(float, state)) for state in WAVES.findall(waves(ranks).output)]
    assert len(states) == 5
    volumes, energies = zip(*states, strict=True)
    assert volumes == pytest.approx([volumes[0]] * 5, rel=1e-12)
    assert energies == pytest.approx([energies[0]] * 5, rel=1e-11)


@pytest.mark.parametrize("ranks", CHOSEN[1:])
def test_waves_are_the_same_on_any_number_of_ranks(waves: Example, ranks: int) -> None:
    """The order of sums depends on the ranks, and the solver on the sums, to its tolerance."""
    check_waves(waves(1).lines, waves(ranks).lines)


@pytest.mark.parametrize("ranks", selected(RANKS, 4))
def test_waves_in_storages_beside_a_device_are_the_same(waves: Example, ranks: int) -> None:
    """Digit for digit on as many ranks; on the emulated device what is stale is NaN."""
    assert waves(ranks, Made.BY_US_IN_STORAGES).lines == waves(ranks).lines


def ways_in_one_memory() -> Iterator[object]:
    """Yield each example on each number of ranks."""
    for example, ranks in product(PICTURES, RANKS):
        marks = () if (example, ranks) == ("globe", 6) else pytest.mark.matrix
        yield pytest.param(example, ranks, marks=marks)


@pytest.mark.parametrize(("example", "ranks"), list(ways_in_one_memory()))
def test_examples_in_storages_in_one_memory_are_the_same(
    example: str, ranks: int, request: pytest.FixtureRequest
) -> None:
    run: Example = request.getfixturevalue(example)
    assert run(ranks, Made.BY_US_IN_ONE_MEMORY).lines == run(ranks).lines


def ways_on_a_device() -> Iterator[object]:
    """Yield each example in each way, on each number of ranks; waves take longest."""
    ways = product((Made.BY_US_ON_A_DEVICE, Made.BY_US_WITH_ANNEXED_DOFS), RANKS)
    for example, (made, ranks) in product(PICTURES, ways):
        chosen = made is Made.BY_US_WITH_ANNEXED_DOFS and ranks == (2 if example == "waves" else 6)
        marks = () if chosen else pytest.mark.matrix
        yield pytest.param(example, made, ranks, marks=marks)


@pytest.mark.parametrize(("example", "made", "ranks"), list(ways_on_a_device()))
def test_examples_in_storages_on_a_device_are_the_same(
    example: str, made: Made, ranks: int, request: pytest.FixtureRequest
) -> None:
    """All loops are in regions there, coloured: sums at dofs that cells share are rounded so."""
    run: Example = request.getfixturevalue(example)
    there = run(ranks, made)
    if example == "waves":
        assert there.lines == run(ranks, ON_THE_HOST[made]).lines
        check_waves(run(ranks).lines, there.lines)
    else:
        assert there.lines == run(1).lines


@pytest.mark.parametrize("ranks", CHOSEN)
def test_multigrid_spreads_what_there_is_and_loses_nothing(multigrid: Example, ranks: int) -> None:
    """Second derivatives have no sum on a plane without borders, so x has that of b."""
    states = [tuple(map(float, state)) for state in CYCLES.findall(multigrid(ranks).output)]
    assert len(states) == 17
    total, wanted, _ = states[-1]
    assert wanted == pytest.approx(3.0, rel=1e-12)
    assert total == pytest.approx(wanted, rel=1e-8)
    residuals = [residual for *_, residual in states]
    later = pairwise(residuals)
    assert all(after < before / 3 for before, after in later), "every cycle takes its share"


@pytest.mark.parametrize("ranks", CHOSEN[1:])
def test_multigrid_is_the_same_on_any_number_of_ranks(multigrid: Example, ranks: int) -> None:
    """No sum over ranks enters the result, so digits agree."""
    alone = multigrid(1).lines
    assert len(alone) == 64 * 64
    assert multigrid(ranks).lines == alone


@pytest.mark.parametrize("ranks", selected((1, 2), 2))
@pytest.mark.parametrize("example", PICTURES)
def test_threads_make_no_difference(
    example: str, ranks: int, request: pytest.FixtureRequest
) -> None:
    """As with ranks, the order of sums over threads changes the last digits of waves only."""
    run: Example = request.getfixturevalue(example)
    alone, together = run(1), run(ranks, Made.BY_US_FOR_THREADS)
    if example == "waves":
        check_waves(alone.lines, together.lines)
    else:
        assert together.lines == alone.lines


@pytest.mark.differential
@pytest.mark.parametrize("example", PICTURES)
def test_psyclone_makes_the_same_of_it(example: str, request: pytest.FixtureRequest) -> None:
    """Only its least values are others: the minimum over cells starts from 0 there."""
    run: Example = request.getfixturevalue(example)
    ours, theirs = run(2), run(2, Made.BY_PSYCLONE)
    assert theirs.lines == ours.lines
    assert comparable(theirs.output) == comparable(ours.output)


@pytest.mark.parametrize(("example", "picture"), PICTURES.items())
def test_the_picture_is_what_is_computed(
    example: str, picture: str, request: pytest.FixtureRequest
) -> None:
    """The last digits of waves may differ with the order of sums; no shade shows that."""
    run: Example = request.getfixturevalue(example)
    documented = ROOT / "docs" / "pictures" / f"{picture}.svg"
    assert run(4).picture() == documented.read_text(encoding="utf-8")


def check_waves(alone: list[str], together: list[str]) -> None:
    """Check that the heights of two runs agree to the tolerance of the solver."""
    here, there = values_at(alone), values_at(together)
    assert len(here) == 48 * 48
    assert there.keys() == here.keys()
    highest = max(map(abs, here.values()))
    assert 0.1 < highest < 0.9, "the hill has run apart"
    assert all(abs(there[place] - here[place]) < 1e-12 for place in here)


def values_at(lines: list[str]) -> dict[tuple[str, str], float]:
    """Return the value at every place."""
    return {(x, y): float(value) for x, y, value in map(str.split, lines)}


def comparable(output: str) -> list[str]:
    """Return the lines of an example without least values and without numbers of exchanges."""
    lines = [line for line in output.splitlines() if "halo exchanges" not in line]
    return [re.sub(r"least +\S+", "", line) for line in lines]
