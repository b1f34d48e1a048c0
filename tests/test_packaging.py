"""What a wheel holds: the package, the default configuration and the Fortran that it links to."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("src", "config", "external", "setup.py", "pyproject.toml", "LICENSE", "README.md")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Build a wheel from a copy of the sources and return the names of its files."""
    pytest.importorskip("setuptools", minversion="77")
    checkout = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, checkout / name)
    (checkout / "external" / "left_over.o").write_bytes(b"")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-q", "-w", checkout / "dist", checkout], check=True)
    (built,) = (checkout / "dist").glob("*.whl")
    return set(zipfile.ZipFile(built).namelist())


def test_it_holds_the_package(wheel: set[str]) -> None:
    package = ROOT / "src"
    sources = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    assert sources <= wheel
    assert "psyclone_storage/py.typed" in wheel


def test_it_holds_what_is_kept_at_the_top(wheel: set[str]) -> None:
    assert "psyclone_storage/share/config/psyclone.cfg" in wheel
    fortran = {path.relative_to(ROOT).as_posix() for path in (ROOT / "external").rglob("*.f90")}
    assert {f"psyclone_storage/share/{name}" for name in fortran} <= wheel


def test_it_holds_nothing_that_was_compiled(wheel: set[str]) -> None:
    assert not [name for name in wheel if name.endswith(".o")]
