"""LFRic layers that acquire and release fields compute what plain layers do, wherever values are.

With one memory, and with an emulated device whose copies are spoilt when they are stale, as are the
host's: an acquire that is missing, or an exchange, gives NaN. Loops run on the host, or in regions
for the device. Before each invoke half of the fields are on the device alone.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from pairwise import selected
from runtime.answers import Answers, differing, merge_answers
from runtime.held_windows import check_windows
from runtime.mutations import (
    EXCHANGES,
    HOLDS,
    USES,
    Outcome,
    Place,
    judge,
    kind_of,
    lines_of,
    number_places,
)
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
CHOSEN = (("one memory", "annexed"), ("beside a device", "owned"))
"""The programs that any run builds; `--matrix` builds all."""
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
NOT_LOOKED_AT = {
    # A kernel reads the field through its stencil, and is passed its map, too.
    "drop dofs/invoke_around/table(map_d)/1",
    "drop iterations/invoke_3_blur_region_type/table(map_sums)/1",
    "drop iterations/invoke_apart/table(map_apart)/3",
    "drop iterations/invoke_both/table(map_both)/2",
    "drop layers/invoke_layers/table(map_many)/2",
    "drop meshes/invoke_blur/table(map_blurred)/2",
    "drop meshes/invoke_blur/table(map_narrow_wind)/1",
    "drop stencils/invoke_0_blur_x1d_type/table(map_x)/1",
    *(f"drop stencils/invoke_shapes/table(map_x)/{n}" for n in range(1, 7)),
    *(
        f"drop stencils/invoke_chain/table(map_{x})/{n}"
        for x, n in zip("xyzx", (1, 2, 2, 3), strict=True)
    ),
    "drop subset/invoke_1_masked_gather_type/table(map_x)/1",
    "drop subset/invoke_some_cells/table(map_x)/2",
    "drop subset/invoke_some_cells/table(map_z)/1",
    # Numbers at random, of which nobody knows what they should be.
    "drop dofs/invoke_random/table(map_above)/1",
    "drop dofs/invoke_random/table(map_below)/1",
    "drop dofs/invoke_random/table(map_d)/2",
    # What is made with it is overwritten.
    "drop meshes/invoke_there_and_back/table(cells_narrow_per_wide)/2",
    "drop meshes/invoke_there_and_back/table(map_narrow)/3",
    "drop meshes/invoke_there_and_back/table(map_wide)/4",
}
OF_MATRICES = re.compile("_(?:indirection|banded)_map_")
"""Tables that have to agree with one another: who looks where they do not is stopped."""
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


@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(("one memory", "beside a device"), BESIDE, RANKS)],
        *((place, annexed, ranks) for place, annexed in CHOSEN for ranks in RANKS),
    ),
)
def test_the_answers_are_those_of_plain_layers(
    answers: Reader, combination: tuple[str, str, int]
) -> None:
    place, annexed, ranks = combination
    computed = answers(BESIDE[annexed], place != "one memory", ranks)
    assert differing(answers(SERIAL, False, 1), computed) == []


@pytest.mark.parametrize(
    "combination",
    selected([*product(ON_DEVICE, RANKS)], ("annexed", 1), ("annexed", 4)),
)
def test_they_are_so_on_the_device(answers: Reader, combination: tuple[str, int]) -> None:
    annexed, ranks = combination
    assert differing(answers(SERIAL, False, 1), answers(ON_DEVICE[annexed], True, ranks)) == []


@pytest.mark.parametrize(
    "others",
    selected([*OTHERS], "exchanges under way over loops", "tiles of colours, on two threads"),
)
def test_other_recipes_go_together_with_storages(answers: Reader, others: str) -> None:
    mode = Mode("owned", (*BESIDE["owned"].options, "--apply", OTHERS[others]), threads=2)
    assert differing(answers(SERIAL, False, 1), answers(mode, True, 4)) == []


# ---------------------------------------------------------------------------- mutations

Mutated = Callable[[str], tuple[Path, list[Place]]]
Tried = Callable[[str], list[Outcome]]


@pytest.fixture(scope="module")
def mutated(emulated_parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> Mutated:
    """Return what gives the program that asks at each place what to do, and the places."""

    @cache
    def build(annexed: str) -> tuple[Path, list[Place]]:
        folder = tmp_path_factory.mktemp("lfric_storage_mutated")
        mode = ON_DEVICE[annexed]
        # What is filled with 0 hides what is stale.
        layers = generate(replace(mode, options=without_filling(mode.options)), folder)
        check_windows(layers)
        places = number_places(layers, (EXCHANGES, *HOLDS, *USES))
        return build_program(*emulated_parts, folder), places

    return build


@pytest.fixture(scope="module")
def trying(mutated: Mutated) -> Callable[[str, list[Place]], list[Outcome]]:
    """Return what tries all changes of some places."""

    def tried(annexed: str, some: list[Place]) -> list[Outcome]:
        program, places = mutated(annexed)
        table = program.with_name("mutations.txt")
        table.write_text("".join(lines_of(some)), encoding="utf-8")
        folder = program.with_name("run")
        return judge(run_program(program, ON_DEVICE[annexed], 4, folder, str(table)), places)

    return tried


@pytest.fixture(scope="module")
def outcomes(mutated: Mutated, trying: Callable[[str, list[Place]], list[Outcome]]) -> Tried:
    """Return what came of each acquire that was weakened, and of each exchange left out."""

    @cache
    def tried(annexed: str) -> list[Outcome]:
        kinds = {"drop", "shorten", "drop hold", "narrow hold"}
        places = mutated(annexed)[1]
        return trying(annexed, [one for one in places if kinds_of(one) <= kinds])

    return tried


def kinds_of(place: Place) -> set[str]:
    """Return what kinds of mutations there are of a place."""
    return {kind_of(f"{change} {place.name}") for change in place.changes}


MODES = ["owned", pytest.param("annexed", marks=pytest.mark.matrix)]


@pytest.mark.parametrize("annexed", MODES)
def test_every_acquire_is_needed_with_all_that_it_asks_for(outcomes: Tried, annexed: str) -> None:
    tried = [one for one in outcomes(annexed) if kind_of(one.mutation).endswith("hold")]
    assert len(tried) > 100
    assert all(one.reached for one in tried)
    assert {one.mutation for one in tried if not one.noticed} <= WITHOUT_EFFECT


@pytest.mark.parametrize("annexed", MODES)
def test_every_exchange_is_needed_beside_a_device(outcomes: Tried, annexed: str) -> None:
    tried = [one for one in outcomes(annexed) if kind_of(one.mutation) in ("drop", "shorten")]
    assert {kind_of(one.mutation) for one in tried} == {"drop", "shorten"}
    assert not {one.mutation for one in tried if one.reached and not one.noticed}


@pytest.mark.parametrize("one_of", [16, pytest.param(1, marks=pytest.mark.matrix)])
def test_every_table_is_looked_at(
    mutated: Mutated, trying: Callable[[str, list[Place]], list[Outcome]], one_of: int
) -> None:
    """Another table changes the answers, or ends the program if the two of a matrix differ."""
    tables = [one for one in mutated("owned")[1] if "/table(" in one.name]
    some = [one for one in tables[::one_of] if not OF_MATRICES.search(one.name)]
    tried = trying("owned", some)
    assert len(tried) >= 270 // one_of
    assert all(one.reached for one in tried)
    assert {one.mutation for one in tried if not one.noticed} <= NOT_LOOKED_AT


def test_what_begins_to_be_brought_early_changes_no_answer(
    mutated: Mutated, trying: Callable[[str, list[Place]], list[Outcome]]
) -> None:
    early = [one for one in mutated("owned")[1] if "/prefetch(" in one.name]
    tried = trying("owned", early)
    assert tried
    assert [one for one in tried if one.reached and not one.noticed] == tried


@pytest.mark.parametrize("one_of", [64, pytest.param(1, marks=pytest.mark.matrix)])
def test_who_does_not_release_is_stopped(mutated: Mutated, one_of: int) -> None:
    """At the next use that is in its way, or where the field is freed, by its storage.

    A table that stays is a copy too many and nothing else: who frees it has it forgotten. That it
    is released `held_windows` finds in the text.
    """
    program, places = mutated("owned")
    fields = [one for one in places if "/release(" in one.name]
    left = []
    for one in fields[::one_of]:
        table = program.with_name("mutations.txt")
        table.write_text("".join(lines_of([one])), encoding="utf-8")
        words = [str(program), "owned", str(table)]
        run = subprocess.run(
            words, cwd=program.parent, capture_output=True, text=True, check=False, timeout=60
        )
        if not re.search("^storage error R201: ", run.stderr, re.MULTILINE):
            left.append(one.name)
    assert len(fields) > 150
    assert left == []
