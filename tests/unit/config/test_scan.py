"""The syntax of settings files: what `configparser` reads, with places."""

from __future__ import annotations

import configparser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psyclone_storage.base.source import SourceText
from psyclone_storage.config.scan import Entry, Scanned, scan_file, scan_overrides

TEXT = """\
# a comment
[DEFAULT]
Key = value ; not a comment
other : 1, 2,
        3 4,
   # a comment inside a value

        5
empty =
[lfric]
map = a: 1,
      b:
        2
"""


def scan(text: str) -> Scanned:
    return scan_file(SourceText("x.cfg", text))


def entry(name: str) -> Entry:
    return next(found for found in scan(TEXT).entries if found.key == name)


def test_sections_and_keys_are_found_in_order_and_lower_case() -> None:
    scanned = scan(TEXT)
    assert [section.name for section in scanned.sections] == ["default", "lfric"]
    found = [(entry.section, entry.key) for entry in scanned.entries]
    assert found == [
        ("default", "key"),
        ("default", "other"),
        ("default", "empty"),
        ("lfric", "map"),
    ]
    assert scanned.problems == ()


def test_a_value_knows_its_place() -> None:
    value = entry("key").value
    assert value.text == value.span.text == "value ; not a comment"
    assert (value.span.line, value.span.column) == (3, 7)
    assert entry("key").key_span.text == "Key"


def test_items_know_their_places_and_may_go_on_over_lines() -> None:
    items = entry("other").items()
    assert [item.text for item in items] == ["1", "2", "3 4", "5"]
    assert [item.span.line for item in items] == [4, 4, 5, 8]
    assert [item.text for item in entry("map").items()] == ["a: 1", "b: 2"]


def test_a_part_of_an_item_has_the_smallest_place_known() -> None:
    first, second = entry("map").items()
    assert [part.span.text for part in first.split(":")] == ["a", "1"]
    assert [part.text for part in second.split(":")] == ["b", "2"]
    assert [part.span for part in second.split(":")] == [second.span, second.span]


def test_an_empty_value_has_the_place_of_its_key_and_no_items() -> None:
    assert entry("empty").value.text == ""
    assert entry("empty").value.span.text == "empty"
    assert entry("empty").items() == ()


@pytest.mark.parametrize(
    ("text", "place"), [("a = 1\n", "a = 1"), ("[lfric]\nnothing\n", "nothing"), ("[x", "[x")]
)
def test_an_unreadable_line_is_reported(text: str, place: str) -> None:
    (problem,) = scan(text).problems
    assert problem.code == "C002"
    assert problem.span is not None
    assert problem.span.text == place


def test_an_indented_line_below_a_heading_continues_nothing() -> None:
    assert [entry.key for entry in scan("[a]\nx = 1\n[b]\n  y = 2\n").entries] == ["x", "y"]


def test_overrides_are_pairs_between_spaces() -> None:
    scanned = scan_overrides(SourceText("options", " A=1  b=x=y c "))
    assert [(found.key, found.value.text) for found in scanned.entries] == [
        ("a", "1"),
        ("b", "x=y"),
    ]
    assert [found.value.span.start for found in scanned.entries] == [3, 8]
    assert [problem.code for problem in scanned.problems] == ["C008"]


KEYS = st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True)
LINES = st.lists(st.from_regex(r"[a-z0-9{}][a-z0-9 ,:={}]{0,12}", fullmatch=True), max_size=3)


@given(st.dictionaries(st.sampled_from("abc"), st.dictionaries(KEYS, LINES), max_size=3))
def test_it_reads_what_configparser_reads(content: dict[str, dict[str, list[str]]]) -> None:
    text = "".join(
        f"[{section}]\n"
        + "".join(f"{key} = " + "\n    ".join(lines) + "\n# c\n" for key, lines in pairs.items())
        for section, pairs in content.items()
    )
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    expected = {
        (section, key): parser[section][key].split()
        for section in parser.sections()
        for key in parser[section]
    }
    found = {(e.section, e.key): e.value.text.split() for e in scan(text).entries}
    assert found == expected
