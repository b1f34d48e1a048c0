"""LFRic layers that acquire and release fields compute what plain layers do, wherever values are.

With one memory, and with an emulated device whose copies are spoilt when they are stale, as are the
host's: an acquire that is missing, or an exchange, gives NaN. Loops run on the host, or in regions
for the device. Before each invoke half of the fields are on the device alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from runtime.answers import Answers, differing, merge_answers
from runtime.mutations import EXCHANGES, HOLDS, Outcome, judge, kind_of, lines_of, number_places
from runtime.programs import (
    ANNEXED,
    OWNED,
    SERIAL,
    Mode,
    build_program,
    generate,
    run_program,
    without_filling,
)

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

TARGET = ("--target", "storage")
DEVICE_STEPS = "colour; inline-kernel-module; acc-routine; acc-loop; acc-parallel"
RANKS = (1, 2, 4, 6)
BESIDE = {mode.name: Mode(mode.name, (*mode.options, *TARGET)) for mode in (OWNED, ANNEXED)}
ON_DEVICE = {
    name: Mode(name, (*mode.options, "--apply", DEVICE_STEPS)) for name, mode in BESIDE.items()
}
OTHERS = {
    "exchanges under way over loops": "split-interior; overlap",
    "coloured, on two threads": "colour; openmp-parallel-do",
    "tiles of colours, on two threads": "colour{tiling=true}; openmp-parallel-do",
}
WITHOUT_EFFECT = {
    # Values that are brought and overwritten: metadata do not promise that for operators, shared
    # dofs, between meshes and for other numbers of layers, nor code that names dofs one by one.
    "drop columns/invoke_0/hold(columns_there)/1",
    "drop columns/invoke_0/hold(there)/1",
    "drop columns/invoke_2/hold(back)/1",
    "drop columns/invoke_2/hold(columns_back)/1",
    "drop continuous/invoke_write/hold(x)/1",
    "drop iterations/invoke_apart/hold(sums)/1",
    "drop layers/invoke_layers/hold(many)/1",
    "drop layers/invoke_layers/hold(thin)/1",
    "drop meshes/invoke_0_restrict_type/hold(wide)/1",
    "drop meshes/invoke_around/hold(blurred)/1",
    "drop meshes/invoke_around/hold(narrow)/1",
    "drop meshes/invoke_1_prolong_type/hold(narrow)/1",
    "drop meshes/invoke_4_restrict_type/hold(wide)/1",
    "drop operators/invoke_0_assemble_type/hold(matrix)/1",
    "drop operators/invoke_5_assemble_type/hold(wide)/1",
    "drop operators/invoke_6_look_region_type/hold(region)/1",
    "drop operators/invoke_again/hold(matrix)/1",
    "drop operators/invoke_around/hold(along_x)/1",
    "drop operators/invoke_around/hold(along_y)/1",
    "drop operators/invoke_around/hold(cross)/1",
    "drop operators/invoke_around/hold(matrix)/1",
    "drop operators/invoke_around/hold(region)/1",
    "drop operators/invoke_around/hold(wide)/1",
    "drop operators/invoke_divergence/hold(matrix)/1",
    "drop subset/invoke_0_assemble_type/hold(matrix)/1",
    # Values that nobody looks at again, and those that are put away from the side where they were
    # written, which is so taken for the one that has them.
    "narrow columns/invoke_compare/hold(columns_product)/1",
    "narrow continuous/invoke_write/hold(z)/2",
    "narrow dofs/invoke_arithmetic/hold(y)/1",
    "narrow dofs/invoke_random/hold(x)/1",
    "narrow iterations/invoke_apart/hold(apart)/1",
    "narrow iterations/invoke_apart/hold(sums)/1",
    "narrow meshes/invoke_there_and_back/hold(narrow)/1",
    "narrow operators/invoke_again/hold(matrix)/1",
    "narrow operators/invoke_around/hold(matrix)/1",
    "narrow operators/invoke_around/hold(wide)/1",
    "narrow operators/invoke_divergence/hold(matrix)/1",
    "narrow subset/invoke_some_cells/hold(matrix)/1",
}
Parts = tuple[Path, Path]
Reader = Callable[[Mode, bool, int], Answers]


@pytest.fixture(scope="module")
def answers(
    library: Path, support: Path, emulated_parts: Parts, tmp_path_factory: pytest.TempPathFactory
) -> Reader:
    """Return what gives the answers of a mode, with a device or without, on a number of ranks."""

    @cache
    def layers(mode: Mode) -> Path:
        folder = tmp_path_factory.mktemp("lfric_storage_layers")
        generate(mode, folder)
        return folder

    @cache
    def program(mode: Mode, device: bool) -> Path:
        folder = tmp_path_factory.mktemp("lfric_storage") / "program"
        shutil.copytree(layers(mode), folder)
        return build_program(*(emulated_parts if device else (library, support)), folder)

    @cache
    def read(mode: Mode, device: bool, ranks: int) -> Answers:
        made = program(mode, device)
        run = run_program(made, mode, ranks, made.with_name(f"ranks{ranks}"))
        return merge_answers(run.values)

    return read


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("annexed", BESIDE)
@pytest.mark.parametrize("device", [False, True], ids=["one memory", "beside a device"])
def test_the_answers_are_those_of_plain_layers(
    answers: Reader, annexed: str, device: bool, ranks: int
) -> None:
    assert differing(answers(SERIAL, False, 1), answers(BESIDE[annexed], device, ranks)) == []


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("annexed", ON_DEVICE)
def test_they_are_so_on_the_device(answers: Reader, annexed: str, ranks: int) -> None:
    assert differing(answers(SERIAL, False, 1), answers(ON_DEVICE[annexed], True, ranks)) == []


@pytest.mark.parametrize("steps", OTHERS.values(), ids=OTHERS)
def test_other_recipes_go_together_with_storages(answers: Reader, steps: str) -> None:
    mode = Mode("owned", (*BESIDE["owned"].options, "--apply", steps), threads=2)
    assert differing(answers(SERIAL, False, 1), answers(mode, True, 4)) == []


@pytest.fixture(scope="module")
def outcomes(emulated_parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """Return what came of each acquire that was weakened, and of each exchange left out."""
    folder = tmp_path_factory.mktemp("lfric_storage_mutated")
    mode = ON_DEVICE["owned"]
    # What is filled with 0 hides what is stale.
    layers = generate(replace(mode, options=without_filling(mode.options)), folder)
    places = number_places(layers, (EXCHANGES, *HOLDS))
    program = build_program(*emulated_parts, folder)
    table = folder / "mutations.txt"
    table.write_text("".join(lines_of(places)), encoding="utf-8")
    return judge(run_program(program, mode, 4, folder / "run", str(table)), places)


def test_every_acquire_is_needed_with_all_that_it_asks_for(outcomes: list[Outcome]) -> None:
    tried = [one for one in outcomes if kind_of(one.mutation).endswith("hold")]
    assert len(tried) > 100
    assert all(one.reached for one in tried)
    assert {one.mutation for one in tried if not one.noticed} <= WITHOUT_EFFECT


def test_every_exchange_is_needed_beside_a_device(outcomes: list[Outcome]) -> None:
    tried = [one for one in outcomes if kind_of(one.mutation) in ("drop", "shorten")]
    assert {kind_of(one.mutation) for one in tried} == {"drop", "shorten"}
    assert not {one.mutation for one in tried if one.reached and not one.noticed}
