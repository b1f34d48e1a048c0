"""Device data of call trees: which arrays are planned, and what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.device_programs import KERNEL, LOOP, moves, plan_of, planned, root

FUNCTION = """\
end subroutine root
function first(x)
  real, intent(in) :: x(10)
  real :: first, y(10)
  !$acc kernels
  y(:) = x(:)
  !$acc end kernels
  first = y(1)
end function first
subroutine empty
"""


def test_arguments_and_variables_of_modules_stay_on_the_device(tmp_path: Path) -> None:
    found = moves(plan_of(tmp_path, root(LOOP)))
    to = sorted(name for name, side, _ in found if side == "device")
    assert to == ["a", "b", "table"]
    assert [name for name, side, _ in found if side == "host"] == ["b"]
    assert {where for *_, where in found} == {"root"}


def test_the_root_imports_what_it_moves(tmp_path: Path) -> None:
    plan_of(tmp_path, root(LOOP))
    text = (tmp_path / "out" / "main.f90").read_text("utf-8")
    assert "use kernel_mod, only : table" in text.replace("ONLY", "only").replace("only:", "only :")
    assert "!$acc enter data create(a, b, table)" in text
    assert "!$acc exit data delete(a, b, table)" in text


def test_a_name_with_another_meaning_leaves_the_variable_out(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, root("  table = 1.0\n" + LOOP, "  real :: table\n"))
    assert plan["left_out"] == {"kernel_mod.table": "its name has another meaning in 'root'"}


def test_a_private_variable_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "hidden_mod.f90").write_text(
        KERNEL.replace("kernel_mod", "hidden_mod").replace(
            "  real :: table(10)", "  real, private :: table(10)"
        ),
        "utf-8",
    )
    text = root(LOOP).replace("kernel_mod", "hidden_mod")
    plan = plan_of(tmp_path, text, "hidden_mod.f90")
    assert plan["left_out"] == {"hidden_mod.table": "it is private in 'hidden_mod'"}


def test_an_unknown_procedure_reads_and_writes_its_arguments(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path, root("  do i = 1, 5\n    call kernel(a, b)\n    call out(b)\n  end do\n")
    )
    assert plan["unknown_procedures"] == ["out"]
    repeated = [(name, side) for name, side, _ in moves(plan) if name in "by"]
    assert repeated == [("b", "host"), ("y", "device")]


def test_other_callers_of_a_procedure_have_their_data_on_the_host(tmp_path: Path) -> None:
    other = (
        "subroutine other(a, b)\n  use kernel_mod, only : kernel\n  real :: a(10), b(10)\n"
        "  call kernel(a, b)\nend subroutine other\n"
    )
    found = moves(plan_of(tmp_path, root(LOOP) + other))
    assert {where for name, _, where in found if name in "xy"} == {"kernel_mod.kernel"}
    assert not [one for one in found if one[0] in "ab"]


def test_a_local_array_never_moves(tmp_path: Path) -> None:
    body = "  c = 0.0\n  !$acc kernels\n  c(:) = a(:)\n  b(:) = c(:)\n  !$acc end kernels\n"
    found = moves(plan_of(tmp_path, root(body, "  real :: c(10)\n")))
    assert not [one for one in found if one[0] == "c"]


def test_a_complete_write_needs_no_transfer(tmp_path: Path) -> None:
    body = "  !$acc kernels\n  do i = 1, 10\n    b(i) = a(i)\n  end do\n  !$acc end kernels\n"
    found = moves(plan_of(tmp_path, root(body)))
    assert found == [("a", "device", "root"), ("b", "host", "root")]


@pytest.mark.parametrize(("first", "last"), [(2, 10), (1, 9)])
def test_an_incomplete_write_needs_one(first: int, last: int, tmp_path: Path) -> None:
    loop = f"  do i = {first}, {last}\n    b(i) = a(i)\n  end do\n"
    found = moves(plan_of(tmp_path, root(f"  !$acc kernels\n{loop}  !$acc end kernels\n")))
    assert ("b", "device", "root") in found
    words = ("--assume", "unwritten-elements-unused")
    found = moves(plan_of(tmp_path, root(f"  !$acc kernels\n{loop}  !$acc end kernels\n"), *words))
    assert ("b", "device", "root") not in found


def test_the_promise_does_not_hold_for_the_host(tmp_path: Path) -> None:
    """After a partial write of the host, the other elements are those of the device."""
    body = (
        "  !$acc kernels\n  b(:) = a(:)\n  !$acc end kernels\n  b(1) = 0.0\n"
        "  !$acc kernels\n  b(:) = b(:) + 1.0\n  !$acc end kernels\n"
    )
    found = moves(plan_of(tmp_path, root(body), "--assume", "unwritten-elements-unused"))
    assert [side for name, side, _ in found if name == "b"] == ["host", "device", "host"]


def test_openmp_regions_get_openmp_directives(tmp_path: Path) -> None:
    body = (
        "  !$omp target teams distribute parallel do\n  do i = 1, 10\n    b(i) = b(i) + a(i)\n"
        "  end do\n"
    )
    plan_of(tmp_path, root(body))
    text = (tmp_path / "out" / "main.f90").read_text("utf-8")
    for wanted in (
        "!$omp target enter data map(alloc: a, b)",
        "!$omp target update to(a, b)",
        "!$omp target update from(b)",
        "!$omp target exit data map(delete: a, b)",
    ):
        assert wanted in text


OVERWRITE = """\
subroutine first(x, y)
  real, intent(in) :: x(10)
  real, intent(inout) :: y(10)
  !$acc kernels
  y(:) = x
  !$acc end kernels
end subroutine first
"""


def test_a_smaller_argument_is_a_part(tmp_path: Path) -> None:
    """The device writes all of the argument, but the rest of the array is only on the host."""
    text = root("  call first(a, b)\n").replace("subroutine root", OVERWRITE + "subroutine root")
    assert ("b", "device", "root") not in moves(plan_of(tmp_path, text))
    found = moves(plan_of(tmp_path, text.replace("a(10), b(10)", "a(10), b(11)")))
    assert ("b", "device", "root") in found or ("y", "host", "first") in found


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("  call root(a, b)\n" + LOOP, "it is recursive"),
        ("  !$acc update device(a)\n" + LOOP, "'acc update device(a)' already moves data"),
        ("  if (a(1) > 0.0) goto 10\n" + LOOP + "10 continue\n", "'goto 10' is not understood"),
        ("  read (*, *, end=10) a\n" + LOOP + "10 continue\n", "may jump to label 10"),
        ("#ifdef ONE\n" + LOOP + "#endif\n", "'#ifdef ONE' selects statements (preprocess"),
        (
            "  !$omp parallel\n" + LOOP + "  !$omp end parallel\n",
            "is a directive for host statements",
        ),
        ("  if (first(a) > 0.0) b = 0.0\n" + LOOP + FUNCTION, "'first' has device regions"),
        (
            "  !$acc kernels async(1)\n  b(:) = a(:)\n  !$acc end kernels\n",
            "a region is asynchronous",
        ),
    ],
)
def test_the_reason_against_a_plan_is_named(body: str, reason: str, tmp_path: Path) -> None:
    done = planned(tmp_path, root(body))
    assert done.status == 1
    assert "error[T098]" in done.err
    assert reason in done.err
    assert not (tmp_path / "out" / "main.f90").exists()


def test_all_reasons_are_named_at_once(tmp_path: Path) -> None:
    body = "  !$acc update device(a)\n  !$acc update host(b)\n  call root(a, b)\n" + LOOP
    done = planned(tmp_path, root(body))
    assert done.status == 1
    assert done.err.count("already moves data") == 2
    assert "it is recursive" in done.err


def test_a_procedure_of_a_submodule_may_be_in_another_file(tmp_path: Path) -> None:
    interface = (
        "module parent\n  interface\n    Pure Module Subroutine change(x)\n"
        "      real, intent(inout) :: x(10)\n    end subroutine\n  end interface\nend module\n"
    )
    text = interface + root(LOOP + "  call change(b)\n", uses="  use parent, only : change\n")
    done = planned(tmp_path, text)
    assert done.status == 1
    assert "error[T098]" in done.err
    assert "it is not known which procedure 'change' is" in done.err


def test_an_unknown_root_is_named(tmp_path: Path) -> None:
    done = planned(tmp_path, root(LOOP), root="rot")
    assert done.status == 1
    assert "error[T003]: There is no procedure 'rot' in the files." in done.err
    assert "Did you mean 'root'?" in done.err
    assert "root" in done.err.split("hint")[1]


def test_early_returns_delete_the_copies(tmp_path: Path) -> None:
    plan_of(tmp_path, root("  if (a(1) < 0.0) return\n" + LOOP))
    text = (tmp_path / "out" / "main.f90").read_text("utf-8")
    assert text.count("exit data delete") == 2
    assert text.index("exit data delete") < text.index("return")


DRIVER = """\
module driver_mod
  implicit none
contains
  subroutine advance(n, m, x, y)
    integer, intent(in) :: n, m
    real, intent(in) :: x(n, m)
    real, intent(inout) :: y(n, m)
    !$acc kernels
    y(:, :) = y + x
    !$acc end kernels
    if (n > 5) call report(n, m, y)
  end subroutine advance
  subroutine report(n, m, y)
    integer, intent(in) :: n, m
    real, intent(in) :: y(n, m)
    print *, sum(y)
  end subroutine report
end module driver_mod
program root
  use driver_mod, only : advance
  implicit none
  real, allocatable :: a(:, :), b(:, :)
  integer :: n = 3, m, i
  m = n + 1
  allocate(a(n, m), b(n, m))
  a = 1.0
  b = 2.0
  do i = 1, 5
    call advance(n, m, a, b)
{more}  end do
  print *, b
end program root
"""


def test_arrays_of_a_driver_move_outside_its_loop(tmp_path: Path) -> None:
    """The argument has the extents of the `allocate` statement; the report only reads it."""
    found = moves(plan_of(tmp_path, DRIVER.format(more="")))
    assert sorted(found) == [
        ("a", "device", "root"),
        ("b", "device", "root"),
        ("b", "host", "root"),
        ("y", "host", "driver_mod.advance"),
    ]


OVERWRITING = (
    DRIVER.replace("= y + x", "= 2.0 * x")
    .replace("    if (n > 5) call report(n, m, y)\n", "")
    .replace("  do i = 1, 5\n", "")
    .replace("  end do\n", "  !$acc kernels\n  b(:, :) = b + 1.0\n  !$acc end kernels\n")
)


@pytest.mark.parametrize(
    ("more", "is_whole"),
    [
        ("", True),
        ("    m = m - 1\n", False),
        ("    deallocate(b)\n    allocate(b(n, n))\n", False),
        ("    read *, m\n", False),
    ],
)
def test_an_extent_that_may_change_makes_an_argument_a_part(
    more: str, is_whole: bool, tmp_path: Path
) -> None:
    """If the device writes the whole array, it needs no values of it."""
    found = moves(plan_of(tmp_path, OVERWRITING.format(more=more)))
    assert (("b", "device", "root") not in found) is is_whole


def test_a_call_of_a_procedure_in_included_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "more.inc").write_text(
        "subroutine more()\n  table = 0.0\nend subroutine\n", "utf-8"
    )
    text = KERNEL.replace("kernel_mod", "open_mod").replace(
        "end module", "include 'more.inc'\nend module"
    )
    (tmp_path / "open_mod.f90").write_text(text, "utf-8")
    main = root(LOOP + "  call more()\n" + LOOP).replace("kernel_mod, only : kernel", "open_mod")
    done = planned(tmp_path, main, "open_mod.f90")
    assert done.status == 1
    assert "it is not known which procedure 'more' is" in done.err


def reasons(plan: dict[str, object], name: str) -> list[tuple[str, str, str]]:
    transfers = plan["transfers"]
    assert isinstance(transfers, list)
    found = [one for one in transfers if one["array"].endswith(f".{name}")]
    return [(one["to"], one["reader"], one["writer"]) for one in found]


def test_reasons_name_uses_in_other_iterations(tmp_path: Path) -> None:
    body = "  do i = 1, 5\n    call kernel(a, b)\n    if (i == 2) b(1) = 0.0\n  end do\n"
    assert reasons(plan_of(tmp_path, root(body)), "b") == [
        ("device", "'kernel_mod.kernel' in line 7", "the caller"),
        ("host", "the host in line 8", "'kernel_mod.kernel' in line 7"),
        ("device", "'kernel_mod.kernel' in line 7 in the next iteration", "the host in line 8"),
        ("host", "the caller", "'kernel_mod.kernel' in line 7"),
    ]


def test_reasons_name_writes_in_the_iteration_before(tmp_path: Path) -> None:
    body = "  do i = 1, 5\n    if (i == 3) print *, b\n    call kernel(a, b)\n  end do\n"
    found = reasons(plan_of(tmp_path, root(body)), "b")
    before = "'kernel_mod.kernel' in line 8 in the iteration before"
    assert ("host", "the host in line 7", before) in found


def test_only_deallocated_arrays_need_no_transfers(tmp_path: Path) -> None:
    """The rest of a new array is copied, as programs read it; a deallocated array is not."""
    body = (
        "  allocate(c(10))\n  !$acc kernels\n  c(2:9) = a(2:9)\n  b(2:9) = b(2:9) + c(2:9)\n"
        "  !$acc end kernels\n  if (b(1) > 0.0) deallocate(c)\n  call kernel(a, b)\n"
    )
    found = moves(plan_of(tmp_path, root(body, "  real, allocatable :: c(:)\n")))
    assert [one for one in found if one[0] == "c"] == [("c", "device", "root")]


def test_an_array_that_may_be_allocated_already_keeps_its_values(tmp_path: Path) -> None:
    body = (
        "  allocate(c(10), stat=i)\n  c = 1.0\n  !$acc kernels\n  c(2:9) = a(2:9)\n"
        "  !$acc end kernels\n  allocate(c(10), stat=i)\n  b = c\n  call kernel(a, b)\n"
    )
    found = moves(plan_of(tmp_path, root(body, "  real, allocatable :: c(:)\n")))
    assert [one[1] for one in found if one[0] == "c"] == ["device", "host"]


def test_reports_state_bytes(tmp_path: Path) -> None:
    declared = "  real(8) :: c(10, 0:i)\n  complex :: d(2:3)\n  real, allocatable :: e(:)\n"
    body = (
        "  allocate(e(2 * i))\n  e = 1.0\n  c = 0.0\n  d = 1.0\n  do i = 1, 5\n"
        "    !$acc kernels\n    b(1) = b(1) + c(1, 1) + real(d(2)) + e(1)\n    !$acc end kernels\n"
        "    print *, b\n  end do\n"
    )
    text = root(body, declared).replace("integer :: i\n", "integer, intent(in) :: i\n", 1)
    plan = plan_of(tmp_path, text.replace("root(a, b)", "root(a, b, i)").replace("do i", "do j").
                   replace("  real(8) :: c", "  integer :: j\n  real(8) :: c"))  # fmt: skip
    transfers = plan["transfers"]
    assert isinstance(transfers, list)
    sizes = {(one["array"].split(".")[-1], one["to"]): one["bytes"] for one in transfers}
    assert sizes == {
        ("b", "device"): 40,
        ("b", "host"): 40,
        ("c", "device"): "80 * (i + 1)",
        ("d", "device"): 16,
        ("e", "device"): "4 * (2 * i)",
    }
    assert [(one["to"], one["repeated"]) for one in transfers if one["array"] == "root.b"] == [
        ("device", False),
        ("host", True),
    ]


def test_the_explanation_sums_bytes(tmp_path: Path) -> None:
    body = "  do i = 1, 5\n    call kernel(a, b)\n    print *, b\n  end do\n"
    done = planned(tmp_path, root(body), "--explain")
    assert "  once: 120 bytes to it, 0 bytes from it\n" in done.out
    assert "  repeatedly: 0 bytes to it, 40 bytes from it\n" in done.out


def test_transfers_in_procedures_that_loops_call_are_repeated(tmp_path: Path) -> None:
    text = DRIVER.format(more="")
    transfers = plan_of(tmp_path, text)["transfers"]
    assert isinstance(transfers, list)
    repeated = {(one["array"], one["to"]) for one in transfers if one["repeated"]}
    assert repeated == {("driver_mod.advance.y", "host")}


OVERRIDDEN = """\
module base_mod
  implicit none
  type :: base
  contains
    procedure :: change
  end type base
contains
  subroutine change(self)
    class(base), intent(in) :: self
  end subroutine change
end module base_mod
"""
OVERRIDES = """\
module child_mod
  use base_mod, only : base
  use kernel_mod, only : table
  implicit none
  type, extends(base) :: child
  contains
    procedure :: change => change_table
  end type child
contains
  subroutine change_table(self)
    class(child), intent(in) :: self
    table = 0.0
  end subroutine change_table
end module child_mod
"""


@pytest.mark.parametrize(("files", "status"), [(("base",), 0), (("base", "child"), 1)])
def test_a_type_of_another_module_may_override_a_procedure(
    files: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    for name, text in (("base", OVERRIDDEN), ("child", OVERRIDES)):
        (tmp_path / f"{name}_mod.f90").write_text(text, "utf-8")
    declared = "  class(base), allocatable :: object\n"
    main = root(LOOP + "  call object%change()\n" + LOOP, declared, "  use base_mod, only : base\n")
    done = planned(tmp_path, main, *(f"{name}_mod.f90" for name in files))
    assert done.status == status
    assert ("it is not known which procedure 'object%change' is" in done.err) == bool(status)
