"""Inputs of the command with some of their words changed: never a stack trace, a hang or a defect.

`support/mutated_inputs.py` makes the inputs, and runs more of them as a program.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import mutated_inputs
from command import run_words
from mutated_inputs import Campaign, defect_of

COUNT = 240


@pytest.mark.skipif(not hasattr(mutated_inputs.signal, "setitimer"), reason="no timer")
def test_no_mutation_makes_a_trace_a_hang_or_a_defect(tmp_path: Path) -> None:
    campaign = Campaign(0, tmp_path)
    found = [campaign.run(number) for number in range(COUNT)]
    assert [one for one in found if one.defect] == []
    assert {one.kind for one in found} == mutated_inputs.KINDS
    statuses = Counter(one.status for one in found)
    assert statuses[0] > COUNT // 20
    assert statuses[1] > COUNT // 4


def test_an_input_follows_from_its_number(tmp_path: Path) -> None:
    first, second = (Campaign(3, tmp_path / name) for name in ("a", "b"))
    assert [first.made(number) for number in range(20)] == [
        second.made(number) for number in range(20)
    ]
    assert first.made(1) != Campaign(4, tmp_path / "c").made(1)


@pytest.mark.parametrize(
    ("status", "err", "defect"),
    [
        (2, "error[I001]: Internal error: IndexError at a.py:9: none.", "IndexError at a.py:9"),
        (1, "Traceback (most recent call last):\n  ...\nKeyError: 1", "traceback: KeyError: 1"),
        (3, "", "exit status 3"),
        (1, "a\x1b[1m", "escape character"),
        (1, "[{", "not JSON"),
        (1, "", "no message"),
    ],
)
def test_defects_are_found(status: int, err: str, defect: str) -> None:
    assert defect in defect_of(status, "", err, ["--diagnostics", "json"])
    assert not defect_of(1, "", "error[P001]: No such file.", [])


def test_the_program_prints_a_table() -> None:
    words = [sys.executable, mutated_inputs.__file__, "8", "--seed", "5"]
    path = ":".join(sys.path)
    done = subprocess.run(
        words, env={"PYTHONPATH": path, "PATH": ""}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 inputs in" in done.stdout
    assert "0 classes of defects" in done.stdout.replace("\n", " ")


def test_a_subroutine_without_brackets_is_no_internal_error(tmp_path: Path) -> None:
    """GOcean code on a device: the coverage of fields that a kernel writes is derived."""
    project = next(one for one in mutated_inputs.projects() if one.name == "registry_on_device")
    name = "kernels/smooth_mod.f90"
    text = project.files[name].replace(
        b"subroutine smooth_code(i,", b"subroutine smooth_code-i,", 1
    )
    assert text != project.files[name]
    work = mutated_inputs.Workspace(tmp_path).prepare(project, {name: text})
    status, out, err = run_words(list(project.words), work)
    assert not defect_of(status, out, err, project.words)
