"""Fortran in fixed form: the view that is read, and the statements in it."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.fixed_form import (
    depends_on_length,
    fixed_source,
    is_fixed_form,
)
from psyclone_storage.languages.fortran.parse.statements import scan

WIDE = "      X = " + "1" * 62
assert len(WIDE) == 72


def _texts(text: str) -> list[str]:
    return [one.text for one in scan(fixed_source(SourceText("a.f", text)))]


@pytest.mark.parametrize(
    ("name", "is_fixed"), [("a.F", True), ("b.for", True), ("c.ftn", True), ("d.f90", False)]
)
def test_suffixes(name: str, *, is_fixed: bool) -> None:
    """The suffix decides, whatever its case."""
    assert is_fixed_form(name) is is_fixed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("C x = 1\n* y\nd z\n      A = 1\n", ["A = 1"], id="comments in column 1"),
        pytest.param("      A = B\n     1 + C\n", ["A = B  + C"], id="continuation by a digit"),
        pytest.param("      A = B\nC between\n\n     $+C\n", ["A = B +C"], id="comment inside"),
        pytest.param("      A = B\n     0C = D\n", ["A = B", "0C = D"], id="a zero begins"),
        pytest.param(f"{WIDE}IGNORED\n     &2\n", [f"{WIDE.strip()}2"], id="token cut at 72"),
        pytest.param(f"      A = 1{'':61}SEQ00010\n", ["A = 1"], id="sequence columns"),
        pytest.param("      A = 1 ! c ; B = 2\n", ["A = 1"], id="comment behind code"),
        pytest.param("      A = 1; B = 2\n     &+3\n", ["A = 1", "B = 2 +3"], id="semicolon"),
        pytest.param("      A = ';!' // \"it's\"\n", ["A = ';!' // \"it's\""], id="strings"),
        pytest.param("\tA = B\n\t1+C\n", ["A = B +C"], id="tabs"),
        pytest.param("\tA = B\n\tC = D\n", ["A = B", "C = D"], id="tabs, two statements"),
    ],
)
def test_statements(text: str, expected: list[str]) -> None:
    """Columns decide what a line is."""
    assert _texts(text) == expected


def test_a_string_goes_on_in_the_next_line() -> None:
    """Quotes and comment marks in the second line belong to the string."""
    line = "      PRINT *, 'no ! comment".ljust(72)
    assert _texts(f"{line}\n     &here ! either'\n      A = 1\n")[-1] == "A = 1"
    assert len(_texts(f"{line}\n     &here ! either'\n      A = 1\n")) == 2


def test_labels_and_conditionals_belong_to_their_statements() -> None:
    """A conditional after a statement does not enclose it; one inside divides it."""
    text = (
        "   10 CONTINUE\n#ifdef X\n      A = 1\n#endif\n      B = 2\n#ifdef Y\n     &+1\n#endif\n"
    )
    found = list(scan(fixed_source(SourceText("a.f", text))))
    assert [(one.label, one.text, one.conditional, one.split) for one in found[:2]] == [
        ("10", "CONTINUE", 0, False),
        ("", "A = 1", 1, False),
    ]
    assert found[2].split


def test_places_are_those_of_the_text() -> None:
    """Each character of a statement is found in the text as written."""
    text = f"C c\n      A(I) = B{'':57}SEQ00010\n     2 *C\n"
    source = fixed_source(SourceText("a.f", text))
    assert source.written == text
    (one,) = scan(source)
    assert len(source.text) == len(text)
    assert text[one.offset(one.text.index("C"))] == "C"
    assert one.span(0, 4).line == 2


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (WIDE, False),
        (f"{WIDE}   \r", False),
        (f"{WIDE}2", True),
        (f"C{WIDE}2", False),
        (f"d{WIDE}2", False),
        (f"!$omp {WIDE}", True),
        (f"     !{WIDE[6:]}2", True),
        (f"{WIDE[:40]}! {WIDE}", False),
        (f"      S = '!'{WIDE}", True),
        ("      S = 'it''s'", False),
        ("      S = 'a", True),
        ('      S = "a!', True),
        ("      S = 1 ! don't", False),
        (f"\t{WIDE[6:]}", False),
        (f"\t{WIDE[6:]}2", True),
        ("# 1 'a", False),
    ],
)
def test_statements_that_longer_lines_change(line: str, *, expected: bool) -> None:
    """Text from column 73 on counts unless it is a comment, and so does a continued literal."""
    assert depends_on_length(f"      A = 1\n\n{line}\n      END\n") is expected
