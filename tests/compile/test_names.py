"""Inlined kernels that access one object under two names compute the same as called ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile.visits import SMALL_PLANE
from fortran import Compiler, run
from psyclone_storage.cli.main import main

NAMES = Path(__file__).parent / "names"


@pytest.mark.fortran
def test_one_object_by_two_names_is_one_in_a_fused_loop(compiler: Compiler, tmp_path: Path) -> None:
    options = ["-nodm", "-d", str(NAMES), "--apply", "fuse; inline-call"]
    psy, algorithm = tmp_path / "psy.f90", tmp_path / "alg.f90"
    given = [str(NAMES / "names_mod.x90"), *options, "-opsy", str(psy), "-oalg", str(algorithm)]
    assert main(given) == 0
    sources = [SMALL_PLANE, NAMES / "pass_mod.f90", psy, algorithm, NAMES / "main.f90"]
    assert run([str(compiler.linked(sources, tmp_path, "-O2"))]) == ""
