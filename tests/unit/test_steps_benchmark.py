"""The criterion of the benchmark of steps, tested with given times."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from generated import Timing, Variant
from steps import MOST_LOST, Pair, Timings, different, losses, recipes_without, status

AUTO, NONE, FUSE = Variant("`auto`"), Variant("no steps"), Variant("fuse")
PAIRS = ((AUTO, NONE), (AUTO, FUSE))


def taking(of: Mapping[Variant, float], case: str = "stencils") -> Timings:
    """Return timings of which the least of three runs is what is given."""
    return {one: Timing({case: [least + 1, least, least + 3]}) for one, least in of.items()}


def test_a_planted_slow_step_fails(capsys: pytest.CaptureFixture[str]) -> None:
    slow = taking({AUTO: 1.2, NONE: 1.0, FUSE: 1.19})
    lost = list(losses(["stencils"], PAIRS, slow, lambda _: slow))
    assert lost == ["stencils: '`auto`' is slower than 'no steps': 1.2 ms, 1 ms."]
    assert status(lost) == 1
    assert lost[0] in capsys.readouterr().out


def test_what_is_not_slow_again_is_noise(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Pair] = []

    def again(pair: Pair) -> Timings:
        asked.append(pair)
        return taking({AUTO: 1.0, NONE: 1.0})

    slow = taking({AUTO: 1.2, NONE: 1.0, FUSE: 1.3})
    assert status(list(losses(["stencils"], PAIRS, slow, again))) == 0
    assert asked == [(AUTO, NONE)]
    assert "Nothing makes code slower." in capsys.readouterr().out


@pytest.mark.parametrize(("factor", "is_lost"), [(0.999, False), (1.001, True)])
def test_a_twentieth_may_be_lost(factor: float, is_lost: bool) -> None:
    near = taking({AUTO: MOST_LOST * factor, NONE: 1.0, FUSE: 2.0})
    assert bool(list(losses(["stencils"], PAIRS, near, lambda _: near))) == is_lost


def test_each_case_is_judged_by_itself() -> None:
    figures = {AUTO: (1.0, 2.0), NONE: (1.0, 1.0), FUSE: (2.0, 2.0)}
    both = {one: Timing({"a": [a], "b": [b]}) for one, (a, b) in figures.items()}
    assert [line[:2] for line in losses(["a", "b"], PAIRS, both, lambda _: both)] == ["b:"]


def test_each_step_of_a_recipe_is_left_out_once() -> None:
    parts = dict(recipes_without("auto"))
    assert "fuse" in parts
    assert all(part not in str(steps).split("; ") for part, steps in parts.items())
    assert parts["openmp-do; openmp-parallel"] is not None
    assert dict(recipes_without("colour")) == {"colour": None}


def test_two_programs_are_compared_once() -> None:
    programs = {AUTO: Path("a"), NONE: Path("b"), FUSE: Path("b")}
    assert different(PAIRS, programs) == [(AUTO, NONE)]
    assert different(PAIRS, {**programs, FUSE: Path("c")}) == list(PAIRS)
