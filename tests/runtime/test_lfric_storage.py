"""LFRic layers that acquire and release fields compute what plain layers do, wherever values are.

With one memory, and with an emulated device whose copies are spoilt when they are stale, as are the
host's: an acquire that is missing, or an exchange, gives NaN. Loops run on the host, or in regions
for the device. Before each invoke half of the fields are on the device alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from building import built_once
from libraries import LFRIC_EMULATED, Library
from psyclone_storage.cli.main import main
from runtime.programs import (
    ANNEXED,
    OWNED,
    SERIAL,
    SOURCES,
    Answers,
    Mode,
    build_program,
    build_support,
    generate,
    merge_answers,
    run_program,
)
from runtime.test_ranks import differing

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

TARGET = ("--target", "storage")
DEVICE_STEPS = "colour; inline-kernel-module; acc-routine; acc-loop; acc-parallel"
RANKS = (1, 2, 4, 6)
BESIDE = {mode.name: Mode(mode.name, (*mode.options, *TARGET)) for mode in (OWNED, ANNEXED)}
ON_DEVICE = {
    name: Mode(name, (*mode.options, "--apply", DEVICE_STEPS)) for name, mode in BESIDE.items()
}
OTHERS = {
    "exchanges under way over loops": "overlap",
    "coloured, on two threads": "colour; openmp-parallel-do",
    "tiles of colours, on two threads": "colour{tiling=true}; openmp-parallel-do",
}
Parts = tuple[Path, Path]
Reader = Callable[[Mode, bool, int], Answers]


@pytest.fixture(scope="module")
def emulated(built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Return the folders of the infrastructure with an emulated device, and of what is shared."""
    library = built(LFRIC_EMULATED)
    folder = tmp_path_factory.mktemp("lfric_emulated") / "support"
    return library, built_once(folder, lambda where: build_support(library, where) and None)


def generate_for_device(mode: Mode, folder: Path) -> None:
    """Generate layers with copies of kernels in them that return where they would stop a program.

    No device can stop it; a kernel that returns before its time gives other answers.
    """
    kernels = folder / "kernels"
    kernels.mkdir()
    for path in SOURCES.glob("kernels/*.f90"):
        text = re.sub(r"error stop '[^']*'", "return", path.read_text(encoding="utf-8"))
        (kernels / path.name).write_text(text, encoding="utf-8")
    words = ["-d", str(kernels), "--output-dir", str(folder), *mode.options]
    assert main([*map(str, sorted(SOURCES.glob("*.x90"))), *words]) == 0


@pytest.fixture(scope="module")
def answers(
    library: Path, support: Path, emulated: Parts, tmp_path_factory: pytest.TempPathFactory
) -> Reader:
    """Return what gives the answers of a mode, with a device or without, on a number of ranks."""

    @cache
    def program(mode: Mode, device: bool) -> Path:
        folder = tmp_path_factory.mktemp("lfric_storage")
        if mode in ON_DEVICE.values():
            generate_for_device(mode, folder)
        else:
            generate(mode, folder)
        return build_program(*(emulated if device else (library, support)), folder)

    @cache
    def read(mode: Mode, device: bool, ranks: int) -> Answers:
        made = program(mode, device)
        return merge_answers(run_program(made, mode, ranks, made.with_name(f"ranks{ranks}")))

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
