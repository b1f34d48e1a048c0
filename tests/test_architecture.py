"""The rules of the architecture: layers, imports and size limits.

Each rule is a function from a source tree to the list of its violations. The package is checked
with all of them, and each is shown to fail on a small tree that violates it.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from layers import (
    FOLDS,
    LATE,
    LAYERS,
    OPTIONAL,
    OUTSIDERS,
    PROCESS_WIDE,
    PSYCLONE_NAMES,
    READERS,
    SHOWN,
    STORAGE,
)

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "psyclone_storage"
PACKAGE = "psyclone_storage"
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60

CHANGES = {"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "add",
           "discard", "popitem", "appendleft"}  # fmt: skip

CACHING = {*"cache lru_cache found_by_item kept_by_item kept_by_pair kept_by_version".split(),
           *"kept_in_sequence kept_lately kept_with_first".split()}  # fmt: skip

WAYS_ROUND_FROZEN = {"__setattr__", "__delattr__", "__dict__", "setattr", "delattr", "vars"}


@dataclass(frozen=True)
class Import:
    """One name that a file imports, and whether that happens inside a function."""

    file: Path
    line: int
    name: str
    deferred: bool

    @property
    def place(self) -> str:
        return f"{self.file.as_posix()}:{self.line}"

    @property
    def package(self) -> str:
        return self.name.split(".")[0]


def check_layers(source: Path) -> list[str]:
    """Name every import that the table of layers does not allow, at whatever depth."""
    unknown = {layer_of(file) for file in files_of(source)} - set(LAYERS)
    return [f"'{layer}' is not a layer" for layer in sorted(unknown)] + [
        f"{found.place}: '{layer}' may not import '{target}'"
        for found in imports_of(source)
        if found.package == PACKAGE
        for layer, target in [(layer_of(found.file), target_layer(source, found.name))]
        if target != layer and target not in LAYERS.get(layer, set())
    ]


def check_storage(source: Path) -> list[str]:
    """Name every import from one folder of the storage runtime that its table does not allow."""
    return [
        f"{found.place}: 'storage/{folder}' may not import 'storage/{target}'"
        for found in imports_of(source)
        if found.name.startswith(f"{PACKAGE}.storage.") and found.file.parts[0] == "storage"
        for folder, target in [(found.file.parts[1], found.name.split(".")[2])]
        if folder in STORAGE and target != folder and target not in STORAGE[folder]
    ]


def check_outsiders(source: Path) -> list[str]:
    """Return violations for third-party imports outside their file or layer, or in two files."""
    foreign = [
        found
        for found in imports_of(source)
        if found.package not in sys.stdlib_module_names and found.package != PACKAGE
    ]
    problems = [
        f"{found.place}: '{found.package}' may not be imported here"
        for found in foreign
        if not {found.file.as_posix(), layer_of(found.file)} & OUTSIDERS.get(found.package, set())
    ]
    for package in sorted(OPTIONAL):
        users = sorted({found.file.as_posix() for found in foreign if found.package == package})
        if len(users) > 1:
            problems.append(f"'{package}' is imported in {len(users)} files: {', '.join(users)}")
    return problems


def check_records(source: Path) -> list[str]:
    """Name every import of the library's data classes, which delay the start of all of ours."""
    return [
        f"{found.place}: 'base.records' is to be used instead of 'dataclasses'"
        for found in imports_of(source)
        if found.package == "dataclasses"
        if found.file.as_posix() != "base/records.py"
    ]


def check_patterns(source: Path) -> list[str]:
    """Name every regular expression that is compiled when its module is imported."""
    return [
        f"{file.as_posix()}:{node.lineno}: 'base.regex' is to be used instead of 're.compile'"
        for file, tree in trees_of(source)
        if layer_of(file) != "runtime"
        for node in outside_of_functions(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
    ]


def outside_of_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is run when a module is imported."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from outside_of_functions(child)


def check_case(source: Path) -> list[str]:
    """Name every place outside the readers that folds case, but for the few that are allowed."""
    return [
        f"{file.as_posix()}:{getattr(node, 'lineno', 0)}: case is folded; ask for a key"
        for file, tree in trees_of(source)
        if layer_of(file) not in READERS and file.as_posix() not in FOLDS
        for node in nodes_of(tree)
        if folds_case(node)
    ]


def folds_case(node: ast.AST) -> bool:
    """Whether a node is `text.lower()`, and not the lower bound of a range, or `str.lower`."""
    called = node.func if isinstance(node, ast.Call) and not node.args else node
    if not isinstance(called, ast.Attribute) or called.attr not in {"lower", "casefold"}:
        return False
    of_type = isinstance(called.value, ast.Name) and called.value.id == "str"
    return of_type if called is node else not of_type


def check_deferred(source: Path) -> list[str]:
    """Name every import inside a function that is not of an optional third party."""
    return [
        f"{found.place}: '{found.name}' is imported inside a function"
        for found in imports_of(source)
        if found.deferred and found.package not in OPTIONAL
        if found.name not in LATE.get(found.file.as_posix(), set())
    ]


def check_cycles(source: Path) -> list[str]:
    """Name one cycle of modules, if there is any; deferred and type-only imports count."""
    graph: dict[str, set[str]] = {module_of(file): set() for file in files_of(source)}
    for found in imports_of(source):
        if found.package == PACKAGE:
            here = module_of(found.file)
            graph[here] |= {known_module(graph, found.name)} - {here}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [f"cycle: {' <- '.join(error.args[1])}"]
    return []


def check_sizes(source: Path) -> list[str]:
    """Name every file of more than 600 lines."""
    return [
        f"{file.as_posix()}: {lines} lines"
        for file in files_of(source)
        for lines in [len((source / file).read_text(encoding="utf-8").splitlines())]
        if lines > MAX_FILE_LINES
    ]


def check_functions(source: Path) -> list[str]:
    """Name every function of more than 60 lines that hold code."""
    problems = []
    for file in files_of(source):
        text = (source / file).read_text(encoding="utf-8")
        tree = parsed(text)
        for node in nodes_of(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = range(node.lineno, (node.end_lineno or 0) + 1)
                if len(lines) > MAX_FUNCTION_LINES < (size := len(code_lines(text) & {*lines})):
                    problems.append(f"{file.as_posix()}:{node.lineno}: '{node.name}' has {size}")
    return problems


def check_state(source: Path) -> list[str]:
    """Name every `global`, and every way round a frozen class in `ir/`."""
    problems = []
    for file, tree in trees_of(source):
        frozen = layer_of(file) == "ir"
        for node in nodes_of(tree):
            if isinstance(node, ast.Global):
                problems.append(f"{file.as_posix()}:{node.lineno}: global {', '.join(node.names)}")
            elif frozen and (word := word_of(node)) in WAYS_ROUND_FROZEN:
                problems.append(f"{file.as_posix()}:{getattr(node, 'lineno', 0)}: {word} in 'ir'")
    return problems


def check_process_state(source: Path) -> list[str]:
    """Name every object of a module that one of its functions changes, but those that are listed.

    Such an object is a `global` by another name: two compilations in one process share it.
    """
    problems = []
    for file, tree in trees_of(source):
        known = {
            name.id
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for name in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(name, ast.Name)
        } - PROCESS_WIDE.get(file.as_posix(), set())
        changed = {
            (name, place)
            for function in (nodes_of(tree) if known else ())
            if isinstance(function, ast.FunctionDef | ast.Lambda)
            for node in ast.walk(function)
            for name, place in changes_of(node)
        }
        problems += [f"{file.as_posix()}:{line}: changes {n}" for n, line in changed if n in known]
    return problems


def changes_of(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the plain names of objects that a statement or a call changes, with the line."""
    for changed in changed_in(node):
        if isinstance(changed, ast.Name):
            yield changed.id, changed.lineno


def changed_in(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the objects of which a statement or a call changes an item or an attribute."""
    match node:
        case ast.Call(func=ast.Attribute(value=changed, attr=verb)) if verb in CHANGES:
            yield changed
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            for target in targets:
                if isinstance(target, ast.Subscript | ast.Attribute):
                    yield target.value
        case ast.AugAssign(target=ast.Subscript() | ast.Attribute() as target):
            yield target.value


def check_cached_state(source: Path) -> list[str]:
    """Name every change of an object that a cached function has returned.

    Such an object is state of the process: the cache gives it to each caller.
    """
    cached = {module_of(file): cached_in(tree) for file, tree in trees_of(source)}
    problems = []
    for file, tree in trees_of(source):
        known = cached[module_of(file)] | {
            alias.asname or alias.name
            for node in nodes_of(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.name in cached.get(node.module or "", set())
        }
        if known:
            scopes = [tree, *(node for node in nodes_of(tree) if isinstance(node, ast.FunctionDef))]
            lines = {line for scope in scopes for line in changes_of_cached(scope, known)}
            problems += [f"{file.as_posix()}:{line}: changes what is cached" for line in lines]
    return problems


def cached_in(tree: ast.Module) -> set[str]:
    """Return the names of the functions of a module whose results are cached."""
    return {
        node.name
        for node in nodes_of(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if word_of(decorator.func if isinstance(decorator, ast.Call) else decorator) in CACHING
    }


def changes_of_cached(scope: ast.AST, known: set[str]) -> Iterator[int]:
    """Yield the lines where a scope changes a result of a function, or a part of one."""

    def root_of(expr: ast.expr) -> str:
        while isinstance(expr, ast.Attribute | ast.Subscript):
            expr = expr.value
        if isinstance(expr, ast.Call) and word_of(expr.func) in known:
            return word_of(expr.func)
        return expr.id if isinstance(expr, ast.Name) and expr.id in names else ""

    names: set[str] = set()
    own = scope.body if isinstance(scope, ast.Module) else ast.walk(scope)
    for node in own:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if root_of(value):
                names.add(name)
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ) if root_of(value):
                names.add(name)
    for node in ast.walk(scope):
        yield from (changed.lineno for changed in changed_in(node) if root_of(changed))


def check_class_names(source: Path) -> list[str]:
    """Name every class that is called as one in another file, but for views of what scripts see."""
    files: dict[str, set[str]] = {}
    for file, tree in trees_of(source):
        for node in nodes_of(tree):
            if isinstance(node, ast.ClassDef) and not file.as_posix().startswith(PSYCLONE_NAMES):
                files.setdefault(node.name, set()).add(file.as_posix())
    return [
        f"'{name}' is a class in {len(found)} files: {', '.join(sorted(found))}"
        for name, found in sorted(files.items())
        if len(found) > 1 and found not in SHOWN
    ]


RULES: tuple[Callable[[Path], list[str]], ...] = (
    check_layers,
    check_storage,
    check_outsiders,
    check_records,
    check_patterns,
    check_case,
    check_deferred,
    check_cycles,
    check_sizes,
    check_functions,
    check_class_names,
    check_process_state,
    check_cached_state,
    check_state,
)


parsed = cache(ast.parse)  # Most rules look at each text; none changes its tree.
nodes_of = cache(lambda tree: tuple(ast.walk(tree)))


def files_of(source: Path) -> list[Path]:
    return sorted(path.relative_to(source) for path in source.rglob("*.py"))


def trees_of(source: Path) -> Iterator[tuple[Path, ast.Module]]:
    for file in files_of(source):
        yield file, parsed((source / file).read_text(encoding="utf-8"))


def layer_of(file: Path) -> str:
    return file.with_suffix("").parts[0]


def module_of(file: Path) -> str:
    parts = [part for part in file.with_suffix("").parts if part != "__init__"]
    return ".".join([PACKAGE, *parts])


def target_layer(source: Path, name: str) -> str:
    """Return the layer that the dotted `name` leads to; a plain attribute is in `__init__`."""
    parts = [*name.split("."), "__init__"]
    layer = parts[1]
    exists = layer in LAYERS or (source / layer).is_dir() or (source / f"{layer}.py").is_file()
    return layer if exists else "__init__"


def known_module(modules: dict[str, set[str]], name: str) -> str:
    """Return the longest part of the dotted `name` that is a module."""
    while name not in modules and "." in name:
        name = name.rpartition(".")[0]
    return name


def imports_of(source: Path) -> Iterator[Import]:
    """Yield what each file imports: statements at any depth, and names given to `import_module`."""
    for file, tree in trees_of(source):
        yield from imports_in(file, tree)


@cache
def imports_in(file: Path, tree: ast.Module) -> list[Import]:
    deferred = {
        inner
        for node in nodes_of(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom | ast.Call)
    }
    return [
        Import(file, getattr(node, "lineno", 0), name, node in deferred)
        for node in nodes_of(tree)
        for name in imported_names(node, file)
    ]


def imported_names(node: ast.AST, file: Path) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(level=0):
            return [f"{node.module}.{alias.name}" for alias in node.names]
        case ast.ImportFrom():
            package = module_of(file.parent / "__init__.py").split(".")
            base = [*package[: len(package) - node.level + 1], node.module or ""]
            return [".".join(filter(None, [*base, alias.name])) for alias in node.names]
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str() as name), *_],
        ):
            return [name]
    return []


def word_of(node: ast.AST) -> str:
    """Return the name that a name or an attribute ends in."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word
    return ""


LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
          tokenize.ENDMARKER}  # fmt: skip


@cache
def code_lines(text: str) -> set[int]:
    """Return the numbers of the lines that hold more than a comment or a docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in nodes_of(parsed(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_obeys(rule: Callable[[Path], list[str]]) -> None:
    assert files_of(SOURCE)
    assert rule(SOURCE) == []


def test_every_layer_is_in_the_table() -> None:
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert folders <= set(LAYERS)


def test_every_folder_of_the_storage_runtime_is_in_its_table() -> None:
    folders = {path.parent.name for path in (SOURCE / "storage").glob("*/__init__.py")}
    assert folders == set(STORAGE)


def test_what_may_fold_case_does() -> None:
    folding = {
        file.as_posix()
        for file, tree in trees_of(SOURCE)
        if layer_of(file) not in READERS and any(map(folds_case, nodes_of(tree)))
    }
    assert folding == set(FOLDS)


def test_no_test_file_is_over_600_lines() -> None:
    assert check_sizes(ROOT / "tests") == []


LONG_FUNCTION = "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES
SHORT_FUNCTION = 'def f():\n    """Say\n\n    more.\n    """\n\n    # why\n' + "    x = 1\n" * 59
CACHED = "@cache\ndef f():\n    return []\n"
VIOLATIONS = [
    (check_layers, {"ir/a.py": f"from {PACKAGE}.transform import fuse\n"}),
    (check_layers, {"ir/a.py": f"def f():\n    import {PACKAGE}.pipeline\n"}),
    (check_layers, {"storage/a.py": f"from {PACKAGE}.ir.schedule import Loop\n"}),
    (check_layers, {"languages/a.py": f"from {PACKAGE} import domain\n"}),
    (check_layers, {"languages/a.py": "from ..domains import lfric\n"}),
    (check_layers, {"lowering/a.py": f"from {PACKAGE} import __version__\n"}),
    (
        check_layers,
        {"domains/a.py": f"if TYPE_CHECKING:\n    from {PACKAGE}.frontend.a import B\n"},
    ),
    (check_layers, {"cli/a.py": f"x = importlib.import_module('{PACKAGE}.ir')\n"}),
    (check_layers, {"utils/a.py": ""}),
    (check_storage, {"storage/core/a.py": f"from {PACKAGE}.storage.gdp import storage\n"}),
    (check_storage, {"storage/hmemo/a.py": f"import {PACKAGE}.storage.kokkos.view\n"}),
    (check_outsiders, {"languages/fortran/parse/algorithm.py": "import fparser.two\n"}),
    (check_outsiders, {"transform/a.py": "import numpy as np\n"}),
    (check_outsiders, {"base/a.py": "import attrs\n"}),
    (check_outsiders, {"ir/a.py": "def f():\n    import psyclone\n"}),
    (check_outsiders, {"storage/a.py": "import cupy\n", "storage/b.py": "import cupy\n"}),
    (
        check_outsiders,
        {"runtime/a.py": "import mpi4py\n", "runtime/b.py": "from mpi4py import MPI"},
    ),
    (check_outsiders, {"storage/a.py": "import xarray\n", "storage/b.py": "import xarray\n"}),
    (check_records, {"ir/a.py": "from dataclasses import dataclass\n"}),
    (check_records, {"storage/a.py": "from dataclasses import dataclass\n"}),
    (check_patterns, {"ir/a.py": "import re\n_END = (re.compile('end'),)\n"}),
    (check_case, {"transform/a.py": "key = declared.name.lower()\n"}),
    (check_case, {"scripting/a.py": "keys = set(map(str.lower, names))\n"}),
    (check_case, {"ir/a.py": "key = name.casefold()\n"}),
    (check_deferred, {"base/a.py": "def f():\n    import json\n"}),
    (check_deferred, {"base/a.py": "class A:\n    def f(self):\n        from os import path\n"}),
    (
        check_cycles,
        {"ir/a.py": f"import {PACKAGE}.ir.b\n", "ir/b.py": f"from {PACKAGE}.ir import a\n"},
    ),
    (
        check_cycles,
        {
            "ir/__init__.py": f"from {PACKAGE}.ir.a import A\n",
            "ir/a.py": f"if TYPE_CHECKING:\n    from {PACKAGE}.ir import A\n",
        },
    ),
    (check_sizes, {"ir/a.py": "x = 1\n" * (MAX_FILE_LINES + 1)}),
    (check_functions, {"ir/a.py": LONG_FUNCTION}),
    (check_process_state, {"ir/a.py": "x = []\ndef f():\n    x.append(1)\n"}),
    (check_process_state, {"cli/a.py": "x: dict = {}\ndef f():\n    x[1] = 2\n"}),
    (check_process_state, {"base/a.py": "x = A()\nf = lambda: x.seen.clear() or x.pop()\n"}),
    (check_process_state, {"base/a.py": "x = A()\ndef f():\n    x.count += 1\n"}),
    (check_cached_state, {"jit/a.py": f"{CACHED}def g():\n    f().append(1)\n"}),
    (check_cached_state, {"jit/a.py": f"{CACHED}def g():\n    f()[1] = 2\n"}),
    (check_cached_state, {"jit/a.py": f"{CACHED}def g():\n    f().seen.rows[1] += 2\n"}),
    (check_cached_state, {"jit/a.py": f"{CACHED}def g():\n    made = f()\n    del made[1]\n"}),
    (check_cached_state, {"jit/a.py": f"{CACHED}made = f()\ndef g():\n    made.pop()\n"}),
    (check_cached_state, {"jit/a.py": f"{CACHED}def g():\n    (made := f()).x = made.y = 1\n"}),
    (
        check_cached_state,
        {
            "jit/a.py": CACHED,
            "jit/b.py": f"from {PACKAGE}.jit.a import f as h\ndef g():\n    h(1).clear()\n",
        },
    ),
    (check_class_names, {"ir/a.py": "class A: ...\n", "base/b.py": "class A: ...\n"}),
    (check_class_names, {"scripting/views.py": "class A: ...\n", "storage/b.py": "class A: ...\n"}),
    (check_state, {"base/a.py": "def f():\n    global x\n"}),
    (check_state, {"ir/a.py": "object.__setattr__(x, 'y', 1)\n"}),
    (check_state, {"ir/a.py": "x.__dict__['y'] = 1\n"}),
    (check_state, {"ir/a.py": "setattr(x, 'y', 1)\n"}),
]
INNOCENT = {
    "__init__.py": "__version__ = '1'\n",
    "base/__init__.py": "",
    "base/a.py": SHORT_FUNCTION,
    "cli/__init__.py": "",
    "cli/a.py": f"from {PACKAGE} import __version__\nfrom {PACKAGE}.base.a import f\n",
    "base/records.py": "import dataclasses\n",
    "storage/core/host.py": "import numpy\n",
    "storage/__init__.py": f"import numpy\nfrom {PACKAGE}.storage.a import f\n",
    "storage/a.py": "def f():\n    import cupy\n    x.__dict__['y'] = 1\n",
    "ir/a.py": "x = 1\n" * MAX_FILE_LINES,
    "ir/schedule.py": "class Loop: ...\n",
    "ir/b.py": f"{CACHED}def g():\n    x = [*f()]\n    x.append(1)\n    return f().index(1)\n",
    "scripting/views.py": "class Loop: ...\n",
}


def plant(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("rule", "files"), VIOLATIONS)
def test_each_rule_can_fail(
    rule: Callable[[Path], list[str]], files: dict[str, str], tmp_path: Path
) -> None:
    assert len(rule(plant(tmp_path, files))) == 1


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_an_innocent_tree_passes(rule: Callable[[Path], list[str]], tmp_path: Path) -> None:
    assert rule(plant(tmp_path, INNOCENT)) == []


def test_every_rule_is_shown_to_fail() -> None:
    assert {rule for rule, _ in VIOLATIONS} == set(RULES)
