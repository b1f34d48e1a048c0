"""Joint exchanges compute the same from every state of their fields, in all targets.

Each field has a halo that is clean to one of three depths, and values on the host, on a device or
on both; two of the fields may be one. A stale copy is NaN, and so is a halo value whose flag is
dirty. The answers are those of one rank without exchanges.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from fortran import join
from libraries import archive_in
from pairwise import pairwise
from psyclone_storage.cli.main import main
from runtime.answers import Answers, differing, merge_answers
from runtime.programs import FLAGS, Mode, command, compile_sources, run_program
from runtime.test_lfric_storage import DEVICE_STEPS

HERE = Path(__file__).parent / "joint"
SERIAL = Mode("serial", ("-nodm",))
TARGETS = {"plain": (), "storage": ("--target", "storage"), "registry": ("--target", "registry")}
WAYS = {
    "on the host": (),
    "under way over loops": ("--apply", "split-interior; overlap"),
    "on the device": ("--apply", DEVICE_STEPS),
}
CASES = [
    (target, way, joint, annexed, ranks)
    for target in TARGETS
    for way in WAYS
    for joint in (True, False)
    for annexed in (True, False)
    for ranks in (1, 2, 4)
    if (target, way) != ("plain", "on the device")
]
"""Each of them is accepted and runs; plain layers are for one memory."""

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Reader = Callable[[Mode, bool, int], Answers]


def mode_of(target: str, way: str, joint: bool, annexed: bool) -> Mode:
    flags = {
        "COMPUTE_ANNEXED_DOFS": annexed,
        "JOINT_EXCHANGES": joint,
        "FILL_BEFORE_INCREMENT": False,
    }
    settings = " ".join(f"{name}={str(value).lower()}" for name, value in flags.items())
    options = ("-dm", "--config-opts", settings)
    return Mode("annexed" if annexed else "owned", (*options, *TARGETS[target], *WAYS[way]))


@pytest.fixture(scope="module")
def answers(
    library: Path,
    support: Path,
    emulated_parts: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Reader:
    """Return what gives the answers of a mode, with a device or without, on a number of ranks."""

    @cache
    def program(options: tuple[str, ...], device: bool) -> Path:
        folder = tmp_path_factory.mktemp("joint_states")
        algorithm = folder / "joint_states_alg_mod.f90"
        layer = folder / "joint_states_psy.f90"
        words = ["-d", str(HERE), "-oalg", str(algorithm), "-opsy", str(layer), *options]
        assert main([str(HERE / "joint_states_alg_mod.x90"), *words]) == 0
        parts = emulated_parts if device else (library, support)
        kernel = HERE / "look_several_kernel_mod.f90"
        sources = [join([kernel, layer, algorithm], folder / "joined"), HERE / "main.f90"]
        compile_sources(sources, folder, parts)
        objects = sorted(str(path) for path in (*parts[1].glob("*.o"), *folder.glob("*.o")))
        command(["mpif90", *FLAGS, *objects, archive_in(parts[0]), "-o", "program"], folder)
        return folder / "program"

    @cache
    def read(mode: Mode, device: bool, ranks: int) -> Answers:
        made = program(mode.options, device)
        run = run_program(made, mode, ranks, made.with_name(f"{mode.name}_on_{ranks}"))
        return merge_answers(run.values)

    return read


@pytest.mark.parametrize("combination", pairwise(CASES))
def test_every_state_gives_the_same_answers(
    answers: Reader, combination: tuple[str, str, bool, bool, int]
) -> None:
    target, way, joint, annexed, ranks = combination
    mode = mode_of(target, way, joint, annexed)
    computed = answers(mode, target != "plain", ranks)
    assert differing(answers(SERIAL, False, 1), computed) == []


def test_the_states_are_many() -> None:
    assert len(CASES) == 96
