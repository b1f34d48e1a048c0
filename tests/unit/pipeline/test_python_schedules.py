"""Algorithms in Python give the schedules that the same algorithms in Fortran give."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from command import run_command

CORPUS = Path(__file__).parents[2] / "corpus" / "gocean"
PAIRS = sorted((CORPUS / "python").glob("*.py"))
PLACES = {"line", "column", "file", "span", "place", "source"}


def fortran_of(file: Path) -> Path:
    return CORPUS / f"{file.stem.removesuffix('_mod')}.x90"


def schedule_of(file: Path, kernels: Path, folder: Path) -> Any:
    words = [str(file), "-d", str(kernels), "-api", "gocean", "--schedule-json", "-"]
    done = run_command(words, folder)
    assert done.status == 0, done.err
    return without_places(json.loads(done.out))


def without_places(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in PLACES}
        return {key: without_places(one) for key, one in kept.items()}
    if isinstance(value, list):
        return [without_places(one) for one in value]
    return in_one_spelling(value) if isinstance(value, str) else value


def in_one_spelling(text: str) -> str:
    """Return names in lower case, and a number with a kind by its value."""
    number, _, kind = text.partition("_")
    if kind and number.replace(".", "").replace("e", "").replace("-", "").isdigit():
        return repr(float(number))
    return text.lower()


@pytest.mark.parametrize("file", PAIRS, ids=lambda file: file.stem)
def test_equals_fortran(file: Path, tmp_path: Path) -> None:
    found = schedule_of(file, CORPUS / "python" / "kernels", tmp_path)
    assert found == schedule_of(fortran_of(file), CORPUS / "kernels", tmp_path)


STORAGES = re.compile(r"\n\n\w+: \d+ times data are acquired")
"""Where the explanation begins of what Python has alone."""


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("stencil_after_write", "--explain"),
        ("stencil_after_write", "--dag"),
        ("several_invokes", "--schedule"),
        ("several_invokes", "--dag"),
    ],
)
def test_reports_are_those_of_fortran(name: str, option: str, tmp_path: Path) -> None:
    file = CORPUS / "python" / f"{name}_mod.py"
    reports = []
    for source, kernels in (
        (file, file.parent / "kernels"),
        (fortran_of(file), CORPUS / "kernels"),
    ):
        done = run_command([str(source), "-d", str(kernels), "-api", "gocean", option], tmp_path)
        assert done.status == 0, done.err
        reports.append(re.sub(r"\S+\.(x90|py):\d+", "place", done.out).lower())
    of_both, *of_storages = STORAGES.split(reports[0], maxsplit=1)
    assert of_both.rstrip() == reports[1].rstrip()
    assert bool(of_storages) is (option == "--explain")
    assert reports[1].count("\n") > 5


def test_every_algorithm_that_can_be_written_is_there() -> None:
    written = {fortran_of(file).name for file in PAIRS}
    assert {file.name for file in CORPUS.glob("*.x90")} - written == {"indices.x90"}
