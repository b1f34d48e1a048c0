"""What answers at once must not wait for the compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src"
# Settings know types of values and what infrastructures have: `ir.types`, which imports nothing.
# Nothing is known from other calls.
ALONE = {"PYTHONPATH": str(SOURCE), "PSYCLONE_STORAGE_CACHE": ""}
HEAVY = ("fparser", "jinja2", "numpy", "psyclone_storage.pipeline", "psyclone_storage.targets",
         "psyclone_storage.tools", "psyclone_storage.ir.expr",
         "psyclone_storage.ir.unit", "psyclone_storage.languages.sources")  # fmt: skip

PROGRAM = """
import sys
from psyclone_storage.cli import {module}
try:
    status = {module}.main({words})
except SystemExit as leaving:
    status = leaving.code
heavy = [name for name in {heavy} if name in sys.modules]
sys.exit(f"{{heavy}} imported, status {{status}}" if heavy else 0)
"""


@pytest.mark.parametrize("module", ["main", "kern"])
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["--wrong"], []])
def test_the_compiler_is_not_imported(module: str, words: list[str]) -> None:
    program = PROGRAM.format(module=module, words=words, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=ALONE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


UNUSED = ("analysis.bodies", "languages.fortran.parse.body", "scripting", "transform.catalogue",
          "transform.kernel", "tools", "fparser", "numpy", "dataclasses", "inspect",
          "hashlib", "json", "multiprocessing", "shutil", "tempfile", "traceback")  # fmt: skip
TRANSLATION = """
import sys
from psyclone_storage.cli import main
status = main.main({words})
names = [name.removeprefix("psyclone_storage.") for name in sys.modules]
loaded = [name for name in names if name.startswith({unused})]
sys.exit(f"{{loaded}} imported, status {{status}}" if loaded or status else 0)
"""


def test_a_translation_imports_no_steps(tmp_path: Path) -> None:
    corpus = Path(__file__).parents[2] / "corpus" / "lfric"
    words = [str(corpus / "named_invoke.x90"), "-api", "lfric", "-d", str(corpus / "kernels"),
             "-oalg", str(tmp_path / "a.f90"), "-opsy", str(tmp_path / "p.f90")]  # fmt: skip
    program = TRANSLATION.format(words=words, unused=UNUSED)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=ALONE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


UNUSED_BY_RECIPES = (
    "lowering", "targets", "coherence.check",  "hashlib", "importlib.abc",
    "shutil", "subprocess", "tempfile", "traceback",
)  # fmt: skip


def test_a_recipe_on_a_file_imports_nothing_of_algorithms(tmp_path: Path) -> None:
    """A build runs a command for each file, so that imports take much of its time."""
    recipe, file = tmp_path / "recipe.py", tmp_path / "a.f90"
    recipe.write_text("from psyclone.psyir.nodes import Loop\ndef trans(psyir): psyir.walk(Loop)\n")
    file.write_text("subroutine a()\nend subroutine a\n")
    words = [str(file), "-s", str(recipe), "-o", str(tmp_path / "b.f90"), "--no-cache"]
    program = TRANSLATION.format(words=words, unused=UNUSED_BY_RECIPES)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=ALONE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_version_and_help_say_what_this_is() -> None:
    def answer(word: str) -> str:
        command = [sys.executable, "-m", "psyclone_storage", word]
        done = subprocess.run(command, env=ALONE, capture_output=True, text=True, check=True)
        return done.stdout

    assert answer("-v").startswith("psyclone-storage version: ")
    assert "examples:" in answer("-h")
