"""The arguments of invokes in Python: the reader takes only names, elements and arithmetic."""

from __future__ import annotations

import ast

_AS_WRITTEN = (ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.Constant,
               ast.UnaryOp, ast.BinOp, ast.expr_context, ast.UAdd, ast.USub,
               ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)  # fmt: skip


def is_passed_as_written(text: str) -> bool:
    """Return whether an invoke may be passed a text: names, elements and arithmetic, no calls."""
    return all(isinstance(part, _AS_WRITTEN) for part in ast.walk(ast.parse(text, mode="eval")))


def without_brackets(text: str) -> str:
    """Return an expression without brackets around all of it."""
    return ast.unparse(ast.parse(text, mode="eval"))
