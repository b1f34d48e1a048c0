"""The index of source trees: what it holds, and what is said when a kernel is not in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.languages.sources.kernel_search import (
    SourceIndex,
    check_folders,
    find_kernel,
    index_directories,
)

PLACE: Span = SourceText("alg.x90", "k_type").whole()


def index(*directories: Path) -> SourceIndex:
    return index_directories(directories)


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("module m\nend module\n", encoding="utf-8")
    return path


def problem(found: SourceIndex, module: str) -> Diagnostic:
    with pytest.raises(CompileError) as caught:
        find_kernel(found, "k_type", module, PLACE)
    (only,) = caught.value.problems
    return only


@pytest.mark.parametrize("name", ["k_mod.f90", "K_Mod.F90", "k_mod.F08", "k_mod.X90"])
def test_file_is_found_by_module_name(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "a" / "b" / name)
    write(tmp_path / "a" / "k_mod.txt")
    assert find_kernel(index(tmp_path), "k_type", "K_MOD", PLACE) == path


def test_algorithm_file_of_the_name_gives_way(tmp_path: Path) -> None:
    write(tmp_path / "k_mod.x90")
    path = write(tmp_path / "other" / "k_mod.F90")
    assert find_kernel(index(tmp_path), "k_type", "k_mod", PLACE) == path


def test_overlapping_directories_hold_a_file_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a" / "k_mod.f90")
    found = index(tmp_path, tmp_path / "a", tmp_path / "a" / ".." / "a")
    assert find_kernel(found, "k_type", "k_mod", PLACE) == path


def test_hidden_directories_are_not_entered(tmp_path: Path) -> None:
    write(tmp_path / ".git" / "k_mod.f90")
    assert problem(index(tmp_path), "k_mod").code == "P031"


def test_links_to_directories_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "k_mod.f90")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert find_kernel(index(tmp_path), "k_type", "k_mod", PLACE) == tmp_path / "k_mod.f90"


def test_two_files_matter_only_when_asked_for(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a" / "k_mod.f90"), write(tmp_path / "b" / "k_mod.F90")
    other = write(tmp_path / "other_mod.f90")
    found = index(tmp_path)
    assert find_kernel(found, "other_type", "other_mod", PLACE) == other
    twice = problem(found, "k_mod")
    assert (twice.code, twice.span) == ("P032", PLACE)
    assert str(first) in twice.message
    assert str(second) in twice.message


def test_missing_file_says_where_it_was_sought(tmp_path: Path) -> None:
    write(tmp_path / "kern_mod.f90")
    missing = problem(index(tmp_path), "kern_mud")
    assert (missing.code, missing.hint) == ("P031", "Did you mean 'kern_mod'?")
    assert str(tmp_path) in missing.message
    assert "-d" in problem(index(), "kern_mud").message


def test_missing_directories_are_all_reported(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    with pytest.raises(CompileError) as caught:
        index(tmp_path / "kernel", tmp_path / "x" / "y")
    first, second = caught.value.problems
    assert (first.code, second.code) == ("P030", "P030")
    assert first.hint == "Did you mean 'kernels'?"


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    write(tmp_path / "k_mod.f90")
    with pytest.raises(CompileError) as caught:
        index(tmp_path / "k_mod.f90")
    [problem] = caught.value.problems
    assert problem.code == "P030"
    assert problem.message == f"'{tmp_path / 'k_mod.f90'}' is not a directory."


def test_each_directory_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a" / "k_mod.f90")
    visited: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: visited.append(path) or scandir(path))
    found = index(tmp_path)
    find_kernel(found, "k_type", "k_mod", PLACE)
    find_kernel(found, "k_type", "k_mod", PLACE)
    assert visited == [str(tmp_path), str(tmp_path / "a")]


def unreadable(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the system refuse to list a folder, as to users other than root."""
    scan = os.scandir

    def refuse(path: str) -> object:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)


@pytest.mark.parametrize("place", [".", "secret", "a/secret"])
def test_an_unreadable_folder_is_a_warning_that_names_the_option(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "kernels" / "b" / "k_mod.f90")
    folder = tmp_path / "kernels" / place
    write(folder / "j_mod.f90")
    unreadable(monkeypatch, folder)
    found = index(tmp_path / "kernels", path.parent)
    assert find_kernel(found, "k_type", "k_mod", PLACE) == path
    (warning,) = check_folders(found)
    assert (warning.code, warning.severity) == ("P033", Severity.WARNING)
    option = "of '-d'" if place == "." else f"below '-d {tmp_path / 'kernels'}'"
    reason = "cannot be read: Permission denied."
    assert warning.message == f"The folder '{folder}' {option} {reason}"
    assert f"; '{folder}' cannot be read" in problem(found, "j_mod").message


def test_an_unreadable_folder_of_include_files_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "secret" / "j_mod.f90")
    unreadable(monkeypatch, tmp_path / "secret")
    (warning,) = check_folders(index_directories((), (tmp_path / "secret",)))
    assert "of '-I' cannot be read" in warning.message


def test_links_that_cannot_be_followed_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "loop_mod.f90").symlink_to("loop_mod.f90")
    (tmp_path / "loop").symlink_to("loop")
    path = write(tmp_path / "k_mod.f90")
    found = index_directories((tmp_path,), (tmp_path,))
    assert find_kernel(found, "k_type", "k_mod", PLACE) == path
    assert found.beside == {"k_mod": (str(path),)}
    assert check_folders(found) == ()
