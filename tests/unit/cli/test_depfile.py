"""Dependencies as Make reads them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from psyclone_storage.cli.depfile import depfile_text
from unit.cli.conftest import Command

needs_make = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


def test_layout() -> None:
    rule = ((Path("alg.f90"), Path("psy.f90")), (Path("alg.x90"), Path("k.f90"), Path("k.f90")))
    assert depfile_text([rule]) == (
        "alg.f90 psy.f90: \\\n  alg.x90 \\\n  k.f90\n\nalg.x90:\n\nk.f90:\n"
    )


def test_settings_and_script_are_sources(command: Command, project: Path) -> None:
    (project / "optimise.py").write_text("def trans(psy):\n    pass\n")
    (project / "my.cfg").write_text("[DEFAULT]\nDISTRIBUTED_MEMORY = true\n")
    words = "-c my.cfg -s optimise.py -oalg a.f90 --depfile a.d alg.x90"
    text = command(*words.split()).written["a.d"]
    assert text.startswith("a.f90: \\\n  alg.x90 \\\n  kernels/")
    assert "  optimise.py \\\n  my.cfg\n" in text


def test_a_file_that_fails_has_no_rule(command: Command, project: Path) -> None:
    (project / "bad.x90").write_text("program bad\n  call invoke(nothing(x))\nend program bad\n")
    done = command("bad.x90", "alg.x90", "--output-dir", "out", "--depfile", "all.d")
    assert done.status == 1
    assert done.written["all.d"].startswith("out/alg.f90 out/alg_psy.f90: \\\n")
    assert "bad" not in done.written["all.d"]


@needs_make
def test_make_builds_again_when_any_source_changes(command: Command, project: Path) -> None:
    """The names hold what Make takes as special: blanks, `#`, `$` and backslashes."""
    odd = project / "a b#1$x\\y.x90"
    (project / "alg.x90").rename(odd)
    kernels = project / "kernels of mine"
    (project / "kernels").rename(kernels)
    (project / "kernels").symlink_to(kernels)
    words = ["-d", kernels.name, "-oalg", "my alg.f90", "-opsy", "psy.f90", "--depfile", "all.d"]
    assert command(*words, odd.name).err == ""
    (project / "Makefile").write_text("include all.d\nmy\\ alg.f90:\n\techo built\n")

    def made() -> bool:
        target = "my alg.f90"
        done = subprocess.run(
            ["make", target], cwd=project, capture_output=True, text=True, check=True
        )
        return "echo built" in done.stdout

    assert not made()
    (project / "my alg.f90").touch()
    for source in (odd, next(kernels.glob("wind_to*.f90"))):
        later = (project / "my alg.f90").stat().st_mtime + 10
        os.utime(source, (later, later))
        assert made(), source
        os.utime(source, (1, 1))
    next(kernels.glob("wind_to*.f90")).unlink()
    assert made()
