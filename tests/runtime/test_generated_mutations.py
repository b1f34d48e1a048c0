"""All code that is generated for the features of LFRic's metadata is necessary.

As `test_mutations.py`, with the generated suite and both settings of annexed dofs. The programs are
those of `test_generated.py`. A mutation that neither the run nor the rules nor the checker detect
must be harmless by a rule (`why_harmless`), not by its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from pairwise import selected
from psyclone_storage.infrastructures.lfric import is_continuous
from runtime.generated.builds import MUTATED, OWNED, read_places
from runtime.mutated_schedules import Mutant, beyond_memory, mutants, noticed_by
from runtime.mutations import Outcome, judge, kind_of, lines_of
from runtime.programs import Mode, run_program

RANKS = 2
MODES = selected(MUTATED, OWNED)
MADE = re.compile(r"call new_field\((\w+)(?:\(\d\))?, (\w+), '(\w+)/")

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


@dataclass(frozen=True)
class Tried:
    """All mutations of a mode, by name.

    Attributes:
        outcomes: those that were run.
        mutants: those that a schedule says.
        noticed: who has noticed each.
    """

    outcomes: dict[str, Outcome]
    mutants: dict[str, Mutant]
    noticed: dict[str, str]

    def of_kind(self, kind: str) -> Counter[str]:
        """Return how many of a kind were noticed by whom."""
        return Counter(by for name, by in self.noticed.items() if kind_of(name) == kind)


Trying = Callable[[Mode], Tried]


@pytest.fixture(scope="module")
def tried(
    suite: Path, suite_program: Callable[[Mode], Path], tmp_path_factory: pytest.TempPathFactory
) -> Trying:
    """Return what tries all mutations of a mode."""

    @cache
    def trying(mode: Mode) -> Tried:
        folder = tmp_path_factory.mktemp(f"mutated_suite_{mode.name}")
        program = suite_program(mode)
        places = read_places(program.parent)
        changed = {one.name: one for one in mutants(suite, mode.name == "annexed")}
        table = folder / "mutations.txt"
        table.write_text("".join(lines_of(places, beyond_memory(changed))), encoding="utf-8")
        run = run_program(program, mode, RANKS, folder / "run", str(table))
        outcomes = {one.mutation: one for one in judge(run, places)}
        names = {**changed, **outcomes}
        noticed = {name: noticed_by(outcomes.get(name), changed.get(name)) for name in names}
        return Tried(outcomes, changed, noticed)

    return trying


@pytest.fixture(scope="module")
def discontinuous(suite: Path) -> dict[str, frozenset[str]]:
    """Return the fields of each algorithm that share no dofs between cells."""
    found: dict[str, frozenset[str]] = {}
    for path in suite.glob("*.x90"):
        for name, space, algorithm in MADE.findall(path.read_text(encoding="utf-8")):
            if not is_continuous(space.lower()):
                found[algorithm] = found.get(algorithm, frozenset()) | {name}
    return found


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_what_can_be_mutated_in_a_layer_is_what_its_schedule_says(
    tried: Trying, mode: Mode
) -> None:
    """Loops over the domain have no limits; a sum has no extent."""
    one = tried(mode)
    of_schedules = {name for name in one.mutants if kind_of(name) in ("drop", "drop mark")}
    of_layers = {name for name in one.outcomes if kind_of(name) in ("drop", "drop mark")}
    assert of_schedules == of_layers
    assert {kind_of(name) for name in one.outcomes.keys() - one.mutants.keys()} == {"drop reduce"}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_every_exchange_mark_and_reduction_is_noticed(tried: Trying, mode: Mode) -> None:
    one = tried(mode)
    kinds = ("drop", "shorten", "drop mark", "drop reduce")
    assert not {kind: one.of_kind(kind)["nobody"] for kind in kinds if one.of_kind(kind)["nobody"]}
    assert one.of_kind("drop")["the run"] > 180
    assert one.of_kind("shorten")["the run"] > 40
    assert one.of_kind("drop mark")["the run"] > 350
    assert one.of_kind("drop reduce")["the run"] > 20


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_every_other_limit_of_a_loop_is_noticed_or_harmless_for_a_reason(
    tried: Trying, discontinuous: dict[str, frozenset[str]], mode: Mode
) -> None:
    one = tried(mode)
    found = {
        one.mutants[name].work
        for name, by in one.noticed.items()
        if kind_of(name) == "narrow" and by == "the run"
    }
    left = [name for name, by in one.noticed.items() if by == "nobody" and "narrow" in name]
    unexplained = {
        name
        for name in left
        if one.outcomes[name].reached
        and one.mutants[name].work not in found
        and not any(why_harmless(one.mutants[name], discontinuous))
    }
    assert unexplained == set()
    assert one.of_kind("narrow")["the run"] > 250
    assert one.of_kind("widen")["the adversary"] > 300
    assert one.of_kind("widen")["the rules"] > 20


def why_harmless(mutant: Mutant, discontinuous: dict[str, frozenset[str]]) -> Iterator[bool]:
    """Yield whether a loop may stop earlier in this suite, for each possible reason.

    A loop over halo cells is there for dofs that cells share, which a space known at run time alone
    may not have. How far into the halo a kernel is called of its own accord is for the algorithm to
    say. What is never looked at may have any value, extremes are at a few dofs, and any cell around
    a dof may set it to 0. Annexed dofs are computed because the setting says so, also where an
    exchange follows.
    """
    algorithm = mutant.name.split()[1].split("/")[0]
    fields = mutant.shares_nothing_if
    yield bool(fields) and fields <= discontinuous.get(algorithm, frozenset())
    yield mutant.is_asked_for
    yield mutant.is_unread
    yield mutant.seeks_extremes
    yield mutant.clears_boundary
    yield mutant.is_for_annexed_dofs


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_the_adversary_is_not_milder_than_what_really_happens(tried: Trying, mode: Mode) -> None:
    one = tried(mode)
    seen = {name for name, outcome in one.outcomes.items() if outcome.noticed}
    for name in seen & one.mutants.keys():
        mutant, kind = one.mutants[name], kind_of(name)
        if kind == "widen":
            assert mutant.reduces or mutant.refused or mutant.found_out, name
        elif kind != "narrow":
            assert mutant.found_out, name
