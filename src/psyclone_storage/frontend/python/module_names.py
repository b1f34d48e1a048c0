"""What the module around a kernel assigns: numbers by name, and the locals of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from psyclone_storage.frontend.python import expressions
from psyclone_storage.frontend.python.functions import CallableImports
from psyclone_storage.frontend.python.points import PointAccess
from psyclone_storage.frontend.python.scope import KernelScope
from psyclone_storage.frontend.python.tree import Tree
from psyclone_storage.ir.types import Intrinsic, ScalarType


def constants_of(tree: Tree, real: ScalarType, known: CallableImports) -> dict[str, Intrinsic]:
    """Return the numbers that the module assigns to names, with their types."""
    scope = KernelScope(tree, real, known, PointAccess(("", "")), {}, {}, {})
    found: dict[str, Intrinsic] = {}
    for node in tree.module.body:
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
    """Return statements without the text that describes them."""
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return body[1:]
    return body
