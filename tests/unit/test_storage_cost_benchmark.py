"""The criterion of `benchmarks/storage_cost.py`, on an idle machine and with other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from generated import Case
from storage_cost import Cost, is_lost, judged_by

CASE = Case("step", "invoke_step", 0)
QUIET, NOISY = (10.0, 10.05, 10.09), (10.0, 10.4, 11.0)


def cost(runs: tuple[float, ...], instructions: float | None, factor: float = 1.0) -> Cost:
    counted = {} if instructions is None else {CASE.name: instructions}
    return Cost({CASE.name: [factor * run for run in runs]}, instructions=counted)


@pytest.mark.parametrize(
    ("runs", "factor", "instructions", "lost"),
    [
        (QUIET, 1.009, 200.0, False),
        (QUIET, 1.012, 100.0, True),
        (NOISY, 1.03, 100.9, False),
        (NOISY, 1.03, 101.1, True),
        (NOISY, 0.97, 101.1, True),
        (NOISY, 1.05, 100.0, True),
        (NOISY, 1.03, None, False),
        (NOISY, 1.05, None, True),
    ],
)
def test_the_clock_decides_where_it_can(
    runs: tuple[float, ...], factor: float, instructions: float | None, lost: bool
) -> None:
    plain = cost(runs, None if instructions is None else 100.0)
    assert is_lost(CASE, cost(runs, instructions, factor), plain) == lost


def test_noise_of_either_program_counts() -> None:
    assert judged_by(CASE, cost(QUIET, 1.0), cost(QUIET, 1.0)) == "clock"
    for mine, plain in ((NOISY, QUIET), (QUIET, NOISY)):
        said = judged_by(CASE, cost(mine, 1.0), cost(plain, 1.0))
        assert said == "instructions, clock beyond +4.00%"
    assert judged_by(CASE, cost(NOISY, None), cost(NOISY, None)) == "clock beyond +4.00%"
