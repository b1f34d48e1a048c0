"""Storages of external arrays: results, and errors that stop a program."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import linked_with
from runtime.storage_fortran.builds import DEVICES, FLAGS, HERE, SECONDS_FOR_A_COMMAND, run
from runtime.storage_fortran.conftest import Build

pytestmark = pytest.mark.fortran

PROGRAMS = HERE / "programs"
STOPS = {
    "two names": 'R201: "array of 5 x 4 elements at 0x[0-9A-F]+" cannot give write-only access .* '
    "several readers or one writer: pass another field",
    "exchanged by another": 'R201: "array of 5 x 4 elements at .*" cannot end its exchange',
    "gone": "R201: The storage of an array was used after its release.*"
    '"array of 5 x 4 elements at 0x[1-9A-F]',
    "overtaken": 'R201: The storage of an array was used after .*"array of 20 elements',
    "gaps": "R220: An array that is not contiguous",
    "used": "R201: The storage of an array in use is released",
    "used part": "R201: The storage of an array is requested while another array",
    "another": "R200: The storage of an array is requested, but only the device",
    "part written": "R200: The host has written a part",
    "part told": "R200: The host has written a part",
    "changed": "R200: The host has written an array that is current on the device",
    "changed and looked at": "R200: The host has written an array that is current on the device",
    "changed and exchanged": "R200: The host has written an array that is current on the device",
    "table changed": "R200: The host has written an array .* or release_tables before.*"
    '"table of 20 elements at 0x[1-9A-F]',
    "table released": 'R206: "table of 20 elements at 0x[1-9A-F].*" was released, but not acquired',
    "table alike changed": "R206: A table was released that was not acquired, or that has changed",
    "no more": "R200: A program stops reporting",
}
Done = subprocess.CompletedProcess[str]
Perform = Callable[..., Done]


@pytest.fixture(scope="module")
def perform(
    f90: tuple[str, ...], build: Build, tmp_path_factory: pytest.TempPathFactory
) -> Perform:
    """Return what runs the program, made for a kind of device, with words."""

    @cache
    def program(kind: str) -> Path:
        folder = tmp_path_factory.mktemp("wrapped")
        sources = [str(PROGRAMS / name) for name in ("checks_mod.f90", "wrapped.f90")]
        flags = [*FLAGS, "-fopenmp", *(["-fopenacc"] if kind == "openacc" else [])]
        command = [*f90, *flags, f"-J{folder}", *sources, *linked_with(build(kind).parent)]
        assert not run([*command, "-o", str(folder / "program")])
        return folder / "program"

    def performed(kind: str, *words: str) -> Done:
        command = [str(program(kind)), *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=SECONDS_FOR_A_COMMAND
        )

    return performed


@pytest.mark.parametrize("kind", DEVICES)
def test_nobody_gets_a_wrong_value(perform: Perform, kind: str) -> None:
    done = perform(kind)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("what", STOPS)
def test_what_would_give_a_wrong_value_stops_the_program(perform: Perform, what: str) -> None:
    done = perform("emulated", what)
    assert done.returncode == 1
    assert re.match(f"storage error {STOPS[what]}", done.stderr)
    named = "table " if what.startswith("table") else "array of "
    assert what == "gaps" or named in done.stderr.splitlines()[0]
