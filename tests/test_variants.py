"""Fortran files from templates: their contents, and when they are generated."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from libraries import EXTERNAL, variants
from noting_compiler import NotingCompiler

SCRIPT = runpy.run_path(str(EXTERNAL / "variants.py"))
write_variants: Callable[[Path], None] = SCRIPT["write_variants"]
refresh_variants: Callable[[Path], None] = SCRIPT["refresh_variants"]

TEMPLATE = """\
#for kind  | use
#|   real  | use reals
#|   short |
#file {{kind}}_mod.f90
module {{kind}}_mod
  {{use}}

#for rank | shape
#|   1    | :
#|   2    | :, :
  {{kind}}, a_{{rank}}({{shape}})  ! {once} # in a line
#end
end module
#end
#file both.inc
! all
"""
REAL = """\
module real_mod
  use reals

  real, a_1(:)  ! {once} # in a line
  real, a_2(:, :)  ! {once} # in a line
end module
"""
SHORT = REAL.replace("  use reals\n", "").replace("real", "short")
VARIANTS = {"real_mod.f90": REAL, "short_mod.f90": SHORT, "both.inc": "! all\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with one template in a subfolder."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "KIND_mod.t90").write_text(TEMPLATE, encoding="utf-8")
    return tmp_path


def made(root: Path) -> dict[str, str]:
    """Return the files that are in the subfolder, without the template."""
    files = (path for path in (root / "library").iterdir() if path.suffix != ".t90")
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def set_time(path: Path, seconds: int) -> None:
    """Let a file have been written so many seconds after a fixed time."""
    os.utime(path, (1_000_000_000 + seconds, 1_000_000_000 + seconds))


def test_a_template_produces_a_file_for_each_row(root: Path) -> None:
    write_variants(root)
    assert made(root) == VARIANTS
    listed = (root / ".gitignore").read_text(encoding="utf-8").split()
    assert listed == ["/.gitignore", *(f"/library/{name}" for name in VARIANTS)]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [("short |", "short", ValueError), ("{{rank}}", "{{ranks}}", KeyError)],
)
def test_a_template_with_a_mistake_is_refused(
    root: Path, old: str, new: str, error: type[Exception]
) -> None:
    template = root / "library" / "KIND_mod.t90"
    template.write_text(TEMPLATE.replace(old, new), encoding="utf-8")
    with pytest.raises(error):
        write_variants(root)


def test_files_that_do_not_differ_are_not_written_again(root: Path) -> None:
    write_variants(root)
    for name in made(root):
        set_time(root / "library" / name, 0)
    (root / "library" / "both.inc").write_text("! mine\n", encoding="utf-8")
    write_variants(root)
    assert made(root)["both.inc"] == "! all\n"
    changed = [name for name in made(root) if (root / "library" / name).stat().st_mtime > 1.1e9]
    assert changed == ["both.inc"]


def test_variants_are_refreshed_if_missing_or_older_than_a_template(root: Path) -> None:
    template, real = root / "library" / "KIND_mod.t90", root / "library" / "real_mod.f90"
    refresh_variants(root)
    assert made(root)["real_mod.f90"] == REAL
    real.write_text("! by hand\n", encoding="utf-8")
    refresh_variants(root)
    assert made(root)["real_mod.f90"] == "! by hand\n"
    later = (root / ".gitignore").stat().st_mtime + 10
    os.utime(template, (later, later))
    refresh_variants(root)
    assert made(root)["real_mod.f90"] == REAL
    os.utime(root / ".gitignore", (later, later))
    real.unlink()
    refresh_variants(root)
    assert made(root)["real_mod.f90"] == REAL


def test_templates_are_no_longer_than_other_files() -> None:
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines()) for path in EXTERNAL.rglob("*.t90")
    }
    assert len(lengths) > 5
    assert {path for path, length in lengths.items() if length > 600} == set()


def test_no_variant_is_committed() -> None:
    if not (EXTERNAL.parent / ".git").exists():
        pytest.skip("this is no checkout")
    command = ["git", "-C", str(EXTERNAL), "ls-files", ".gitignore", *map(str, variants())]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == ""


@pytest.mark.skipif(
    not (shutil.which("make") and shutil.which("ar")), reason="make and ar are not installed"
)
@pytest.mark.parametrize("name", ["lfric_infrastructure", "gocean_infrastructure", "storage"])
def test_make_writes_variants_in_a_fresh_clone(tmp_path: Path, name: str) -> None:
    external = tmp_path / "external"
    shutil.copytree(EXTERNAL, external, ignore=shutil.ignore_patterns("build"))
    listed = (external / ".gitignore").read_text(encoding="utf-8").split()
    for one in listed:
        (external / one[1:]).unlink()
    compiler = NotingCompiler(tmp_path)

    def compilations() -> int:
        before = compiler.calls()
        words = [f"FC={compiler.path}", f"BUILD={tmp_path / 'build'}"]
        command = ["make", "-C", str(external / name), *words]
        subprocess.run(command, check=True, capture_output=True)
        return compiler.calls() - before

    files = (external / name / "files.txt").read_text(encoding="utf-8").split()
    assert compilations() == len(files)
    assert all((external / one[1:]).is_file() for one in listed)
    assert compilations() == 0
    (external / "storage" / "field_storage_mod.f90").unlink()
    assert compilations() > 0
    template = external / "storage" / "field_storage_mod.t90"
    text = template.read_text(encoding="utf-8").replace("!> The type", "!> A type", 1)
    template.write_text(text, encoding="utf-8")
    later = (external / ".gitignore").stat().st_mtime + 10
    os.utime(template, (later, later))
    assert compilations() > 0
    changed = external / "storage" / "field_storage_mod.f90"
    assert changed.read_text(encoding="utf-8").startswith("!> A type")
