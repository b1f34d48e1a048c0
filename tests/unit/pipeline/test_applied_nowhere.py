"""Steps that were asked for by their names, and could be applied nowhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from command import run_command

ERRORS = Path(__file__).parents[2] / "errors"
REFUSED = ERRORS / "T092_applied_nowhere"
SWEEPS = ERRORS / "T090_stays_on_the_host"
WARNING = "warning[T092]: 'imports-to-arguments' could be applied nowhere: 'model' has"


def said(folder: Path, case: Path, *words: str) -> str:
    """Return what the command says of an algorithm to which it can apply steps, or not."""
    shutil.copytree(case, folder, dirs_exist_ok=True)
    files = ["-oalg", "out.f90", "-opsy", "psy.f90", "alg.x90"]
    done = run_command(["-api", "gocean", "-nodm", "-d", "kernels", *words, *files], folder)
    assert done.status == 0
    assert set(done.written) >= {"out.f90", "psy.f90"}
    return done.err


def test_a_step_that_is_refused_everywhere_is_said_once(tmp_path: Path) -> None:
    err = said(tmp_path, REFUSED, "--apply", "imports-to-arguments; imports-to-arguments")
    assert err.count("T092") == 1
    assert err.startswith(WARNING)
    assert "--> kernels/drag_mod.f90:21:27" in err
    assert "hint: Pass the components" in err


@pytest.mark.parametrize("steps", ["imports-to-arguments", "colour", "inline-procedures", "auto"])
def test_a_step_that_has_nothing_to_do_and_a_recipe_are_silent(steps: str, tmp_path: Path) -> None:
    assert said(tmp_path, SWEEPS, "--apply", steps) == ""


def test_a_step_that_is_applied_somewhere_is_silent(tmp_path: Path) -> None:
    assert said(tmp_path, SWEEPS, "--apply", "openmp-parallel-do") == ""
    layer = (tmp_path / "psy.f90").read_text(encoding="utf-8")
    assert layer.count("!$omp parallel do") == 1


def test_kernels_that_stay_on_the_host_are_said_once(tmp_path: Path) -> None:
    err = said(tmp_path, SWEEPS, "--apply", "openacc")
    assert err.count("warning") == err.count("T090") == 1
