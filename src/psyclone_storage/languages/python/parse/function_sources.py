"""Location of the source of user functions that a kernel calls.

The function is in the file of the kernel or in a module imported there. In a running program it is
the object that the name denotes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import CalledText, SourceText
from psyclone_storage.languages.python.parse.imports import (
    NUMERIC,
    dotted,
    imported_names,
    imports_in,
)
from psyclone_storage.languages.python.parse.scope import KernelScope
from psyclone_storage.languages.python.parse.tree import PythonTree, read_tree

ModuleTexts = Callable[[str, SourceText], tuple[SourceText, ...]]
"""The files that may be a module which a file imports: none, the one, or several."""
_MANY = 20
WRAPS = "A function is read, not run: write what the wrapper does into a function of its own."


def no_modules(_name: str, _importing: SourceText) -> tuple[SourceText, ...]:
    """Return an empty tuple, because no modules are searched."""
    return ()


@dataclass(frozen=True, slots=True)
class HelperText:
    """Function definition with its file and the module that contains its variables.

    - `module`: '' for the caller's module, or None if unknown.

    - `around`: variables of the enclosing function.

    - `defaults`: default values of arguments in a running program, None if not a number.

    - `wraps`: the name of the function that it wraps in a running program.
    """

    tree: PythonTree
    node: ast.FunctionDef
    module: str | None = ""
    around: tuple[str, ...] = ()
    defaults: Mapping[str, float | None] | None = None
    wraps: str = ""


class RefusedError(Exception):
    """Error: the called function cannot be found; a diagnostic is already recorded."""


@dataclass(frozen=True, slots=True)
class RequestedName:
    """Name to be found in a file, with the module that this file defines."""

    tree: PythonTree
    name: str
    module: str | None


def find_helper(scope: KernelScope, call: ast.Call, beside: ModuleTexts) -> HelperText | None:
    """Return the called user function, or None if the call is not one.

    Raises:
        RefusedError: the callee is invalid; a diagnostic is recorded.
    """
    said = dotted(call.func)
    if not said or said.partition(".")[0] in _own(scope):
        return None
    if scope.tree.source.calls is not None:
        return _linked(scope.tree.source.calls.get(said))
    wanted: RequestedName | None = RequestedName(
        scope.tree, said, scope.chain[-1].module if scope.chain else ""
    )
    for _ in range(_MANY):
        if wanted is None or (found := _in_file(scope, call, wanted)) is not None:
            return found if wanted is not None else None
        wanted = _imported(scope, call, wanted, beside)
    return None


def _linked(called: CalledText | None) -> HelperText | None:
    """Return the function that a name denotes in a running program."""
    if called is None:
        return None
    tree = read_tree(called.source)
    found = [one for one in tree.module.body if isinstance(one, ast.FunctionDef)]
    if not found:
        return None
    rest = dict(called.defaults), called.wraps
    return HelperText(tree, found[0], called.module, called.around, *rest)


def names_helper(scope: KernelScope, node: ast.expr) -> bool:
    """Return whether a name may denote a user function."""
    said = dotted(node)
    if not said or said.partition(".")[0] in _own(scope) or scope.offered.function(node):
        return False
    if scope.tree.source.calls is not None:
        return said in scope.tree.source.calls
    return bool(_definitions(scope.tree, said)) or any(True for _ in _imports_of(scope.tree, said))


def _own(scope: KernelScope) -> set[str]:
    return {*scope.assigned, *scope.arguments, *scope.values}


def _definitions(tree: PythonTree, name: str) -> list[ast.FunctionDef]:
    return [one for one in tree.module.body if isinstance(one, ast.FunctionDef)
            and one.name == name]  # fmt: skip


def _in_file(scope: KernelScope, call: ast.Call, wanted: RequestedName) -> HelperText | None:
    """Return the function `wanted` that a file defines, or None.

    Raises:
        RefusedError: the name has several definitions; a diagnostic is recorded.
    """
    found = _definitions(wanted.tree, wanted.name)
    if not found:
        return None
    if len(found) > 1 or _is_bound_otherwise(wanted.tree, wanted.name):
        what = f"'{wanted.name}' has several meanings in its file."
        scope.refuse("P052", what, call.func, "Give each function a name of its own.")
        raise RefusedError
    return HelperText(wanted.tree, found[-1], wanted.module)


def _is_bound_otherwise(tree: PythonTree, name: str) -> bool:
    waiting: list[ast.AST] = list(tree.module.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
            return True
        if isinstance(node, ast.Import | ast.ImportFrom) and any(
            (one.asname or one.name.partition(".")[0]) == name for one in node.names
        ):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
        elif node.name == name and node not in tree.module.body:
            return True
    return False


def _imports_of(tree: PythonTree, said: str) -> Iterator[tuple[str, str, int]]:
    """Yield modules that may define a name: the module, the name there, and leading dots."""
    module, _, name = said.rpartition(".")
    for node in imports_in(tree.module):
        for one in node.names:
            if isinstance(node, ast.Import):
                if module and (one.asname or one.name) == module:
                    yield one.name, name, 0
            elif not module and (one.asname or one.name) == name:
                yield node.module or "", one.name, node.level
            elif module and (one.asname or one.name) == module:
                yield ".".join(filter(None, (node.module, one.name))), name, node.level


def _imported(
    scope: KernelScope, call: ast.Call, wanted: RequestedName, beside: ModuleTexts
) -> RequestedName | None:
    """Return the next place to search for a name: a module imported by a file, or None."""
    for module, name, dots in _imports_of(wanted.tree, wanted.name):
        texts = beside("." * dots + module, wanted.tree.source)
        if len(texts) > 1:
            places = listed(sorted(one.name for one in texts), "and")
            what = f"The module '{module}' of the function '{name}' could be in {places}."
            hint = "Narrow the directories given by '-d', so that only one of the files is found."
            scope.refuse("P051", what, call.func, hint)
            raise RefusedError
        if texts:
            return RequestedName(read_tree(texts[0]), name, None if dots else module)
        if module.partition(".")[0] not in NUMERIC:
            what = f"The module '{module}' of the function '{name}' is not found."
            scope.refuse("P051", what, call.func, "Name its folder by '-d'.")
            raise RefusedError
    return None


def is_kernel(helper: HelperText, words: str) -> bool:
    """Return whether a function is a kernel; `words` is the module that exports the decorator."""
    names = imported_names(helper.tree, words)
    return any(
        isinstance(one, ast.Call) and names.meant(one.func) == "kernel"
        for one in helper.node.decorator_list
    )
