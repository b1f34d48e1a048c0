"""Kernels that a module imports from other modules, followed through all of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import PurePath

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.parsed import KernelPlace
from psyclone_storage.languages.python.parse.function_sources import ModuleTexts
from psyclone_storage.languages.python.parse.imports import NUMERIC
from psyclone_storage.languages.python.parse.tree import PythonTree, read_tree
from psyclone_storage.languages.sources.kernel_search import PACKAGE_FILE

_PACKAGE = __name__.partition(".")[0]
_EXPORTED = "__all__"
_FAILED_IMPORTS = ("ImportError", "ModuleNotFoundError")


@dataclass(frozen=True, slots=True)
class _Binding:
    """A statement that binds the name: the kernel, or None for another object.

    `definition` is the line of a kernel that the file itself defines, otherwise 0.
    """

    node: ast.stmt
    place: KernelPlace | None
    definition: int = 0

    @property
    def object(self) -> tuple[object, ...]:
        """Bindings with equal values bind the same object, if it is a kernel."""
        if self.place is None:
            return ()
        return self.place.source.name, self.place.name, self.definition


_Bindings = tuple[list[_Binding], bool]
"""The bindings that may be the last ones, and whether one of them is always executed."""


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
            ambiguous; `P040`, a condition decides which object the name denotes.
    """
    return _followed(kernel_types, beside, {}, at, whole)


def _followed(
    kernel_types: Callable[[SourceText], tuple[str, ...]],
    beside: ModuleTexts,
    done: dict[tuple[str, str, bool], KernelPlace | None],
    at: KernelPlace,
    whole: bool,
) -> KernelPlace | None:
    key = at.source.name, at.name, whole
    if key in done:
        return done[key]
    done[key] = None
    own = kernel_types(at.source)
    if not at.source.name.endswith(".py"):
        done[key] = at if at.name in own else None
        return done[key]
    tree = read_tree(at.source)
    if whole and not _is_public(tree, at.name):
        return None
    follow = partial(_followed, kernel_types, beside, done)
    found, _ = _Module(tree, at, own, beside, follow).last_in(tree.module.body)
    if len({one.object for one in found}) > 1:
        raise CompileError(_conditional(tree, found, at))
    done[key] = found[0].place if found else None
    return done[key]


@dataclass(frozen=True, slots=True)
class _Module:
    """The statements of a module that bind the name of `at`; `own` are the kernels of its file."""

    tree: PythonTree
    at: KernelPlace
    own: tuple[str, ...]
    beside: ModuleTexts
    follow: Callable[[KernelPlace, bool], KernelPlace | None]

    def last_in(self, *blocks: list[ast.stmt]) -> _Bindings:
        """Return the bindings that may be the last ones in consecutive blocks."""
        found: list[_Binding] = []
        for body in reversed(blocks):
            for node in reversed(body):
                more, is_certain = self._last_of(node)
                found += more
                if is_certain:
                    return found, True
        return found, False

    def _last_of(self, node: ast.stmt) -> _Bindings:
        name = self.at.name
        match node:
            case ast.FunctionDef(name=said) | ast.ClassDef(name=said) if said.lower() == name:
                place, line = (self.at, node.lineno) if name in self.own else (None, 0)
                return [_Binding(node, place, line)], True
            case ast.ImportFrom():
                place, is_bound = _imported(self.tree, node, self.at, self.beside, self.follow)
                return [_Binding(node, place)] if is_bound else [], is_bound
            case ast.Try() if _is_optional_import(node):
                return self._last_of_optional(node)
            case ast.Assign(targets=[ast.Name(id=said)], value=ast.Name(id=other)) if (
                said.lower() == name and node in (body := self.tree.module.body)
            ):
                named = replace(self, at=replace(self.at, name=other.lower()))
                found, is_certain = named.last_in(body[: body.index(node)])
                return (found, True) if is_certain else ([_Binding(node, None), *found], True)
        if not (blocks := _blocks(node)):
            is_bound = _binds(node, name)
            return [_Binding(node, None)] if is_bound else [], is_bound
        found, is_certain = self.last_in(getattr(node, "finalbody", []))
        if is_certain:
            return found, True
        inner = [self.last_in(block) for block in blocks]
        found += [one for more, _ in inner for one in more]
        if _binds(node, name):
            found.append(_Binding(node, None))
        is_whole = isinstance(node, ast.If) and bool(node.orelse)
        return found, is_whole and all(is_bound for _, is_bound in inner)

    def _last_of_optional(self, node: ast.Try) -> _Bindings:
        """Return the bindings of an import, or of its handler if there is no such module."""
        wanted = node.body[0]
        assert isinstance(wanted, ast.ImportFrom)
        succeeded = self.last_in(node.orelse, node.finalbody)
        if succeeded[1]:
            return succeeded
        is_found = _is_external(wanted) or bool(self.beside(_said(wanted), self.at.source))
        failed = self.last_in(node.handlers[0].body, node.finalbody)
        if not is_found and (not failed[0] or any(one.place for one in failed[0])):
            return failed
        found, is_certain = self.last_in(node.body, node.orelse, node.finalbody)
        if is_found and is_certain and all(one.place is None for one in found):
            # The module may not contain the name.
            return found + failed[0], failed[1]
        return (found, is_certain) if found or is_found else failed


def _conditional(tree: PythonTree, found: list[_Binding], at: KernelPlace) -> Diagnostic:
    node = max((one.node for one in found), key=lambda one: (one.lineno, one.col_offset))
    name = PurePath(at.source.name).name
    message = f"'{at.name}' of '{name}' depends on a condition."
    hint = f"Import or define '{at.name}' without a condition."
    return Diagnostic("P040", message, tree.span(node), hint=hint)


def _imported(
    tree: PythonTree,
    node: ast.ImportFrom,
    at: KernelPlace,
    beside: ModuleTexts,
    follow: Callable[[KernelPlace, bool], KernelPlace | None],
) -> tuple[KernelPlace | None, bool]:
    """Return the kernel that an import statement binds, and whether it binds the name at all."""
    is_external, module = _is_external(node), _absolute(at, node)
    for item in node.names:
        if item.name == "*" and not is_external:
            texts = beside(_said(node), at.source)
            inner = KernelPlace(texts[0], at.name, module) if len(texts) == 1 else None
            found = follow(inner, True) if inner else None
            return found, found is not None
        if (item.asname or item.name).lower() == at.name:
            if is_external:
                return None, True
            texts = beside(_said(node), at.source)
            if len(texts) != 1:
                raise CompileError(_not_one(tree, node, item, texts))
            return follow(KernelPlace(texts[0], item.name.lower(), module), False), True
    return None, False


def _said(node: ast.ImportFrom) -> str:
    """Return the name of a module as an import statement contains it."""
    return "." * node.level + (node.module or "")


def _is_external(node: ast.ImportFrom) -> bool:
    """Return whether an imported module never contains kernels of the user."""
    return _said(node).partition(".")[0] in (*NUMERIC, _PACKAGE)


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
    said = _said(node)
    what = f"The kernel '{item.name}' is imported from '{said}', "
    if texts:
        places = listed(sorted(one.name for one in texts), "and")
        hint = "Narrow the directories given by '-d', so that only one of the files is found."
        message = f"{what}which could be in {places}."
        return Diagnostic("P032", message, tree.name_of(item), hint=hint)
    hint = f"Name the folder of the file of '{said}' with '-d'."
    return Diagnostic("P031", f"{what}which is not found.", tree.name_of(item), hint=hint)


def _is_optional_import(node: ast.Try) -> bool:
    """Return whether a statement is an import with a handler for its failure."""
    match node:
        case ast.Try(body=[ast.ImportFrom()], handlers=[ast.ExceptHandler(type=None)]):
            return True
        case ast.Try(
            body=[ast.ImportFrom()], handlers=[ast.ExceptHandler(type=ast.Name(id=caught))]
        ):
            return caught in _FAILED_IMPORTS
    return False


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of a statement that may or may not be executed, none for a definition."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return []
    inner = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    blocks = [getattr(node, "body", []), getattr(node, "orelse", [])]
    return [block for block in (*blocks, *(one.body for one in inner)) if block]


def _binds(node: ast.AST, name: str) -> bool:
    """Return whether a statement binds `name`, except in its blocks and by `from ... import`."""
    said: object = None
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return node.name.lower() == name
        case ast.Import(names=names):
            bound = (one.asname or one.name.partition(".")[0] for one in names)
            return name in map(str.lower, bound)
        case ast.Lambda() | ast.AnnAssign(value=None):
            return False
        case ast.Name(id=said, ctx=ast.Store() | ast.Del()):
            pass
        case ast.ExceptHandler(name=said) | ast.MatchAs(name=said) | ast.MatchStar(name=said):
            pass
        case ast.MatchMapping(rest=said):
            pass
    if isinstance(said, str) and said.lower() == name:
        return True
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.comprehension):
        inner.remove(node.target)
    return any(_binds(one, name) for one in inner if not isinstance(one, ast.stmt))


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
