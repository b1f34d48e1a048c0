"""Functions in a Python file and their arguments, as needed for generated modules."""

from __future__ import annotations

import ast

from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.python.parse.tree import read_tree


def routine_heads(source: SourceText) -> dict[str, tuple[str, ...]]:
    """Return the arguments of each top-level function of `source`, by name."""
    functions = (
        node for node in read_tree(source).module.body if isinstance(node, ast.FunctionDef)
    )
    return {node.name: tuple(arg.arg for arg in node.args.args) for node in functions}
