"""Every halo exchange that is generated is needed, and so is each level of its depth.

Each exchange is left out, or made shallower by one level, one at a time. The answers must then
differ from what they should be: NaN from a halo that was not filled, or a value of before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from runtime.mutations import Exchange, number_exchanges
from runtime.programs import (
    ANNEXED,
    OWNED,
    Mode,
    Run,
    build_program,
    generate,
    run_program,
)

MODES = (OWNED, ANNEXED)
RANKS = 4

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one mutation.

    Attributes:
        mutation: the place of the exchange and what was done to it, `drop` or `shorten`.
        reached: whether the program has done something else because of it.
        noticed: whether the answers have changed.
    """

    mutation: str
    reached: bool
    noticed: bool


@pytest.fixture(scope="session")
def outcomes(
    library: Path, support: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Mode], list[Outcome]]:
    """Return what tries all mutations of a mode."""

    def tried(mode: Mode) -> list[Outcome]:
        folder = tmp_path_factory.mktemp(f"mutated_{mode.name}")
        exchanges = number_exchanges(generate(mode, folder))
        program = build_program(library, support, folder)
        table = folder / "mutations.txt"
        table.write_text("".join(lines_of(exchanges)), encoding="utf-8")
        run = run_program(program, mode, RANKS, folder / "run", str(table))
        return judge(run, exchanges)

    return tried


def lines_of(exchanges: list[Exchange]) -> list[str]:
    """Return the mutations to try, and each algorithm without one for comparison."""
    algorithms = sorted({exchange.algorithm for exchange in exchanges})
    plain = [f"0 none {name}\n" for name in algorithms]
    return plain + [
        f"{exchange.number} {change} {exchange.algorithm}\n"
        for exchange in exchanges
        for change in ("drop", "shorten")
    ]


def judge(run: Run, exchanges: list[Exchange]) -> list[Outcome]:
    """Return what came of each mutation over all meshes."""
    lines = [line.split() for line in run.answers[0]]
    right = {(mesh, name): digest for mesh, _, change, name, _, digest in lines if change == "none"}
    reached: dict[str, bool] = {}
    noticed: dict[str, bool] = {}
    for mesh, number, change, algorithm, was_mutated, digest in lines:
        if change == "none":
            continue
        mutation = f"{change} {exchanges[int(number) - 1].place}"
        reached[mutation] = reached.get(mutation, False) or was_mutated == "T"
        noticed[mutation] = noticed.get(mutation, False) or digest != right[mesh, algorithm]
    return [Outcome(mutation, reached[mutation], noticed[mutation]) for mutation in reached]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_every_exchange_is_needed_to_its_full_depth(
    outcomes: Callable[[Mode], list[Outcome]], mode: Mode
) -> None:
    tried = outcomes(mode)
    never_done = {one.mutation for one in tried if not one.reached}
    assert not {mutation for mutation in never_done if mutation.startswith("drop")}
    assert not {one.mutation for one in tried if one.reached and not one.noticed}
