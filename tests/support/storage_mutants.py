"""A mutation campaign for the storage runtime: do its tests detect each small change?

    python tests/support/storage_mutants.py --count 100
    python tests/support/storage_mutants.py --core --count 40

A mutant is the package with one expression or statement changed: a comparison reversed, `and` for
`or`, a condition negated, a number increased by one, a statement omitted. `--seed` alone determines
the mutants, as long as the sources are the same. Functions are changed, not tables. Each mutant is
run with the tests of the package that execute the changed function, as recorded by a first run of
all tests. If no test executes it, or with `--thorough` if these pass, all tests run. A mutant that
hangs is stopped, and counts as detected. The Fortran interface is tested by its own tests, which
need a Fortran compiler.
With `--core` the C sources are changed and compiled, and run with the tests of the core and of
binding.

Surviving mutants are listed. Either the tests miss them, or they are equivalent: those that were
judged equivalent are listed with their reasons in `storage_mutants.toml`. The exit status is 1 if a
mutant survives that is not listed there.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ROOM = Path("src/psyclone_storage/storage")
TESTS = ("tests/unit/storage",)
FORTRAN = "interop/fortran.py"
FORTRAN_TESTS = tuple(
    f"tests/runtime/storage_fortran/test_{name}.py" for name in ("lending", "one_theory", "parts")
)
CORE_TESTS = ("tests/unit/storage/core", "tests/unit/storage/gdp/test_binding.py")
COPIED = ("src", "external")
SHARED = ("tests", "setup.py", "pyproject.toml", "README.md", "config")
NOT_KEPT = ("-p", "no:cacheprovider")
EQUAL = Path(__file__).with_suffix(".toml")
TRACE = "STORAGE_MUTANTS_TRACE"

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Mod: "*", ast.BitAnd: "|",
    ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_IN_C = (
    (re.compile(r"(?<![=!<>])==(?!=)"), "!="), (re.compile(r"!=(?!=)"), "=="),
    (re.compile(r"&&"), "||"), (re.compile(r"\|\|"), "&&"),
    (re.compile(r"(?<=[\s(])!(?=[\w(])"), ""), (re.compile(r"\breturn 0;"), "return 1;"),
    (re.compile(r"\breturn 1;"), "return 0;"), (re.compile(r"\+= writes"), "-= writes"),
    (re.compile(r"-= writes"), "+= writes"), (re.compile(r"= 1;"), "= 0;"),
    (re.compile(r"= 0;"), "= 1;"), (re.compile(r" > 0\b"), " >= 0"),
    (re.compile(r" <= 0\b"), " < 0"), (re.compile(r" & "), " | "),
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: in `path`, the characters from `start` to `end` become `text`.

    `function` is the line at which the innermost function around it begins, 0 outside of any.
    """

    path: str
    line: int
    start: int
    end: int
    text: str
    function: int
    before: str

    @property
    def key(self) -> str:
        """Return what names the mutant, wherever in its file it stands."""
        before, after = (" ".join(part.split()) for part in (self.before, self.text))
        return f"{self.path}: {before} -> {after or 'nothing'}"


class _Sites(ast.NodeVisitor):
    """The changes that can be made to one file of Python."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.found: list[Mutant] = []
        self.lines = [0]
        for line in text.encode().splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.function = 0
        self.visit(ast.parse(text))

    def generic_visit(self, node: ast.AST) -> None:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)

    def _add(self, node: Any, text: str) -> None:
        if not self.function:
            return
        start = self.lines[node.lineno - 1] + node.col_offset
        end = self.lines[node.end_lineno - 1] + node.end_col_offset
        before = self.text.encode()[start:end].decode()
        self.found.append(Mutant(self.path, node.lineno, start, end, text, self.function, before))

    def _code(self, node: ast.AST) -> str:
        return f"({ast.unparse(node)})"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if any("abstractmethod" in ast.unparse(found) for found in node.decorator_list):
            return
        outer = self.function
        self.function = min([node.lineno, *(found.lineno for found in node.decorator_list)])
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        for statement in body:
            self.visit(statement)
        self.function = outer

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return
        self._add(node.test, f"(not {self._code(node.test)})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            turned = _COMPARISONS[type(node.ops[0])]
            left, right = self._code(node.left), self._code(node.comparators[0])
            self._add(node, f"({left} {turned} {right})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = " or " if isinstance(node.op, ast.And) else " and "
        self._add(node, f"({other.join(map(self._code, node.values))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, self._code(node.operand))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(isinstance(side, ast.JoinedStr) for side in (node.left, node.right))
        if type(node.op) in _OPERATORS and not texts:
            other = _OPERATORS[type(node.op)]
            self._add(node, f"({self._code(node.left)} {other} {self._code(node.right)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, str(not node.value))
        elif isinstance(node.value, int):
            self._add(node, str(node.value + 1))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave messages alone."""

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        self._add(node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if self.function and not isinstance(node.targets[0], ast.Name | ast.Tuple):
            self._add(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(node, "pass")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._add(node, "return None")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Let what is wrong pass; the words of the message are left alone."""
        if node.exc is None or "NotImplementedError" not in ast.unparse(node.exc):
            self._add(node, "pass")


def python_mutants() -> list[Mutant]:
    """Return all that can be changed in Python."""
    found: list[Mutant] = []
    for path in sorted((ROOT / ROOM).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found += _Sites(path.relative_to(ROOT / ROOM).as_posix(), text).found
    return found


def core_mutants() -> list[Mutant]:
    """Return all that can be changed in the compiled core, but for what builds its types."""
    return [
        mutant
        for path in sorted((ROOT / ROOM / "core").glob("_compiled_*.h"))
        for mutant in _sites_in_c(f"core/{path.name}", path.read_text(encoding="utf-8"))
    ]


def _sites_in_c(path: str, text: str) -> Iterator[Mutant]:
    at = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        code = re.sub(r"/\*.*?\*/|\"[^\"]*\"", lambda found: " " * len(found[0]), line)
        if not code.startswith((" *", "#", "/*", "static Py", "    {", "METHOD")):
            for pattern, other in _IN_C:
                for found in pattern.finditer(code):
                    start, end = (len(text[: at + place].encode()) for place in found.span())
                    changed = line[: found.start()] + other + line[found.end() :]
                    yield Mutant(path, number, start, end, other, 0, f"{line} => {changed}")
        at += len(line)


def chosen(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return `count` of the mutants, as the seed says; edits elsewhere change none of the lots."""
    alike: dict[str, int] = {}
    lots: dict[Mutant, bytes] = {}
    for mutant in mutants:
        alike[mutant.key] = alike.get(mutant.key, 0) + 1
        named = f"{seed} {mutant.key} {alike[mutant.key]}"
        lots[mutant] = hashlib.sha256(named.encode()).digest()
    return sorted(sorted(mutants, key=lots.__getitem__)[:count], key=lambda m: (m.path, m.start))


class Judge:
    """What runs the tests on mutants, each in a copy of the package."""

    def __init__(self, folder: Path, limit: float, thorough: bool) -> None:
        self.folder = folder
        self.limit = limit
        self.thorough = thorough
        self.seen: dict[str, list[str]] = {}

    def trace(self) -> None:
        """Note which tests execute which function."""
        out = self.folder / "trace.json"
        if not out.exists():
            environment = {
                TRACE: str(out),
                "PSYCLONE_STORAGE_CORE": "python",
                "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}",
            }
            command = (*NOT_KEPT, "-p", "storage_mutants", *TESTS)
            status, said = self._pytest(ROOT, command, environment, 3600.0)
            if status:
                raise SystemExit(f"The tests fail without any change:\n{said}")
        self.seen = json.loads(out.read_text(encoding="utf-8"))

    def lives(self, mutant: Mutant, core: bool) -> bool:
        """Say whether all tests pass in spite of the change."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            copy = Path(name)
            ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info", "build")
            for part in COPIED:
                shutil.copytree(ROOT / part, copy / part, ignore=ignored)
            for part in SHARED:
                (copy / part).symlink_to(ROOT / part)
            path = copy / ROOM / mutant.path
            text = path.read_bytes()
            path.write_bytes(text[: mutant.start] + mutant.text.encode() + text[mutant.end :])
            return self._core_lives(copy) if core else self._python_lives(copy, mutant)

    def _core_lives(self, copy: Path) -> bool:
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(build, cwd=copy, check=False, capture_output=True)
        environment = {"PSYCLONE_STORAGE_CORE": "compiled", "PYTHONPATH": f"{copy / 'src'}"}
        return not self._pytest(copy, (*NOT_KEPT, *CORE_TESTS), environment, self.limit)[0]

    def _python_lives(self, copy: Path, mutant: Mutant) -> bool:
        environment = {"PSYCLONE_STORAGE_CORE": "python", "PYTHONPATH": f"{copy / 'src'}"}
        if mutant.path == FORTRAN:
            # With pytest's cache, in which the libraries stay that they compile.
            cache = ("-o", f"cache_dir={self.folder / 'cache'}")
            tests = ("--compile", "--require", "fortran", *cache, *FORTRAN_TESTS)
            return not self._pytest(copy, tests, environment, self.limit)[0]
        first = self.seen.get(f"{mutant.path}:{mutant.function}", [])
        if first:
            names = copy / "tests.txt"
            names.write_text("\n".join(first), encoding="utf-8")
            if self._pytest(copy, (*NOT_KEPT, f"@{names}"), environment, self.limit)[0]:
                return False
        if first and not self.thorough:
            return True
        # No test executes a function that runs on import or in other processes only.
        return not self._pytest(copy, (*NOT_KEPT, *TESTS), environment, 3 * self.limit)[0]

    def _pytest(
        self, folder: Path, arguments: tuple[str, ...], environment: dict[str, str], limit: float
    ) -> tuple[int, str]:
        """Return the exit status of the tests and what they said; a hang is status 1."""
        command = [sys.executable, "-m", "pytest", "-q", "-x"]
        with subprocess.Popen(
            [*command, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                said, _ = running.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)
                return 1, "It hangs."
        return running.returncode, said


class _Trace:
    """A plugin of pytest that notes which functions of the room each test executes."""

    def __init__(self) -> None:
        self.tests: dict[str, dict[str, None]] = {}
        self.current = ""
        self.room = str(ROOT / ROOM) + os.sep

    def __call__(self, frame: Any, event: str, arg: Any) -> None:
        """Note one call; the lines of the function are of no interest."""
        code = frame.f_code
        if code.co_filename.startswith(self.room):
            key = f"{code.co_filename.removeprefix(self.room)}:{code.co_firstlineno}"
            self.tests.setdefault(key, {})[self.current] = None

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.current = nodeid
        sys.settrace(self)
        threading.settrace(self)

    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)
        text = json.dumps({key: list(names) for key, names in self.tests.items()})
        Path(os.environ[TRACE]).write_text(text, encoding="utf-8")


def pytest_configure(config: Any) -> None:
    """Trace the tests, where pytest loads this file as a plugin."""
    config.pluginmanager.register(_Trace())


def judged_equal() -> dict[str, str]:
    """Return the mutants that do the same as the original, with the reasons."""
    if not EQUAL.exists():
        return {}
    return {
        entry["mutant"]: entry["why"]
        for entry in tomllib.loads(EQUAL.read_text(encoding="utf-8")).get("equal", [])
    }


def main() -> int:
    """Run the campaign, and list what lives."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--count", type=int, default=100, help="how many mutants are made")
    options.add_argument("--seed", type=int, default=1, help="which ones")
    options.add_argument("--core", action="store_true", help="change the compiled core")
    options.add_argument("--limit", type=float, default=300.0, help="seconds until tests hang")
    options.add_argument("--thorough", action="store_true", help="let all tests judge what lives")
    options.add_argument("--workers", type=int, default=2, help="how many run at once")
    options.add_argument("--only", default="", help="those alone whose names have this in them")
    options.add_argument("--folder", type=Path, help="where copies are, and notes are kept")
    given = options.parse_args()
    mutants = chosen(core_mutants() if given.core else python_mutants(), given.count, given.seed)
    mutants = [mutant for mutant in mutants if given.only in mutant.key]
    folder = given.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    judge = Judge(folder, given.limit, given.thorough)
    equal, missed = judged_equal(), 0
    if not given.core:
        judge.trace()
    with ThreadPoolExecutor(given.workers) as workers:
        answers = workers.map(lambda mutant: judge.lives(mutant, given.core), mutants)
        for mutant, lives in zip(mutants, answers, strict=True):
            why = equal.get(mutant.key)
            missed += lives and why is None
            verdict = "is noticed" if not lives else f"LIVES{f', equal: {why}' if why else ''}"
            sys.stdout.write(f"{mutant.line:5} {mutant.key}: {verdict}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(mutants)} mutants, {missed} missed\n")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
