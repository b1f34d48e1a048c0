"""Breaking of long statements and comments."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from psyclone_storage.languages.fortran.print.wrap import GOAL, LIMIT, commented, wrapped


def test_a_short_statement_is_one_line() -> None:
    assert wrapped("a = b", 4) == ["    a = b"]


def test_a_call_is_broken_between_its_arguments() -> None:
    args = ", ".join(f"argument_{number}" for number in range(12))
    lines = wrapped(f"call work({args})", 2)
    assert lines[0] == "  call work(" + ", ".join(f"argument_{n}" for n in range(7)) + ", &"
    assert lines[1].startswith("      argument_7, argument_8")


def test_what_a_statement_is_about_stays_on_its_first_line() -> None:
    args = ", ".join(f"argument_{number}" for number in range(7))
    for head in ("subroutine work_on", "call work_on_it"):
        assert wrapped(f"{head}({args})", 0)[0].startswith(f"{head}(argument_0, ")


def test_inner_brackets_stay_together() -> None:
    args = ", ".join(f"map_w{number}(:, :, cell)" for number in range(9))
    lines = wrapped(f"call work({args})", 0)
    assert all(line.count("(:, :, cell)") == line.count("map_") for line in lines)


def test_a_message_that_does_not_fit_behind_the_call_starts_a_line() -> None:
    message = '"' + "m" * 78 + '"'
    assert wrapped(f"call log_event({message}, LEVEL)", 4) == [
        "    call log_event( &",
        f"        {message}, LEVEL)",
    ]


def test_blanks_and_brackets_in_a_message_are_not_places_to_break() -> None:
    message = "'" + "a (b, " * 14 + "'"
    lines = wrapped(f"call log_event({message}, LEVEL)", 0)
    assert any(message in line for line in lines)


def test_what_has_no_place_to_break_is_cut_at_the_limit() -> None:
    lines = wrapped("a = " + "b" * 300, 0)
    assert max(map(len, lines)) == LIMIT
    assert rejoined(lines).replace(" ", "") == "a=" + "b" * 300


def test_a_comment_is_filled_and_keeps_its_paragraphs() -> None:
    lines = commented("word " * 30 + "\nlast", 2)
    assert all(line.startswith("  ! word") and len(line) <= GOAL for line in lines[:-1])
    assert lines[-1] == "  ! last"
    assert " ".join(lines).count("word") == 30


def rejoined(lines: list[str]) -> str:
    """Return the statement that a compiler reads in continued lines."""
    return re.sub(r" *&\n *&?", "", "\n".join(lines)).strip()


WORDS = st.lists(
    st.sampled_from(["alpha", "beta(:, :)", "'a b, (c'", "x + y", "f(g(h, i), j)", "z" * 90]),
    min_size=1,
    max_size=25,
)


@given(WORDS, st.integers(0, 12))
def test_wrapping_changes_nothing_but_blanks(words: list[str], indent: int) -> None:
    text = f"call work({', '.join(words)})"
    lines = wrapped(text, indent)
    assert max(map(len, lines)) <= LIMIT
    assert re.sub(r"\s", "", rejoined(lines)) == re.sub(r"\s", "", text)
    assert all(line.endswith("&") for line in lines[:-1])
