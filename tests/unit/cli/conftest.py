"""A small project as a user has it, and the command run in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from command import NOT_INPUT, Outcome, run_command

TESTS = Path(__file__).parents[2]
CASE = TESTS / "cases" / "lfric" / "increment_then_stencil"
KERNELS = ("wind_tendency_kernel_mod.f90", "wind_to_cell_kernel_mod.f90")

Command = Callable[..., Outcome]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with `alg.x90` and its kernels in `kernels/`."""
    folder = tmp_path / "project"
    shutil.copytree(CASE, folder, ignore=shutil.ignore_patterns(*NOT_INPUT))
    (folder / "kernels").mkdir()
    for name in KERNELS:
        shutil.copy(TESTS / "corpus" / "lfric" / "kernels" / name, folder / "kernels")
    return folder


@pytest.fixture
def command(project: Path) -> Command:
    """Return a function that runs `psyclone-storage -api lfric -d kernels` with more words."""

    def run(*words: str) -> Outcome:
        return run_command(["-api", "lfric", "-d", "kernels", *words], project)

    return run
