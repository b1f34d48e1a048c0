"""Libraries that tests link with: built once, found later, rebuilt after a change."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import libraries
from libraries import Library, archive_in, copy_library, find_library
from noting_compiler import NotingCompiler

PROFILE = Library("profile", flags=("-O0",))

pytestmark = pytest.mark.skipif(
    not (shutil.which("make") and shutil.which("ar")), reason="make and ar are not installed"
)

Find = Callable[..., Path]


@pytest.fixture(autouse=True)
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the sources of the profiler, in a copy of all libraries that is looked in instead."""
    builds = shutil.ignore_patterns("build")
    shutil.copytree(libraries.EXTERNAL, tmp_path / "external", ignore=builds)
    monkeypatch.setattr(libraries, "EXTERNAL", tmp_path / "external")
    return tmp_path / "external" / "profile"


@pytest.fixture
def compiler(tmp_path: Path) -> NotingCompiler:
    return NotingCompiler(tmp_path)


@pytest.fixture
def find(compiler: NotingCompiler, tmp_path: Path) -> Find:
    """Return what finds a library for the compiler, with more words behind it."""
    return lambda library=PROFILE, *words: find_library(
        library, (str(compiler.path), *words), tmp_path / "kept"
    )


def test_many_who_ask_share_one_build(find: Find, compiler: NotingCompiler) -> None:
    with ThreadPoolExecutor(4) as pool:
        (folder,) = set(pool.map(lambda _: find(), range(8)))
    assert archive_in(folder) == str(folder / "libprofile.a")
    assert compiler.calls() == 1


def test_whatever_changes_builds_anew_and_the_former_is_found_again(
    find: Find, sources: Path, compiler: NotingCompiler, tmp_path: Path
) -> None:
    (source,) = sources.glob("*.f90")
    text = source.read_text(encoding="utf-8")
    folders = [find(), find(Library("profile", flags=("-O1",))), find(PROFILE, "-fopenmp")]
    source.write_text(f"{text}\n", encoding="utf-8")
    folders.append(find())
    source.write_text(text, encoding="utf-8")
    assert find() == folders[0]
    NotingCompiler(tmp_path, version="2.0")
    folders.append(find())
    assert len(set(folders)) == compiler.calls() == 5


def test_a_warning_is_a_failure(find: Find, tmp_path: Path) -> None:
    NotingCompiler(tmp_path, more="echo 'Warning: unused' >&2")
    with pytest.raises(AssertionError, match="Warning: unused"):
        find()


def test_sources_that_change_meanwhile_are_not_taken_for_what_they_were(
    find: Find, sources: Path, tmp_path: Path
) -> None:
    (source,) = sources.glob("*.f90")
    NotingCompiler(tmp_path, more=f"echo >> {source}")
    with pytest.raises(AssertionError, match="have changed"):
        find()
    assert not list((tmp_path / "kept").glob("*.done"))


@pytest.mark.parametrize("name", ["profile", "lfric_infrastructure"])
def test_make_has_nothing_to_do_for_a_copy(
    find: Find, compiler: NotingCompiler, tmp_path: Path, name: str
) -> None:
    """Not even if the sources have been written again since the library was built."""
    library = Library(name, flags=("-O0",))
    built = find(library)
    compiled = compiler.calls()
    for path in library.sources.rglob("*.f90"):
        path.touch()
    copy_library(built, tmp_path / "copy")
    words = [f"BUILD={tmp_path / 'copy'}", f"FC={compiler.path}", "FFLAGS=-O0"]
    subprocess.run(["make", "-C", str(library.sources), *words], check=True, capture_output=True)
    assert compiler.calls() == compiled > 0
