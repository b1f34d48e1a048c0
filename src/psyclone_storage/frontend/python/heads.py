"""The functions of a Python file and their arguments: what is asked of generated modules."""

from __future__ import annotations

import ast

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.python.tree import read_tree
from psyclone_storage.ir.parsed import ParsedRoutine


def routine_heads(source: SourceText) -> dict[str, tuple[str, ...]]:
    """Return the arguments of each function at the top level of `source`, by its name."""
    functions = (
        node for node in read_tree(source).module.body if isinstance(node, ast.FunctionDef)
    )
    return {node.name: tuple(arg.arg for arg in node.args.args) for node in functions}


def read_routine(source: SourceText, name: str) -> ParsedRoutine:
    """Return the interface of a function, of which Python declares nothing.

    Raises:
        CompileError: P048, there is no such function.
    """
    tree = read_tree(source)
    for node in tree.module.body:
        if isinstance(node, ast.FunctionDef) and node.name.lower() == name.lower():
            dummies = tuple(arg.arg for arg in node.args.args)
            return ParsedRoutine(node.name, dummies, (), (), tree.name_of(node))
    message = f"The function '{name}' is not in '{source.name}'."
    raise CompileError(Diagnostic("P048", message, file=source.name))
