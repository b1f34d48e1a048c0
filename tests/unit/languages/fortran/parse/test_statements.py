"""Statements: joined lines, dropped text, and the position of each character."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.statements import SourceStatement, scan


def statements(text: str) -> list[SourceStatement]:
    return list(scan(SourceText("alg.x90", text)))


def texts(text: str) -> list[str]:
    return [statement.text for statement in statements(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\nb = 2\n", ["a = 1", "b = 2"]),
        ("a = 1", ["a = 1"]),
        ("  a = 1 ! why\n! only a comment\n\n\tb = 2\n", ["a = 1", "b = 2"]),
        ("a = 1; b = 2 ;; c = 3;\n", ["a = 1", "b = 2", "c = 3"]),
        ("a = & ! why\n  ! more\n\n  1\n", ["a =  1"]),
        ("na&\n  &me = 1\n", ["name = 1"]),
        ("call x(a, &\n  & b)\n", ["call x(a,  b)"]),
        ("call x( &\n&\n b)\n", ["call x(  b)"]),
        ("a = 'x;!&' ! end\n", ["a = 'x;!&'"]),
        ("a = \"it's\" ; b = 'it''s'\n", ['a = "it\'s"', "b = 'it''s'"]),
        ("a = 'one &\n  ! between\n  & two'\n", ["a = 'one  two'"]),
        ("a = 'one &\ntwo' ; b = 1\n", ["a = 'one two'", "b = 1"]),
        ("a = 'open\nb = 1\n", ["a = 'open", "b = 1"]),
        ("!$omp parallel\n!$ a = 1\nb = 2\n", ["b = 2"]),
        ("#define x \\\n  more\nb = 2\n", ["b = 2"]),
        ("a = 1 &", ["a = 1"]),
        ("", []),
        ("\n\n! nothing\n", []),
    ],
)
def test_statements_are_joined_and_bare(text: str, expected: list[str]) -> None:
    assert texts(text) == expected
    assert texts(text.replace("\n", "\r\n")) == expected


def test_label_is_no_part_of_the_text() -> None:
    statement = statements("  10 call invoke(a(b))\n")[0]
    assert (statement.text, statement.label) == ("call invoke(a(b))", "10")
    assert statement.whole().text == "call invoke(a(b))"


def test_place_covers_continuation_lines() -> None:
    statement = statements("x\ncall a(b, & ! first\n\n       c&\n   &d)\n")[1]
    start = statement.text.index("cd")
    assert statement.span(start, start + 2).text == "c&\n   &d"
    assert statement.span(start, start + 1).line == 4
    assert statement.whole().text.startswith("call a(b, & ! first")


def test_conditionals_are_counted() -> None:
    found = statements("a\n#ifdef X\nb\n# if Y\nc\n#endif\n#else\nd\n#endif\ne\n")
    assert [(each.text, each.conditional) for each in found] == [
        ("a", 0), ("b", 1), ("c", 2), ("d", 1), ("e", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("a(b, &\n#ifdef X\n c, &\n#endif\n d)\n", True),
        ("#ifdef X\na(b, &\n c)\n#endif\n", False),
        ("a(b, &\n! #ifdef X\n c)\n", False),
    ],
)
def test_preprocessor_line_inside_is_noted(text: str, *, split: bool) -> None:
    assert statements(text)[0].split is split


_PIECES = st.sampled_from(
    ["a", "call b(c)", " ", "\t", "&", "&\n", "\n", "\r\n", "; ", "'", '"', "'s'", "! c\n", "#if\n",
     "&\n  &", "10 "]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=30).map("".join))
@example("; &\n  & a")
def test_any_text_is_scanned_and_maps_back(text: str) -> None:
    """Each character of a statement is the one in the file, or a blank that joins two lines."""
    last = -1
    for statement in statements(text):
        assert statement.text == statement.text.strip()
        for position, character in enumerate(statement.text):
            offset = statement.offset(position)
            if text[offset] != character:
                assert character == " "
                continue
            assert offset > last
            last = offset
