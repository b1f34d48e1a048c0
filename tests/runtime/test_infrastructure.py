"""The LFRic infrastructure on its own: programs that check themselves on 1, 2, 4 and 6 ranks.

The programs are those in `infrastructure/`. What they print as an answer is compared between rank
counts, bit for bit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import archive_in
from runtime.programs import FLAGS, command, compile_sources

PROGRAMS = Path(__file__).parent / "infrastructure"
SHARED = PROGRAMS / "checks_mod.f90"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.f90") if path != SHARED)
RANKS = (1, 2, 4, 6)
ANSWER = re.compile(r"^answer (\S+) ([0-9A-F]+)$", re.MULTILINE)

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Runner = Callable[[str, int], dict[str, str]]


@pytest.fixture(scope="session")
def answers(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Return what runs a program on a number of ranks, once, and gives its answers."""

    @cache
    def built(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        compile_sources([SHARED, PROGRAMS / f"{name}.f90"], folder, (library,))
        objects = [f"{SHARED.stem}.o", f"{name}.o"]
        command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", name], folder)
        return folder / name

    @cache
    def ran(name: str, ranks: int) -> dict[str, str]:
        program = built(name)
        mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        return dict(ANSWER.findall(command([*mpirun, str(program)], program.parent)))

    return ran


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", NAMES)
def test_a_program_checks_itself_and_answers_the_same(
    answers: Runner, name: str, ranks: int
) -> None:
    """A check that fails stops the program, which fails the test."""
    assert answers(name, ranks) == answers(name, 1)


def test_exact_sums_are_answered(answers: Runner) -> None:
    assert set(answers("sums", 1)) == {"sum", "norm", "inner_product"}
