"""Inputs of a script, and a check that its effects depend on nothing else.

A result that a script has produced can be cached if the script and the modules that it imports from
files are deterministic: they import only the modules in `_MODULES`, and use no function that reads
the file system, the clock or other state. The files that were read and the environment variables
that were looked up are then all inputs. What the script prints is recorded, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.records import dataclass

if TYPE_CHECKING:
    import ast

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


@dataclass(frozen=True, slots=True)
class ScriptRecord:
    """The inputs of a script and what it has printed, as pairs of a stream and a text.

    `files` are absolute paths, `modules` the names of imported modules, and `variables` those of
    the environment. `folder` is that of the script.
    """

    folder: str
    files: tuple[str, ...]
    modules: tuple[str, ...]
    variables: tuple[str, ...]
    printed: tuple[tuple[str, str], ...] = ()

    def state(self) -> str:
        """Return the digest of all inputs as they are now."""
        search = [self.folder, *sys.path]
        found = ((name, PathFinder.find_spec(name, search)) for name in self.modules)
        facts = (
            str(Path.cwd()),
            [(name, _content(Path(name))) for name in self.files],
            [(name, None if spec is None else spec.origin) for name, spec in found],
            [(name, os.environ.get(name)) for name in self.variables],
        )
        return digest_of(ascii(facts))

    def joined(self, other: ScriptRecord) -> ScriptRecord:
        """Return the inputs of two runs of a script, without what they have printed."""
        return ScriptRecord(
            self.folder,
            tuple(sorted({*self.files, *other.files})),
            tuple(sorted({*self.modules, *other.modules})),
            tuple(sorted({*self.variables, *other.variables})),
        )

    def changed_since(self, time: float) -> bool:
        """Return whether a file has changed after a point in time, or does not exist."""
        try:
            return any(Path(name).stat().st_mtime >= time for name in self.files)
        except OSError:
            return True


def _content(path: Path) -> tuple[str | None, bool]:
    """Return the digest of a file, and whether a package would be imported instead of it."""
    try:
        digest = digest_of(path.read_bytes().hex())
    except OSError:
        digest = None
    return digest, (path.with_suffix("") / "__init__.py").is_file()


def record_of(
    script: Path, files: Iterable[Path], variables: Iterable[str], printed: list[tuple[str, str]]
) -> ScriptRecord | None:
    """Return the record of a script, None if its effects may depend on other inputs."""
    folder = str(script.resolve().parent)
    every = tuple(dict.fromkeys(str(path.absolute()) for path in (script, *files)))
    texts = [Path(name) for name in every if name.endswith(".py")]
    own = {path.stem for path in texts} | {path.parent.name for path in texts}
    modules: set[str] = set()
    import ast  # noqa: PLC0415

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
    import ast  # noqa: PLC0415

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((one.name, node) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "" if node.level else node.module or "", node


def _is_deterministic(tree: ast.Module, own: set[str]) -> bool:
    """Return whether a script uses only names that depend on recorded inputs."""
    import ast  # noqa: PLC0415

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
    import ast  # noqa: PLC0415

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


# ---------------------------------------------------------------------------- printed text

_RECORDING: list[list[tuple[str, str]]] = []
"""The texts that running scripts have printed; a logger may hold the stream of an earlier one."""


class _Recorded:
    """Output stream that also records what is written while a script runs."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name

    def write(self, text: str) -> int:
        """Write and record a text."""
        if _RECORDING:
            _RECORDING[-1].append((self._name, text))
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def recorded_output() -> Iterator[list[tuple[str, str]]]:
    """Record what is printed in this context, in pairs of a stream (`stdout`) and a text."""
    found: list[tuple[str, str]] = []
    before = sys.stdout, sys.stderr
    sys.stdout = _Recorded(sys.stdout, "stdout")
    sys.stderr = _Recorded(sys.stderr, "stderr")
    _RECORDING.append(found)
    try:
        yield found
    finally:
        _RECORDING.remove(found)
        sys.stdout, sys.stderr = before


def print_again(record: ScriptRecord) -> None:
    """Print what a script has printed in an earlier run."""
    for stream, text in record.printed:
        (sys.stderr if stream == "stderr" else sys.stdout).write(text)
