"""Rules for names and English in `src`: banned words, first words of docstrings, names.

Names may not collide, and a function that returns diagnostics begins with `check_`.

    python tests/support/language.py             print the figures, and where they may not rise
    python tests/support/language.py WORD ...    list the places of these rules
    python tests/support/language.py --record    write the figures to tests/language_limits.csv
    python tests/support/language.py --sample    print pages and docstrings for readers to mark

`test_language.py` compares the number of violations of each rule in each folder with the limits in
`language_limits.csv`. A limit may fall, and a new folder starts at 0.

The hash of the commit selects the sample, so that it is not chosen by hand and can be repeated.
Readers who know neither the code nor its history mark each sentence that they have to read twice.
"""

from __future__ import annotations

import ast
import csv
import io
import random
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src" / "psyclone_storage"
LIMITS = TESTS / "language_limits.csv"

# Each phrase has a standard term: "integer" for "whole number", "after" for "behind".
BANNED = (
    "whole numbers?", "behind", "beside", "in the place of", "of which nobody", "nobody",
    "somebody", "whoever", "stands?", "is none", "not to be had", "as it is",
    "on (every|each|all) ways?", "(is|are) asked", "says? what", "knows? (what|whether)",
    "what is (lent|held|kept|given|meant)", "hears?", "tells?", "rooms?", "doors?", "twins?",
    "has to be done for it",
)  # fmt: skip
# Return annotations of functions that look for problems, and functions that do work and report.
PROBLEMS = re.compile(
    r"Reasons|(?:tuple|list|Iterator|Iterable)\[Diagnostic(?:, \.\.\.)?\]|Diagnostic \| None"
)
REPORTING = {
    "as_errors": "changes the severity of problems",
    "report_devices": "prints a report",
    "run_batch": "compiles files",
    "run_files": "transforms files",
    "run_tool": "executes a command",
    "try_to_compile": "runs the Fortran compiler",
}
FIRST_WORDS = frozenset("what which where when who whose whether how why be own".split())


@dataclass(frozen=True, order=True)
class Violation:
    """One place that breaks a rule."""

    rule: str
    file: str
    line: int
    text: str

    @property
    def folder(self) -> str:
        return self.file.rpartition("/")[0] or "."

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.text}"


def violations(source: Path) -> list[Violation]:
    """Return all violations in the Python files below `source`."""
    files = {
        path.relative_to(source).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(source.rglob("*.py"))
    }
    found = [each for file, text in files.items() for each in _in_file(file, text)]
    return sorted([*found, *colliding_names(files)])


def _in_file(file: str, text: str) -> Iterator[Violation]:
    """Yield the violations in the docstrings and comments of one file."""
    docstrings = list(docstrings_of(text))
    for line, words in docstrings:
        if words.split()[:1] and words.split()[0].strip(",.:'`").lower() in FIRST_WORDS:
            yield Violation("first-word", file, line, words.partition("\n")[0])
    for line, words in [*docstrings, *comments_of(text)]:
        for match in _banned().finditer(words):
            place = line + words.count("\n", 0, match.start())
            yield Violation("banned-word", file, place, " ".join(match[0].split()))
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and _is_unprefixed_check(node):
            yield Violation("check-prefix", file, node.lineno, node.name)


def _is_unprefixed_check(function: ast.FunctionDef) -> bool:
    """Return whether a public function returns what is wrong, and its name does not say so."""
    name = function.name
    is_named = name.startswith(("_", "check_")) or name in REPORTING
    returned = ast.unparse(function.returns) if function.returns else ""
    return not is_named and PROBLEMS.fullmatch(returned) is not None


@cache
def _banned() -> re.Pattern[str]:
    phrases = (phrase.replace(" ", r"\s+") for phrase in BANNED)
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


def docstrings_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring."""
    for line, words, _ in _documented(text):
        yield line, words


def _documented(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line and the text of each docstring, and the head of what it describes."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ClassDef(name=name):
                head = f"class {name}"
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                head = f"def {name}({ast.unparse(args)})"
            case ast.Module():
                head = "module"
            case _:
                continue
        match node.body:
            case [ast.Expr(value=ast.Constant(value=str(words)) as constant), *_]:
                yield constant.lineno, words, head


def comments_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each block of comments."""
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if block and token.start[0] != last + 1:
                yield first, "\n".join(block)
                block = []
            first, last = (first, token.start[0]) if block else (token.start[0], token.start[0])
            block.append(token.string.lstrip("# "))
    if block:
        yield first, "\n".join(block)


def colliding_names(files: dict[str, str]) -> Iterator[Violation]:
    """Yield each public name of a module of the compiler that another module defines too.

    Constants do not count. Neither does the storage runtime, whose facades repeat the names of
    the interfaces that they implement, nor the tree of files, whose classes are PSyclone's.
    """
    places: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for file, text in files.items():
        if not file.startswith(("storage/", "runtime/", "scripting/psyir/")):
            for node in ast.parse(text).body:
                for name in _defined_by(node):
                    places[name].append((file, node.lineno))
    for name, found in places.items():
        if len({file for file, _ in found}) > 1:
            others = ", ".join(f"{file}:{line}" for file, line in found[1:])
            yield Violation("collision", *found[0], f"{name} (also {others})")


def _defined_by(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            names = [name]
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            names = [name]
        case _:
            names = []
    return [name for name in names if not name.startswith("_") and not name.isupper()]


def counts(found: Sequence[Violation]) -> Counter[tuple[str, str]]:
    """Return the number of violations by folder and rule."""
    return Counter((each.folder, each.rule) for each in found)


def read_limits(path: Path = LIMITS) -> dict[tuple[str, str], int]:
    """Return the largest allowed number of violations by folder and rule."""
    with path.open(encoding="utf-8", newline="") as rows:
        return {(row["folder"], row["rule"]): int(row["limit"]) for row in csv.DictReader(rows)}


def above_limits(found: Sequence[Violation], limits: dict[tuple[str, str], int]) -> list[Violation]:
    """Return the violations of every rule that a folder breaks more often than allowed."""
    number = counts(found)
    return [
        each
        for each in found
        if number[each.folder, each.rule] > limits.get((each.folder, each.rule), 0)
    ]


def write_limits(found: Sequence[Violation], path: Path = LIMITS) -> None:
    """Write the current numbers as limits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("folder", "rule", "limit"))
        writer.writerows((*key, number) for key, number in sorted(counts(found).items()))


def lines_of(source: Path) -> int:
    """Return the number of lines of the compiler: all of `src` but the storage and its runtime."""
    return sum(
        len(path.read_text(encoding="utf-8").splitlines())
        for path in source.rglob("*.py")
        if path.relative_to(source).parts[0] not in {"storage", "runtime"}
    )


def sample_text(seed: str, pages: int = 5, docstrings: int = 50) -> Iterator[str]:
    """Yield pages of the documentation and docstrings of `src`, selected by the seed."""
    choice = random.Random(seed)
    folder = TESTS.parent / "docs"
    texts = sorted(page for page in folder.rglob("*.md") if "changes" not in page.parts)
    for page in choice.sample(texts, pages):
        yield f"==== {page.relative_to(TESTS.parent)}\n\n{page.read_text(encoding='utf-8')}"
    found = [
        (path.relative_to(SOURCE).as_posix(), *documented)
        for path in sorted(SOURCE.rglob("*.py"))
        for documented in _documented(path.read_text(encoding="utf-8"))
    ]
    for file, line, words, head in choice.sample(found, docstrings):
        yield f"---- {file}:{line}: {head}\n\n{words}\n"


def _commit() -> str:
    command = ["git", "-C", str(TESTS), "rev-parse", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main(words: Sequence[str]) -> int:
    """Print the figures, the places or the sample, or record the limits."""
    if words == ["--sample"]:
        print(*sample_text(_commit()), sep="\n")
        return 0
    found = violations(SOURCE)
    if words == ["--record"]:
        write_limits(found)
        return 0
    if words:
        print(*(each for each in found if each.rule in words), sep="\n")
        return 0
    print(f"lines of the compiler: {lines_of(SOURCE)}")
    for rule, number in sorted(Counter(each.rule for each in found).items()):
        print(f"{rule}: {number}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
