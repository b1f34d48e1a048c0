"""Algorithms and kernels that were translated to Python have the schedules of the Fortran."""

from __future__ import annotations

from pathlib import Path

import pytest

from translated import ALGORITHMS, CORPUS, translate_algorithm, translate_kernels
from unit.pipeline.test_python_schedules import schedule_of


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the kernels of the corpus, translated."""
    folder = tmp_path_factory.mktemp("kernels")
    translate_kernels(folder)
    return folder


@pytest.mark.parametrize("file", ALGORITHMS, ids=lambda file: file.stem)
def test_equals_fortran(file: Path, kernels: Path, tmp_path: Path) -> None:
    found = schedule_of(translate_algorithm(file, tmp_path), kernels, tmp_path)
    assert found == schedule_of(file, CORPUS / "kernels", tmp_path)


def test_all_algorithms_but_one_are_there() -> None:
    assert len(ALGORITHMS) == len(list(CORPUS.glob("*.x90"))) - 1
