"""Write docs/reference/storage-coverage.md: which test shows which requirement of the storage.

    python docs/storage_coverage.py

The requirements are listed in tests/unit/storage/requirements.toml; the tests name them in
`@pytest.mark.spec("GDP-40", ...)`. The sources are read, not run.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
REQUIREMENTS = TESTS / "unit" / "storage" / "requirements.toml"
PAGE = ROOT / "docs" / "reference" / "storage-coverage.md"

Coverage = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Family:
    """The requirements of one origin: `name`-1 to `name`-`last`, in sections by first number."""

    name: str
    title: str
    last: int
    complete: bool
    sections: tuple[tuple[int, str], ...]
    gaps: Mapping[str, str]

    def ids(self) -> list[str]:
        """Return all ids in order."""
        return [f"{self.name}-{number}" for number in range(1, self.last + 1)]

    def missing(self, coverage: Coverage) -> list[str]:
        """Return the ids that no test names and that no gap explains."""
        return [id_ for id_ in self.ids() if id_ not in coverage and id_ not in self.gaps]


def read_families(text: str) -> list[Family]:
    """Return the families of requirements that a TOML file lists."""
    return [
        Family(
            name,
            entry["title"],
            entry["last"],
            entry["complete"],
            tuple((first, title) for first, title in entry["sections"]),
            entry.get("gaps", {}),
        )
        for name, entry in tomllib.loads(text).items()
    ]


def read_coverage(tests: Path) -> dict[str, list[str]]:
    """Return for each id the tests that name it, as `file::function`."""
    found: dict[str, list[str]] = {}
    for file in sorted(tests.rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        if "mark.spec" in text:
            for function, ids in marked(text):
                for id_ in ids:
                    place = f"{file.relative_to(tests).as_posix()}::{function}"
                    found.setdefault(id_, []).append(place)
    return found


def marked(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the tests of a file that have the marker, with the ids that they name.

    The marks of a test are its own and those of its parameters, which may stand in a table of the
    module.
    """
    tree = ast.parse(text)
    tables = {
        name.id: _ids_in(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for name in node.targets
        if isinstance(name, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            ids = [id_ for mark in node.decorator_list for id_ in _ids_of_mark(mark, tables)]
            if ids:
                yield node.name, list(dict.fromkeys(ids))


def _ids_of_mark(mark: ast.expr, tables: Mapping[str, list[str]]) -> list[str]:
    names = [name.id for name in ast.walk(mark) if isinstance(name, ast.Name)]
    return [*_ids_in(mark), *(id_ for name in names for id_ in tables.get(name, []))]


def _ids_in(tree: ast.expr) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="spec"), args=words):
                found += [str(word.value) for word in words if isinstance(word, ast.Constant)]
    return found


def page(families: list[Family], coverage: Coverage) -> str:
    """Return the page: one table for each family, one line for each requirement."""
    lines = [
        "# Which test shows what of the storage runtime",
        "",
        "This page is written by `python docs/storage_coverage.py`. A requirement is known by the",
        "number that its origin has in the project's specification; the tests state it in code.",
    ]
    for family in families:
        named = sum(id_ in coverage for id_ in family.ids())
        state = "complete" if family.complete else "in progress"
        lines += ["", f"## {family.title}", "", f"{named} of {family.last} are named, {state}."]
        for first, id_ in enumerate(family.ids(), 1):
            title = dict(family.sections).get(first)
            if title is not None:
                lines += ["", f"### {title}", "", "| id | tests |", "|---|---|"]
            lines.append(f"| {id_} | {_tests(id_, family, coverage)} |")
    return "\n".join(lines) + "\n"


def _tests(id_: str, family: Family, coverage: Coverage) -> str:
    if id_ in coverage:
        return "<br>".join(f"`{place.removeprefix('unit/storage/')}`" for place in coverage[id_])
    return family.gaps.get(id_, "-")


def main() -> None:
    """Write the page."""
    families = read_families(REQUIREMENTS.read_text(encoding="utf-8"))
    PAGE.write_text(page(families, read_coverage(TESTS)), encoding="utf-8")


if __name__ == "__main__":
    main()
