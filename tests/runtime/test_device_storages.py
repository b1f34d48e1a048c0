"""Device data of plain arrays by calls of storages: values, numbers of transfers, and reasons.

The device of the library is emulated: it has a memory of its own, and stale data are NaN.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from command import run_command
from libraries import STORAGE, Library
from two_memories import without_directives

LIBRARY = STORAGE["emulated"]
SWAP = """\
module swap_mod
  implicit none
contains
  subroutine swap(values, row)
    real(8), intent(inout) :: values(:, :)
    integer, intent(in) :: row
    values(row, :) = 0.5d0 * values(row + 1, :)
  end subroutine swap
end module swap_mod
"""
PROGRAM = """\
module grid_mod
  implicit none
  integer, parameter :: n = 12
  real(8), target :: depth(n, n), u(n, n), v(n, n), h(0:n, n)
  real(8), allocatable, target :: mask(:, :), extra(:, :)
end module grid_mod
module step_mod
  use grid_mod, only : n, u, v, h, depth, mask, more => extra
  use swap_mod, only : swap
  implicit none
contains
  subroutine momentum(dt, u, level)
    real(8), intent(in) :: dt
    real(8), intent(inout), target :: u(n, n)
    real(8), intent(in), target :: level(0:n, n)
    integer :: i, j
    !$acc kernels present(u, level)
    do j = 2, n - 1
      do i = 2, n - 1
        u(i, j) = mask(i, j) * (u(i, j) - dt * (level(i, j) - level(i - 1, j)))
        v(i, j) = mask(i, j) * (v(i, j) - dt * (level(i, j + 1) - level(i, j)))
      end do
    end do
    !$acc end kernels
  end subroutine momentum
  subroutine continuity(dt)
    real(8), intent(in) :: dt
    real(8), target :: flux(n, n), other(n, n)
    integer :: i, j
    !$acc kernels
    do j = 1, n
      do i = 1, n
        flux(i, j) = depth(i, j) * u(i, j)
        other(i, j) = depth(i, j) * v(i, j)
      end do
    end do
    !$acc end kernels
    if (dt < 0.0d0) return
    !$acc kernels
    do j = 2, n - 1
      do i = 2, n - 1
        h(i, j) = h(i, j) - dt * (flux(i, j) - flux(i - 1, j) + other(i, j) - other(i, j - 1))
      end do
    end do
    !$acc end kernels
  end subroutine continuity
  subroutine edges(field)
    real(8), intent(inout) :: field(n, n)
    field(1, :) = field(2, :)
    field(n, :) = field(n - 1, :)
  end subroutine edges
  subroutine step(number)
    integer, intent(in) :: number
    call momentum(0.1d0, u, h)
    if (mod(number, 4) == 0) then
      call edges(u)
      allocate(more(n, 2))
      !$acc kernels
      more(:, :) = 0.5d0
      !$acc end kernels
      !$acc kernels
      u(:, 2:3) = more(:, :)
      !$acc end kernels
      deallocate(more)
    end if
    call swap(u, 2)
    call continuity(0.1d0)
    if (number > 100) call continuity(-0.1d0)
  end subroutine step
end module step_mod
program waves
  use grid_mod, only : n, u, v, h, depth, mask
  use step_mod, only : step
  implicit none
  integer :: i, j, number
  real(8) :: largest
  allocate(mask(n, n))
  do j = 1, n
    do i = 1, n
      h(i, j) = 0.01d0 * mod(5 * i + 3 * j, 11)
      depth(i, j) = 1.0d0 + 0.1d0 * i
      mask(i, j) = merge(0.0d0, 1.0d0, mod(i * j, 7) == 0)
    end do
    h(0, j) = 0.0d0
  end do
  u = 0.0d0
  v = 0.0d0
  number = 0
  do
    number = number + 1
    call step(number)
    if (mod(number, 5) == 0) then
      largest = sum(h)
      if (largest > 1000.0d0) exit
      if (number < 10) cycle
      print '(i4,z17.16)', number, largest
    end if
    if (number == 13) exit
  end do
  print '(3z17.16)', sum(u), sum(v), sum(h)
end program waves
"""
COUNTS = """\
  statistics = get_total_statistics()
  print '(a,2i6)', 'moved', statistics%to_device, statistics%to_host
"""


def planned(text: str, folder: Path, *words: str, root: str = "waves") -> str:
    folder.mkdir()
    (folder / "main.f90").write_text(text, "utf-8")
    command = ["--device-data", root, "--device-storages", *words]
    done = run_command([*command, "main.f90", "-o", "new.f90"], folder)
    assert done.status == 0, done.err
    return (folder / "new.f90").read_text("utf-8")


def output_of(text: str, folder: Path, library: Path, f90: str) -> str:
    """Compile and run a program, which prints the numbers of transfers at its end."""
    folder.mkdir(exist_ok=True)
    text = text.replace(
        "program waves\n", "program waves\n  use storage_statistics_mod\n", 1
    ).replace("  integer :: i, j, number\n  real(8) :: largest",
              "  type(storage_statistics_type) :: statistics\n  integer :: i, j, number\n"
              "  real(8) :: largest")  # fmt: skip
    text = text.replace("end program", COUNTS + "end program")
    (folder / "main.f90").write_text(SWAP + text, "utf-8")
    command = [f90, "-O2", "-fopenmp", "-ffree-line-length-none", f"-I{library}", f"-J{folder}"]
    subprocess.run(
        [*command, "main.f90", str(library / "libfield_storage.a"), "-o", "main"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    done = subprocess.run(
        [str(folder / "main")], capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout if done.returncode == 0 else done.stderr


WORDS = ("--config-opts", "DEVICE_PROCEDURES=swap")


@pytest.fixture(scope="module")
def library(built: Callable[[Library], Path]) -> Path:
    return built(LIBRARY)


@pytest.mark.fortran
def test_values_and_numbers_of_transfers(
    tmp_path: Path, library: Path, request: pytest.FixtureRequest
) -> None:
    """The storages transfer what the plan states: once, and in every fourth or fifth step."""
    f90 = request.config.getoption("--f90")
    words = ("--transfers-json", "plan.json", *WORDS)
    new = planned(PROGRAM, tmp_path / "plan", *words)
    wanted = output_of(without_directives(PROGRAM), tmp_path / "plain", library, f90)
    found = output_of(new, tmp_path / "run", library, f90)
    assert found.splitlines()[:-1] == wanted.splitlines()[:-1]
    plan = json.loads((tmp_path / "plan" / "plan.json").read_text("utf-8"))
    assert plan["left_out"] == {}
    counts = {"device": 0, "host": 0}
    for one in plan["transfers"]:
        times = 3 if one["procedure"] == "step_mod.step" else 2
        counts[one["to"]] += times if one["repeated"] else 1
    assert found.split()[-2:] == [str(counts["device"]), str(counts["host"])]


@pytest.mark.fortran
def test_without_a_call_values_are_wrong_or_the_program_stops(
    tmp_path: Path, library: Path, request: pytest.FixtureRequest
) -> None:
    """An array without a storage gets one with the values of the host, without a call."""
    f90 = request.config.getoption("--f90")
    lines = planned(PROGRAM, tmp_path / "plan", *WORDS).splitlines(keepends=True)
    wanted = output_of("".join(lines), tmp_path / "run", library, f90).splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("program waves"))
    tried = 0
    for at, line in enumerate(lines):
        if re.search(r"call (bring_to_host|wrote_on_host)\(", line):
            tried += 1
            text = "".join((*lines[:at], "continue\n", *lines[at + 1 :]))
            without = output_of(text, tmp_path / f"without{tried}", library, f90).splitlines()
            is_first = "wrote_on_host" in line and at > start
            assert (without[:-1] == wanted[:-1]) is is_first, line
    assert tried > 8


def test_regions_use_pointers_with_the_bounds_of_the_arrays(tmp_path: Path) -> None:
    new = planned(PROGRAM, tmp_path / "plan", *WORDS)
    assert "level_device(lbound(level, 1):, lbound(level, 2):) => level_device" in new
    assert "!$acc kernels present(u_device, level_device)" in new
    assert "call swap(u_device, 2)" in new
    assert "if (allocated(mask)) then" in new
    assert "u_device(lbound" not in new


SMALL = """\
module parts_mod
  implicit none
contains
  subroutine part(x)
    real(8), target :: x(5)
    !$acc kernels
    x(:) = 2.0d0 * x
    !$acc end kernels
  end subroutine part
end module parts_mod
program small
  use parts_mod, only : part
  implicit none
  DECLARED
  a = 1
  !$acc kernels
  a = a + 1
  !$acc end kernels
  USED
  print *, a
end program small
"""


@pytest.mark.parametrize(
    ("declared", "used", "why"),
    [
        ("real(8), target :: a(10)", "", None),
        ("integer, target :: a(10, 2)", "", None),
        ("real(8) :: a(10)", "", "a storage needs a target: add the attribute 'target'"),
        ("complex, target :: a(10)", "", "no storage has its type"),
        ("integer(2), target :: a(10)", "", "no storage has its type"),
        ("real, target :: a(2, 2, 2, 2)", "", "no storage has its number of dimensions"),
        ("integer, target :: a(2, 2, 2)", "", "no storage has its number of dimensions"),
        (
            "real(8), target :: a(10)",
            "call part(a(2:6))",
            "a storage is found by the address of a whole array",
        ),
    ],
)
def test_an_array_without_a_storage_is_left_out(
    declared: str, used: str, why: str | None, tmp_path: Path
) -> None:
    text = SMALL.replace("DECLARED", declared).replace("USED", used)
    new = planned(text, tmp_path / "plan", "--transfers-json", "plan.json", root="small")
    plan = json.loads((tmp_path / "plan" / "plan.json").read_text("utf-8"))
    assert plan["left_out"].get("small.a") == why
    assert ("a_device" in new) is (why is None)


def test_names_of_the_library_give_way(tmp_path: Path) -> None:
    text = SMALL.replace("DECLARED", "real(8), target :: a(10)").replace(
        "USED", "block\n    integer :: a_device, storage_of\n  end block"
    )
    new = planned(text, tmp_path / "plan", root="small")
    assert "storage_of_ => storage_of" in new
    assert "a_device_(:) = " in new or "a_device_ = a_device_ + 1" in new


@pytest.mark.parametrize("declared", ["real(8), target :: a(10)", "real(8) :: a(10)"])
def test_the_root_ends_the_reports_also_without_planned_arrays(
    declared: str, tmp_path: Path
) -> None:
    text = SMALL.replace("DECLARED", declared).replace("USED", "if (a(1) > 3) return")
    text = text.replace("program small", "subroutine small", 1).replace(
        "end program small", "end subroutine small"
    )
    lines = planned(text, tmp_path / "plan", root="small").splitlines()
    ends = [at for at, line in enumerate(lines) if "set_program_tells(.false.)" in line]
    assert len(ends) == 2
    assert "return" in lines[ends[0] + 1]
    assert "end subroutine small" in lines[ends[1] + 1]


def test_only_arrays_in_directives_are_renamed(tmp_path: Path) -> None:
    """A component, an operator, and the words of clauses have the names of arrays."""
    text = """\
module boxes
  implicit none
  type :: box
    real(8) :: copy = 2.0d0
  end type box
end module boxes
program small
  use boxes, only : box
  implicit none
  type(box) :: z
  real(8), target :: copy(10), max(10)
  real(8) :: top
  integer :: i
  copy = 1
  max = 3
  top = 0
  !$acc parallel loop copyin(z%copy, z % copy) copy(copy) copyin(max(1:10)) reduction(max:top)
  do i = 1, 10
    copy(i) = copy(i) * z%copy + max(i)
  end do
  print *, copy
end program small
"""
    new = planned(text, tmp_path / "plan", root="small")
    clauses = "copyin(z%copy, z % copy) copy(copy_device) copyin(max_device(1:10)) "
    assert f"{clauses}reduction(max:top)" in re.sub(r"&\n *!\$acc ", "", new)
    assert "copy_device(i) = copy_device(i) * z%copy + max_device(i)" in new


@pytest.mark.parametrize("words", [[], ["--device-data", "small", "--contracts", "con"]])
def test_storages_need_all_files(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "main.f90").write_text(SMALL, "utf-8")
    done = run_command(["--device-storages", *words, "main.f90", "-o", "new.f90"], tmp_path)
    assert done.status != 0
    assert "'--device-storages' needs '--device-data' without '--contracts'" in done.err
