"""The compilers that the environment names."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from psyclone_storage.base import compilers


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """Look for compilers anew, before and after each test."""
    for find in (compilers.find_c_compiler, compilers.find_fortran_compiler):
        find.cache_clear()
    yield
    for find in (compilers.find_c_compiler, compilers.find_fortran_compiler):
        find.cache_clear()


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an executable file, with its folder as the current one."""
    path = tmp_path / "tool"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize("wanted", ["/nonexistent/gcc", "nonexistent -O2", "./nonexistent"])
def test_no_other_compiler_replaces_one_that_is_not_found(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", wanted)
    monkeypatch.setenv("FC", wanted)
    assert compilers.find_c_compiler() is None
    assert compilers.find_fortran_compiler() is None
    reason = f"CC names '{wanted.split(maxsplit=1)[0]}', which is not found"
    assert compilers.why_not_found("CC") == reason


@pytest.mark.parametrize("wanted", ["", "  ", None])
def test_a_usual_compiler_is_found_where_none_is_named(
    wanted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    if wanted is not None:
        monkeypatch.setenv("CC", wanted)
    found = [shutil.which(name) for name in ("gcc", "cc", "clang")]
    usual = next((Path(name) for name in found if name), None)
    assert compilers.find_c_compiler() == usual
    assert compilers.compiler_options("CC") == ()


@pytest.mark.parametrize("form", ["{}", "{} -m64 -g", "./tool -m64 -g", "  {}  "])
def test_a_compiler_may_have_options_and_a_relative_path(
    form: str, tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", form.format(tool))
    found = compilers.find_c_compiler()
    assert found is not None
    assert found.samefile(tool)
    assert compilers.compiler_options("CC") == (("-m64", "-g") if "-g" in form else ())


def test_a_folder_or_a_file_that_cannot_be_executed_is_no_compiler(
    tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool.chmod(0o644)
    for wanted in (tool, tool.parent):
        compilers.find_c_compiler.cache_clear()
        monkeypatch.setenv("CC", str(wanted))
        assert compilers.find_c_compiler() is None
