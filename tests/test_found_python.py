"""The selection of the Python for the environment of a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FINDER = Path(__file__).parents[1] / ".ci" / "find-python"


def found(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the finder where `folder` is the first that is searched."""
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"} | settings
    environment = {name: value for name, value in environment.items() if value}
    return subprocess.run([FINDER], env=environment, capture_output=True, text=True, check=False)


def program(file: Path, text: str) -> Path:
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def test_it_is_the_first_that_is_new_enough(tmp_path: Path) -> None:
    new = program(tmp_path / "python3", f'exec {sys.executable} "$@"')
    assert found(tmp_path, BASE_PYTHON="").stdout.strip() == str(new)
    program(tmp_path / "python3", "exit 1")
    newer = program(tmp_path / "python3.13", f'exec {sys.executable} "$@"')
    assert found(tmp_path, BASE_PYTHON="").stdout.strip() == str(newer)


@pytest.mark.parametrize("name", ["chosen", "a name of two words"])
def test_or_the_one_that_is_named(name: str, tmp_path: Path) -> None:
    program(tmp_path / "python3", f'exec {sys.executable} "$@"')
    chosen = program(tmp_path / name, f'exec {sys.executable} "$@"')
    assert found(tmp_path, BASE_PYTHON=str(chosen)).stdout.strip() == str(chosen)


def test_and_no_other_where_that_will_not_do(tmp_path: Path) -> None:
    program(tmp_path / "python3", f'exec {sys.executable} "$@"')
    done = found(tmp_path, BASE_PYTHON=str(program(tmp_path / "old", "exit 1")))
    assert (done.returncode, done.stdout) == (1, "")
