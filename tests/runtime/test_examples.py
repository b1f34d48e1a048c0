"""The examples that compute something: they run, they conserve, and ranks make no difference."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from runtime.programs import command

ROOT = Path(__file__).parents[2]
ADVECTION = ROOT / "examples" / "lfric" / "advection"
SOURCE = ROOT / "src"
CELLS = 32 * 32
STATE = re.compile(r"^step +\d+ +total +(\S+) +least +(\S+) +greatest +(\S+)$", re.MULTILINE)
RANKS = (1, 2, 4, 6)

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Advection = Callable[[int], tuple[str, list[str]]]


@pytest.fixture(scope="session")
def advection(tmp_path_factory: pytest.TempPathFactory) -> Advection:
    """Return what runs the example on a number of ranks: its output and the lines of its files."""
    build = tmp_path_factory.mktemp("advection")
    tools = tmp_path_factory.mktemp("bin")
    compiler = tools / "psyclone-storage"
    compiler.write_text(
        f'#!/bin/sh\nPYTHONPATH="{SOURCE}" exec "{sys.executable}" -m psyclone_storage "$@"\n',
        encoding="utf-8",
    )
    compiler.chmod(0o755)

    @cache
    def run(ranks: int) -> tuple[str, list[str]]:
        for old in build.glob("tracer.*"):
            old.unlink()
        words = [
            "env",
            f"BUILD={build}",
            f"PATH={tools}:{os.environ['PATH']}",
            str(ADVECTION / "run"),
        ]
        output = command([*words, str(ranks)], build)
        files = [build / f"tracer.{rank}" for rank in range(ranks)]
        lines = [line for path in files for line in path.read_text("utf-8").splitlines()]
        return output, sorted(lines)

    return run


@pytest.mark.parametrize("ranks", RANKS)
def test_advection_conserves_the_tracer(advection: Advection, ranks: int) -> None:
    """What leaves a cell enters another, so only rounding changes the sum.

    A first-order upwind step takes means of values, so extremes cannot grow.
    """
    states = [tuple(map(float, state)) for state in STATE.findall(advection(ranks)[0])]
    assert len(states) == 5
    totals, least, greatest = zip(*states, strict=True)
    assert totals == pytest.approx([400.0] * 5, rel=1e-12)
    assert list(least) == sorted(least)
    assert list(greatest) == sorted(greatest, reverse=True)
    assert greatest[-1] < greatest[0]


@pytest.mark.parametrize("ranks", RANKS[1:])
def test_advection_is_the_same_on_any_number_of_ranks(advection: Advection, ranks: int) -> None:
    """Each value is computed from the same values in the same order, so digits agree."""
    alone = advection(1)[1]
    assert len(alone) == CELLS
    assert advection(ranks)[1] == alone
