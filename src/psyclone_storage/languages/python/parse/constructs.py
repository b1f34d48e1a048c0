"""Names of the constructs of Python that kernels do not support, for messages."""

from __future__ import annotations

import ast
from collections.abc import Mapping

_STATEMENTS: Mapping[type[ast.AST], str] = {
    ast.Assert: "'assert' statements",
    ast.AsyncFor: "'async for' statements",
    ast.AsyncFunctionDef: "function definitions",
    ast.AsyncWith: "'async with' statements",
    ast.ClassDef: "class definitions",
    ast.Delete: "'del' statements",
    ast.FunctionDef: "function definitions",
    ast.Global: "'global' statements",
    ast.Import: "'import' statements",
    ast.ImportFrom: "'import' statements",
    ast.Match: "'match' statements",
    ast.Nonlocal: "'nonlocal' statements",
    ast.Raise: "'raise' statements",
    ast.Try: "'try' statements",
    ast.TryStar: "'try' statements",
    ast.While: "'while' statements",
    ast.With: "'with' statements",
}
_EXPRESSIONS: Mapping[type[ast.AST], str] = {
    ast.Await: "'await' expressions",
    ast.Dict: "dictionaries",
    ast.DictComp: "comprehensions",
    ast.FormattedValue: "texts",
    ast.GeneratorExp: "generator expressions",
    ast.JoinedStr: "texts",
    ast.Lambda: "'lambda' expressions",
    ast.List: "lists as numbers",
    ast.ListComp: "comprehensions",
    ast.NamedExpr: "assignment expressions (':=')",
    ast.Set: "sets as numbers",
    ast.SetComp: "comprehensions",
    ast.Slice: "slices here",
    ast.Starred: "starred expressions",
    ast.Tuple: "tuples as numbers",
    ast.Yield: "'yield' expressions",
    ast.YieldFrom: "'yield' expressions",
}
_SUPPORTED_ELSEWHERE = (ast.List, ast.Set, ast.Slice, ast.Tuple)
_CONSTANTS: Mapping[type, str] = {
    bytes: "bytes",
    complex: "complex numbers",
    str: "texts",
    type(None): "'None' values",
    type(...): "'...' values",
}


def _construct_of(node: ast.AST) -> str:
    """Return the name, in the plural, of the construct that `node` is."""
    if isinstance(node, ast.Constant):
        return _CONSTANTS.get(type(node.value), "constants of this type")
    if isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call):
            return "calls whose value is not used"
        return _EXPRESSIONS.get(type(node.value), "expressions as statements")
    return _STATEMENTS.get(type(node)) or _EXPRESSIONS.get(type(node), type(node).__name__)


def is_unsupported(node: ast.AST) -> bool:
    """Return whether a part of an expression is a construct that kernels support nowhere."""
    return type(node) in _EXPRESSIONS and not isinstance(node, _SUPPORTED_ELSEWHERE)


def unsupported(node: ast.AST) -> str:
    """Return the message for a construct that kernels do not support."""
    return (
        f"{_construct_of(node)[0].upper()}{_construct_of(node)[1:]} are not supported in kernels."
    )
