"""The compilers that the environment names."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
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


DRIVER = """#!/bin/sh
touch {folder}/begun-$$
{child}
"""
STOPPED = """
import sys
from psyclone_storage.base.compilers import run_compiler
from psyclone_storage.base.stopping import StoppedError, stopped_by_signals

with stopped_by_signals():
    try:
        run_compiler([sys.argv[1]])
    except StoppedError as error:
        sys.exit(error.number)
"""


def test_a_stopped_process_ends_its_compiler_with_all_children(tmp_path: Path) -> None:
    """The innermost process ignores SIGTERM."""
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text(DRIVER.format(folder=tmp_path, child="trap '' TERM\nwhile :; do :; done"))
    outer.write_text(DRIVER.format(folder=tmp_path, child=str(inner)))
    for one in (inner, outer):
        one.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src")}
    words = [sys.executable, "-c", STOPPED, str(outer)]
    with subprocess.Popen(words, env=environment) as process:
        while len(begun := list(tmp_path.glob("begun-*"))) < 2:
            time.sleep(0.01)
        process.terminate()
    assert process.returncode == signal.SIGTERM
    limit = time.monotonic() + 60
    while any(_runs(one.name.partition("-")[2]) for one in begun):  # until the system ended them
        assert time.monotonic() < limit
        time.sleep(0.01)


def _runs(process: str) -> bool:
    try:
        stat = Path("/proc", process, "stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(") ")[2][0] != "Z"


def test_the_temporary_files_of_a_compiler_are_in_a_folder(tool: Path, tmp_path: Path) -> None:
    tool.write_text('#!/bin/sh\necho "$TMPDIR"\nprintf "\\\\303" >&2\nexit 3\n')
    done = compilers.run_compiler([str(tool)], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, f"{tmp_path}\n", "\ufffd")
    set_by_user = {"TMPDIR": "x"}
    done = compilers.run_compiler([str(tool)], environment=set_by_user, errors="surrogateescape")
    assert (done.stdout, done.stderr) == ("x\n", "\udcc3")
