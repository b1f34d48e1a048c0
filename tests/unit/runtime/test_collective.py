"""Docstrings and the user guide name every call that all ranks have to make together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import psyclone_storage.runtime

ROOT = Path(psyclone_storage.runtime.__file__).parent
GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "clusters.md"
PRIMITIVES = {"gathered", "sent_to", "swapped", "total", "least", "greatest", "wait_for_all"}
"""The methods of `Ranks` that communicate."""
MADE_OF_RANKS = {"agreed", "start_exchange", "_extreme", "_combined", "_begin", "_of"}
"""Functions that communicate for public ones."""
PUBLIC = ("gocean/field.py", "gocean/grid.py", "lfric/field.py", "lfric/mesh.py",
          "lfric/columnwise_operator.py", "lfric/reductions.py", "lfric/summing.py")  # fmt: skip
COLLECTIVE = "Collective: all ranks must call it."


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions and methods of a file with the docstrings that describe them."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        of_class = (ast.get_docstring(node) or "") if isinstance(node, ast.ClassDef) else ""
        for one in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(one, ast.FunctionDef):
                said = ast.get_docstring(one) or ""
                yield (of_class if one.name == "__init__" else said), one


def called(function: ast.FunctionDef) -> set[str]:
    """Return the names of what a function calls or passes on, those of ranks alone."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute):
            of_ranks = node.attr in PRIMITIVES and "ranks" in ast.unparse(node.value)
            found |= {node.attr} if of_ranks or node.attr in MADE_OF_RANKS else set()
        elif isinstance(node, ast.Name) and node.id in MADE_OF_RANKS:
            found.add(node.id)
    return found


def test_public_functions_that_communicate_are_documented_as_collective() -> None:
    count, missing = 0, []
    for path in sorted(ROOT.rglob("*.py")):
        if path.name in ("ranks.py", "library.py", "computing.py"):
            continue
        for said, one in functions(path):
            is_public = not one.name.startswith("_") or one.name == "__init__"
            if is_public and called(one):
                count += 1
                missing += [] if "Collective" in said else [f"{path.name}: {one.name}"]
    assert missing == []
    assert count >= 20


def test_the_guide_lists_the_collective_calls() -> None:
    listed = set(re.findall(r"`([^`]+)`", table()))
    documented = set()
    for name in PUBLIC:
        for said, one in functions(ROOT / name):
            if COLLECTIVE in said and one.name != "__init__":
                documented.add(one.name)
    assert documented <= listed
    assert len(documented) >= 15


def table() -> str:
    """Return the rows of the table of collective calls."""
    text = GUIDE.read_text(encoding="utf-8")
    begin = text.index("## Collective calls")
    return text[begin : text.index("\n## ", begin + 1)]
