"""Generated code adds to nothing that was never filled, in a program that traps invalid operations.

Before each invoke, all halo values and annexed dofs that are not flagged as right are signalling
NaN, as LFRic makes new fields: to copy one is harmless, to compute with one stops the program. The
algorithms and answers are those of `test_ranks`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from runtime.answers import differing, merge_answers
from runtime.programs import (
    ANNEXED,
    OWNED,
    SERIAL,
    Mode,
    build_program,
    generate,
    run_program,
)

TRAPS = "-ffpe-trap=invalid"
FILLING = Mode("owned signalling", OWNED.options)
FILLING_ANNEXED = Mode("annexed signalling", ANNEXED.options)
ELIDING = Mode(
    "owned signalling",
    ("-dm", "--config-opts", "COMPUTE_ANNEXED_DOFS=false FILL_BEFORE_INCREMENT=false"),
)

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Builder = Callable[[Mode], Path]


@pytest.fixture(scope="module")
def trapping(library: Path, support: Path, tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """Return what builds a program that traps, once for each mode."""

    @cache
    def build(mode: Mode) -> Path:
        folder = tmp_path_factory.mktemp("never_filled")
        generate(mode, folder)
        return build_program(library, support, folder, TRAPS)

    return build


@pytest.mark.parametrize(
    ("mode", "ranks"), [(FILLING, 1), (FILLING, 2), (FILLING, 4), (FILLING_ANNEXED, 4)]
)
def test_nothing_traps_and_the_answers_are_right(trapping: Builder, mode: Mode, ranks: int) -> None:
    """Many algorithms add to a field that an earlier invoke has set."""
    expected = run_program(trapping(SERIAL), SERIAL, 1, trapping(SERIAL).with_name("serial"))
    program = trapping(mode)
    computed = run_program(program, mode, ranks, program.with_name(f"ranks{ranks}"))
    assert differing(merge_answers(expected.values), merge_answers(computed.values)) == []


def test_the_old_elision_is_stopped(trapping: Builder) -> None:
    program = trapping(ELIDING)
    with pytest.raises(AssertionError, match="SIGFPE"):
        run_program(program, ELIDING, 2, program.with_name("ranks2"))
