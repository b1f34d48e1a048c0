"""In which form, and when in colour."""

from __future__ import annotations

import io

import pytest

from psyclone_storage.cli.style import Style, in_colour, read_style


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize(
    ("words", "style"),
    [
        ("", Style("text", "auto")),
        ("alg.x90 --diagnostics json -nonsense", Style("json", "auto")),
        ("--colour=never --diagnostics=json", Style("json", "never")),
        ("--help --colour always", Style("text", "always")),
        ("alg.x90 --diagnostics", Style("text", "auto")),
    ],
)
def test_style_is_read_from_words_that_may_be_wrong(words: str, style: Style) -> None:
    assert read_style(words.split()) == style


def test_colour_goes_to_terminals_only() -> None:
    assert in_colour("auto", Terminal())
    assert not in_colour("auto", io.StringIO())


def test_a_wish_is_followed_anywhere() -> None:
    assert in_colour("always", io.StringIO())
    assert not in_colour("never", Terminal())


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_the_environment_can_forbid_colour(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert not in_colour("auto", Terminal())
    assert in_colour("always", Terminal())


def test_an_empty_no_color_forbids_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert in_colour("auto", Terminal())
