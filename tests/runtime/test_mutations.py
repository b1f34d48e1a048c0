"""All generated code is necessary: each omission or change, one at a time, is detected.

Either the results of the running program differ, because of NaN in a halo that was not filled or
because of an old value; or the checker in `coherence.check_halos` finds an entry state in which a
stale value is read or promised.

| mutation | detected by |
|---|---|
| an exchange is dropped, or one level shallower | the run |
| a reduction over ranks is dropped | the run |
| a loop covers less | the run, or the checker if only copies are computed |
| a loop covers more | the run for reductions; the rules for forbidden extents; the checker |
| a flag update is dropped | the run, or the checker |
| incremented dofs are not filled | the checker, and programs that trap (`test_never_filled`) |
| colours of an increment are dropped | the run, with concurrent iterations |
| a private variable is shared | the run, with another thread's value |

Loops that cover more are harmless if all data that they read are valid, and so are the mutations in
`WITHOUT_EFFECT`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from runtime.mutated_schedules import Mutant, beyond_memory, mutants, noticed_by
from runtime.mutations import (
    EXCHANGES,
    LOOPS,
    MARKS,
    SUMS,
    Outcome,
    judge,
    kind_of,
    lines_of,
    number_places,
    right_digests,
)
from runtime.programs import (
    ANNEXED,
    OWNED,
    SOURCES,
    Mode,
    Run,
    build_program,
    generate,
    run_program,
)
from runtime.uncoloured import number_colours

KINDS = {OWNED: (EXCHANGES, MARKS, SUMS, LOOPS), ANNEXED: (EXCHANGES,)}
RANKS = 4

WITHOUT_EFFECT = {
    # Sums, of errors and of values out of range, that are 0 on each rank and at each dof.
    *(
        f"drop columns/invoke_compare/reduce(error_of_{name})/1"
        for name in ("one", "two", "product")
    ),
    *(f"narrow columns/invoke_compare/loop{number}" for number in (15, 16, 17)),
    *(
        f"drop columns/invoke_compare/private(error_of_{name})/{number}"
        for number, name in enumerate(("one", "two", "product"), start=1)
    ),
    "drop dofs/invoke_random/reduce(outside)/1",
    "drop dofs/invoke_random/private(outside)/24",
    "narrow dofs/invoke_random/loop6",
    "narrow dofs/invoke_random/loop7",
    # Extremes that each rank has, and not at its last dof alone.
    "drop dofs/invoke_vectors/reduce(greatest)/1",
    "narrow dofs/invoke_vectors/loop4",
    "narrow dofs/invoke_vectors/loop5",
    # Matrices of halo cells, which are always computed as a later invoke may read them.
    "narrow columns/invoke_compare/loop10",
    # The last value of a mask, which is at the top of a column; kernels look at the bottom.
    "narrow subset/invoke_some_cells/loop1",
    # A field that the next invoke writes without a look at it.
    "narrow meshes/invoke_there_and_back/loop5",
    # All cells write the same, so that they need no colours.
    "drop continuous/invoke_write/colours(double)/5",
}
"""What is needed in general, but not for the answers of these programs."""

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Tried = Callable[[Mode], tuple[Run, list[Outcome]]]
COLOURED = Mode("owned", (*OWNED.options, "--apply", "colour; openmp-parallel-do"))


@pytest.fixture(scope="module")
def changed() -> dict[str, Mutant]:
    """Return the mutants of the schedules of the mode `owned`, by name."""
    return {mutant.name: mutant for mutant in mutants(SOURCES, annexed=False, by_halves=True)}


@pytest.fixture(scope="module")
def outcomes(
    library: Path,
    support: Path,
    changed: dict[str, Mutant],
    tmp_path_factory: pytest.TempPathFactory,
) -> Tried:
    """Return what tries all mutations of a mode."""

    @cache
    def tried(mode: Mode) -> tuple[Run, list[Outcome]]:
        folder = tmp_path_factory.mktemp(f"mutated_{mode.name}")
        layers = generate(mode, folder, by_halves=True)
        places = number_colours(layers) if mode == COLOURED else number_places(layers, KINDS[mode])
        program = build_program(library, support, folder)
        table = folder / "mutations.txt"
        table.write_text("".join(lines_of(places, beyond_memory(changed))), encoding="utf-8")
        run = run_program(program, mode, RANKS, folder / "run", str(table))
        return run, judge(run, places)

    return tried


@pytest.mark.parametrize("mode", KINDS, ids=lambda mode: mode.name)
def test_every_exchange_is_needed_to_its_full_depth(outcomes: Tried, mode: Mode) -> None:
    tried = [one for one in outcomes(mode)[1] if kind_of(one.mutation) in ("drop", "shorten")]
    never_done = {one.mutation for one in tried if not one.reached}
    assert not {mutation for mutation in never_done if mutation.startswith("drop")}
    assert not {one.mutation for one in tried if one.reached and not one.noticed}


def test_every_other_mutation_is_noticed_or_harmless(
    outcomes: Tried, changed: dict[str, Mutant]
) -> None:
    tried = {one.mutation: one for one in outcomes(OWNED)[1]}
    noticed: dict[str, Counter[str]] = {}
    unnoticed: set[str] = set()
    for name in {*changed, *tried}:
        kind = kind_of(name)
        if kind in ("drop", "shorten"):
            continue
        by = noticed_by(tried.get(name), changed.get(name))
        if by == "nobody" and kind != "widen":
            unnoticed.add(name)
        noticed.setdefault(kind, Counter())[by] += 1
    assert unnoticed <= WITHOUT_EFFECT
    assert noticed["drop reduce"]["the run"] >= 3
    assert noticed["narrow"]["the run"] > 80
    assert noticed["widen"]["the run"] >= 3
    assert noticed["widen"]["the adversary"] > 60
    assert noticed["widen"]["the rules"] > 10
    assert noticed["drop mark"]["the run"] + noticed["drop mark"]["the adversary"] > 60
    assert noticed["drop mark"]["nobody"] == 0
    assert noticed["drop fill"]["nobody"] == 0
    assert noticed["drop fill"]["the adversary"] > 4


def test_no_loop_goes_too_far_without_a_word_of_the_adversary(
    outcomes: Tried, changed: dict[str, Mutant]
) -> None:
    """The adversary is not milder than what really happens."""
    found = [
        changed[one.mutation]
        for one in outcomes(OWNED)[1]
        if one.mutation.startswith("widen") and one.noticed
    ]
    assert all(one.reduces or one.refused or one.found_out for one in found)


def test_cells_of_a_colour_may_happen_at_once_but_not_those_of_all(outcomes: Tried) -> None:
    run, every = outcomes(COLOURED)
    tried = [one for one in every if "/colours(" in one.mutation]
    assert right_digests(run).items() <= right_digests(outcomes(OWNED)[0]).items()
    assert len(tried) > 20
    assert {one.mutation for one in tried if not one.noticed} <= WITHOUT_EFFECT


def test_every_variable_of_a_thread_has_to_be_its_own(outcomes: Tried) -> None:
    """Also those that reductions add up or compare."""
    tried = [one for one in outcomes(COLOURED)[1] if "/private(" in one.mutation]
    assert len(tried) > 30
    assert all(one.reached for one in tried)
    assert {one.mutation for one in tried if not one.noticed} <= WITHOUT_EFFECT
