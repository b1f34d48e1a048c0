"""Meaning of names in a file as determined by its imports.

Imports are searched in the whole file, including functions, because the file is read and not
executed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.languages.python.parse.tree import PythonTree

_REMEMBERED = 4


@dataclass(frozen=True, slots=True)
class ImportedNames:
    """Names imported from one module.

    - `words`: a mapping from names in the file to names in the module.

    - `modules`: names of the module itself in the file.

    - `whole`: the file has a `*` import of the module.
    """

    words: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    whole: bool = False

    def meant(self, node: ast.expr) -> str:
        """Return the name in the module that `node` denotes, or ''."""
        if isinstance(node, ast.Name):
            return self.words.get(node.id, node.id if self.whole else "")
        path = dotted(node)
        for module in self.modules:
            if path.startswith(f"{module}.") and "." not in path[len(module) + 1 :]:
                return path[len(module) + 1 :]
        return ""


def imported_names(tree: PythonTree, module: str) -> ImportedNames:
    """Return the names that `tree` imports from `module`."""
    words: dict[str, str] = {}
    modules: list[str] = []
    whole = False
    parent, _, last = module.rpartition(".")
    for node in imports_in(tree.module):
        if isinstance(node, ast.Import):
            modules += [item.asname or item.name for item in node.names if item.name == module]
        elif node.module == module and not node.level:
            whole = whole or any(item.name == "*" for item in node.names)
            words.update({item.asname or item.name: item.name for item in node.names})
        elif node.module == parent and not node.level:
            modules += [item.asname or item.name for item in node.names if item.name == last]
    return ImportedNames(words, tuple(modules), whole)


def imported_modules(tree: PythonTree) -> dict[str, str]:
    """Return the modules imported by `import` statements, by their names in the file."""
    return {
        item.asname or item.name: item.name
        for node in imports_in(tree.module)
        if isinstance(node, ast.Import)
        for item in node.names
    }


@lru_cache(maxsize=_REMEMBERED)
def imports_in(module: ast.Module) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Return all import statements of a file."""
    nodes = ast.walk(module)
    return tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


def imported_from(tree: PythonTree, name: str) -> str:
    """Return the module from which `tree` imports `name`, or ''.

    Modules with numeric functions, such as `math`, are ignored.
    """
    for node in imports_in(tree.module):
        if not isinstance(node, ast.ImportFrom) or node.module in NUMERIC:
            continue
        if any((item.asname or item.name) == name for item in node.names):
            return "." * node.level + (node.module or "")
    return ""


NUMERIC = ("math", "numpy")


def bound_in(tree: PythonTree) -> frozenset[str]:
    """Return the names that `tree` binds outside functions, including imports."""
    found = {
        (item.asname or item.name).partition(".")[0]
        for node in imports_in(tree.module)
        for item in node.names
    }
    return frozenset(found) | defined_in(tree)


def defined_in(tree: PythonTree) -> frozenset[str]:
    """Return the functions, classes and variables that `tree` defines outside functions."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(tree.module.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, _WITH_A_NAME):
            found.add(node.name)
        else:
            waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


_WITH_A_NAME = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def dotted(node: ast.expr) -> str:
    """Return a dotted name as text, or '' for another expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])
