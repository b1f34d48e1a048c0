"""Directives and a storage that would both keep an array on a device: it is noticed in both orders.

The device has memory of its own, by an implementation of OpenACC that the tests bring along.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from libraries import STORAGE, Library, linked_with
from runtime.storage_fortran.builds import FLAGS, HERE, SECONDS_FOR_A_COMMAND, run

pytestmark = pytest.mark.fortran

NOTICED = (
    "acquired there",
    "acquired here",
    "acquired before",
    "written before",
    "looked at",
    "told",
    "exchanged",
    "brought",
)
SAID = (
    "storage error R201: Both directives and a storage would keep an array on a device: .* "
    'It is "array of 20 elements'
)
Perform = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def perform(
    f90: tuple[str, ...],
    built: Callable[[Library], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Perform:
    """Return what runs the program with a word."""
    folder = tmp_path_factory.mktemp("contracts")
    names = ("programs/checks_mod.f90", "openacc_double_mod.f90", "programs/contracts.f90")
    sources = [str(HERE / name) for name in names]
    command = [*f90, *FLAGS, "-fopenmp", "-fopenacc", f"-J{folder}", *sources]
    library = linked_with(built(STORAGE["openacc"]))
    assert not run([*command, *library, "-o", str(folder / "program")])

    def performed(word: str) -> subprocess.CompletedProcess[str]:
        words = [str(folder / "program"), word]
        return subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=SECONDS_FOR_A_COMMAND
        )

    return performed


@pytest.mark.parametrize("what", NOTICED)
def test_two_contracts_on_one_array_stop_the_program(perform: Perform, what: str) -> None:
    done = perform(what)
    assert done.returncode == 1
    assert re.match(SAID, done.stderr)


def test_who_does_not_meet_the_other_goes_on(perform: Perform) -> None:
    done = perform("")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
