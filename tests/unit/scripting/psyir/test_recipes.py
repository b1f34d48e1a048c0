"""Scripts of PSyclone on files without an API."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.scripting.psyir.containers import Routine
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.recipe import read_recipe
from unit.scripting.psyir.trees import COLUMNS, printed, tree_of


def run(tmp_path: Path, text: str) -> str:
    """Return the text of a file after a script."""
    path = tmp_path / "recipe.py"
    path.write_text(text, encoding="utf-8")
    tree = tree_of(COLUMNS)
    read_recipe(path).run_on_file(tree)
    return printed(tree)


def test_a_script_edits_a_file(tmp_path: Path) -> None:
    text = run(
        tmp_path,
        """
from psyclone.psyir.nodes import Assignment, Literal, Loop, Node, Routine
from psyclone.psyir.symbols import ScalarType
from psyclone.transformations import TransformationError
from psyclone.version import __MAJOR__, __MINOR__, __MICRO__

def trans(psyir):
    assert psyir.root.name == "columns_mod.f90" and (__MAJOR__, __MINOR__) >= (3, 3)
    for routine in psyir.walk(Routine):
        for assign in routine.walk(Assignment):
            if assign.lhs.name == "k":
                assign.rhs.replace_with(Literal("7", ScalarType.integer_type()))
""",
    )
    assert text == COLUMNS.replace("k = 0\n", "k = 7\n").replace("k = k + 1\n", "k = 7\n")


def test_a_file_can_be_skipped(tmp_path: Path) -> None:
    text = "FILES_TO_SKIP = ['columns_mod.f90']\ndef trans(psyir):\n    raise ValueError\n"
    assert run(tmp_path, text) == COLUMNS


def test_rules_for_loop_types_end_with_the_script(tmp_path: Path) -> None:
    run(
        tmp_path,
        "from psyclone.psyir.nodes import Loop\n"
        "Loop.set_loop_type_inference_rules({'rows': {'variable': 'j'}})\n"
        "def trans(psyir):\n    assert psyir.walk(Loop)[0].loop_type == 'rows'\n",
    )
    assert tree_of(COLUMNS).walk(Loop)[0].loop_type is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "from psyclone.psyir.nodes import Lop",
            "'Lop' of 'psyclone.psyir.nodes' is not supported",
        ),
        ("import psyclone.tests", "'psyclone.tests' is not supported"),
        ("def trans(psyir):\n    psyir.children[0].detach()", "cannot be removed from a file"),
    ],
)
def test_what_is_not_supported_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        run(tmp_path, text)


def test_a_script_prints_a_routine(tmp_path: Path) -> None:
    text = (
        "from psyclone.psyir.backend.fortran import FortranWriter\n"
        "from psyclone.psyir.nodes import Routine\n"
        "def trans(psyir):\n"
        "    assert FortranWriter()(psyir.walk(Routine)[1]) == 'y = 2 * x\\n'\n"
    )
    assert run(tmp_path, text) == COLUMNS
    assert [one.name for one in tree_of(COLUMNS).walk(Routine)] == ["advance", "twice"]
