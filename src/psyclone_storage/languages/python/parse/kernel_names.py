"""Kernels that the names in the invokes of a Python file denote, given its scopes.

A name denotes a kernel if all statements that bind it in its scope import, define or rename that
kernel. The order of the statements is ignored, because the file is read and not executed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.source import Span
from psyclone_storage.ir import parsed
from psyclone_storage.languages.python.parse.imports import dotted
from psyclone_storage.languages.python.parse.tree import PythonTree

_Kernel = tuple[str, str]
"""The module of a kernel, and its name there."""

_SCOPES = (
    ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_IMPORTS = (ast.Import, ast.ImportFrom)


class KernelBindings:
    """The bindings of names in a file; `defined` are the kernels of the file itself."""

    def __init__(self, tree: PythonTree, defined: Iterable[parsed.ParsedUse]) -> None:
        self._tree = tree
        self._defined: Mapping[int, _Kernel] = {
            item.span.start: (use.module, item.original)
            for use in defined
            for item in use.only or ()
        }
        self._around: dict[ast.AST, ast.AST] = {}
        self._bound: dict[ast.AST, dict[str, list[ast.AST]]] = defaultdict(dict)
        self._values: dict[ast.AST, ast.expr | None] = {}
        self._read()

    def _read(self) -> None:
        outer: list[tuple[ast.AST, str]] = []
        for node, scope in _with_scopes(self._tree.module):
            self._around[node] = scope
            match node:
                case ast.Assign(targets=targets, value=value):
                    self._values |= dict.fromkeys(targets, value)
                case ast.AnnAssign(target=target, value=value):
                    self._values[target] = value
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    outer += ((scope, name) for name in names)
            if not self._is_harmless(node):
                for name in _names_bound_by(node):
                    self._bound[scope].setdefault(name, []).append(node)
        for scope, name in outer:
            nodes = self._bound[scope].pop(name, [])
            for one in self._scopes_around(scope):
                self._bound[one].setdefault(name, []).extend(nodes)

    def _is_harmless(self, node: ast.AST) -> bool:
        """Return whether a name is declared, or bound to a constant that no invoke can call."""
        return node in self._values and isinstance(self._values[node], ast.Constant | None)

    def _scopes_around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the scopes whose names are visible at a node, the innermost first."""
        scope = self._around.get(node)
        first = scope
        while scope is not None:
            if scope is first or not isinstance(scope, ast.ClassDef):
                yield scope
            scope = self._around.get(scope)

    def import_of(
        self, call: parsed.ParsedCall, node: ast.AST, whole: Iterable[parsed.ParsedUse]
    ) -> parsed.ParsedUse | Diagnostic | None:
        """Return an import of a renamed kernel that a call at `node` denotes.

        Return None if only imports and definitions bind the name, and a diagnostic if the
        name may denote something else. `whole` are the imports of whole modules.
        """
        nodes = self._bindings(call.name, node)
        others = [one for one in nodes if self._direct(one, call.name) is None]
        if not others or all(isinstance(one, _IMPORTS) for one in nodes):
            return None
        found = {self._kernel(one, call.name, ()) for one in nodes}
        places = [self._tree.span(others[-1]), *(use.span for use in whole)]
        kernel = found.pop() if len(found) == 1 else None
        if kernel is None or places[1:]:
            return _unknown(call, places[-1])
        item = parsed.UsedName(call.name, kernel[1], places[0])
        return parsed.ParsedUse(kernel[0], (item,), (), places[0])

    def _bindings(self, name: str, node: ast.AST) -> list[ast.AST]:
        """Return the nodes that bind a name in the innermost scope around `node` that has it."""
        found = (self._bound[scope].get(name) for scope in self._scopes_around(node))
        return next((nodes for nodes in found if nodes), [])

    def _direct(self, node: ast.AST, name: str) -> _Kernel | None:
        """Return the kernel that an import or a definition binds to a name."""
        match node:
            case ast.ImportFrom(names=items):
                original = next(one.name for one in items if (one.asname or one.name) == name)
                return _said(node), original
            case ast.FunctionDef():
                return self._defined.get(self._tree.name_of(node).start)
            case ast.Name():
                return self._defined.get(self._tree.span(node).start)
        return None

    def _kernel(self, node: ast.AST, name: str, seen: tuple[ast.AST, ...]) -> _Kernel | None:
        """Return the kernel that a node binds to a name, or None for another object."""
        direct = self._direct(node, name)
        if direct is not None or node in seen:
            return direct
        match self._values.get(node):
            case ast.Name(id=other):
                nodes = self._bindings(other, node)
                found = {self._kernel(one, other, (*seen, node)) for one in nodes}
                return found.pop() if len(found) == 1 else None
            case ast.Attribute(attr=attribute, value=value):
                module = self._module(dotted(value), node)
                return (module, attribute) if module else None
        return None

    def _module(self, path: str, node: ast.AST) -> str:
        """Return the module that a dotted name denotes at `node`, or ''."""
        head, _, rest = path.partition(".")
        nodes = self._bindings(head, node)
        if not all(isinstance(one, _IMPORTS) for one in nodes):
            return ""
        found = {name for one in nodes for name in _modules(one, head, rest)}
        return found.pop() if len(found) == 1 else ""


def _modules(node: ast.AST, head: str, rest: str) -> Iterator[str]:
    """Yield the modules that an import statement provides as `head.rest`."""
    match node:
        case ast.Import(names=items):
            for item in items:
                local = item.asname or item.name
                if local == f"{head}.{rest}".rstrip("."):
                    yield item.name
        case ast.ImportFrom(names=items) if not rest:
            module = _said(node)
            for item in items:
                if (item.asname or item.name) == head:
                    yield f"{module}{'' if module.endswith('.') else '.'}{item.name}"


def _said(node: ast.ImportFrom) -> str:
    return "." * node.level + (node.module or "")


def _unknown(call: parsed.ParsedCall, place: Span) -> Diagnostic:
    return Diagnostic(
        "S110",
        f"The kernel of '{call.name}' is unknown, because other statements bind the name.",
        call.name_span,
        hint="Import each kernel, and give it a name that no other statement binds.",
        related=(Related(place, "bound here"),),
    )


def _with_scopes(module: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield each node below `module` with the innermost scope around it, in source order."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(node, module) for node in reversed(module.body)]
    while waiting:
        node, scope = waiting.pop()
        yield node, scope
        inside = node if isinstance(node, _SCOPES) else scope
        waiting += [(one, inside) for one in reversed(list(ast.iter_child_nodes(node)))]


def _names_bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)):
            yield name
        case ast.Import(names=items):
            for item in items:
                yield item.asname or item.name.partition(".")[0]
        case ast.ImportFrom(names=items):
            for item in items:
                yield item.asname or item.name
