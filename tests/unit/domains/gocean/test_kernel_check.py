"""Does a written subroutine of GOcean take what its metadata says?"""

from __future__ import annotations

import pytest

from gocean_programs import WRITE, kernel
from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.gocean.arguments import build_gocean_dummies
from psyclone_storage.domains.gocean.kernel_check import check_gocean_procedure
from psyclone_storage.languages.fortran.parse.routine import read_routine
from psyclone_storage.languages.fortran.print.printer import emit_unit
from psyclone_storage.tools.kernel_stub import lower_stub

SMOOTH = kernel(
    WRITE,
    "go_read, go_cu, go_stencil(010,110,000)",
    "go_readwrite, go_ct, go_pointwise",
    "go_readwrite, go_r_scalar, go_pointwise",
    "go_read, go_grid_mask_t",
    name="smooth",
)
RIGHT = {
    "i, j": "integer, intent(in)",
    "smooth(:, :)": "real(go_wp), intent(out)",
    "rough(:, :)": "real(go_wp), intent(in)",
    "old(:, :)": "real(go_wp), intent(inout)",
    "top": "real(go_wp), intent(inout)",
    "mask(:, :)": "integer, intent(in)",
}


def found(**changes: str) -> list[str]:
    """Return what differs if the declarations are RIGHT but for `changes`, by first letters."""
    lines = []
    for names, words in RIGHT.items():
        changed = next((text for key, text in changes.items() if names.startswith(key)), "")
        lines.append(changed or f"{words} :: {names}")
    text = (
        "module smooth_mod\ncontains\nsubroutine smooth_code(i, j, smooth, rough, old, top, mask)\n"
        + "\n".join(lines)
        + "\nend subroutine smooth_code\nend module smooth_mod\n"
    )
    routine = read_routine(SourceText("smooth_mod.f90", text), "smooth_code")
    return [problem.message for problem in check_gocean_procedure(SMOOTH, routine)]


def test_a_kernel_as_authors_write_it_fits() -> None:
    assert found() == []


@pytest.mark.parametrize(
    "declaration",
    ["real(wp), intent(in) :: rough(:, :)", "real(go_wp), intent(in) :: rough(nx, ny)"],
)
def test_kinds_are_renamed_and_shapes_are_known(declaration: str) -> None:
    assert found(rough=declaration) == []


def test_a_scalar_has_the_precision_of_the_algorithm() -> None:
    assert found(top="real, intent(out) :: top") == []


@pytest.mark.parametrize(
    ("name", "declaration", "expected"),
    [
        ("i", "integer(i_def), intent(in) :: i, j", "has the kind 'i_def', not the default one"),
        ("rough", "real, intent(in) :: rough(:, :)", "has the default kind, not 'go_wp'"),
        ("rough", "real(go_wp), intent(in) :: rough(:)", "has 1 dimension, not 2"),
        ("mask", "real(go_wp), intent(in) :: mask(:, :)", "is real, not integer"),
        ("mask", "integer, intent(inout) :: mask(:, :)", "has the intent 'inout'"),
        ("old", "real(go_wp), intent(out) :: old(:, :)", "has the intent 'out'"),
        ("top", "real(go_wp), intent(in) :: top", "has the intent 'in'"),
    ],
)
def test_what_differs_is_named(name: str, declaration: str, expected: str) -> None:
    problems = found(**{name: declaration})
    assert problems
    assert all(expected in problem for problem in problems)


def test_a_stub_tells_which_points_are_read() -> None:
    """East is a larger `i` and north a larger `j`, which PSyclone's prototype swaps (B10)."""
    text = emit_unit(lower_stub(SMOOTH, build_gocean_dummies(SMOOTH), "kind_params_mod"))
    assert "  ! 2. real field, on go_cu, at (i,j+1) (i-1,j) (i,j): read\n" in text
    assert "  use kind_params_mod, only: go_wp\n" in text
    assert "    real(kind=go_wp), intent(inout) :: scalar_4\n" in text
