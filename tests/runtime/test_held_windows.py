"""What layers hold and use is found in their text: each thing left out, and each brought early.

Layers of the run suites are read as they are generated (`check_windows`); here those of the cases.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from runtime.held_windows import faults_in, mutants_of, routines_in

CASES = Path(__file__).parents[1] / "cases"
LAYERS = sorted(
    path
    for api, target in (("*", "storage*"), ("*", "registry*"))
    for path in CASES.glob(f"{api}/{target}/expected/**/*psy.f90")
)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda path: str(path.relative_to(CASES).parent))
def test_layers_use_what_they_hold_and_nothing_else(layer: Path) -> None:
    routines = list(routines_in(layer.read_text(encoding="utf-8")))
    assert routines
    assert [fault for lines in routines for fault in faults_in(lines)] == []


@cache
def mutants() -> dict[str, list[str]]:
    """Return what is wrong in each mutant of all layers."""
    return {
        f"{layer.relative_to(CASES)}: {what}": faults_in(lines)
        for layer in LAYERS
        for routine in routines_in(layer.read_text(encoding="utf-8"))
        for what, lines in mutants_of(routine)
    }


def test_each_thing_that_is_left_out_is_found() -> None:
    """But what begins to be brought early: without that it is brought later."""
    found = mutants()
    left_out = {what: faults for what, faults in found.items() if ": without " in what}
    assert len(left_out) > 60
    unnoticed = [what for what, faults in left_out.items() if not faults]
    assert len(unnoticed) == 2
    assert all("%prefetch(" in what for what in unnoticed)


def test_what_is_brought_to_the_other_side_or_too_early_is_found() -> None:
    found = mutants()
    early = {what: faults for what, faults in found.items() if ": too early" in what}
    other = {what: faults for what, faults in found.items() if ": to the other side" in what}
    assert len(early) > 2
    assert len(other) == 2
    assert all(early.values())
    assert all(other.values())
