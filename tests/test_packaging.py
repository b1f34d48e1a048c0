"""The contents of a wheel: the package, the default configuration and the Fortran libraries."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from libraries import variants

ROOT = Path(__file__).parents[1]
SOURCES = (
    "src",
    "config",
    "examples",
    "external",
    "setup.py",
    "pyproject.toml",
    "LICENSE",
    "README.md",
)

VARIANTS = {path.relative_to(ROOT).as_posix() for path in variants()}
"""The files that follow from templates, which a fresh clone lacks."""


def build_wheel(folder: Path, *options: str) -> tuple[str, set[str]]:
    """Build a wheel from a copy of the sources; return what was told, and what is in it."""
    pytest.importorskip("setuptools", minversion="77")
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for name in ("external/.gitignore", *VARIANTS):
        (folder / name).unlink()
    (folder / "external" / "left_over.o").write_bytes(b"")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    run = subprocess.run(
        [*command, *(options or ["-q"]), "-w", folder / "dist", folder],
        check=True,
        capture_output=True,
        text=True,
    )
    (built,) = (folder / "dist").glob("*.whl")
    return run.stdout + run.stderr, set(zipfile.ZipFile(built).namelist())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the names of the files of a wheel."""
    return build_wheel(tmp_path_factory.mktemp("checkout"))[1]


def test_it_holds_the_package(wheel: set[str]) -> None:
    package = ROOT / "src"
    sources = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    assert sources <= wheel
    assert "psyclone_storage/py.typed" in wheel
    assert "psyclone_storage/cli/page.html.jinja" in wheel


def test_it_holds_what_is_kept_at_the_top(wheel: set[str]) -> None:
    assert "psyclone_storage/share/config/psyclone.cfg" in wheel
    fortran = {path.relative_to(ROOT).as_posix() for path in (ROOT / "external").rglob("*.f90")}
    assert {f"psyclone_storage/share/{name}" for name in fortran} <= wheel


def test_it_holds_variants_instead_of_their_templates(wheel: set[str]) -> None:
    assert {f"psyclone_storage/share/{name}" for name in VARIANTS} <= wheel
    assert len(VARIANTS) > 10
    assert not [name for name in wheel if "/variants." in name or name.endswith(("ignore", ".t90"))]


def test_it_holds_examples_completions_and_manual_pages(wheel: set[str]) -> None:
    assert "psyclone_storage/share/examples/lfric/demo/run" in wheel
    data = {name.partition(".data/data/share/")[2] for name in wheel if ".data/data/" in name}
    for command in ("psyclone-storage", "psyclone-storage-kern"):
        assert f"bash-completion/completions/{command}.bash" in data
        assert f"zsh/site-functions/_{command}" in data
        assert f"man/man1/{command}.1" in data
    for part in ("config", "config-version"):
        assert f"cmake/psyclone_storage/psyclone_storage-{part}.cmake" in data


def test_it_holds_nothing_that_was_compiled(wheel: set[str]) -> None:
    assert not [name for name in wheel if name.endswith(".o")]


def test_it_holds_the_compiled_core_but_not_its_source(wheel: set[str]) -> None:
    assert not [name for name in wheel if name.endswith((".c", ".h"))]
    built = [name for name in wheel if name.endswith(".so")]
    if shutil.which("cc") and (Path(sysconfig.get_path("include")) / "Python.h").exists():
        assert sorted(built) == [
            "psyclone_storage/jit/_compiled.abi3.so",
            "psyclone_storage/storage/core/_compiled.abi3.so",
        ]


def test_it_can_be_built_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "/bin/false")
    told, files = build_wheel(tmp_path, "-v")
    assert "_compiled could not be compiled" in told
    assert "psyclone_storage/storage/core/fallback.py" in files
    assert not [name for name in files if name.endswith(".so")]


def test_a_source_distribution_holds_what_its_tests_need(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77")
    subprocess.run(
        [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (listed,) = tmp_path.glob("*.egg-info/SOURCES.txt")
    held = set(listed.read_text(encoding="utf-8").splitlines())
    needed = {
        path.relative_to(ROOT).as_posix()
        for folder in (".ci", "benchmarks", "config", "docs", "examples", "external", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not {"__pycache__", "build"}.intersection(path.parts)
    }
    compiled = {name for name in needed if name.endswith((".o", ".mod", ".a", ".so", ".x"))}
    assert len(needed - compiled) > 3000
    assert needed - compiled - held == set()
    assert {"Makefile", ".gitignore", "pyproject.toml", "setup.py"} <= held
