"""Generated LFRic code computes the same on any number of ranks as it does without MPI.

The algorithms are those in `lfric/`. All values are small integers, whose sums are exact in any
order, so results are compared digit for digit. Before each invoke, halo values that are flagged as
stale are NaN, so that their use is visible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pairwise import selected
from runtime.answers import Answers, differing, invalid, merge_answers, part_of
from runtime.programs import (
    ANNEXED,
    OWNED,
    SERIAL,
    SOURCES,
    Mode,
    Run,
    build_program,
    generate,
    run_program,
)

ALGORITHMS = sorted(path.stem.removesuffix("_alg_mod") for path in SOURCES.glob("*.x90"))
RANKS = (1, 2, 4, 6)
MODES = (OWNED, ANNEXED)
DISTRIBUTED = ("-dm", "--apply")
JOINT = ("-dm", "--config-opts", "JOINT_EXCHANGES=true")
OVERLAPPED = ("-dm", "--config-opts", "JOINT_EXCHANGES=overlapped")
FOR_THREADS = "colour{tiling=true for_threads=true}"
RECIPES = {
    "coloured, on two threads": Mode(
        "owned", (*DISTRIBUTED, "colour; openmp-parallel-do"), threads=2
    ),
    "kernels in place, in tiles of colours, on two threads": Mode(
        "owned",
        (*DISTRIBUTED, "colour{tiling=true}; inline-summing-call; openmp-parallel-do; inline-call"),
        threads=2,
    ),
    "tiles of colours in the halo": Mode(
        "owned", (*DISTRIBUTED, "colour{tiling=true}; compute-redundantly{depth=1}")
    ),
    "colours for threads, on one thread": Mode(
        "owned",
        (*DISTRIBUTED, f"{FOR_THREADS}; compute-redundantly{{depth=1}}; openmp-parallel-do"),
    ),
    "exchanges in two calls": Mode("owned", (*DISTRIBUTED, "split-exchange")),
    "exchanges under way over loops": Mode("owned", (*DISTRIBUTED, "overlap")),
    "exchanges of several fields together": Mode("owned", JOINT),
    "exchanges of several fields at the same time": Mode("owned", OVERLAPPED),
    "those before a redundant computation": Mode(
        "annexed",
        (
            "-dm",
            "--config-opts",
            "COMPUTE_ANNEXED_DOFS=true JOINT_EXCHANGES=overlapped",
            "--apply",
            "compute-redundantly{depth=1}",
        ),
    ),
    "several fields under way together": Mode(
        "owned", (*JOINT, "--apply", "split-interior; overlap")
    ),
    "interiors meanwhile, on two threads": Mode(
        "annexed",
        (
            *ANNEXED.options,
            "--apply",
            "compute-redundantly{depth=1}; split-interior; overlap; openmp-parallel-do",
        ),
        threads=2,
    ),
    "redundant computation": Mode("owned", (*DISTRIBUTED, "compute-redundantly{depth=1}")),
}

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Runner = Callable[[Mode, int], Run]
Reader = Callable[[Mode, int], Answers]


@pytest.fixture(scope="module")
def run(library: Path, support: Path, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Return what runs the code of a mode on a number of ranks, once."""

    @cache
    def built(mode: Mode) -> Path:  # what a program is told does not change it
        folder = tmp_path_factory.mktemp(mode.name)
        generate(mode, folder)
        return build_program(library, support, folder)

    @cache
    def ran(mode: Mode, ranks: int) -> Run:
        program = built(replace(mode, name="program", threads=1))
        return run_program(program, mode, ranks, program.with_name(f"ranks{ranks}"))

    return ran


@pytest.fixture(scope="module")
def answers(run: Runner) -> Reader:
    """Return what gives the answers of a mode on a number of ranks."""
    return cache(lambda mode, ranks: merge_answers(run(mode, ranks).values))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_serial_answers_are_numbers(answers: Reader, algorithm: str) -> None:
    """Nothing that the parallel answers are compared with is NaN or untouched poison."""
    assert invalid(part_of(answers(SERIAL, 1), algorithm)) == []


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_answers_do_not_depend_on_the_ranks(
    answers: Reader, algorithm: str, mode: Mode, ranks: int
) -> None:
    expected = part_of(answers(SERIAL, 1), algorithm)
    computed = part_of(answers(mode, ranks), algorithm)
    assert differing(expected, computed) == []


@pytest.mark.parametrize("ranks", selected((1, 2, 4), 1, 4))
@pytest.mark.parametrize("recipe", RECIPES)
def test_transformed_layers_give_the_same_answers(answers: Reader, recipe: str, ranks: int) -> None:
    assert differing(answers(SERIAL, 1), answers(RECIPES[recipe], ranks)) == []


def test_interiors_need_no_inner_halos(answers: Reader) -> None:
    """Where inner cells are not told apart by their depth, nothing is inside at depth 2."""
    mode = replace(RECIPES["interiors meanwhile, on two threads"], name="annexed-innerless")
    assert differing(answers(SERIAL, 1), answers(mode, 4)) == []


@pytest.mark.parametrize(("mode", "ranks"), [(SERIAL, 1), (OWNED, 4)])
def test_columnwise_operators_do_what_operators_do(answers: Reader, mode: Mode, ranks: int) -> None:
    """Assembled, applied and multiplied, they are the operators that they were assembled from."""
    columns = part_of(answers(mode, ranks), "columns")
    errors = [value for name, value in columns.items() if "/error_" in name]
    assert len(errors) == 3 * 4 * 5
    assert {float(error) for error in errors} == {0.0}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_every_rank_counts_the_same_exchanges(run: Runner, mode: Mode) -> None:
    exchanges = {one.exchanges for ranks in RANKS for one in run(mode, ranks).statistics}
    assert len(exchanges) == 1
    assert exchanges != {0}


def test_annexed_dofs_that_are_computed_save_exchanges(run: Runner) -> None:
    saved = run(OWNED, 1).statistics[0].exchanges - run(ANNEXED, 1).statistics[0].exchanges
    assert saved > 0


def test_an_exchange_is_one_message_for_each_neighbour(run: Runner) -> None:
    """Four ranks on a biperiodic plane have three neighbours each, and so has each with borders."""
    assert all(one.messages == 0 for one in run(OWNED, 1).statistics)
    assert all(one.messages == 3 * one.exchanges for one in run(OWNED, 4).statistics)
