"""The GOcean example on ranks: water is conserved, and ranks make no difference."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import GOCEAN_OF_EXAMPLE, Library, copy_library
from runtime.examples import EXAMPLES, run_example

ROOT = Path(__file__).parents[2]
RANKS = (1, 2, 4)
POINTS = 50

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Basin = Callable[[int], tuple[list[list[float]], dict[str, str]]]


@pytest.fixture(scope="module")
def basin(
    tools: Path, built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory
) -> Basin:
    """Return what runs the example on ranks: volume and energy at both ends, and its files."""

    @cache
    def run(ranks: int) -> tuple[list[list[float]], dict[str, str]]:
        build = tmp_path_factory.mktemp(f"basin{ranks}")
        messages = "serial" if ranks == 1 else "mpi"
        copy_library(built(GOCEAN_OF_EXAMPLE[messages]), build / messages)
        words = ["--ranks", str(ranks), str(build)]
        script = EXAMPLES / "gocean" / "shallow_water" / "run"
        lines = run_example(script, tools, *words).splitlines()
        states = [line.split() for line in lines if line.startswith(("start ", "end "))]
        files = {file.name: file.read_text("utf-8") for file in build.glob("surface_*.txt")}
        return [[float(word) for word in words] for _, *words in states], files

    return run


@pytest.mark.parametrize("ranks", RANKS)
def test_the_water_stays_and_its_energy_does_not_grow_much(basin: Basin, ranks: int) -> None:
    """What leaves a cell enters another, so only rounding changes the volume.

    The sums of the ranks are added in another order on each number of ranks: the last digits of
    the volume at the start may differ too.
    """
    (volume, energy), (volume_at_end, energy_at_end) = basin(ranks)[0]
    assert volume == pytest.approx(basin(1)[0][0][0], rel=1e-13)
    assert volume_at_end == pytest.approx(volume, rel=1e-12)
    assert energy_at_end == pytest.approx(energy, rel=1e-2)


@pytest.mark.parametrize("ranks", RANKS[1:])
def test_the_surface_is_the_same_on_any_number_of_ranks(basin: Basin, ranks: int) -> None:
    """Each height is computed from the same values in the same order, so digits agree."""
    alone = basin(1)[1]
    assert len(alone) == 5
    assert all(len(text.split()) == POINTS**2 for text in alone.values())
    assert len(set(alone.values())) == len(alone)
    assert basin(ranks)[1] == alone


def test_the_surface_can_be_drawn(basin: Basin, tmp_path: Path) -> None:
    """The picture in the documentation is what the example computes."""
    for name, text in basin(2)[1].items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = [sys.executable, str(EXAMPLES / "draw.py"), "basin", str(tmp_path)]
    drawn = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert drawn == (ROOT / "docs" / "pictures" / "basin.svg").read_text(encoding="utf-8")
