"""Fields whose halos are shallower than that of their mesh, alone and with redundant computation.

Arrays end where the halo of their field ends, and all values are checked for bounds. Answers are
compared with those of one rank without transformations, digit for digit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from pairwise import pairwise
from psyclone_storage.cli.main import main
from runtime.answers import differing, invalid, merge_answers
from runtime.programs import (
    ANNEXED,
    OWNED,
    SERIAL,
    SOURCES,
    Mode,
    Run,
    build_program,
    run_program,
)

HERE = Path(__file__).parent / "lfric_depths"
SAME_SPACE = (*OWNED.options, "--apply", "fuse{same_space=true}", "--check")
WHOLE = ("--apply", "compute-redundantly{depth=0}", "--check")
LEAST_EXTENDED = 23
"""Loops that `compute-redundantly{depth=0}` must accept."""
MODES = {mode.name: mode for mode in (OWNED, ANNEXED)}
FIRST_LOOPS = "compute-redundantly{loop=loop1 depth=1}"
"""Stencils of the other loops reach as far as the halo."""
RECIPES = {
    "none": (),
    "level 1": ("--apply", FIRST_LOOPS, "--check"),
    "whole": WHOLE,
    "whole after level 1": (
        "--apply", f"{FIRST_LOOPS}; compute-redundantly{{depth=0}}", "--check",
    ),
    "whole, fused": (
        "--apply", "compute-redundantly{depth=0}; fuse; colour; openmp-parallel-do", "--check",
    ),
    "whole, joint": (*WHOLE, "--config-opts", "JOINT_EXCHANGES=true"),
}  # fmt: skip

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Runner = Callable[[Mode, int], Run]


def generated(mode: Mode, folder: Path) -> None:
    """Generate the layer of the algorithm in `folder`, beside its sources."""
    words = ("-d", str(SOURCES / "kernels"), "--output-dir", str(folder))
    assert main([str(HERE / "depths_alg_mod.x90"), *words, *mode.options]) == 0


@pytest.fixture(scope="module")
def run(library: Path, support: Path, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Return a function that runs the program of a mode on a number of ranks."""

    @cache
    def built(mode: Mode) -> Path:
        folder = tmp_path_factory.mktemp("depths")
        generated(mode, folder)
        return build_program(library, support, folder, suite=HERE / "suite_mod.f90")

    def ran(mode: Mode, ranks: int) -> Run:
        program = built(replace(mode, name="program", threads=1))
        return run_program(program, mode, ranks, program.with_name(f"ranks{ranks}"))

    return ran


@pytest.mark.parametrize(
    "combination",
    pairwise([*product(RECIPES, MODES, ("plain", "storage", "registry"), (1, 2, 4))]),
)
def test_shallow_halos_change_no_answer(
    run: Runner, combination: tuple[str, str, str, int]
) -> None:
    recipe, annexed, target, ranks = combination
    mode = MODES[annexed]
    expected = merge_answers(run(SERIAL, 1).values)
    assert invalid(expected) == []
    options = (*RECIPES[recipe], *(() if target == "plain" else ("--target", target)))
    settings = [*mode.options]
    if "--config-opts" in options:
        at = options.index("--config-opts")
        settings[-1] += f" {options[at + 1]}"
        options = (*options[:at], *options[at + 2 :])
    transformed = Mode(mode.name, (*settings, *options))
    assert differing(expected, merge_answers(run(transformed, ranks).values)) == []


def test_the_program_stops_where_a_halo_is_shallower_than_a_step_says(run: Runner) -> None:
    deep = Mode("owned", (*OWNED.options, "--apply", "compute-redundantly{depth=2}"))
    message = "redundant computation needs 2 levels of halo, which one of these fields does not"
    with pytest.raises(AssertionError, match=message):
        run(deep, 2)


def test_a_program_stops_if_spaces_differ_that_a_step_calls_the_same(run: Runner) -> None:
    message = "'d' and 'b' are not on the same function space, although their loops were fused"
    with pytest.raises(AssertionError, match=message):
        run(Mode("owned", SAME_SPACE), 2)


def test_loops_are_extended_and_fused(tmp_path: Path) -> None:
    for name, options in (("whole", (*OWNED.options, *WHOLE)), ("fused", SAME_SPACE)):
        (tmp_path / name).mkdir()
        generated(Mode(name, options), tmp_path / name)
    whole, fused = (
        (tmp_path / name / "depths_alg_mod_psy.f90").read_text() for name in ("whole", "fused")
    )
    assert len(re.findall(r"loop\d+_stop = .*max_halo_depth\)", whole)) >= LEAST_EXTENDED
    assert whole.count("redundant computation needs") >= 7
    assert fused.count("not on the same function space") >= 5
