"""Kernels that threads share: constants that all of them store, and what the settings name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from command import Outcome, run_command

TESTS = Path(__file__).parents[2]
STEPS = "colour{loop=loop2}; openmp-parallel-do{loop=cells(loop2)}"
STATEMENT = "calls = calls + 1"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with an algorithm whose kernel counts its calls."""
    folder = tmp_path / "project"
    shutil.copytree(TESTS / "errors" / "S015_counting_kernel", folder)
    return folder


def compiled(project: Path, *words: str) -> Outcome:
    given = ["-api", "lfric", "-d", "kernels", "--apply", STEPS, *words, "alg.x90"]
    return run_command(given, project)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize("name", ["spread_kernel_code", "SPREAD_kernel_type"])
def test_generated_code_says_whose_word_it_trusts(project: Path, name: str) -> None:
    assert "error[S015]" in compiled(project).err
    done = compiled(project, "--config-opts", f"THREAD_SAFE_PROCEDURES={name}")
    assert (done.status, done.err) == (0, "")
    assert "!$omp parallel do" in done.out
    note = done.out.replace("\n    ! ", " ")
    assert "Threads share 'spread_kernel_code', which changes what it keeps from call to" in note
    assert "THREAD_SAFE_PROCEDURES" in note


def test_nothing_is_said_where_nothing_is_trusted(project: Path) -> None:
    words = ("--config-opts", "THREAD_SAFE_PROCEDURES=other_code,spread_kernel_code")
    edit(project / "kernels" / "spread_kernel_mod.f90", STATEMENT, "wind(map_w2(1)) = 1.0")
    done = compiled(project, *words)
    assert (done.status, done.err) == (0, "")
    assert "THREAD_SAFE" not in done.out


def test_all_threads_may_store_one_constant(project: Path) -> None:
    edit(project / "kernels" / "spread_kernel_mod.f90", STATEMENT, "calls = 0")
    done = compiled(project)
    assert (done.status, done.err) == (0, "")
    assert "THREAD_SAFE" not in done.out


def test_a_constant_is_a_race_where_another_kernel_knows_the_variable(project: Path) -> None:
    kernel = project / "kernels" / "spread_kernel_mod.f90"
    edit(kernel, STATEMENT, "calls = 0")
    other = kernel.read_text().replace("spread_kernel", "other_kernel")
    other = other.replace("calls = 0", "wind(map_w2(1)) = calls").replace(
        "implicit none", "use spread_kernel_mod, only : calls\n  implicit none", 1
    )
    (project / "kernels" / "other_kernel_mod.f90").write_text(other)
    algorithm = project / "alg.x90"
    edit(
        algorithm,
        "  use field_mod",
        "  use other_kernel_mod, only : other_kernel_type\n  use field_mod",
    )
    edit(
        algorithm,
        "spread_kernel_type(wind, theta))",
        "spread_kernel_type(wind, theta), &\n other_kernel_type(wind, theta))",
    )
    assert "error[S015]" in compiled(project).err
