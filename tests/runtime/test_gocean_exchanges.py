"""The halo exchanges of the GOcean infrastructure, and what it refuses.

`gocean/exchanges.f90` checks itself, with values that follow from the place of a point: every depth
up to 3, domains that are periodic or not, corners, two grids at once, fields together, sums,
gathering, flags and statistics.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from runtime.gocean_suite import LIBRARY, SOURCES
from runtime.programs import FLAGS, command

CHECKED = (1, 2, 3, 4, 6)
# What a program says to `decompose`, on how many ranks, and what the infrastructure then says.
REFUSED = [
    ("8, 8, ndomains=3", 2, "There must be as many subdomains as there are ranks."),
    ("8, 8, ndomainx=2, ndomainy=2", 2, "There must be as many subdomains as there are ranks."),
    ("8, 8, ndomainx=2", 2, "The subdomains in x and in y are given both or not at all."),
    ("1, 1", 2, "The domain has too few points for this many ranks."),
    ("8, 1, ndomainx=1, ndomainy=2", 2, "The domain has too few points for this many subdomains."),
    ("8, 8, halo_width=0", 1, "A halo has a width of at least one point."),
    ("2, 8, halo_width=3", 1, "The halo is wider than the periodic domain."),
]

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


def link(source: Path, library: Path, folder: Path) -> Path:
    """Compile and link a program of one file and return it."""
    words = ["mpif90", *FLAGS, f"-I{library}", str(source), str(library / LIBRARY)]
    command([*words, "-o", str(folder / source.stem)], folder)
    return folder / source.stem


@pytest.fixture(scope="module")
def exchanges(gocean_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that checks exchanges."""
    return link(SOURCES / "exchanges.f90", gocean_library, tmp_path_factory.mktemp("exchanges"))


@pytest.mark.parametrize("ranks", CHECKED)
def test_exchanges_fill_halos_with_what_the_owners_hold(exchanges: Path, ranks: int) -> None:
    mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    said = command([*mpirun, str(exchanges)], exchanges.parent)
    assert said == f"exchanges are right on ranks: {ranks}\n"


@pytest.mark.parametrize(("words", "ranks", "message"), REFUSED)
def test_a_domain_that_cannot_be_divided_so_is_refused(
    gocean_library: Path, tmp_path: Path, words: str, ranks: int, message: str
) -> None:
    source = tmp_path / "refused.f90"
    source.write_text(f"""program refused
  use gocean_mod
  use grid_mod
  use kind_params_mod
  implicit none
  type(grid_type), target :: grid
  call gocean_initialise()
  grid = grid_type(GO_ARAKAWA_C, [GO_BC_PERIODIC, GO_BC_NONE, GO_BC_NONE], GO_OFFSET_NE)
  call grid%decompose({words})
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  call gocean_finalise()
end program refused
""")
    program = link(source, gocean_library, tmp_path)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "-n", str(ranks), str(program)],
        env={**os.environ, **allowed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert message in done.stderr
