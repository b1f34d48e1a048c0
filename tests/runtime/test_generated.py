"""Every feature of LFRic metadata gives the same on any number of ranks and threads.

The kernels are those of the corpus with bodies in which every argument matters, and the algorithms
call each of them; `generated/` writes both from the kernels' metadata. All values are small whole
numbers, in which sums are exact whatever their order, or made at one dof from others, so answers
are compared digit for digit. Halo values that are flagged as out of date are NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from differential.features import ALGORITHM, METADATA, RAW, read_corpus, users_of_features
from pairwise import selected
from runtime import answers as written
from runtime.answers import Answers, invalid, merge_answers
from runtime.generated.builds import ANNEXED, OWNED
from runtime.programs import (
    SERIAL,
    SOURCES,
    Mode,
    run_program,
)

RANKS = (1, 2, 4, 6)
MODES = (OWNED, ANNEXED)
COLOURED = ("-dm", "--apply", "split-interior; overlap; colour; openmp-parallel-do")
THREADS = (Mode("coloured", COLOURED, threads=1), Mode("coloured", COLOURED, threads=2))

UNITS = "the layer is the same whatever unit its invokes are in; the compile tests have them all"
STYLE = "the layer is the same however its invokes are written; the golden cases compare the text"
NOT_RUN = {
    "program": UNITS,
    "submodule": UNITS,
    "module subroutine in a submodule": UNITS,
    "module procedure body": UNITS,
    "subroutine outside a module": UNITS,
    **dict.fromkeys(RAW, STYLE),
}
"""The features that no run can show, each with the reason."""

TRUSTED = re.compile(r"/trusted_\d+/\w+/stale")
"""How many halo values differ from the owner's where a kernel is trusted to know what to write."""

FIRST_ORDER = "11"
"""Elements of order 1, one above the lowest, in the horizontal and in the vertical."""

Reader = Callable[..., Answers]


@pytest.fixture(scope="module")
def answers(
    suite_program: Callable[[Mode], Path], tmp_path_factory: pytest.TempPathFactory
) -> Reader:
    """Return what gives the answers of a mode on a number of ranks, with elements of an order."""

    @cache
    def computed(mode: Mode, ranks: int, orders: str = "") -> Answers:
        run = tmp_path_factory.mktemp(f"suite_{mode.name}_{ranks}")
        words = ("", orders) if orders else ()
        done = run_program(suite_program(mode), mode, ranks, run, *words)
        return merge_answers(done.values)

    return computed


def test_every_feature_is_run(suite: Path) -> None:
    """The generated suite and the one written by hand use all but what no run can show."""
    used: set[str] = set()
    for folder in (suite, SOURCES):
        users = users_of_features(read_corpus(folder))
        used |= {feature for feature, names in users.items() if names}
    assert {*METADATA, *ALGORITHM, *RAW} - used - NOT_RUN.keys() == set()
    assert NOT_RUN.keys() & used <= RAW.keys()


def differing(expected: Answers, computed: Answers) -> list[str]:
    """Return the names of the answers that differ in a value."""
    names = written.differing(expected, computed)
    return [name for name in names if not TRUSTED.search(name)]


@pytest.mark.fortran
@pytest.mark.mpi
def test_serial_answers_are_numbers(answers: Reader) -> None:
    """Nothing that the parallel answers are compared with is NaN or untouched poison."""
    assert invalid(answers(SERIAL, 1)) == []


@pytest.mark.fortran
@pytest.mark.mpi
@pytest.mark.parametrize(
    "combination",
    selected([*product(MODES, RANKS)], (OWNED, 1), (ANNEXED, 2), (OWNED, 4), (ANNEXED, 6)),
    ids=lambda combination: "-".join((combination[0].name, str(combination[1]))),
)
def test_answers_do_not_depend_on_the_ranks(answers: Reader, combination: tuple[Mode, int]) -> None:
    mode, ranks = combination
    assert differing(answers(SERIAL, 1), answers(mode, ranks)) == []


@pytest.mark.fortran
@pytest.mark.mpi
@pytest.mark.parametrize(
    "combination",
    selected([*product(THREADS, (1, 4))], (THREADS[0], 1), (THREADS[1], 4)),
    ids=lambda combination: f"{combination[0].threads} threads-{combination[1]}",
)
def test_answers_do_not_depend_on_the_threads(
    answers: Reader, combination: tuple[Mode, int]
) -> None:
    mode, ranks = combination
    assert differing(answers(SERIAL, 1), answers(mode, ranks)) == []


@pytest.mark.fortran
@pytest.mark.mpi
@pytest.mark.parametrize(("mode", "ranks"), [(OWNED, 2), (ANNEXED, 4)])
def test_elements_of_a_higher_order_give_the_same_on_all_ranks(
    answers: Reader, mode: Mode, ranks: int
) -> None:
    """Cells have several dofs at each place, edge and corner, more of which they share."""
    expected = answers(SERIAL, 1, FIRST_ORDER)
    assert invalid(expected) == []
    assert differing(expected, answers(mode, ranks, FIRST_ORDER)) == []
