"""Which function values are cached between invokes, and which are computed each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from psyclone_storage.cli.main import main

STEPS = "inline-point-call; unswitch; cache-invariants; outline"
KERNEL = """module work_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp
  use numbers_mod, only: rate, fixed
  implicit none
  type, extends(kernel_type) :: work
    type(go_arg) :: meta_args(4) = (/ go_arg(GO_READWRITE, GO_CT, GO_POINTWISE), &
        go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE), go_arg(GO_READ, GO_GRID_MASK_T), &
        go_arg(GO_READ, GO_GRID_AREA_T) /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => work_code
  end type work
contains
  subroutine work_code(ji, jj, a, s, mask, area)
    integer, intent(in) :: ji, jj
    real(go_wp), intent(inout) :: a(:, :)
    real(go_wp), intent(in) :: s
    integer, intent(in) :: mask(:, :)
    real(go_wp), intent(in) :: area(LOWER:, :)
    if (mask(ji, jj) > 0) then
      a(ji, jj) = VALUE + a(ji, jj) * (a(ji, jj) + 1.0) * (a(ji, jj) + 2.0) * (a(ji, jj) + 3.0) &
          * (a(ji, jj) + 4.0) * (a(ji, jj) + 5.0) * (a(ji, jj) + 6.0) * (a(ji, jj) + 7.0)
    end if
  end subroutine work_code
end module work_mod
"""
NUMBERS = """module numbers_mod
  use kind_params_mod, only: go_wp
  implicit none
  real(go_wp) :: rate = 2.0_go_wp
  real(go_wp), parameter :: fixed = 2.0_go_wp
end module numbers_mod
"""
ALGORITHM = """program sea
  use work_mod, only: work
  use field_mod, only: r2d_field
  use kind_params_mod, only: go_wp
  implicit none
  type(r2d_field) :: x
  real(go_wp) :: dt
  call invoke(work(x, dt))
end program sea
"""
Applied = Callable[..., str]


@pytest.fixture
def applied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Applied:
    """Return a function that applies steps and returns the messages and the layer."""

    def run(value: str, steps: str = STEPS, lower: str = "", target: str = "fields") -> str:
        kernel = KERNEL.replace("VALUE", value).replace("LOWER", lower)
        (tmp_path / "work_mod.f90").write_text(kernel, encoding="utf-8")
        (tmp_path / "numbers_mod.f90").write_text(NUMBERS, encoding="utf-8")
        (tmp_path / "alg.x90").write_text(ALGORITHM, encoding="utf-8")
        layer = tmp_path / "psy.f90"
        words = ["-api", "gocean", "-nodm", "-d", str(tmp_path), "--apply", steps, "--explain"]
        words += [] if target == "fields" else ["--target", target]
        files = ["-opsy", str(layer), "-oalg", str(tmp_path / "alg.f90"), str(tmp_path / "alg.x90")]
        status = main([*words, *files])
        said = capsys.readouterr()
        return said.out + said.err + (layer.read_text(encoding="utf-8") if status == 0 else "")

    return run


@pytest.mark.parametrize(
    ("value", "statement"),
    [
        ("sin(area(ji, jj))", "sin_area_values(i, j) = sin(area_t(i, j))"),
        ("exp(fixed * area(ji, jj))", "exp_area_values(i, j) = exp(fixed * area_t(i, j))"),
        ("sin(area(ji - 1, jj + 2))", "sin_area_values(i - 1, j + 2) = sin(area_t(i - 1, j + 2))"),
        (
            "sin(0.5_go_wp * area(ji, jj) * area(ji, jj))",
            "sin_area_values(i, j) = sin(0.5_go_wp * area_t(i, j) * area_t(i, j))",
        ),
    ],
)
def test_values_of_one_element_are_cached(applied: Applied, value: str, statement: str) -> None:
    said = applied(value)
    assert statement in said
    assert "threadprivate(saved_" in said
    assert "of_strip" not in said


@pytest.mark.parametrize(
    ("value", "lower"),
    [
        ("sin(rate * area(ji, jj))", ""),
        ("sin(s * area(ji, jj))", ""),
        ("sin(area(ji, jj) + area(ji + 1, jj))", ""),
        ("sin(area(jj, ji))", ""),
        ("sin(area(2 * ji, jj))", ""),
        ("sin(area(ji, 1))", ""),
        ("sin(area(ji, jj))", "0"),
        ("sin(real(mask(ji, jj), go_wp))", ""),
        ("sin(fixed)", ""),
        ("sin(a(ji, jj - 1))", ""),
        ("sin(real(ji, go_wp) * area(ji, jj))", ""),
        ("sqrt(area(ji, jj))", ""),
    ],
)
def test_other_values_are_computed_each_time(applied: Applied, value: str, lower: str) -> None:
    said = applied(value, lower=lower)
    assert "T067" in said
    assert "reserve_cache" not in said


def test_two_values_have_two_caches(applied: Applied) -> None:
    said = applied("sin(area(ji, jj)) + sin(fixed * area(ji, jj)) + exp(area(ji, jj) + s)")
    assert said.count("call reserve_cache(") == 2
    assert "exp_of_strip(" in said


def test_a_hot_path_is_necessary_and_caches_are_made_once(applied: Applied) -> None:
    assert "has no hot path" in applied("sin(area(ji, jj))", "inline-point-call; cache-invariants")
    twice = STEPS.replace("outline", "cache-invariants; outline")
    assert "are cached already" in applied("sin(area(ji, jj))", twice)


def test_fields_with_storages_have_no_cache(applied: Applied) -> None:
    said = applied("sin(area(ji, jj))", target="storage")
    assert "sin_of_strip(i - i_strip + 1) = sin(" in said
    assert "reserve_cache" not in said
