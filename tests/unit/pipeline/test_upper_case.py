"""Algorithms of LFRic in upper case, whose names and kinds are those of lower case."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import run_command

CORPUS = Path(__file__).parents[2] / "corpus" / "lfric"


@pytest.mark.parametrize("target", ["lfric", "registry", "storage"])
@pytest.mark.parametrize("name", ["style_uppercase", "style_uppercase_kind"])
def test_openacc_accepts_kinds_in_upper_case(name: str, target: str, tmp_path: Path) -> None:
    files = [str(CORPUS / f"{name}.x90"), "-d", str(CORPUS / "kernels")]
    words = ["psyclone-storage", *files, "--apply", "openacc", "--target", target]
    done = run_command([*words, "-oalg", "alg.f90", "-opsy", "psy.f90"], tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "REAL(0.0_R_DEF" not in done.written["psy.f90"].upper()
