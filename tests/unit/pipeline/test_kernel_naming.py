"""Kernels that steps have changed: their names, where they go, and who calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.request import CompileRequest

ALGORITHM = """subroutine step(u, v)
  use field_mod, only: r2d_field
  use work_mod, only: work
  use other, only: other_work
  type(r2d_field) :: u, v
  call invoke(work(u), work(v), other_work(u))
end subroutine
"""
WORK = """! Work on a point.
{before}module work_mod
  use limits_mod, only: most, lowest => least
  use argument_mod
  use kernel_mod
  implicit none
  private
  type, public, extends(kernel_type) :: work
    type(go_arg) :: meta_args(1) = (/ go_arg(go_write, go_ct, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  contains
    procedure, nopass :: code => work_code
  end type work
  public :: work_code
contains
  ! What work_mod is for: 'work_code'.
  subroutine work_code(i, j, u)
    integer, intent(in) :: i, j
    real, intent(inout) :: u(:, :)
    u(i, j) = u%work + {value} ! work_code
  end subroutine work_code
end module work_mod
"""
LIMITS = """module limits_mod
  integer, parameter :: most = 3
  integer, parameter :: least = 1
  integer :: changing = 2
end module limits_mod
"""


def other_text() -> str:
    text = WORK.format(before="", value="1.0")
    for old, new in (("work_mod", "other"), ("work_code", "compute"), (":: work", ":: other_work")):
        text = text.replace(old, new)
    return text.replace("end type work", "end type other_work")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "alg.f90").write_text(ALGORITHM)
    (tmp_path / "work_mod.f90").write_text(WORK.format(before="", value="most"))
    (tmp_path / "other.f90").write_text(other_text())
    (tmp_path / "limits_mod.f90").write_text(LIMITS)
    return tmp_path


def build(folder: Path, steps: str) -> Build:
    request = CompileRequest("gocean", False, (folder,), steps=steps)
    return make_compiler(default_settings(), request).compile_algorithm(folder / "alg.f90")


def test_each_call_has_a_kernel_of_its_own(folder: Path) -> None:
    made = build(folder, "acc-routine")
    assert [item.module for item in made.kernels] == ["work_0_mod", "work_1_mod", "other_0_mod"]
    for name in ("work_0", "work_1"):
        assert f"use {name}_mod, only: {name}_code" in made.psy_text
        assert f"call {name}_code(" in made.psy_text
    assert "use other_0_mod, only: compute_0_code" in made.psy_text
    assert "use work_mod" not in made.psy_text


def test_names_change_wherever_they_mean_the_module_the_type_or_the_subroutine(
    folder: Path,
) -> None:
    kernel = build(folder, "acc-routine").kernels[0]
    old = WORK.format(before="", value="most").splitlines()
    new = kernel.text.splitlines()
    assert new[0] == "! Work on a point."
    changed = {a.strip(): b.strip() for a, b in zip(old, new, strict=False) if a != b}
    assert changed["module work_mod"] == "module work_0_mod"
    assert changed["type, public, extends(kernel_type) :: work"].endswith(":: work_0_type")
    assert changed["procedure, nopass :: code => work_code"].endswith("=> work_0_code")
    assert changed["end type work"] == "end type work_0_type"
    assert changed["public :: work_code"] == "public :: work_0_code"
    assert "  ! What work_mod is for: 'work_code'." in new
    assert "    ! work_code" in new
    assert "    u(i, j) = u%work + most" in new
    assert "    !$acc routine seq" in new
    assert new[-2:] == ["  end subroutine work_0_code", "end module work_0_mod"]


def test_kernels_that_no_step_has_changed_stay_where_they_are(folder: Path) -> None:
    made = build(folder, "acc-routine{call=work@loop1}")
    assert [item.module for item in made.kernels] == ["work_0_mod"]
    assert "use work_mod, only: work_code" in made.psy_text
    assert build(folder, "").kernels == ()


def test_equal_kernels_share_a_procedure_of_the_layer(folder: Path) -> None:
    made = build(folder, "inline-kernel-module")
    assert made.kernels == ()
    assert made.psy_text.count("  subroutine work_code(") == 1
    assert made.psy_text.count("call work_code(") == 2
    assert "use work_mod" not in made.psy_text
    assert "public :: work_code" not in made.psy_text


def test_kernels_that_differ_have_procedures_of_different_names(folder: Path) -> None:
    first = "call=work@loop1"
    made = build(folder, f"acc-routine{{{first}}}; inline-kernel-module")
    assert "call work_code(" in made.psy_text
    assert "call work_code_1(" in made.psy_text
    assert made.psy_text.count("!$acc routine seq") == 1


def test_an_imported_kernel_keeps_its_name_beside_one_in_the_layer(folder: Path) -> None:
    made = build(folder, "inline-kernel-module{call=work@loop1}")
    assert "use work_mod, only: work_code" in made.psy_text
    assert "  subroutine work_code_1(" in made.psy_text


def test_a_constant_of_a_module_at_hand_may_be_used_on_a_device(folder: Path) -> None:
    (folder / "work_mod.f90").write_text(WORK.format(before="", value="lowest"))
    assert len(build(folder, "acc-routine").kernels) == 3
    text = WORK.format(before="", value="changing").replace(": most", ": changing")
    (folder / "work_mod.f90").write_text(text)
    assert [item.module for item in build(folder, "acc-routine").kernels] == ["other_0_mod"]


def test_a_kernel_that_needs_the_preprocessor_says_so_by_its_suffix(folder: Path) -> None:
    (folder / "work_mod.f90").write_text(WORK.format(before="#define X\n", value="most"))
    kernel, _, other = build(folder, "acc-routine").kernels
    assert (kernel.suffix, other.suffix) == (".F90", ".f90")
    assert "\n#define X\nmodule work_0_mod" in kernel.text


def test_a_module_is_taken_out_of_a_file_with_others(folder: Path) -> None:
    text = WORK.format(before="module before\nend module before\n", value="most")
    (folder / "work_mod.f90").write_text(text + "module behind\nend module behind\n")
    kernel = build(folder, "acc-routine").kernels[0]
    assert kernel.text.startswith("module work_0_mod")
    assert kernel.text.endswith("end module work_0_mod\n")


GENERIC = """module both_mod
  use argument_mod
  use kernel_mod
  implicit none
  private
  type, public, extends(kernel_type) :: both
    type(go_arg) :: meta_args(1) = (/ go_arg(go_write, go_ct, go_pointwise) /)
    integer :: iterates_over = go_internal_pts
    integer :: index_offset = go_offset_ne
  end type both
  interface both_code
    module procedure both_code_single, both_double
  end interface both_code
  public :: both_code
contains
  subroutine both_code_single(i, j, u)
    integer, intent(in) :: i, j
    real(4), intent(inout) :: u(:, :)
    u(i, j) = 1.0
  end subroutine both_code_single
  subroutine both_double(i, j, u)
    integer, intent(in) :: i, j
    real(8), intent(inout) :: u(:, :)
    u(i, j) = 1.0
  end subroutine both_double
end module both_mod
"""


@pytest.fixture
def generic(tmp_path: Path) -> Path:
    text = ALGORITHM.replace("use work_mod, only: work", "use both_mod, only: both")
    text = text.replace("work(u), work(v), other_work(u)", "both(u), both(v)")
    (tmp_path / "alg.f90").write_text(text.replace("  use other, only: other_work\n", ""))
    (tmp_path / "both_mod.f90").write_text(GENERIC)
    return tmp_path


class TestGeneric:
    """A kernel with an interface over several subroutines."""

    def test_all_subroutines_are_changed_and_renamed_with_their_interface(
        self, generic: Path
    ) -> None:
        made = build(generic, "acc-routine{call=both@loop1}")
        (kernel,) = made.kernels
        lines = [line.strip() for line in kernel.text.splitlines()]
        start = lines.index("interface both_0_code")
        assert lines[start + 1] == "module procedure both_code_single_0_code, both_double_0_code"
        assert lines.count("!$acc routine seq") == 2
        assert "public :: both_0_code" in lines
        assert "subroutine both_double_0_code(i, j, u)" in lines
        assert "use both_0_mod, only: both_0_code" in made.psy_text
        assert "call both_0_code(" in made.psy_text
        assert "use both_mod, only: both_code" in made.psy_text

    def test_the_layer_gets_the_interface_once_with_all_subroutines(self, generic: Path) -> None:
        made = build(generic, "inline-kernel-module")
        assert made.kernels == ()
        lines = [line.strip() for line in made.psy_text.splitlines()]
        assert lines.count("interface both_code") == 1
        assert "module procedure both_code_single, both_double" in lines
        assert lines.count("subroutine both_double(i, j, u)") == 1
        assert made.psy_text.count("call both_code(") == 2
        assert "use both_mod" not in made.psy_text

    def test_one_call_of_two_in_the_layer_has_names_of_its_own(self, generic: Path) -> None:
        made = build(generic, "inline-kernel-module{call=both@loop2}")
        assert "use both_mod, only: both_code" in made.psy_text
        assert "interface both_code_1" in made.psy_text
        assert "call both_code_1(" in made.psy_text
