"""Run-time checks of halos (RUN_TIME_CHECKS = halos) in LFRic's layers in Fortran.

They report nothing for layers as generated, and each dropped exchange or flag update. Entry states
are those of the programs, and one where all halos are clean.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from runtime.answers import Answers, differing, merge_answers
from runtime.mutations import (
    EXCHANGES,
    Kind,
    Outcome,
    Place,
    asking_whether,
    judge,
    lines_of,
    number_places,
)
from runtime.programs import SERIAL, Mode, build_program, generate, run_program

ROOT = Path(__file__).parents[2]
REPORTED = 80
CHECKS = "RUN_TIME_CHECKS=halos"


def checked(name: str, setting: str, *steps: str, threads: int = 1) -> Mode:
    """Return a mode with run-time checks of halos and another setting."""
    apply = ("--apply", "; ".join(steps)) if steps else ()
    return Mode(name, ("-dm", "--config-opts", f"{setting} {CHECKS}", *apply), threads)


MODES = {
    "owned": checked("owned", "COMPUTE_ANNEXED_DOFS=false"),
    "annexed": checked("annexed", "COMPUTE_ANNEXED_DOFS=true"),
    "redundant": checked("owned", "JOINT_EXCHANGES=overlapped", "compute-redundantly{depth=1}"),
    "interiors": checked(
        "annexed",
        "COMPUTE_ANNEXED_DOFS=true JOINT_EXCHANGES=true",
        "compute-redundantly{depth=1}",
        "split-interior",
        "overlap",
        "openmp-parallel-do",
        threads=2,
    ),
    "regions": checked("owned", "JOINT_EXCHANGES=true", "colour", "openmp-do", "openmp-parallel"),
}  # fmt: skip

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

DIRTY = Kind(
    re.compile(r"^(?P<indent> *)call (?P<what>[\w%()]+)%set_dirty\(\)$"),
    "mark({0})",
    ("drop",),
    asking_whether,
)


@pytest.fixture(scope="module")
def program(
    library: Path, support: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Mode], Path]:
    """Return what builds the program of a mode."""

    @cache
    def built(mode: Mode) -> Path:
        folder = tmp_path_factory.mktemp("checked")
        generate(mode, folder)
        return build_program(library, support, folder)

    return built


@pytest.fixture(scope="module")
def serial(program: Callable[[Mode], Path]) -> Answers:
    """Return the answers without distributed memory, and without checks."""
    path = program(SERIAL)
    return merge_answers(run_program(path, SERIAL, 1, path.with_name("run")).values)


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        ("owned", 1),
        pytest.param("owned", 2, marks=pytest.mark.matrix),
        ("owned", 4),
        ("annexed", 2),
        pytest.param("annexed", 4, marks=pytest.mark.matrix),
        pytest.param("redundant", 4, marks=pytest.mark.matrix),
        ("interiors", 4),
        ("regions", 4),
    ],
)
def test_layers_as_generated_have_no_errors(
    program: Callable[[Mode], Path], serial: Answers, name: str, ranks: int
) -> None:
    """An error would stop the program; what the checks spoil is not read."""
    mode = MODES[name]
    path = program(mode)
    for entry in ("", "-renewed"):
        renewed = Mode(mode.name + entry, mode.options, mode.threads)
        run = run_program(path, renewed, ranks, path.with_name(f"run_{ranks}{entry}"))
        assert differing(serial, merge_answers(run.values)) == []


RECORDS = """
program records
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_null_ptr, c_ptr
  use halo_records_mod, only: halo_record_type, record_of
  implicit none
  type(halo_record_type), pointer :: record
  integer :: n
  do n = 1, 1000000
    record => record_of(c_null_ptr, 0)
  end do
  do n = 1, 5000
    record => record_of(address(n), 4)
    record%computed = n
  end do
  do n = 1, 5000
    record => record_of(address(n), 4)
    if (record%computed /= n) error stop 'lost'
  end do
  record => record_of(address(7), 5)
  if (record%computed /= 0) error stop 'of another array'
contains
  type(c_ptr) function address(n)
    integer, intent(in) :: n
    address = transfer(64_c_intptr_t * n, address)
  end function address
end program records
"""


def test_arrays_without_values_need_no_memory_for_records(tmp_path: Path) -> None:
    """One record each would need 500 MB; the table for the other arrays needs 5 MB."""
    program = tmp_path / "records.f90"
    program.write_text(RECORDS, encoding="utf-8")
    module = ROOT / "external" / "halo_check" / "halo_records_mod.f90"
    subprocess.run(["gfortran", module, program, "-o", "records"], cwd=tmp_path, check=True)
    limited = ["bash", "-c", "ulimit -v 200000 && ./records"]
    subprocess.run(limited, cwd=tmp_path, check=True)


@pytest.fixture(scope="module")
def mutated(
    library: Path, support: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[Path, list[Place]]]:
    """Return what builds a program that can drop each exchange and each update of a flag."""

    @cache
    def built(name: str) -> tuple[Path, list[Place]]:
        folder = tmp_path_factory.mktemp("mutated")
        places = number_places(generate(MODES[name], folder), (EXCHANGES, DIRTY))
        table = folder / "mutations.txt"
        dropped = [line for line in lines_of(places) if " shorten " not in line]
        table.write_text("".join(dropped), encoding="utf-8")
        return build_program(library, support, folder), places

    return built


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        ("owned", 2),
        pytest.param("owned", 4, marks=pytest.mark.matrix),
        pytest.param("annexed", 2, marks=pytest.mark.matrix),
        pytest.param("annexed", 4, marks=pytest.mark.matrix),
    ],
)
def test_each_dropped_exchange_and_flag_update_is_reported(
    mutated: Callable[[str], tuple[Path, list[Place]]], name: str, ranks: int
) -> None:
    path, places = mutated(name)
    found: dict[str, list[Outcome]] = {}
    for entry in ("", "-renewed"):
        mode = Mode(name + entry, MODES[name].options)
        table = str(path.with_name("mutations.txt"))
        run = run_program(path, mode, ranks, path.with_name(f"run_{ranks}{entry}"), table)
        for outcome in judge(run, places):
            found.setdefault(outcome.mutation, []).append(outcome)
    silent = {one for one, outcomes in found.items() if not any(o.reported for o in outcomes)}
    wrong = {one for one, outcomes in found.items() if any(o.noticed for o in outcomes)}
    # Some flags are about levels that are empty on these meshes, or that an exchange renews.
    assert silent & wrong == set()
    assert len(found) - len(silent) > REPORTED
