"""LFRic layers with a registry of storages compute the same as plain layers.

This is how LFRic's own fields are held, whose types cannot contain a storage. The fields here are
those of this project, with an emulated device. Each request to the registry is omitted or weakened
in turn: exchanges do not use storages then, and the program sends notifications, so that values
remain in place between invokes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from pairwise import selected
from runtime.answers import Answers, differing, merge_answers
from runtime.held_windows import check_windows
from runtime.mutations import Outcome, judge, kind_of, lines_of, number_registered
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
from runtime.test_lfric_storage import DEVICE_STEPS, WITHOUT_EFFECT

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

TARGET = ("--target", "registry")
APPLIED = (*TARGET, "--apply", DEVICE_STEPS)
ON_DEVICE = {mode.name: Mode(mode.name, (*mode.options, *APPLIED)) for mode in (OWNED, ANNEXED)}
ON_HOST = Mode("owned", (*OWNED.options, *TARGET))
OVERLAPPED = Mode("annexed", (*ANNEXED.options, *TARGET, "--apply", "split-interior; overlap"))
JOINT = " JOINT_EXCHANGES=true"
IN_PROGRESS = " JOINT_EXCHANGES=overlapped"
BROUGHT = {
    # Values that are overwritten, and brought all the same: nobody knows of an array whether its
    # dofs have one value each.
    "drop iterations/invoke_3_blur_region_type/hold(from_sums)/1",
    "drop iterations/invoke_apart/hold(apart)/1",
    "drop iterations/invoke_apart/hold(from_apart)/1",
    "drop iterations/invoke_both/hold(from_both)/1",
    "drop meshes/invoke_blur/hold(blurred)/1",
    "drop meshes/invoke_blur/hold(narrow)/1",
    "drop stencils/invoke_0_blur_x1d_type/hold(x1d)/1",
    "drop stencils/invoke_shapes/hold(along_x)/1",
    "drop stencils/invoke_shapes/hold(along_y)/1",
    "drop stencils/invoke_shapes/hold(cross)/1",
    "drop stencils/invoke_shapes/hold(cross2d)/1",
    "drop stencils/invoke_shapes/hold(region)/1",
    "drop stencils/invoke_shapes/hold(y1d)/1",
}
Parts = tuple[Path, Path]
Reader = Callable[[Mode, bool, int], Answers]


def told(mode: Mode) -> Mode:
    """Return a mode in which the program tells the registry what it does."""
    return replace(mode, name=f"{mode.name},told")


@pytest.fixture(scope="module")
def answers(
    library: Path, support: Path, emulated_parts: Parts, tmp_path_factory: pytest.TempPathFactory
) -> Reader:
    """Return what gives the answers of a mode, with a device or without, on a number of ranks."""

    @cache
    def program(options: tuple[str, ...], device: bool) -> Path:
        folder = tmp_path_factory.mktemp("lfric_registry")
        generate(Mode("", options), folder)
        return build_program(*(emulated_parts if device else (library, support)), folder)

    @cache
    def read(mode: Mode, device: bool, ranks: int) -> Answers:
        made = program(mode.options, device)
        run = run_program(made, mode, ranks, made.with_name(f"{mode.name}_on_{ranks}"))
        return merge_answers(run.values)

    return read


@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(ON_DEVICE, (1, 2, 4, 6))],
        ("owned", 1), ("annexed", 2), ("owned", 4), ("annexed", 6),
    ),
)  # fmt: skip
def test_the_answers_are_those_of_plain_layers(
    answers: Reader, combination: tuple[str, int]
) -> None:
    annexed, ranks = combination
    assert differing(answers(SERIAL, False, 1), answers(ON_DEVICE[annexed], True, ranks)) == []


@pytest.mark.parametrize(
    ("mode", "device", "ranks"),
    [(ON_HOST, False, 2), (ON_HOST, True, 4), (OVERLAPPED, True, 4)],
    ids=["one memory", "on the host beside a device", "exchanges under way over loops"],
)
def test_they_are_so_elsewhere(answers: Reader, mode: Mode, device: bool, ranks: int) -> None:
    assert differing(answers(SERIAL, False, 1), answers(mode, device, ranks)) == []


def joint(mode: Mode, setting: str = JOINT) -> Mode:
    """Return a mode whose layers exchange several fields together."""
    at = mode.options.index("--config-opts") + 1
    options = (*mode.options[:at], mode.options[at] + setting, *mode.options[at + 1 :])
    return replace(mode, options=options)


IN_JOINT_EXCHANGES = {
    "on the device": ON_DEVICE["owned"],
    "with annexed dofs": ON_DEVICE["annexed"],
    "on the host": ON_HOST,
    "under way over loops": OVERLAPPED,
}


@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(IN_JOINT_EXCHANGES, ("", "told", "told, in progress"), (1, 2, 4))],
        ("on the device", "", 4), ("on the device", "told", 1),
        ("with annexed dofs", "told, in progress", 2),
        ("with annexed dofs", "told, in progress", 4),
        ("on the host", "told", 2), ("on the host", "told", 4),
        ("under way over loops", "told, in progress", 1),
        ("under way over loops", "told, in progress", 4),
    ),
    ids=lambda combination: "-".join(map(str, combination)),
)  # fmt: skip
def test_they_are_so_in_joint_exchanges(answers: Reader, combination: tuple[str, str, int]) -> None:
    """A clean field, which a joint exchange skips, keeps the values that only a device has."""
    name, way, ranks = combination
    mode = joint(IN_JOINT_EXCHANGES[name], IN_PROGRESS if "in progress" in way else JOINT)
    computed = answers(told(mode) if "told" in way else mode, True, ranks)
    assert differing(answers(SERIAL, False, 1), computed) == []


@pytest.mark.parametrize("mode", [ON_DEVICE["owned"], ON_DEVICE["annexed"], ON_HOST, OVERLAPPED])
def test_they_are_so_where_values_stay(answers: Reader, mode: Mode) -> None:
    assert differing(answers(SERIAL, False, 1), answers(told(mode), True, 4)) == []


@pytest.mark.parametrize("mode", [ON_DEVICE["owned"], OVERLAPPED])
def test_they_are_so_for_programs_that_know_of_no_storages(answers: Reader, mode: Mode) -> None:
    unaware = replace(mode, name=f"{mode.name},unaware")
    assert differing(answers(SERIAL, False, 1), answers(unaware, True, 4)) == []


@pytest.fixture(scope="module")
def outcomes(emulated_parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """Return what came of each thing that was asked of the registry weakly, or not at all."""
    folder = tmp_path_factory.mktemp("lfric_registry_mutated")
    mode = told(ON_DEVICE["owned"])
    # What is filled with 0 hides what is stale.
    layers = generate(replace(mode, options=without_filling(mode.options)), folder)
    check_windows(layers)
    places = number_registered(layers)
    program = build_program(*emulated_parts, folder)
    table = folder / "mutations.txt"
    table.write_text("".join(lines_of(places)), encoding="utf-8")
    return judge(run_program(program, mode, 4, folder / "run", str(table)), places)


def test_all_that_is_asked_of_a_registry_is_needed(outcomes: list[Outcome]) -> None:
    """Accesses, exchanges, and what is brought of an array that is exchanged."""
    kinds = {kind_of(one.mutation) for one in outcomes}
    assert kinds == {"drop", "shorten", "drop hold", "narrow hold", "drop around", "shorten around"}
    assert len(outcomes) > 300
    assert all(one.reached for one in outcomes if kind_of(one.mutation).endswith("hold"))
    unnoticed = {one.mutation for one in outcomes if one.reached and not one.noticed}
    assert {name.replace("_storage)", ")") for name in unnoticed} <= WITHOUT_EFFECT | BROUGHT
