"""The rules for names and English, and tests of each rule."""

from __future__ import annotations

from pathlib import Path

import pytest

import language
from language import SOURCE, Violation, above_limits, counts, read_limits, sample_text, violations


@pytest.fixture(scope="module")
def found() -> list[Violation]:
    """Return the violations in the package."""
    return violations(SOURCE)


def test_no_folder_breaks_a_rule_more_often_than_its_limit(found: list[Violation]) -> None:
    above = above_limits(found, read_limits())
    assert not above, "\n".join(map(str, above))


def test_limits_are_not_larger_than_the_numbers(found: list[Violation]) -> None:
    number = counts(found)
    assert {key: limit for key, limit in read_limits().items() if limit > number[key]} == {}, (
        "run 'python tests/support/language.py --record'"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""What a loop reads."""\n', [("first-word", 1)]),
        ('def f():\n    """Own this."""\n', [("first-word", 2)]),
        ('"""Whatever is read."""\n', []),
        ('"""Integers.\n\nA whole\nnumber.\n"""\n', [("banned-word", 3)]),
        ("x = 1\n# Comes\n# behind it, beside\n", [("banned-word", 3), ("banned-word", 3)]),
        ("x = 'behind'  # fine\n", []),
        ("def behind() -> None: ...\n", []),
        ("# The headroom of an understanding.\n", []),
    ],
)
def test_words_are_found(tmp_path: Path, text: str, expected: list[tuple[str, int]]) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert [(each.rule, each.line) for each in violations(tmp_path)] == expected


@pytest.mark.parametrize(
    ("first", "second", "collides"),
    [
        ("def f(): ...", "def f(): ...", True),
        ("class Form: ...", "Form = int | str", True),
        ("def f(): ...", "def _f(): ...", False),
        ("LIMIT = 1", "LIMIT = 2", False),
        ("def f(): ...", "class A:\n    def f(self): ...", False),
    ],
)
def test_collisions_are_found(tmp_path: Path, first: str, second: str, collides: bool) -> None:
    (tmp_path / "a.py").write_text(first, encoding="utf-8")
    (tmp_path / "b.py").write_text(second, encoding="utf-8")
    assert [each.rule for each in violations(tmp_path)] == ["collision"] * collides


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("def may_move() -> Reasons: ...\n", True),
        ("def refused() -> Iterator[Diagnostic]: ...\n", True),
        ("def broken() -> Diagnostic | None: ...\n", True),
        ("def check_move() -> tuple[Diagnostic, ...]: ...\n", False),
        ("def _refused() -> tuple[Diagnostic, ...]: ...\n", False),
        ("def run_batch() -> tuple[Diagnostic, ...]: ...\n", False),
        ("def missing_file() -> Diagnostic: ...\n", False),
        ("def inlined() -> tuple[Code, Reasons]: ...\n", False),
    ],
)
def test_functions_that_return_diagnostics_begin_with_check(
    tmp_path: Path, text: str, is_found: bool
) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    assert [each.rule for each in violations(tmp_path)] == ["check-prefix"] * is_found


def test_one_more_violation_is_above_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# behind\n\nx = 1\n# behind\n", encoding="utf-8")
    found = violations(tmp_path)
    assert above_limits(found, {(".", "banned-word"): 2}) == []
    assert above_limits(found, {(".", "banned-word"): 1}) == found
    assert above_limits(found, {}) == found


def test_a_sample_depends_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "SOURCE", SOURCE / "transform")
    first = list(sample_text("0eee1b60"))
    assert first == list(sample_text("0eee1b60"))
    assert first != list(sample_text("0eee1b61"))
    assert sum(each.startswith("==== docs/") for each in first) == 5
    assert sum(each.startswith("---- ") for each in first) == 50
