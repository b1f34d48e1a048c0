"""Device data of call trees: arrays with attributes, private arrays, procedures in the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.device_programs import KERNEL, LOOP, moves, plan_of, root

TARGET = "it is a target, which a pointer may change"


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ("  real, pointer :: c(:)\n", "it is a pointer"),
        ("  real, target :: c(10)\n  real, pointer :: p(:)\n  p => c\n", TARGET),
        ("  real, target :: c(10)\n  call keep(c)\n", TARGET),
        ("  real, target :: c(10)\n  call use_address(c_loc(c))\n", TARGET),
        ("  real, save :: c(10)\n", "it keeps its value between calls"),
        ("  real :: c(10) = 0.0\n", "it keeps its value between calls"),
        ("  real, volatile :: c(10)\n", "it is volatile"),
    ],
)
def test_such_an_array_is_left_out_with_what_is_passed_as_it(
    declared: str, why: str, tmp_path: Path
) -> None:
    plan = plan_of(tmp_path, root("  call kernel(c, b)\n", declared))
    left_out = plan["left_out"]
    assert isinstance(left_out, dict)
    assert left_out.pop("root.p", "it is a pointer") == "it is a pointer"
    assert left_out == {"kernel_mod.kernel.x": why, "root.c": why}


KEEPS = """\
module keeps
  implicit none
  real, pointer :: known(:)
contains
  subroutine keep(x)
    real, target :: x(10)
    known => x
  end subroutine keep
  subroutine reads(x)
    real :: x(10)
    print *, x
  end subroutine reads
end module keeps
"""


@pytest.mark.parametrize(
    ("statement", "is_planned"),
    [
        ("  c = 1.0\n", True),
        ("  call reads(c)\n", True),
        ("  call listed(c)\n", True),
        ("  print *, maxval(c)\n", True),
        ("  call keep(c)\n", False),
        ("  call keep(x=c(1:10))\n", False),
        ("  call unknown(c)\n", False),
        ("  associate(d => c)\n    d = 2.0\n  end associate\n", False),
    ],
)
def test_a_target_is_planned_if_no_pointer_denotes_it(
    statement: str, is_planned: bool, tmp_path: Path
) -> None:
    (tmp_path / "keeps.f90").write_text(KEEPS, "utf-8")
    text = root(statement + "  call kernel(c, b)\n", "  real, target :: c(10)\n", "  use keeps\n")
    words = ("--config-opts", "READ_ONLY_PROCEDURES=listed", "keeps.f90")
    left_out = plan_of(tmp_path, text, *words)["left_out"]
    assert left_out == ({} if is_planned else {"kernel_mod.kernel.x": TARGET, "root.c": TARGET})


DATA = """\
module data_mod
  implicit none
  type :: holder
    real, pointer :: q(:)
  contains
    procedure :: first, reads
    procedure, pass(self) :: last
    procedure, nopass :: without
  end type holder
  real, target :: c(10)
  real, pointer :: p(:)
contains
  subroutine first(self, x)
    class(holder) :: self
    real, target :: x(10)
    self%q => x
  end subroutine first
  subroutine last(x, self)
    real, target :: x(10)
    class(holder) :: self
    self%q => x
  end subroutine last
  subroutine without(self, x)
    class(holder) :: self
    real, target :: x(10)
    self%q => x
  end subroutine without
  subroutine reads(self, x)
    class(holder) :: self
    real :: x(10)
    print *, x
  end subroutine reads
  subroutine separate(x)
    real :: x(10)
    target :: x
    p => x
  end subroutine separate
end module data_mod
"""
HOLDER = "  type(holder) :: h\n"


def left_out_of(folder: Path, body: str, declared: str, late: str) -> dict[str, str]:
    """Return the targets without a plan, with reasons; `late` is the text of another module."""
    (folder / "data_mod.f90").write_text(DATA, "utf-8")
    (folder / "late.f90").write_text(f"module late\n{late}end module late\n", "utf-8")
    text = root(body + "  call kernel(c, b)\n", declared, "  use data_mod\n  use late\n")
    left_out = plan_of(folder, text, "data_mod.f90", "late.f90")["left_out"]
    assert isinstance(left_out, dict)
    return {name: why for name, why in left_out.items() if name != "data_mod.p"}


POINTED = {"data_mod.c": TARGET, "kernel_mod.kernel.x": TARGET}


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        ("  p => & ! all of it\n\n    ! two comments\n    c\n", ""),
        ("  use%q => c\n", "  type(holder) :: use\n"),
        ("  call separate(c)\n", ""),
        ("  call h%first(c)\n", HOLDER),
        ("  call h%last(c)\n", HOLDER),
        ("  call h%without(h, c)\n", HOLDER),
    ],
)
def test_statements_associate_a_pointer(body: str, declared: str, tmp_path: Path) -> None:
    assert left_out_of(tmp_path, body, declared, "") == POINTED


@pytest.mark.parametrize(
    "late",
    [
        "  use data_mod, only : c\n  real, pointer :: q(:) => c\n",
        "  use data_mod, only : c\n  !$ real, pointer :: q(:) => c\n",
        "  use data_mod\n  type(holder) :: g = holder(c)\n",
        "contains\n  subroutine l()\n    use data_mod, only : s => c, & !\n  p\n  p => s\n  end\n",
    ],
)
def test_another_module_associates_a_pointer(late: str, tmp_path: Path) -> None:
    assert left_out_of(tmp_path, "", "", late) == POINTED


@pytest.mark.parametrize("body", ["", "  call h%reads(c)\n"])
def test_an_import_with_a_new_name_is_no_pointer(body: str, tmp_path: Path) -> None:
    assert left_out_of(tmp_path, body, HOLDER, "  use data_mod, only : s => c\n") == {}


GROWS = """\
module grows
  implicit none
  type :: grower
    integer :: n = 10
  contains
    procedure :: grow
  end type grower
contains
  subroutine grow(self, x)
    class(grower) :: self
    real, allocatable, intent(inout) :: x(:)
    deallocate(x)
    allocate(x(self%n))
    x = 1.0
  end subroutine grow
  subroutine separate(x)
    real, intent(inout) :: x(:)
    allocatable :: x
    deallocate(x)
    allocate(x(10))
    x = 1.0
  end subroutine separate
end module grows
"""


@pytest.mark.parametrize("call", ["g%grow(c)", "separate(c)"])
def test_an_array_that_a_called_procedure_allocates_is_left_out(call: str, tmp_path: Path) -> None:
    (tmp_path / "grows.f90").write_text(GROWS, "utf-8")
    declared = "  real, allocatable :: c(:)\n  type(grower) :: g\n"
    body = f"  allocate(c(10))\n  c = 1.0\n  call {call}\n  call kernel(c, b)\n"
    plan = plan_of(tmp_path, root(body, declared, "  use grows\n"), "grows.f90")
    why = "'root' may allocate it"
    assert plan["left_out"] == {"root.c": why, "kernel_mod.kernel.x": why}


def test_an_array_of_nonblocking_communication_is_left_out(tmp_path: Path) -> None:
    body = "  call mpi_irecv(b, 10, i)\n" + LOOP + "  call mpi_wait(i)\n  call mpi_init(i)\n"
    plan = plan_of(tmp_path, root(body))
    why = "'mpi_irecv' does not wait for its communication"
    assert plan["left_out"] == {"kernel_mod.kernel.y": why, "root.b": why}


def test_a_procedure_of_the_settings_only_reads(tmp_path: Path) -> None:
    text = root("  do i = 1, 5\n    call kernel(a, b)\n    call out(b)\n  end do\n")
    plan = plan_of(tmp_path, text, "--config-opts", "READ_ONLY_PROCEDURES=out")
    inside = [one for one in plan["transfers"] if one["estimated_executions"] == 8]  # type: ignore[attr-defined]
    assert [one["to"] for one in inside] == ["host"]


def test_a_procedure_of_the_settings_uses_the_device(tmp_path: Path) -> None:
    text = root("  do i = 1, 5\n    call kernel(a, b)\n    call swap(b(:), a(i))\n  end do\n")
    plan = plan_of(tmp_path, text, "--config-opts", "DEVICE_PROCEDURES=Swap")
    assert [one for one in moves(plan) if one[0] == "b"] == [
        ("b", "device", "root"), ("b", "host", "root"),
    ]  # fmt: skip
    assert [one for one in moves(plan) if one[0] == "a"] == [
        ("a", "device", "root"), ("a", "host", "root"),
    ]  # fmt: skip


def test_a_procedure_that_only_calls_one_for_the_device_is_planned(tmp_path: Path) -> None:
    """Its directives are those of the regions in the call tree."""
    text = "subroutine both(y)\n  real :: y(10)\n  print *, y\n  call swap(y)\nend subroutine\n"
    text += root("  call kernel(a, b)\n  call both(b)\n").replace("kernel_mod", "target_mod")
    (tmp_path / "target_mod.f90").write_text(
        KERNEL.replace("kernel_mod", "target_mod")
        .replace("!$acc parallel loop", "!$omp target teams distribute parallel do")
        .replace("!$acc end parallel loop", "!$omp end target teams distribute parallel do"),
        "utf-8",
    )
    words = ("--config-opts", "DEVICE_PROCEDURES=swap", "target_mod.f90")
    found = [one for one in moves(plan_of(tmp_path, text, *words)) if one[0] in "by"]
    assert ("y", "host", "both") in found
    assert ("y", "device", "both") not in found
    assert "!$omp target update from(y)" in (tmp_path / "out" / "main.f90").read_text("utf-8")


WORK = """\
module work_mod
  implicit none
  private
  public :: compute
  real, allocatable :: work(:)
contains
  subroutine compute(y)
    real, intent(inout) :: y(10)
    integer :: i
    allocate(work(10))
    !$acc parallel loop
    do i = 1, 10
      work(i) = 2.0 * y(i)
    end do
    !$acc end parallel loop
    !$acc parallel loop
    do i = 1, 10
      y(i) = work(11 - i)
    end do
    !$acc end parallel loop
    deallocate(work)
  end subroutine compute
end module work_mod
"""


def test_a_private_array_is_planned_if_the_tree_allocates_it(tmp_path: Path) -> None:
    """The root cannot name it; its copies are created where it is allocated."""
    (tmp_path / "work_mod.f90").write_text(WORK, "utf-8")
    text = root("  call compute(b)\n", uses="  use work_mod, only : compute\n")
    plan = plan_of(tmp_path, text, "work_mod.f90")
    assert plan["left_out"] == {}
    assert not [one for one in moves(plan) if one[0] == "work"]
    new = (tmp_path / "out" / "work_mod.f90").read_text("utf-8")
    assert "!$acc enter data create(work)" in new
    assert "!$acc exit data delete(work) finalize" in new
    assert "work" not in (tmp_path / "out" / "main.f90").read_text("utf-8").replace("work_mod", "")


def test_no_procedure_transfers_an_array_that_it_cannot_name(tmp_path: Path) -> None:
    """A value on the host, in a procedure of the module, needs a transfer in the module."""
    text = WORK.replace("    deallocate(work)\n", "    print *, work\n    deallocate(work)\n")
    (tmp_path / "work_mod.f90").write_text(text, "utf-8")
    main = root("  call compute(b)\n", uses="  use work_mod, only : compute\n")
    found = moves(plan_of(tmp_path, main, "work_mod.f90"))
    assert [one for one in found if one[0] == "work"] == [("work", "host", "work_mod.compute")]


def test_a_private_procedure_that_is_not_named_has_no_callers(tmp_path: Path) -> None:
    """Without this, the kernel would get its data on the host."""
    other = "  subroutine dead(y)\n    real :: y(10)\n    call inner(y)\n  end subroutine\n"
    inner = (
        "  subroutine inner(y)\n    real :: y(10)\n    !$acc kernels\n    y(:) = 2.0 * y\n"
        "    !$acc end kernels\n  end subroutine inner\n"
    )
    text = WORK.replace("    deallocate(work)\n", "    deallocate(work)\n    call inner(y)\n")
    main = root("  call compute(b)\n", uses="  use work_mod, only : compute\n")
    for mention, expected in (("", 1), ("  ! dead is used elsewhere\n", 2)):
        module = text.replace("end module", f"{other}{inner}{mention}end module")
        (tmp_path / "work_mod.f90").write_text(module, "utf-8")
        found = moves(plan_of(tmp_path, main, "work_mod.f90"))
        assert len([one for one in found if one[1] == "device"]) == expected


def test_a_program_starts_without_module_arrays_and_ends_with_none_in_use(tmp_path: Path) -> None:
    """Arrays of modules are not allocated at first; nothing reads them after the program."""
    module = (
        "module state_mod\n  implicit none\n  real, allocatable :: s(:)\n  real :: t(10)\n"
        "end module state_mod\n"
    )
    (tmp_path / "state_mod.f90").write_text(module, "utf-8")
    body = "  call fill()\n  !$acc kernels\n  t(:) = 1.0\n  !$acc end kernels\nend program root\n"
    fill = (
        "subroutine fill()\n  use state_mod\n  integer :: i\n  i = 1\n"
        "  if (i > 0) allocate(s(10))\n  if (i > 0) then\n    !$acc kernels\n    s(1:9) = 1.0\n"
        "    !$acc end kernels\n"
        "  end if\nend subroutine fill\n"
    )
    main = f"{fill}program root\n  use state_mod\n{body}"
    plan = plan_of(tmp_path, main, "state_mod.f90")
    assert plan["left_out"] == {}
    assert moves(plan) == []


@pytest.mark.parametrize(
    ("before", "expected"), [("", ["c"]), ("  do i = 1, 3\n", []), ("subroutine", [])]
)
def test_a_new_array_has_values_only_if_the_root_allocates_it_once(
    before: str, expected: list[str], tmp_path: Path
) -> None:
    """Some programs read elements that they never write."""
    inside = (
        "  allocate(c(10))\n  !$acc kernels\n  c(2:9) = a(2:9)\n  b(2:9) = c(2:9)\n"
        "  !$acc end kernels\n  deallocate(c)\n"
    )
    declared = "  real, allocatable :: c(:)\n"
    if before == "subroutine":
        other = "subroutine part(a, b)\n  real, intent(inout) :: a(10), b(10)\n"
        text = f"{other}{declared}{inside}end subroutine part\n" + root("  call part(a, b)\n")
    else:
        text = root(before + inside + ("  end do\n" if before else ""), declared)
    found = moves(plan_of(tmp_path, text))
    assert [one[0] for one in found if one[0] == "c"] == expected


PARTS = """\
module parts
  implicit none
  real :: shared(10)
contains
  subroutine work(x, y)
    real, intent(inout) :: x(10), y(5)
    integer :: i
    y = y + 1.0
    !$acc parallel loop
    do i = 6, 10
      x(i) = 2.0 * x(i)
    end do
    print *, y
  end subroutine work
  subroutine work_shared(y)
    real, intent(inout) :: y(5)
    integer :: i
    y = y + 1.0
    !$acc parallel loop
    do i = 6, 10
      shared(i) = 2.0 * shared(i)
    end do
    print *, y
  end subroutine work_shared
end module parts
"""


@pytest.mark.parametrize(
    ("call", "array"),
    [
        ("call kernel(c, b)\n  call work(c, c(1:5))", "root.c"),
        ("call kernel(shared, b)\n  call work_shared(shared(1:5))", "parts.shared"),
    ],
)
def test_an_array_that_a_procedure_knows_twice_is_left_out(
    call: str, array: str, tmp_path: Path
) -> None:
    """A transfer of the whole would overwrite the part, which the host has changed meanwhile."""
    (tmp_path / "parts.f90").write_text(PARTS, "utf-8")
    text = root(f"  {call}\n", "  real :: c(10)\n", "  use parts\n")
    plan = plan_of(tmp_path, text, "parts.f90")
    left_out = plan["left_out"]
    assert isinstance(left_out, dict)
    assert "as a whole and, by another name, in part" in left_out[array]


@pytest.mark.parametrize(("section", "is_planned"), [("(:, 2)", True), ("(2, :)", False)])
def test_a_section_is_passed_to_a_procedure_on_the_device_only_in_place(
    section: str, is_planned: bool, tmp_path: Path
) -> None:
    """The compiler would pass a copy of values on the host."""
    body = f"  call kernel(d(:, 1), b)\n  call halo(d{section})\n"
    text = root(body, "  real :: d(10, 10)\n  external :: halo\n")
    plan = plan_of(tmp_path, text, "--config-opts", "DEVICE_PROCEDURES=halo")
    left_out = plan["left_out"]
    assert isinstance(left_out, dict)
    assert ("root.d" not in left_out) is is_planned
