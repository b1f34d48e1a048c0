"""The scripts of the examples: what they refuse, and that they leave sources alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
GOCEAN = "gocean/shallow_water/run"
LFRIC = "lfric/advection/run"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a folder with tools that do nothing, before those of the machine."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("psyclone-storage", "make", "gfortran", "mpif90", "mpirun"):
        tool = folder / name
        tool.write_text("#!/bin/sh\n", encoding="utf-8")
        tool.chmod(0o755)
    return folder


def run(
    script: Path, tools: Path, *words: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script of an example with tools that do nothing."""
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", **variables}
    return subprocess.run(
        [str(script), *words], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (LFRIC, ("0",)),
        (LFRIC, ("two",)),
        (LFRIC, ("-1",)),
        (GOCEAN, ("--ranks",)),
        (GOCEAN, ("--ranks", "0")),
        (GOCEAN, ("--ranks", "two")),
        (GOCEAN, ("--help",)),
        (GOCEAN, ("one", "two")),
    ],
)
def test_words_that_mean_nothing_are_refused(
    script: str, words: tuple[str, ...], tools: Path
) -> None:
    done = run(EXAMPLES / script, tools, *words)
    assert done.returncode == 2
    assert "number of ranks" in done.stderr or "Usage" in done.stderr


def test_building_beside_the_sources_keeps_them(tools: Path) -> None:
    """Kernels that steps have made are removed before the next build, the example's own are not."""
    copy = tools.parent / "examples"
    shutil.copytree(EXAMPLES, copy, ignore=shutil.ignore_patterns("build"))
    for script, words, variables in (
        (GOCEAN, (".",), {}),
        (LFRIC, (), {"BUILD": "."}),
    ):
        kernels = (copy / script).parent / "kernels"
        before = sorted(kernels.iterdir())
        run(copy / script, tools, *words, **variables)
        assert sorted(kernels.iterdir()) == before
