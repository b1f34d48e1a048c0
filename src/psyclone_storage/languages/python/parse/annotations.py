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

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr, Name, Origin, Range, Sort, Symbol
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.ir.types import DataType
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.imports import ImportedNames
from psyclone_storage.languages.python.parse.tree import PythonTree

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class AnnotatedNames:
    """Annotations of a file; `types` are the types of an API by name."""

    tree: PythonTree
    types: Mapping[str, DataType]
    words: ImportedNames

    def around(self, node: ast.AST) -> Mapping[str, Symbol]:
        """Return the annotated types of the names visible at `node`, as symbols."""
        found: dict[str, Symbol] = {}
        for scope in self._scopes(node):
            own = {name for name, _ in _bound(scope)}
            found = {name: one for name, one in found.items() if name not in own}
            for name, said in _bound(scope):
                symbol = self._symbol(name, said) if said is not None else None
                if symbol is not None:
                    found[name] = symbol
        return found

    def _scopes(self, node: ast.AST) -> Iterator[ast.Module | _Function]:
        """Yield the module and the functions around a node, starting with the outermost."""
        yield self.tree.module
        place = self.tree.span(node)
        around = [
            one for one in ast.walk(self.tree.module)
            if isinstance(one, _Function)
            and self.tree.span(one).start <= place.start and place.stop <= self.tree.span(one).stop
        ]  # fmt: skip
        yield from sorted(around, key=lambda one: self.tree.span(one).start)

    def _symbol(self, name: str, said: ast.expr) -> Symbol | None:
        extents: list[ast.expr] = []
        head = said
        if isinstance(said, ast.Subscript):
            head = said.value
            extents = said.slice.elts if isinstance(said.slice, ast.Tuple) else [said.slice]
        type_ = self.types.get(self.words.meant(head))
        shape = tuple(map(_extent, extents))
        if type_ is None or None in shape:
            return None
        known = tuple(one for one in shape if one is not None)
        span = self.tree.span(said)
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


def _bound(scope: ast.Module | _Function) -> Iterator[tuple[str, ast.expr | None]]:
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
