"""Kernels that a module imports from other modules, followed through all of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePath

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.parsed import KernelPlace
from psyclone_storage.languages.python.parse.function_sources import ModuleTexts
from psyclone_storage.languages.python.parse.imports import NUMERIC
from psyclone_storage.languages.python.parse.tree import PythonTree, read_tree
from psyclone_storage.languages.sources.kernel_search import PACKAGE_FILE

_PACKAGE = __name__.partition(".")[0]
_EXPORTED = "__all__"


def follow_imports(
    kernel_types: Callable[[SourceText], tuple[str, ...]],
    at: KernelPlace,
    whole: bool,
    beside: ModuleTexts,
) -> KernelPlace | None:
    """Return the definition of the kernel that a module at `at` defines or imports, or None.

    If the module is imported as a `whole`, private names are excluded. The last statement that
    binds a name decides. Names of kernels are compared ignoring case.

    Raises:
        CompileError: `P031` or `P032`, a module that is imported on the way is missing or
            ambiguous.
    """
    return _followed(kernel_types, beside, set(), at, whole)


def _followed(
    kernel_types: Callable[[SourceText], tuple[str, ...]],
    beside: ModuleTexts,
    seen: set[tuple[str, str, bool]],
    at: KernelPlace,
    whole: bool,
) -> KernelPlace | None:
    key = at.source.name, at.name, whole
    if key in seen:
        return None
    seen.add(key)
    own = kernel_types(at.source)
    if not at.source.name.endswith(".py"):
        return at if at.name in own else None
    tree = read_tree(at.source)
    if whole and not _is_public(tree, at.name):
        return None
    follow = partial(_followed, kernel_types, beside, seen)
    for node, is_certain in _backwards(tree.module.body):
        if _defines(node, at.name):
            if at.name in own:
                return at
        elif isinstance(node, ast.ImportFrom):
            found, is_bound = _imported(tree, node, at, beside, follow)
            if found is not None:
                return found
            if not is_bound:
                continue
        else:
            continue
        if is_certain:
            return None
    return None


def _imported(
    tree: PythonTree,
    node: ast.ImportFrom,
    at: KernelPlace,
    beside: ModuleTexts,
    follow: Callable[[KernelPlace, bool], KernelPlace | None],
) -> tuple[KernelPlace | None, bool]:
    """Return the kernel that an import statement binds, and whether it binds the name at all."""
    said = "." * node.level + (node.module or "")
    if said.partition(".")[0] in (*NUMERIC, _PACKAGE):
        return None, False
    module = _absolute(at, node)
    for item in node.names:
        if item.name == "*":
            texts = beside(said, at.source)
            inner = KernelPlace(texts[0], at.name, module) if len(texts) == 1 else None
            return follow(inner, True) if inner else None, False
        if (item.asname or item.name).lower() == at.name:
            texts = beside(said, at.source)
            if len(texts) != 1:
                raise CompileError(_not_one(tree, node, item, texts))
            return follow(KernelPlace(texts[0], item.name.lower(), module), False), True
    return None, False


def _absolute(at: KernelPlace, node: ast.ImportFrom) -> str:
    """Return the name of an imported module, given the name of the importing one."""
    if not node.level:
        return node.module or ""
    parts = at.module.split(".")
    is_package = PurePath(at.source.name).stem == PACKAGE_FILE
    kept = parts[: len(parts) - node.level + is_package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _not_one(
    tree: PythonTree, node: ast.ImportFrom, item: ast.alias, texts: tuple[SourceText, ...]
) -> Diagnostic:
    said = "." * node.level + (node.module or "")
    what = f"The kernel '{item.name}' is imported from '{said}', "
    if texts:
        places = listed(sorted(one.name for one in texts), "and")
        hint = "Narrow the directories given by '-d', so that only one of the files is found."
        message = f"{what}which could be in {places}."
        return Diagnostic("P032", message, tree.name_of(item), hint=hint)
    hint = f"Name the folder of the file of '{said}' with '-d'."
    return Diagnostic("P031", f"{what}which is not found.", tree.name_of(item), hint=hint)


def _backwards(body: list[ast.stmt], is_certain: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements of a module from last to first, those in blocks as uncertain."""
    for node in reversed(body):
        yield node, is_certain
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
            for handler in getattr(node, "handlers", ()):
                inner += handler.body
            yield from _backwards(inner, is_certain=False)


def _defines(node: ast.stmt, name: str) -> bool:
    """Return whether a statement defines or assigns `name` itself."""
    match node:
        case ast.FunctionDef(name=said) | ast.AsyncFunctionDef(name=said) | ast.ClassDef(name=said):
            return said.lower() == name
        case ast.Assign(targets=targets):
            named = [one for target in targets for one in ast.walk(target)]
            return any(isinstance(one, ast.Name) and one.id.lower() == name for one in named)
        case ast.AnnAssign(target=ast.Name(id=said), value=ast.expr()):
            return said.lower() == name
    return False


def _is_public(tree: PythonTree, name: str) -> bool:
    """Return whether `from module import *` imports `name`, True if that cannot be known."""
    said: set[str] | None = None
    for node in tree.module.body:
        names = (one.id for one in ast.walk(node) if isinstance(one, ast.Name))
        if _EXPORTED not in names:
            continue
        match node:
            case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(value=value):
                said = _texts(value)
            case ast.AugAssign(target=ast.Name(), op=ast.Add(), value=value) if said is not None:
                more = _texts(value)
                said = said | more if more is not None else None
            case _:
                said = None
        if said is None:
            return True
    return not name.startswith("_") if said is None else name in said


def _texts(value: ast.expr | None) -> set[str] | None:
    """Return the texts in a literal, in lower case, or None for another expression."""
    if not isinstance(value, ast.List | ast.Tuple):
        return None
    found = {one.value.lower() for one in value.elts
             if isinstance(one, ast.Constant) and isinstance(one.value, str)}  # fmt: skip
    return found if len(found) == len(value.elts) else None
