"""How diagnostics look to a person and to a program."""

from __future__ import annotations

import json

import pytest

from psyclone_storage.base.diagnostic import (
    CompileError,
    Diagnostic,
    Related,
    Severity,
    raise_if_any,
)
from psyclone_storage.base.render import render_text
from psyclone_storage.base.render_tools import render_json
from psyclone_storage.base.source import SourceText, Span

ALGORITHM = SourceText("alg.x90", "program alg\n\tcall invoke( k(u), &\n     k(U) )\nend program\n")
KERNEL = SourceText("k_mod.f90", "type k\nend type\n")


def place(source: SourceText, text: str) -> Span:
    start = source.text.index(text)
    return source.span(start, start + len(text))


PROBLEM = Diagnostic(
    "X001",
    "'U' is wrong here.",
    place(ALGORITHM, "U"),
    "this one",
    "Write another.",
    (
        Related(place(ALGORITHM, "u)"), "the same, earlier"),
        Related(place(KERNEL, "type k"), "what it should be"),
    ),
)


def test_a_problem_shows_its_line_a_caret_and_what_to_do() -> None:
    assert render_text([PROBLEM]) == (
        "error[X001]: 'U' is wrong here.\n"
        "  --> alg.x90:3:8\n"
        "    3 |      k(U) )\n"
        "      |        ^ this one\n"
        "    2 | \tcall invoke( k(u), &\n"
        "      | \t               -- the same, earlier\n"
        "  --> k_mod.f90:1:1\n"
        "    1 | type k\n"
        "      | ------ what it should be\n"
        "  hint: Write another."
    )


def test_a_span_over_lines_is_marked_to_the_end_of_its_first() -> None:
    span = place(ALGORITHM, "k(u), &\n     k(U)")
    assert render_text([Diagnostic("X002", "Long.", span)]).endswith("^" * len("k(u), &"))


def test_a_file_alone_can_be_the_place() -> None:
    problem = Diagnostic("X003", "Empty.", file="a.x90", severity=Severity.WARNING)
    assert render_text([problem]) == "warning[X003]: Empty.\n  --> a.x90"


def test_colour_changes_nothing_but_escapes() -> None:
    coloured = render_text([PROBLEM], colour=True)
    plain = coloured
    for code in ("\033[1;31m", "\033[1m", "\033[1;34m", "\033[0m"):
        assert code in coloured
        plain = plain.replace(code, "")
    assert plain == render_text([PROBLEM])


def test_json_holds_places_as_numbers() -> None:
    (entry,) = json.loads(render_json([PROBLEM]))
    assert (entry["code"], entry["file"], entry["line"], entry["column"]) == (
        "X001", "alg.x90", 3, 8,
    )  # fmt: skip
    assert [item["file"] for item in entry["related"]] == ["alg.x90", "k_mod.f90"]


def test_warnings_alone_raise_nothing() -> None:
    warning = Diagnostic("X004", "Odd.", severity=Severity.WARNING)
    raise_if_any([warning])
    with pytest.raises(CompileError) as raised:
        raise_if_any([warning, PROBLEM])
    assert raised.value.problems == (warning, PROBLEM)


@pytest.mark.parametrize(
    ("column", "before", "after"), [(0, False, True), (300, True, True), (594, True, False)]
)
def test_of_a_long_line_the_part_around_the_place_is_shown(
    column: int, before: bool, after: bool
) -> None:
    source = SourceText("a.f90", "abcdef" * 100)
    said = render_text([Diagnostic("X001", "No.", source.span(column, column + 4))])
    line, marks = said.splitlines()[2:]
    text, pad = line.partition(" | ")[2], marks.partition(" | ")[2]
    assert len(text) == 132 + 3 * (before + after)
    assert (text.startswith("..."), text.endswith("...")) == (before, after)
    at = pad.index("^")
    assert pad[at:] == "^^^^"
    assert text[at : at + 4] == "abcd"


def test_a_line_as_long_as_fortran_has_them_is_shown_whole() -> None:
    source = SourceText("a.f90", "x" * 132)
    assert "..." not in render_text([Diagnostic("X001", "No.", source.span(131, 132))])


def test_the_calls_of_python_stand_below_the_hint() -> None:
    problem = Diagnostic("X001", "No.", hint="Do.", trace="Traceback:\n  here\n")
    assert render_text([problem]).endswith("  hint: Do.\n  Traceback:\n    here")
    assert json.loads(render_json([problem]))[0]["trace"] == "Traceback:\n  here\n"
    assert "trace" not in json.loads(render_json([PROBLEM]))[0]
