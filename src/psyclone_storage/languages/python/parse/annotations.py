"""Type annotations in a Python program that declare variables with types of an API.

An annotation such as `p: r_solver_field_type` on an argument, a local variable or a module variable
has the meaning of a Fortran declaration. Brackets after the type contain extents, as in `chi:
field_type[3]`, or a colon for each dimension. Other annotations are ignored. A local name of a
function hides the same name of the enclosing scope.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

from psyclone_storage.ir.expr import Expr, Name, Origin, Range, Sort, Symbol
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.ir.types import DataType
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.imports import ImportedNames
from psyclone_storage.languages.python.parse.tree import PythonTree

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Scope = ast.Module | _Function


class AnnotatedNames:
    """Annotations of a file; `types` are the types of an API by name."""

    def __init__(
        self, tree: PythonTree, types: Mapping[str, DataType], words: ImportedNames
    ) -> None:
        self._tree = tree
        self._types = types
        self._words = words
        self._scopes: dict[ast.AST, _Scope] = dict(_scopes(tree.module)) if types else {}
        self._visible: dict[_Scope, Mapping[str, Symbol]] = {}

    def around(self, node: ast.AST) -> Mapping[str, Symbol]:
        """Return the annotated types of the names visible at `node`, as symbols."""
        scope = self._scopes.get(node)
        if scope is None:
            return {}
        if scope not in self._visible:
            bound = dict(_bound(scope))
            found = {name: one for name, one in self.around(scope).items() if name not in bound}
            for name, said in bound.items():
                symbol = self._symbol(name, said) if said is not None else None
                if symbol is not None:
                    found[name] = symbol
            self._visible[scope] = found
        return self._visible[scope]

    def _symbol(self, name: str, said: ast.expr) -> Symbol | None:
        extents: list[ast.expr] = []
        head = said
        if isinstance(said, ast.Subscript):
            head = said.value
            extents = said.slice.elts if isinstance(said.slice, ast.Tuple) else [said.slice]
        type_ = self._types.get(self._words.meant(head))
        shape = tuple(map(_extent, extents))
        if type_ is None or None in shape:
            return None
        known = tuple(one for one in shape if one is not None)
        span = self._tree.span(said)
        return Symbol(key_of(name), name, Origin.LOCAL, Sort.VARIABLE, type_, known, span=span)


def with_symbols(known: Mapping[str, Symbol], expr: Expr) -> Expr:
    """Return an expression with `known` symbols attached to its names."""
    if isinstance(expr, Name):
        return Name(expr.text, known.get(expr.text, expr.symbol))
    return with_parts(expr, partial(with_symbols, known))


def _extent(node: ast.expr) -> Expr | None:
    match node:
        case ast.Slice(lower=None, upper=None, step=None):
            return Range()
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return nodes.signed_integer(value)
    return None


def _scopes(module: ast.Module) -> Iterator[tuple[ast.AST, _Scope]]:
    """Yield each node below `module` with the innermost scope around it."""
    waiting: list[tuple[ast.AST, _Scope]] = [(node, module) for node in module.body]
    while waiting:
        node, scope = waiting.pop()
        yield node, scope
        inside = node if isinstance(node, _Function) else scope
        waiting += [(one, inside) for one in ast.iter_child_nodes(node)]


def _bound(scope: _Scope) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that a scope binds itself, each with its annotation or None."""
    said: dict[str, ast.expr | None] = {}
    if isinstance(scope, _Function):
        said = {one.arg: one.annotation for one in ast.walk(scope.args) if isinstance(one, ast.arg)}
    waiting: list[ast.AST] = [scope.body] if isinstance(scope, ast.Lambda) else [*scope.body]
    while waiting:
        node = waiting.pop(0)
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)):
                said[name] = node.annotation
            case ast.Name(id=name, ctx=ast.Store()):
                said.setdefault(name, None)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                said.setdefault(name, None)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    yield from said.items()


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
