"""The GOcean infrastructure alone: programs that check themselves, and rejected operations.

The programs are in `gocean/`; each stops at the first wrong value.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import linked_with
from runtime.gocean_suite import SOURCES
from runtime.programs import FLAGS, command

CHECKED = (1, 2, 3, 4, 6)
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")
TYPES = "There is no such type of grid point."
DEPTH = "A halo of this depth does not exist."
NOT_STARTED = "No exchange of this depth has been started."
NUMBER = "There must be as many subdomains as there are ranks."
BOTH = "The subdomains in x and in y are given both or not at all."
FEW = "The domain has too few points for this many subdomains."
CONTRACTS = "Both directives and a storage would keep the field on a device."
# What `refusals` is told to do, and what the infrastructure says to it.
REFUSED = {
    "no offset": "A grid needs an offset.",
    "unknown grid": "No such grid.",
    "not decomposed": "A grid is decomposed before it is initialised.",
    "subdomains for other ranks": NUMBER,
    "subdomains in x only": BOTH,
    "subdomains in y only": BOTH,
    "fewer points than subdomains": NUMBER,
    "negative subdomains": FEW,
    "no halo": "A halo has a width of at least one point.",
    "halo around the domain": "The halo is wider than the periodic domain.",
    "points below all types": TYPES,
    "points above all types": TYPES,
    "start before the end": "An exchange of the field has not been finished.",
    "together before the end": "An exchange of a field has not been finished.",
    "end before the start": NOT_STARTED,
    "end of another depth": NOT_STARTED,
    "end of depth 0": NOT_STARTED,
    "depth 0": DEPTH,
    "depth beyond the halo": DEPTH,
    "depth beyond the halo together": DEPTH,
    "read from nowhere": "A device has the field, and nothing is known of how to read from it.",
    "a storage beside directives": CONTRACTS,
    "directives beside a storage": CONTRACTS,
    "write to nowhere": "A device has the field, and nothing is known of how to write to it.",
}
REFUSED_ON_TWO_RANKS = {
    "more subdomains than ranks": NUMBER,
    "fewer points than ranks": "The domain has too few points for this many ranks.",
    "fewer points than subdomains": FEW,
}

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Link = Callable[[str], Path]


@pytest.fixture(scope="module")
def link(gocean_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Link:
    """Return what compiles and links a program of one file, once."""

    @cache
    def linked(name: str) -> Path:
        program = tmp_path_factory.mktemp(name) / name
        words = ["mpif90", *FLAGS, str(SOURCES / f"{name}.f90"), *linked_with(gocean_library)]
        command([*words, "-o", str(program)], program.parent)
        return program

    return linked


@pytest.mark.parametrize("ranks", CHECKED)
def test_exchanges_fill_halos_with_what_the_owners_hold(link: Link, ranks: int) -> None:
    program = link("exchanges")
    said = command([*MPIRUN, str(ranks), str(program)], program.parent)
    assert said == f"exchanges are right on ranks: {ranks}\n"


@pytest.mark.parametrize("ranks", CHECKED)
def test_grids_and_fields_are_as_they_should_be_and_speak_once_or_on_all_ranks(
    link: Link, ranks: int
) -> None:
    program = link("fields")
    said = command([*MPIRUN, str(ranks), str(program)], program.parent)
    once = ["real 1.5", "integer 2", "both 3 4.5", "text", "text of one"]
    always = ["real of all 1.5", "both of all 3 4.5", "text of all"] * ranks
    numbers = [f"integer of all {rank}" for rank in range(1, ranks + 1)]
    assert Counter(said.splitlines()) == Counter([*once, *always, *numbers])


@pytest.mark.parametrize("ranks", [1, 4])
def test_values_that_a_device_has_are_fetched_and_sent(link: Link, ranks: int) -> None:
    program = link("devices")
    said = command([*MPIRUN, str(ranks), str(program)], program.parent)
    assert said == f"devices are right on ranks: {ranks}\n"


def check_refusal(words: list[str], message: str) -> None:
    """Run a program that must stop with a message."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert message in done.stderr.splitlines()


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused(link: Link, what: str) -> None:
    check_refusal([str(link("refusals")), what], REFUSED[what])


@pytest.mark.parametrize("what", REFUSED_ON_TWO_RANKS)
def test_what_two_ranks_cannot_do_is_refused(link: Link, what: str) -> None:
    words = [*MPIRUN, "2", str(link("refusals")), what, "with ranks"]
    check_refusal(words, REFUSED_ON_TWO_RANKS[what])
