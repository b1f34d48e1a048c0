"""Check that the effects of a script depend only on inputs that can be recorded.

A result that a script has produced can be cached if the script and the modules that it imports from
files are deterministic: they import only the modules in `_MODULES`, and use no function that reads
the file system, the clock or other state. The files that were read and the environment variables
that were looked up are then all inputs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from psyclone_storage.pipeline.script_inputs import ScriptRecord

_MODULES = frozenset(
    """__future__ abc collections copy dataclasses enum functools itertools logging math operator os
    psyclone re string sys textwrap types typing warnings""".split()
)
_PATHS = frozenset("basename dirname join normpath sep split splitext".split())
_LIMITED = {
    "os": frozenset("environ getenv path sep".split()),
    "os.path": _PATHS,
    "sys": frozenset("exit maxsize path setrecursionlimit stderr stdout version_info".split()),
}
"""The names of some modules that a deterministic script may use."""
_FORBIDDEN = frozenset(
    """__builtins__ __import__ __loader__ __spec__ breakpoint compile eval exec globals input locals
    open vars""".split()
)
_PRIVATE = frozenset("__all__ __class__ __doc__ __eq__ __hash__ __init__ __name__".split())
_STREAMS = frozenset("FileHandler buffer fileno".split())


def script_record(
    script: Path, files: Iterable[Path], variables: Iterable[str], printed: list[tuple[str, str]]
) -> ScriptRecord | None:
    """Return the record of a script, None if its effects may depend on other inputs."""
    folder = str(script.resolve().parent)
    every = tuple(dict.fromkeys(str(path.absolute()) for path in (script, *files)))
    texts = [Path(name) for name in every if name.endswith(".py")]
    own = {path.stem for path in texts} | {path.parent.name for path in texts}
    modules: set[str] = set()
    for path in texts:
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError):
            return None
        if not _is_deterministic(tree, own):
            return None
        modules |= {name.partition(".")[0] for name, _ in _imports(tree)}
    names = tuple(sorted(modules - {"psyclone", ""}))
    return ScriptRecord(folder, every, names, tuple(sorted(variables)), tuple(printed))


def _imports(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the imported modules, an empty name for the package of the script itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((one.name, node) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "" if node.level else node.module or "", node


def _is_deterministic(tree: ast.Module, own: set[str]) -> bool:
    """Return whether a script uses only names that depend on recorded inputs."""
    bound: dict[str, str] = {}
    for module, statement in _imports(tree):
        if module and module.partition(".")[0] not in _MODULES | own:
            return False
        for one in getattr(statement, "names", ()):
            if isinstance(statement, ast.ImportFrom):
                if module in _LIMITED and one.name not in _LIMITED[module] - {"path"}:
                    return False
            else:
                top = one.name.partition(".")[0]
                bound[one.asname or top] = one.name if one.asname else top
    return _uses_only(list(ast.walk(tree)), bound)


def _uses_only(nodes: list[ast.AST], bound: Mapping[str, str]) -> bool:
    """Return whether all names are allowed; some are `bound` to modules."""
    bases = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Name):
            limited = _LIMITED.get(bound.get(node.id, ""))
            if node.id in _FORBIDDEN:
                return False
            if limited is not None and bases.get(id(node)) not in limited:
                return False
        elif isinstance(node, ast.Attribute):
            is_private = node.attr.startswith("__") and node.attr not in _PRIVATE
            if is_private or node.attr in _STREAMS:
                return False
            module = bound.get(node.value.id) if isinstance(node.value, ast.Name) else ""
            if module == "os" and node.attr == "path" and bases.get(id(node)) not in _PATHS:
                return False
    return True
