"""Which early returns become choices, and why others remain."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.unit import Line
from psyclone_storage.languages.fortran.parse.constructs import read_whole_lines
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.languages.fortran.parse.trivia import elements
from psyclone_storage.languages.fortran.print.printer import emit_lines
from psyclone_storage.passes.structured_returns import reason_for_returns, without_returns


def lines_of(text: str) -> tuple[Line, ...]:
    source = SourceText("x.f90", text + "\n")
    return read_whole_lines(tuple(elements(list(scan(source)), source.whole())))


def changed(text: str, *, negate: bool = True) -> str:
    made = without_returns(lines_of(text), negate=negate)
    return "; ".join(line.strip() for line in emit_lines(made, 0))


@pytest.mark.parametrize(
    ("text", "negated", "plain"),
    [
        ("x = 1\nreturn\nx = 2", "x = 1", "x = 1"),
        (
            "if (a) return\nx = 1",
            "if (.not. a) then; x = 1; end if",
            "if (a) then; else; x = 1; end if",
        ),
        (
            "if (a) then\nx = 1\nreturn\nend if\nx = 2",
            "if (a) then; x = 1; else; x = 2; end if",
            "if (a) then; x = 1; else; x = 2; end if",
        ),
        (
            "if (a) then\nif (b) then\nreturn\nelse\nx = 1\nreturn\nend if\nend if\nx = 2",
            "if (a) then; if (.not. b) then; x = 1; end if; else; x = 2; end if",
            "if (a) then; if (b) then; else; x = 1; end if; else; x = 2; end if",
        ),
        (
            "if (a) then\nx = 1\nelse if (b) then\nreturn\nend if\ncontinue\nreturn",
            "if (a) then; x = 1; continue; else if (b) then; end if",
            "if (a) then; x = 1; continue; else if (b) then; end if",
        ),
    ],
)
def test_what_follows_a_return_goes_into_the_other_branch(
    text: str, negated: str, plain: str
) -> None:
    assert changed(text) == negated
    assert changed(text, negate=False) == plain
    assert not reason_for_returns(without_returns(lines_of(text)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("do i = 1, 3\nif (a) return\nend do\nx = 1", "from within a loop"),
        (
            "select case (n)\ncase (1)\nreturn\nend select\nx = 1",
            "from within a construct like 'select'",
        ),
        (
            "if (a) then\nx = 1\nelse if (b) then\nreturn\nend if\nx = 2",
            "from one of several branches",
        ),
        (
            "if (c) return\nif (a) then\nif (b) return\nend if\nx = 2",
            "from one of several branches",
        ),
        ("if (a) return\nx = 1\n10 continue", "before a label"),
        ("return\n10 continue", "before a label"),
        ("own: if (a) then\nif (b) exit own\nreturn\nend if own\nx = 1", "with a name"),
    ],
)
@pytest.mark.parametrize("negate", [True, False])
def test_a_return_that_remains_has_a_reason(text: str, why: str, negate: bool) -> None:
    made = without_returns(lines_of(text), negate=negate)
    assert why in reason_for_returns(made)
    assert "return" in "\n".join(emit_lines(made, 0))


def test_an_alternate_return_is_no_end() -> None:
    assert changed("return 1\nx = 1") == "return 1; x = 1"
    assert changed("if (a) then\nreturn 1\nend if\nx = 1").endswith("end if; x = 1")
