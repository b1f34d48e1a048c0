"""Each variable that a clause makes a thread's own has to be: without the clause, threads race.

Not so for the variables that loops count with, which are private by the rules of OpenMP and OpenACC
for Fortran. They are listed all the same, for readers who do not know these rules by heart. What a
race comes to is shown by `test_mutations.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime import gocean_suite, programs
from runtime.programs import Mode
from runtime.thread_clauses import Threads, parts_for_threads

GOLDEN = Path(__file__).parents[1] / "cases"
COLOURED = "colour; openmp-parallel-do"
GRIDS = ("openmp-parallel-do", "fuse; openmp-parallel-do", "auto")
SCALARS = {"cell", "total", "thread"}
"""Some that are assigned, and would be shared."""


def parts_of(layers: list[Path]) -> list[Threads]:
    """Return the parts of layers that threads share."""
    texts = [path.read_text(encoding="utf-8") for path in layers]
    parts = [part for text in texts for part in parts_for_threads(text)]
    assert parts
    return parts


def check_each_is_needed(parts: list[Threads]) -> set[str]:
    """Check that nothing races unless a name is dropped; return the names that then do."""
    raced: set[str] = set()
    for part in parts:
        assert not part.racing()
        for name in part.listed - part.private_by_language:
            assert part.racing(without=name) == {name}, (part, name)
            raced.add(name)
    return raced


def test_every_clause_of_the_golden_cases_is_needed() -> None:
    raced = check_each_is_needed(parts_of(sorted(GOLDEN.rglob("*.f90"))))
    assert raced >= SCALARS


@pytest.mark.parametrize("steps", [COLOURED, "auto"])
def test_every_clause_of_layers_for_lfric_is_needed(tmp_path: Path, steps: str) -> None:
    layers = programs.generate(Mode("threads", ("-dm", "--apply", steps)), tmp_path)
    assert "cell" in check_each_is_needed(parts_of(layers))


@pytest.mark.parametrize("steps", GRIDS)
def test_loops_of_gocean_assign_nothing_but_what_they_count_with(
    tmp_path: Path, steps: str
) -> None:
    layers = gocean_suite.generate(Mode("threads", ("-dm", "--apply", steps)), tmp_path)
    parts = parts_of(layers)
    assert check_each_is_needed(parts) == set()
    # What a procedure counts with is its own, so that no clause has to say so.
    in_procedures = steps == "auto"
    assert all(part.listed for part in parts) is not in_procedures
