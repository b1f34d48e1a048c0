"""Numeric constants that a module defines or imports, and local variables of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.python.parse import expressions
from psyclone_storage.languages.python.parse.function_sources import ModuleTexts, no_modules
from psyclone_storage.languages.python.parse.functions import CallableImports, offered
from psyclone_storage.languages.python.parse.points import PointAccess
from psyclone_storage.languages.python.parse.scope import KernelScope
from psyclone_storage.languages.python.parse.tree import PythonTree, read_tree

_MOST_IMPORTS = 20
"""A number may come through at most this many modules, which may import each other."""


def constants_of(
    tree: PythonTree, real: ScalarType, known: CallableImports, beside: ModuleTexts = no_modules
) -> dict[str, Intrinsic]:
    """Return the constants that a module defines, with their types.

    Constants imported by name are included if `beside` finds the defining module.
    """
    return _constants(tree, real, known, beside, _MOST_IMPORTS)


def _constants(
    tree: PythonTree, real: ScalarType, known: CallableImports, beside: ModuleTexts, depth: int
) -> dict[str, Intrinsic]:
    scope = KernelScope(tree, real, known, PointAccess(("", "")), {}, {}, {})
    found: dict[str, Intrinsic] = {}
    for node in tree.module.body:
        if isinstance(node, ast.ImportFrom) and depth:
            texts = beside("." * node.level + (node.module or ""), tree.source)
            theirs: dict[str, Intrinsic] = {}
            if len(texts) == 1:
                other = read_tree(texts[0])
                theirs = _constants(other, real, offered(other), beside, depth - 1)
            for item in node.names:
                if (kind := theirs.get(item.name)) is not None:
                    found.setdefault(item.asname or item.name, kind)
        for name, value in _assigned(node):
            scope.constants = found
            kind = expressions.read(scope, value).type
            if kind is not None:
                found.setdefault(name, kind)
    return found


def _assigned(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value


def assigned_names(node: ast.FunctionDef) -> frozenset[str]:
    """Return the names that a function assigns to."""
    return frozenset(
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    )


def without_text(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements without a leading docstring."""
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return body[1:]
    return body
