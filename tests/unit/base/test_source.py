"""Offsets, lines and columns of a source text."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText

SOURCE = SourceText("a.f90", "program a\r\n  call b(c)\n\nend program")


@pytest.mark.parametrize(
    ("word", "line", "column"), [("program a", 1, 1), ("call", 2, 3), ("c)", 2, 10), ("end", 4, 1)]
)
def test_a_span_knows_its_line_and_column(word: str, line: int, column: int) -> None:
    start = SOURCE.text.index(word)
    span = SOURCE.span(start, start + len(word))
    assert (span.line, span.column, span.text) == (line, column, word)


def test_a_line_comes_without_its_end() -> None:
    assert [SOURCE.line(number) for number in (1, 2, 3, 4)] == [
        "program a",
        "  call b(c)",
        "",
        "end program",
    ]


def test_a_span_reaches_to_another() -> None:
    first = SOURCE.span(0, 7)
    last = SOURCE.span(8, 9)
    assert first.to(last).text == "program a"


def test_two_texts_are_equal_only_if_they_are_one() -> None:
    twin = SourceText(SOURCE.name, SOURCE.text)
    assert twin != SOURCE
    assert SOURCE.span(0, 1) == SOURCE.span(0, 1)
