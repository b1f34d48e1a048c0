"""Cached results of recipes for files: reused only if all inputs are the same."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from psyclone_storage.pipeline.files import FileTransformer, OpenFile
from support.command import Outcome, run_command

SOURCE = """subroutine copy(a, b, n)
  integer, intent(in) :: n
  real, intent(in) :: b(n)
  real, intent(inout) :: a(n)
  integer :: i
  do i = 1, n
    a(i) = b(i)
  end do
  do i = 2, n
    a(i) = a(i) + a(i - 1)
  end do
end subroutine copy
"""
RECIPE = """import logging
import os
import sys
from psyclone.psyir.nodes import Loop
from psyclone.transformations import OMPParallelLoopTrans, TransformationError
from tools.widths import width


def trans(psyir, more=0):
    if os.environ.get("OUTER") == "yes" and os.environ["INNER"]:
        print("inner", os.environ["INNER"])
    for loop in psyir.walk(Loop):
        try:
            chunk = width(int(os.getenv("CHUNK", "4")) + int(more))
            OMPParallelLoopTrans(omp_schedule=f"dynamic,{chunk}").apply(loop)
        except TransformationError as error:
            print("refused:", os.path.basename(psyir.name))
            print("refused", file=sys.stderr)
"""


class Calls(list[str]):
    """The files that were transformed, and not found in the cache."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a file and a recipe that imports a package beside it."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("")
    (tmp_path / "tools" / "widths.py").write_text("def width(chunk):\n    return 2 * chunk\n")
    (tmp_path / "recipe.py").write_text(RECIPE)
    (tmp_path / "copy.f90").write_text(SOURCE)
    for path in tmp_path.rglob("*.*"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delitem(sys.modules, "tools", raising=False)  # a module of another test
    for name in ("CHUNK", "OUTER", "INNER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Return the list of transformed files, which grows with each one."""
    found = Calls()
    opened = FileTransformer.opened

    def noted(self: FileTransformer, path: Path) -> OpenFile:
        found.append(path.name)
        return opened(self, path)

    monkeypatch.setattr(FileTransformer, "opened", noted)
    return found


def run(folder: Path, *words: str) -> Outcome:
    """Run the command with the recipe."""
    done = run_command(["copy.f90", "-s", "recipe.py", "-o", "out.f90", *words], folder)
    assert done.status == 0, done.err
    return done


def test_an_equal_call_prints_and_writes_the_same(folder: Path, calls: Calls) -> None:
    first = run(folder)
    (folder / "out.f90").unlink()
    again = run(folder)
    assert calls == ["copy.f90"]
    assert "schedule(dynamic,8)" in first.written["out.f90"]
    assert (again.out, again.err) == (first.out, first.err)
    assert again.written["out.f90"] == first.written["out.f90"]
    assert "refused: copy.f90" in again.out
    assert "refused" in again.err


def test_each_input_counts(folder: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables, the recipe, modules and keywords; former results remain."""
    run(folder)
    monkeypatch.setenv("CHUNK", "5")
    assert "dynamic,10" in run(folder).written["out.f90"]
    monkeypatch.setenv("UNUSED", "1")
    run(folder)
    assert len(calls) == 2
    monkeypatch.delenv("CHUNK")
    assert "dynamic,8" in run(folder).written["out.f90"]
    assert len(calls) == 2
    run(folder, "--script-kwargs", "more=1")
    assert len(calls) == 3
    (folder / "tools" / "widths.py").write_text("def width(chunk):\n    return 3 * chunk\n")
    assert "dynamic,12" in run(folder).written["out.f90"]
    (folder / "recipe.py").write_text(RECIPE.replace('"4"', '"5"'))
    assert "dynamic,15" in run(folder).written["out.f90"]
    (folder / "copy.f90").write_text(SOURCE.replace("b(i)\n", "b(i) + 1\n"))
    run(folder)
    assert len(calls) == 6


def test_a_variable_that_only_some_runs_read_counts(
    folder: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(folder)
    monkeypatch.setenv("OUTER", "yes")
    monkeypatch.setenv("INNER", "1")
    assert "inner 1" in run(folder).out
    monkeypatch.setenv("INNER", "2")
    assert "inner 2" in run(folder).out
    monkeypatch.setenv("INNER", "1")
    assert "inner 1" in run(folder).out
    assert len(calls) == 3


def test_a_module_that_hides_another_counts(folder: Path, calls: Calls) -> None:
    """A new package is imported instead of a module of the same name."""
    run(folder)
    package = folder / "tools" / "widths"
    package.mkdir()
    (package / "__init__.py").write_text("def width(chunk):\n    return 7\n")
    assert "dynamic,7" in run(folder).written["out.f90"]
    assert len(calls) == 2


@pytest.mark.parametrize(
    "line",
    [
        "import random",
        "import datetime",
        "print(open('copy.f90').read())",
        "from os import listdir",
        "from os import path",
        "from sys import modules",
        "print(os.path.exists('flag'))",
        "print(os.listdir('.'))",
        "look = os.path; print(look.exists('flag'))",
        "system = os; print(system.getcwd())",
        "print(getattr(os, 'getcwd')())",
        "print(len(os.environ))",
        "print(dict(os.environ).get('CHUNK'))",
        "os.environ['CHUNK'] = '9'",
        "print(().__class__.__base__.__subclasses__()[:0])",
        "eval('1')",
        "print(logging.time.time())",
        "import logging.handlers\nprint(logging.handlers.os.getcwd())",
        "from logging import os as system\nprint(system.getcwd())",
        "print(getattr(logging, 'os').getcwd())",
        "import collections\nprint(collections._sys.argv[:0])",
        "def f():\n    import os as x\n    x.getcwd()\ndef g():\n    import re as x",
        "print(os.environ._data.get(b'CHUNK'))",
        "sys.path.insert(0, 'later')\nimport tools.widths",
        "print(id(sys.version_info))",
        "ask = input",
        "__import__('random')",
        "print(hasattr(sys.stdout, 'buffer') and sys.stdout.buffer.closed)",
        "try:\n    import tools.absent\nexcept ImportError:\n    import random",
    ],
)
def test_a_recipe_with_other_inputs_is_not_cached(line: str, folder: Path, calls: Calls) -> None:
    (folder / "recipe.py").write_text(RECIPE.replace("\n\ndef trans", f"\n{line}\n\ndef trans"))
    os.utime(folder / "recipe.py", (1_600_000_000, 1_600_000_000))
    run(folder)
    run(folder)
    assert calls == ["copy.f90"] * 2


@pytest.mark.parametrize("path", ["time.py", "time/recipe.py"])
def test_a_recipe_named_like_a_module_of_python(path: str, folder: Path, calls: Calls) -> None:
    """Its import of that module is no import of the recipe."""
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text("import time\ndef trans(psyir):\n    print(time.time_ns())\n")
    os.utime(folder / path, (1_600_000_000, 1_600_000_000))
    words = ["copy.f90", "-s", path, "-o", "out.f90"]
    first, again = run_command(words, folder), run_command(words, folder)
    assert first.status == again.status == 0
    assert calls == ["copy.f90"] * 2
    assert first.out != again.out


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_lines_that_a_recipe_writes_at_once(stream: str, folder: Path, calls: Calls) -> None:
    line = f"sys.{stream}.writelines(['one\\n', 'two\\n'])"
    (folder / "recipe.py").write_text(RECIPE.replace("\n\ndef trans", f"\n{line}\n\ndef trans"))
    os.utime(folder / "recipe.py", (1_600_000_000, 1_600_000_000))
    first, again = run(folder), run(folder)
    assert calls == ["copy.f90"]
    assert "one\ntwo\n" in (first.out + first.err)
    assert (again.out, again.err) == (first.out, first.err)


def test_a_file_that_changes_during_the_call_is_not_cached(folder: Path, calls: Calls) -> None:
    """The recipe that ran may be another one than that on the disk."""
    os.utime(folder / "tools" / "widths.py", (4_000_000_000, 4_000_000_000))
    run(folder)
    run(folder)
    assert calls == ["copy.f90"] * 2
