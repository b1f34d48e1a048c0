"""Lists and brackets in the text of a statement."""

from __future__ import annotations

import pytest

from psyclone_storage.languages.fortran.parse.brackets import closing, first_outside, list_items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b , c", ["a", "b", "c"]),
        ("  ", []),
        ("a,,b", ["a", "", "b"]),
        ("a,", ["a", ""]),
        ("f(x, y), [1, 2], 'p, q', \"r, 's\"", ["f(x, y)", "[1, 2]", "'p, q'", '"r, \'s"']),
        ("(/ 1, 2 /), 'it''s, so'", ["(/ 1, 2 /)", "'it''s, so'"]),
    ],
)
def test_items_are_split_at_outer_commas(text: str, items: list[str]) -> None:
    assert [text[start:stop] for start, stop in list_items(text, 0, len(text))] == items


def test_items_lie_within_the_limits() -> None:
    text = "f(a, b)"
    assert list_items(text, 2, 6) == [(2, 3), (5, 6)]


@pytest.mark.parametrize(
    ("text", "position"),
    [("(a)", 2), ("(a(b), ')')", 10), ("(a", -1), ("([1, (/2/)])", 11)],
)
def test_closing_bracket(text: str, position: int) -> None:
    assert closing(text, 0) == position


@pytest.mark.parametrize(
    ("text", "mark", "position"),
    [
        ("real(x) :: a = 1", "::", 8),
        ("a(b == 1) = 2", "=", 10),
        ("a => b", "=", -1),
        ("'x = y'", "=", -1),
        ("p => q", "=>", 2),
    ],
)
def test_first_outside(text: str, mark: str, position: int) -> None:
    assert first_outside(text, mark) == position
