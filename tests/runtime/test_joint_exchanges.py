"""JOINT_EXCHANGES: as much is exchanged in fewer messages, and no field is there in vain.

That the answers are the same is in `test_ranks.py` and `test_gocean_ranks.py`, with all other ways
to generate the same code. Here messages are counted, and fields are taken out of generated calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from runtime import answers, gocean_suite, programs
from runtime.programs import Mode, Run, Statistics, merge_answers, run_program

APART = Mode("owned", ("-dm",))
JOINT = Mode("owned", ("-dm", "--config-opts", "JOINT_EXCHANGES=true"))
UNDER_WAY = Mode("owned", (*JOINT.options, "--apply", "overlap"))
CALL = re.compile(
    r"call (?:exchange_fields|exchange_several|\w+%start)\("
    r"\[(?P<fields>[^\]]*)\], \[(?P<depths>[^\]]*)\]"
)
ITEM_ENDS = re.compile(r", (?![^(]*\))")
"""The commas between items, which are not in parentheses: `max(1_i_def, depth)` is one item."""
RANKS = 4

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Runner = Callable[[str, Mode, int | None], tuple[Run, list[str]]]
"""Runs the code of an API in a mode, all of it or with the field at a place of each joint call left
out; gives the run and the algorithms with such calls."""


def without_field(text: str, place: int) -> str:
    """Return a generated layer with the field at `place` left out of each joint exchange."""

    def shorter(match: re.Match[str]) -> str:
        kept = match[0]
        parts = {name: ITEM_ENDS.split(match[name]) for name in ("fields", "depths")}
        assert len(parts["fields"]) == len(parts["depths"])
        for name, items in parts.items():
            kept = kept.replace(f"[{match[name]}]", f"[{', '.join(left_out(items, place))}]")
        return kept

    return CALL.sub(shorter, re.sub(r"&\n *", "", text))


def left_out(items: list[str], place: int) -> list[str]:
    assert len(items) > 1
    return [item for at, item in enumerate(items) if at != place]


def mutate(layers: Iterable[Path], place: int | None) -> list[str]:
    """Change the layers in place, if a place is given; return the algorithms with joint calls."""
    joint = []
    for path in layers:
        text = path.read_text(encoding="utf-8")
        if CALL.search(re.sub(r"&\n *", "", text)):
            joint.append(path.stem.removesuffix("_psy").removesuffix("_alg_mod"))
        if place is not None:
            path.write_text(without_field(text, place), encoding="utf-8")
    return joint


@pytest.fixture(scope="module")
def run(
    library: Path,
    support: Path,
    gocean_parts: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Runner:
    @cache
    def ran(api: str, mode: Mode, place: int | None) -> tuple[Run, list[str]]:
        folder = tmp_path_factory.mktemp(f"{api}_joint")
        if api == "lfric":
            joint = mutate(programs.generate(mode, folder), place)
            program = programs.build_program(library, support, folder)
            return run_program(program, mode, RANKS, folder / "run"), joint
        joint = mutate(gocean_suite.generate(mode, folder), place)
        program = gocean_suite.build_program(*gocean_parts, folder)
        return gocean_suite.run_all(program, mode, RANKS, "best"), joint

    return ran


def total(run: Run) -> Statistics:
    parts = run.statistics
    return Statistics(
        sum(one.exchanges for one in parts),
        sum(one.messages for one in parts),
        sum(one.size for one in parts),
    )


def algorithms_that_differ(api: str, whole: Run, mutated: Run) -> set[str]:
    if api == "lfric":
        merged = [answers.merge_answers(run.values) for run in (whole, mutated)]
        return {name.split("/")[1] for name in answers.differing(*merged)}
    expected, computed = merge_answers(whole), merge_answers(mutated)
    assert computed.keys() == expected.keys()
    return {key[0].split("/")[1] for key in expected if computed[key] != expected[key]}


@pytest.mark.parametrize("api", ["lfric", "gocean"])
def test_as_much_is_exchanged_in_fewer_messages(run: Runner, api: str) -> None:
    apart, together = (total(run(api, mode, None)[0]) for mode in (APART, JOINT))
    assert together.messages < apart.messages
    assert (together.exchanges, together.size) == (apart.exchanges, apart.size)


def test_what_is_started_together_goes_in_fewer_messages(run: Runner) -> None:
    apart, together = (total(run("lfric", mode, None)[0]) for mode in (APART, UNDER_WAY))
    assert together.messages < apart.messages
    assert (together.exchanges, together.size) == (apart.exchanges, apart.size)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("api", ["lfric", "gocean"])
def test_a_field_that_is_left_out_is_missed(run: Runner, api: str, place: int) -> None:
    whole, joint = run(api, JOINT, None)
    mutated, _ = run(api, JOINT, place)
    assert joint
    assert algorithms_that_differ(api, whole, mutated) == set(joint)
