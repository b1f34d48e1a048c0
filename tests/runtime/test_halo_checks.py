"""Run-time checks of halos (RUN_TIME_CHECKS = halos) in LFRic's layers in Fortran.

They report nothing for layers as generated, and each dropped exchange or flag update. Entry states
are those of the programs, and one where all halos are clean.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from runtime.answers import Answers, differing, merge_answers
from runtime.mutations import (
    EXCHANGES,
    Kind,
    Outcome,
    Place,
    asking_whether,
    judge,
    lines_of,
    number_places,
)
from runtime.programs import SERIAL, Mode, build_program, generate, run_program

REPORTED = 80
CHECKS = "RUN_TIME_CHECKS=halos"


def checked(name: str, setting: str, *steps: str, threads: int = 1) -> Mode:
    """Return a mode with run-time checks of halos and another setting."""
    apply = ("--apply", "; ".join(steps)) if steps else ()
    return Mode(name, ("-dm", "--config-opts", f"{setting} {CHECKS}", *apply), threads)


MODES = {
    "owned": checked("owned", "COMPUTE_ANNEXED_DOFS=false"),
    "annexed": checked("annexed", "COMPUTE_ANNEXED_DOFS=true"),
    "redundant": checked("owned", "JOINT_EXCHANGES=overlapped", "compute-redundantly{depth=1}"),
    "interiors": checked(
        "annexed",
        "COMPUTE_ANNEXED_DOFS=true JOINT_EXCHANGES=true",
        "compute-redundantly{depth=1}",
        "split-interior",
        "overlap",
        "openmp-parallel-do",
        threads=2,
    ),
    "regions": checked("owned", "JOINT_EXCHANGES=true", "colour", "openmp-do", "openmp-parallel"),
}  # fmt: skip

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

DIRTY = Kind(
    re.compile(r"^(?P<indent> *)call (?P<what>[\w%()]+)%set_dirty\(\)$"),
    "mark({0})",
    ("drop",),
    asking_whether,
)


@pytest.fixture(scope="module")
def program(
    library: Path, support: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Mode], Path]:
    """Return what builds the program of a mode."""

    @cache
    def built(mode: Mode) -> Path:
        folder = tmp_path_factory.mktemp("checked")
        generate(mode, folder)
        return build_program(library, support, folder)

    return built


@pytest.fixture(scope="module")
def serial(program: Callable[[Mode], Path]) -> Answers:
    """Return the answers without distributed memory, and without checks."""
    path = program(SERIAL)
    return merge_answers(run_program(path, SERIAL, 1, path.with_name("run")).values)


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        ("owned", 1),
        ("owned", 2),
        ("owned", 4),
        ("annexed", 2),
        ("annexed", 4),
        ("redundant", 4),
        ("interiors", 4),
        ("regions", 4),
    ],
)
def test_layers_as_generated_have_no_errors(
    program: Callable[[Mode], Path], serial: Answers, name: str, ranks: int
) -> None:
    """An error would stop the program; what the checks spoil is not read."""
    mode = MODES[name]
    path = program(mode)
    for entry in ("", "-renewed"):
        renewed = Mode(mode.name + entry, mode.options, mode.threads)
        run = run_program(path, renewed, ranks, path.with_name(f"run_{ranks}{entry}"))
        assert differing(serial, merge_answers(run.values)) == []


@pytest.fixture(scope="module")
def mutated(
    library: Path, support: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Path, list[Place]]]:
    """Return what builds a program that can drop each exchange and each update of a flag."""

    @cache
    def built(name: str) -> tuple[Path, list[Place]]:
        folder = tmp_path_factory.mktemp("mutated")
        places = number_places(generate(MODES[name], folder), (EXCHANGES, DIRTY))
        table = folder / "mutations.txt"
        dropped = [line for line in lines_of(places) if " shorten " not in line]
        table.write_text("".join(dropped), encoding="utf-8")
        return build_program(library, support, folder), places

    return built


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", ["owned", "annexed"])
def test_each_dropped_exchange_and_flag_update_is_reported(
    mutated: Callable[[str], tuple[Path, list[Place]]], name: str, ranks: int
) -> None:
    path, places = mutated(name)
    found: dict[str, list[Outcome]] = {}
    for entry in ("", "-renewed"):
        mode = Mode(name + entry, MODES[name].options)
        table = str(path.with_name("mutations.txt"))
        run = run_program(path, mode, ranks, path.with_name(f"run_{ranks}{entry}"), table)
        for outcome in judge(run, places):
            found.setdefault(outcome.mutation, []).append(outcome)
    silent = {one for one, outcomes in found.items() if not any(o.reported for o in outcomes)}
    wrong = {one for one, outcomes in found.items() if any(o.noticed for o in outcomes)}
    # Some flags are about levels that are empty on these meshes, or that an exchange renews.
    assert silent & wrong == set()
    assert len(found) - len(silent) > REPORTED
