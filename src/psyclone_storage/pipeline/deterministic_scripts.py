"""Check that the effects of a script depend only on inputs that can be recorded.

A result that a script has produced can be cached if the script and the modules that it imports from
files are deterministic: they import only the modules in `_MODULES`, and use no function that reads
the file system, the clock or other state. The files that were read and the environment variables
that were looked up are then all inputs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from psyclone_storage.pipeline.script_inputs import ScriptRecord
from psyclone_storage.scripting.reads import is_users_file

_MODULES = frozenset(
    """__future__ abc collections copy dataclasses enum functools itertools logging math operator os
    psyclone re string sys textwrap types typing warnings""".split()
)
_PATHS = frozenset("basename dirname join normpath sep split splitext".split())
_LIMITED = {
    "os": frozenset("environ getenv path sep".split()),
    "os.path": _PATHS,
    "sys": frozenset("exit maxsize setrecursionlimit stderr stdout version_info".split()),
}
"""The names of some modules that a deterministic script may use."""
_FORBIDDEN = frozenset(
    """__builtins__ __import__ __loader__ __spec__ breakpoint compile eval exec globals hash id
    input locals open vars""".split()
)
_PRIVATE = frozenset("__all__ __class__ __doc__ __eq__ __hash__ __init__ __name__".split())
_INTERNAL = frozenset("FileHandler _data _stream buffer fileno".split())
"""Attributes of streams, and of the environment, that bypass the record."""
_OTHERS = sys.stdlib_module_names - (_MODULES - _LIMITED.keys())
"""Modules that an allowed module may have as attributes, such as `logging.time`."""


def script_record(
    script: Path, files: Iterable[Path], variables: Iterable[str], printed: list[tuple[str, str]]
) -> ScriptRecord | None:
    """Return the record of a script, None if its effects may depend on other inputs."""
    folder = str(script.resolve().parent)
    every = tuple(dict.fromkeys(str(path.absolute()) for path in (script, *files)))
    texts = [Path(name) for name in every if name.endswith(".py")]
    own = {path.stem for path in texts} | {path.parent.name for path in texts}
    own = {name for name in own if _is_own(name, [folder, *sys.path])}
    modules: set[str] = set()
    for path in texts:
        try:
            imported = _deterministic_imports(path.read_text(encoding="utf-8"), frozenset(own))
        except (OSError, ValueError):
            return None
        if imported is None:
            return None
        modules |= imported
    names = tuple(sorted(modules - {"psyclone", ""}))
    return ScriptRecord(folder, every, names, tuple(sorted(variables)), tuple(printed))


@cache
def _deterministic_imports(text: str, own: frozenset[str]) -> frozenset[str] | None:
    """Return the top-level modules that a script imports, None if it is not deterministic.

    All files of a command have the same script.
    """
    try:
        tree = ast.parse(text)
    except (ValueError, SyntaxError):
        return None
    if not _is_deterministic(tree, own):
        return None
    return frozenset(name.partition(".")[0] for name, _ in _imports(tree))


def _imports(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the imported modules, an empty name for the package of the script itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((one.name, node) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "" if node.level else node.module or "", node


def _is_deterministic(tree: ast.Module, own: Set[str]) -> bool:
    """Return whether a script uses only names that depend on recorded inputs."""
    bound: dict[str, str] = {}
    for module, statement in _imports(tree):
        if module and module.partition(".")[0] not in _MODULES | own:
            return False
        for one in getattr(statement, "names", ()):
            if isinstance(statement, ast.ImportFrom):
                if module in _LIMITED and one.name not in _LIMITED[module] - {"path"}:
                    return False
                if module.partition(".")[0] in _MODULES and one.name.lstrip("_") in _OTHERS:
                    return False
            else:
                top = one.name.partition(".")[0]
                name, value = one.asname or top, one.name if one.asname else top
                if bound.get(name) not in _LIMITED:
                    bound[name] = value
    return _uses_only(list(ast.walk(tree)), bound)


def _uses_only(nodes: list[ast.AST], bound: Mapping[str, str]) -> bool:
    """Return whether all names are allowed; some are `bound` to modules."""
    bases = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Name):
            module = bound.get(node.id, "")
            attribute = bases.get(id(node))
            if node.id in _FORBIDDEN or (attribute is None and module in _MODULES - {"psyclone"}):
                return False
            if module in _LIMITED and attribute not in _LIMITED[module]:
                return False
        elif isinstance(node, ast.Attribute):
            is_private = node.attr.startswith("__") and node.attr not in _PRIVATE
            if is_private or node.attr in _INTERNAL:
                return False
            if node.attr.lstrip("_") in _OTHERS and _root(node, bound) in _MODULES:
                return False
            module = bound.get(node.value.id, "") if isinstance(node.value, ast.Name) else ""
            if module == "os" and node.attr == "path" and bases.get(id(node)) not in _PATHS:
                return False
    return True


def _root(node: ast.expr, bound: Mapping[str, str]) -> str:
    """Return the top-level module whose attribute a node accesses, empty without one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return bound.get(node.id, "").partition(".")[0] if isinstance(node, ast.Name) else ""


def _is_own(name: str, search: list[str]) -> bool:
    """Return whether an import of `name` finds a user file, or a file that was imported before."""
    if name in sys.stdlib_module_names:
        return False
    spec = PathFinder.find_spec(name, search)
    return spec is None or spec.origin is None or is_users_file(spec.origin)
