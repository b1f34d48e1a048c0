"""Every feature of LFRic metadata computes the same where layers acquire and release fields.

The suite is that of `test_generated`. Its layers run on the host beside an emulated device, where
half of the fields are before each invoke, and copies that are stale are NaN. Fields have storages,
or a registry has them, which the program tells what it does, or does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from building import built_once, shared_folder
from libraries import LFRIC_EMULATED, Library
from runtime.answers import Answers, merge_answers
from runtime.generated import builds
from runtime.generated.builds import ANNEXED, OWNED
from runtime.programs import SERIAL, Mode, run_program
from runtime.test_generated import differing

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

MODES = {
    (target, mode.name): Mode(mode.name, (*mode.options, "--target", target))
    for target in ("storage", "registry")
    for mode in (OWNED, ANNEXED)
}


@pytest.fixture(scope="module")
def storages(
    built: Callable[[Library], Path], suite: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Mode], Path]:
    """Return what gives the program of a mode, with the emulated device."""
    library = built(LFRIC_EMULATED)
    folder = shared_folder(tmp_path_factory)

    def build(mode: Mode, there: Path) -> None:
        support = built_once(
            folder / "emulated_suite_support",
            lambda where: builds.build_support(library, suite, where),
        )
        builds.generate(mode, suite, there)
        builds.build_program(library, support, suite, there)

    def program(mode: Mode) -> Path:
        there = folder / f"suite_in_{mode.options[-1]}_{mode.name}"
        return built_once(there, lambda where: build(mode, where)) / "program"

    return program


@pytest.fixture(scope="module")
def serial(
    suite_program: Callable[[Mode], Path], tmp_path_factory: pytest.TempPathFactory
) -> Answers:
    """Return the answers of plain layers without MPI."""
    run = tmp_path_factory.mktemp("suite_serial")
    return merge_answers(run_program(suite_program(SERIAL), SERIAL, 1, run).values)


@pytest.mark.parametrize(
    ("way", "ranks"),
    [
        (("storage", "owned"), 1),
        (("storage", "owned"), 4),
        (("storage", "annexed"), 2),
        (("registry", "annexed"), 1),
        (("registry", "annexed"), 2),
        (("registry", "annexed,told"), 4),
    ],
)
def test_the_answers_are_those_of_plain_layers(
    storages: Callable[[Mode], Path],
    serial: Answers,
    way: tuple[str, str],
    ranks: int,
    tmp_path: Path,
) -> None:
    target, name = way
    mode = MODES[target, name.partition(",")[0]]
    program = storages(mode)
    run = run_program(program, replace(mode, name=name), ranks, tmp_path / "run")
    assert differing(serial, merge_answers(run.values)) == []
