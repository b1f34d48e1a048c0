"""Frequent user errors: the message contains the file, the line, the column, and a fix.

`benchmarks/mistakes.py` makes these errors, and also prints the messages of PSyclone.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from command import run_command

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import mistakes  # noqa: E402

CASES = mistakes.cases()
PROJECT = mistakes.HERE / "project"


@pytest.mark.parametrize("name", CASES)
def test_our_message_names_place_and_cure(name: str, tmp_path: Path) -> None:
    mistake = mistakes.make(tmp_path, name, CASES[name])
    done = run_command([*mistake.words, "--diagnostics", "json"], tmp_path)
    verdict = mistakes.judged(json.loads(done.err), mistake)
    assert verdict.is_whole, f"{mistake.file}:{mistake.line}:{mistake.column}: {verdict.text}"


def test_the_second_set_scores_88_of_90(tmp_path: Path) -> None:
    """A kernel's body is not read by a compilation, which finds no neighbour without a stencil."""
    missing: dict[str, int] = {}
    cases = mistakes.cases(mistakes.SECOND)
    for name, case in cases.items():
        mistake = mistakes.make(tmp_path / name, name, case)
        done = run_command([*mistake.words, "--diagnostics", "json"], tmp_path / name)
        problems = json.loads(done.err)
        score = mistakes.judged(problems, mistake).score if problems else 0
        missing |= {name: 2 - score} if score < 2 else {}
    assert len(cases) == 45
    assert missing == {"gocean_neighbour_without_a_stencil": 2}


@pytest.mark.parametrize("project", mistakes.PROJECTS)
def test_no_project_has_a_problem_of_its_own(project: str, tmp_path: Path) -> None:
    shutil.copytree(mistakes.HERE / project, tmp_path, dirs_exist_ok=True)
    done = run_command(mistakes.PROJECTS[project].split(), tmp_path)
    assert (done.status, done.err) == (0, "")


def test_there_are_enough_and_nothing_is_wrong_without_them(tmp_path: Path) -> None:
    assert len(CASES) == 54
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    words = [*mistakes.PROJECTS["project"].split(), "-s", "optimise.py"]
    done = run_command(words, tmp_path)
    assert (done.status, done.err) == (0, "")


def test_a_message_without_the_place_or_the_cure_is_not_enough(tmp_path: Path) -> None:
    mistake = mistakes.make(tmp_path, "misspelt_variable", CASES["misspelt_variable"])
    at = {"file": mistake.file, "line": mistake.line, "column": mistake.column}
    right = {"message": "Wrong.", "hint": "Did you mean 'rho'?", **at}
    assert mistakes.judged([right], mistake).is_whole
    for key, value in (("file", "b.x90"), ("line", 1), ("column", 1), ("hint", "")):
        assert not mistakes.judged([{**right, key: value}], mistake).is_whole
