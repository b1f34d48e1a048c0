"""The GOcean example conserves water; ranks and threads make no difference, nor does PSyclone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

from libraries import GOCEAN_OF_EXAMPLE, Library, copy_library
from pairwise import selected
from runtime.examples import EXAMPLES, path_to, run_example

ROOT = Path(__file__).parents[2]
RANKS = (1, 2, 4, 6)
CHOSEN = selected(RANKS, 1, 2, 6)
FOR_THREADS = {"STEPS": "auto", "F90FLAGS": "-fopenmp", "OMP_NUM_THREADS": "2"}
IN_REGIONS = "acc-routine; acc-loop{collapse=0}; acc-parallel"
POINTS = 50

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


class Answers(NamedTuple):
    """Volume and energy at both ends, and the files."""

    states: list[list[float]]
    files: dict[str, str]


Basin = Callable[..., Answers]
"""Runs the example on so many ranks, with the command in a folder and variables of a shell."""


@pytest.fixture(scope="module")
def basin(
    tools: Path,
    compilers: Path,
    built: Callable[[Library], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Basin:
    """Return what runs the example, with the command of this source tree unless told otherwise."""

    @cache
    def run(ranks: int, command: Path = tools, **variables: str) -> Answers:
        build = tmp_path_factory.mktemp(f"basin{ranks}")
        messages = "serial" if ranks == 1 else "mpi"
        library = GOCEAN_OF_EXAMPLE[messages, variables.get("DEVICE", "none")]
        copy_library(built(library), build / messages)
        words = ["--ranks", str(ranks), str(build)]
        script = EXAMPLES / "gocean" / "shallow_water" / "run"
        variables["PATH"] = path_to(command, compilers)
        lines = run_example(script, command, *words, **variables).splitlines()
        states = [line.split() for line in lines if line.startswith(("start ", "end "))]
        files = {file.name: file.read_text("utf-8") for file in build.glob("surface_*.txt")}
        return Answers([[float(word) for word in words] for _, *words in states], files)

    return run


@pytest.mark.parametrize("ranks", CHOSEN)
def test_the_water_stays_and_its_energy_does_not_grow_much(basin: Basin, ranks: int) -> None:
    """What leaves a cell enters another, so only rounding changes the volume.

    The sums of the ranks are added in another order on each number of ranks: the last digits of
    the volume at the start may differ too.
    """
    (volume, energy), (volume_at_end, energy_at_end) = basin(ranks).states
    assert volume == pytest.approx(basin(1).states[0][0], rel=1e-13)
    assert volume_at_end == pytest.approx(volume, rel=1e-12)
    assert energy_at_end == pytest.approx(energy, rel=1e-2)


@pytest.mark.parametrize("ranks", CHOSEN[1:])
def test_the_surface_is_the_same_on_any_number_of_ranks(basin: Basin, ranks: int) -> None:
    """Each height is computed from the same values in the same order, so digits agree."""
    alone = basin(1).files
    assert len(alone) == 5
    assert all(len(text.split()) == POINTS**2 for text in alone.values())
    assert len(set(alone.values())) == len(alone)
    assert basin(ranks).files == alone


@pytest.mark.parametrize(
    "combination",
    selected([*product(("", IN_REGIONS), RANKS)], ("", 2), (IN_REGIONS, 6)),
)
def test_fields_with_storages_give_the_same_surface_beside_a_device(
    basin: Basin, combination: tuple[str, int]
) -> None:
    """On the emulated device what is stale is NaN."""
    steps, ranks = combination
    held = basin(ranks, TARGET="storage", DEVICE="emulated", STEPS=steps)
    assert held.files == basin(1).files


@pytest.mark.parametrize("ranks", selected(RANKS, 1))
def test_fields_with_storages_give_the_same_surface_in_one_memory(basin: Basin, ranks: int) -> None:
    assert basin(ranks, TARGET="storage").files == basin(1).files


@pytest.mark.parametrize("ranks", selected((1, 2), 2))
def test_threads_make_no_difference(basin: Basin, ranks: int) -> None:
    assert basin(ranks, **FOR_THREADS).files == basin(1).files


@pytest.mark.differential
def test_psyclone_makes_the_same_of_it(basin: Basin, peer: Path) -> None:
    assert basin(2, peer) == basin(2)


def test_the_surface_can_be_drawn(basin: Basin, tmp_path: Path) -> None:
    """The picture in the documentation is what the example computes."""
    for name, text in basin(2).files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = [sys.executable, str(EXAMPLES / "draw.py"), "basin", str(tmp_path)]
    drawn = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert drawn == (ROOT / "docs" / "pictures" / "basin.svg").read_text(encoding="utf-8")
