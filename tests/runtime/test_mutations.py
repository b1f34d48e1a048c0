"""Every halo exchange that is generated is needed, and so is each level of its depth.

Each exchange is left out, or made shallower by one level, one at a time. The answers must then
differ from what they should be: NaN from a halo that was not filled, or a value of before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.mutations import Outcome, judge, lines_of, number_exchanges
from runtime.programs import (
    ANNEXED,
    OWNED,
    Mode,
    build_program,
    generate,
    run_program,
)

MODES = (OWNED, ANNEXED)
RANKS = 4

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


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


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_every_exchange_is_needed_to_its_full_depth(
    outcomes: Callable[[Mode], list[Outcome]], mode: Mode
) -> None:
    tried = outcomes(mode)
    never_done = {one.mutation for one in tried if not one.reached}
    assert not {mutation for mutation in never_done if mutation.startswith("drop")}
    assert not {one.mutation for one in tried if one.reached and not one.noticed}
