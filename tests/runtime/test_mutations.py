"""What is generated is needed: whatever is left out or changed, one at a time, is noticed.

The answers of the running program differ then, from NaN in a halo that was not filled or from a
value of before; or else the adversary of `analysis.check` finds an entry state in which something
stale is read or promised.

| what is done | noticed by |
|---|---|
| an exchange is dropped, or one level shallower | the run |
| a reduction over ranks is dropped | the run |
| a loop stops earlier | the run, or the adversary where only replicas are computed |
| a loop goes further | the run if it reduces; the rules if it must not; the adversary |
| a mark of a halo is dropped | the run, or the adversary |
| colours of an increment are dropped | the run, with iterations at the same time |

Harmless are loops that go further where all that they read is right, marks that an exchange to the
same depth follows, and what `WITHOUT_EFFECT` lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from runtime.mutated_schedules import Mutant, mutants
from runtime.mutations import (
    EXCHANGES,
    LOOPS,
    MARKS,
    SUMS,
    Outcome,
    judge,
    lines_of,
    number_places,
    right_digests,
)
from runtime.programs import (
    ANNEXED,
    OWNED,
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
    "drop dofs/invoke_random/reduce(outside)/1",
    "narrow dofs/invoke_random/loop6",
    "narrow dofs/invoke_random/loop7",
    # Extremes that each rank has, and not at its last dof alone.
    "drop dofs/invoke_vectors/reduce(greatest)/1",
    "narrow dofs/invoke_vectors/loop4",
    "narrow dofs/invoke_vectors/loop5",
    # Matrices of halo cells, which are always computed as a later invoke may read them.
    "narrow columns/invoke_compare/loop10",
    # A field that the next invoke writes without a look at it.
    "narrow meshes/invoke_there_and_back/loop5",
    # All cells write the same, so that they need no colours.
    "drop continuous/invoke_write/colours(double)/5",
}
"""What is needed in general, but not for the answers of these programs."""

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Tried = Callable[[Mode], tuple[Run, list[Outcome]]]
COLOURED = Mode("owned", ("-dm", "--apply", "colour; openmp-parallel-do"))


@pytest.fixture(scope="module")
def changed() -> dict[str, Mutant]:
    """Return the mutants of the schedules of the mode `owned`, by name."""
    return {mutant.name: mutant for mutant in mutants(annexed=False)}


@pytest.fixture(scope="module")
def outcomes(
    library: Path,
    support: Path,
    changed: dict[str, Mutant],
    tmp_path_factory: pytest.TempPathFactory,
) -> Tried:
    """Return what tries all mutations of a mode."""
    beyond = {name for name, one in changed.items() if name.startswith("widen") and not one.may_run}

    @cache
    def tried(mode: Mode) -> tuple[Run, list[Outcome]]:
        folder = tmp_path_factory.mktemp(f"mutated_{mode.name}")
        layers = generate(mode, folder)
        places = number_colours(layers) if mode == COLOURED else number_places(layers, KINDS[mode])
        program = build_program(library, support, folder)
        table = folder / "mutations.txt"
        table.write_text("".join(lines_of(places, frozenset(beyond))), encoding="utf-8")
        run = run_program(program, mode, RANKS, folder / "run", str(table))
        return run, judge(run, places)

    return tried


def kind_of(mutation: str) -> str:
    """Return what was done, such as `drop mark`."""
    change, place = mutation.split()
    label = place.split("/")[2].partition("(")[0]
    return f"{change} {label}" if label in ("mark", "reduce") else change


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
        if by == "nobody" and not is_harmless(kind, changed.get(name)):
            unnoticed.add(name)
        noticed.setdefault(kind, Counter())[by] += 1
    assert unnoticed <= WITHOUT_EFFECT
    assert noticed["drop reduce"]["the run"] >= 3
    assert noticed["narrow"]["the run"] > 80
    assert noticed["widen"]["the run"] >= 3
    assert noticed["widen"]["the adversary"] > 60
    assert noticed["widen"]["the rules"] > 10
    assert noticed["drop mark"]["the run"] + noticed["drop mark"]["the adversary"] > 60
    assert noticed["drop mark"]["nobody"] < 10


def noticed_by(outcome: Outcome | None, mutant: Mutant | None) -> str:
    """Return who notices a mutation first."""
    if outcome is not None and outcome.noticed:
        return "the run"
    if mutant is not None and mutant.refused:
        return "the rules"
    if mutant is not None and mutant.found_out:
        return "the adversary"
    return "nobody"


def is_harmless(kind: str, mutant: Mutant | None) -> bool:
    """Return whether it is certain that a mutation which nobody notices does no harm."""
    overtaken = mutant is not None and mutant.is_overtaken
    return kind == "widen" or (kind == "drop mark" and overtaken)


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
    run, tried = outcomes(COLOURED)
    assert right_digests(run).items() <= right_digests(outcomes(OWNED)[0]).items()
    assert len(tried) > 20
    assert {one.mutation for one in tried if not one.noticed} <= WITHOUT_EFFECT
