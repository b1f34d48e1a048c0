"""The campaign of mutated kernels and algorithms: a few programs, and that it finds defects."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from psyclone_storage.storage.core.device import DeviceKind, use_device
from survey import mutations
from survey.mutations import UndefinedError, checked, outcome_of, program_of, programs
from survey.survey import HEAD, RING

COUNT = 30


def test_mutated_programs_have_no_defects() -> None:
    paths = os.pathsep.join(sys.path)
    words = [sys.executable, mutations.__file__, str(COUNT), "--seed", "7"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{COUNT} programs in " in done.stdout
    assert " equal" in done.stdout
    assert " refused" in done.stdout
    assert "0 classes of defects" in done.stdout


@pytest.mark.parametrize("name", [*programs()])
def test_the_programs_compute_what_cpython_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_CFLAGS", "-O0")
    use_device(DeviceKind.EMULATED)
    found = outcome_of(programs()[name], f"mutated_{name}", tmp_path, mutations.TARGETS)
    assert found == ("equal", "")


def test_differences_are_defects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutations, "is_near", lambda *_: False)
    found = outcome_of(programs()["steps"], "mutated_steps", tmp_path, ("numpy",))
    assert found == ("accepted", "numpy differs")


def test_what_only_cpython_refuses_is_a_defect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise TypeError("'x' 1")

    monkeypatch.setattr(mutations, "by_python", fail)
    found = outcome_of(programs()["steps"], "mutated_steps", tmp_path, ("numpy",))
    assert found == ("accepted", "CPython raises TypeError: _ _")


def test_a_program_follows_from_its_number() -> None:
    first = [program_of(3, number) for number in range(20)]
    assert first == [program_of(3, number) for number in range(20)]
    assert first[0] != program_of(4, 0)


def test_integers_of_more_bits_are_undefined() -> None:
    assert checked(2**31 - 1) == 2**31 - 1
    assert checked(1e300) == 1e300
    for value in (2**31, np.int64(2**31), (-8.0) ** 0.5):
        with pytest.raises(UndefinedError):
            checked(value)


def test_elements_without_a_value_are_undefined(tmp_path: Path) -> None:
    text = programs()["steps"].replace("def run", "A = np.empty(2)[1]\n\n\ndef run")
    assert outcome_of(text, "mutated_module", tmp_path, ("numpy",)) == ("equal", "")
    body = "w = np.empty(2)\nw[0] = old[0, 0]\nw = np.empty(2)\nnew[0, 0] = w[0] + 0.0 * w[1]"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = HEAD.format(before="", ring=RING, body=lines, old="old", both="both")
    assert outcome_of(text, "mutated_kernel", tmp_path, ("numpy",)) == ("no value", "")
