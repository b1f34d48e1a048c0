"""Which kernel a name in an invoke means, where scopes import it from several modules."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from command import run_command

KERNELS = Path(__file__).parents[2] / "errors" / "S118_two_kernels" / "kernels"


@pytest.mark.parametrize(
    ("around", "within", "meant"),
    [
        ("use k2_mod, only: k_type", "use k1_mod", "k1_mod"),
        ("use k2_mod, only: k_type", "use constants_mod", "k2_mod"),
        ("use k2_mod", "use k1_mod, only: k_type", "k1_mod"),
    ],
)
def test_the_innermost_scope_decides(around: str, within: str, meant: str, tmp_path: Path) -> None:
    shutil.copytree(KERNELS, tmp_path / "kernels")
    heat = "type(field_type), intent(inout) :: heat\n"
    (tmp_path / "alg.x90").write_text(
        f"module alg_mod\nuse field_mod, only: field_type\n{around}\nimplicit none\ncontains\n"
        f"subroutine go(heat)\n{within}\n{heat}call invoke(k_type(heat))\nend subroutine\n"
        "end module\n"
    )
    words = ["psyclone-storage", "-api", "lfric", "alg.x90", "-d", "kernels"]
    done = run_command([*words, "-opsy", "psy.f90", "-oalg", "alg.f90"], tmp_path)
    assert done.err == ""
    assert f"use {meant}, only: k_code" in done.written["psy.f90"]


@pytest.mark.parametrize(
    ("step", "is_reported"),
    [("", True), ("inline-kernel-module", False), ("acc-routine", True)],
)
def test_a_private_procedure_is_reported_where_generated_code_imports_it(
    step: str, is_reported: bool, tmp_path: Path
) -> None:
    folder = Path(__file__).parents[2] / "errors" / "M208_while_compiling"
    shutil.copytree(folder, tmp_path / "case")
    words = ["-d", "kernels", "-oalg", "alg.f90", "-opsy", "psy.f90", "-okern", "."]
    words += ["--apply", step] if step else []
    done = run_command(["-api", "lfric", *words, "step_alg_mod.x90"], tmp_path / "case")
    assert done.status == 0
    assert ("warning[M208]" in done.err) == is_reported
