"""Scanner of settings files: sections, keys and values with their locations.

The syntax is that of Python's `configparser`: `[section]` lines, `key = value` or `key: value`,
values continued on indented lines, and whole-line comments after `#` or `;`. `configparser` itself
does not record locations. Keys are not interpreted here.
"""

from __future__ import annotations

import re
from itertools import pairwise

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span

_SECTION = regex(r"\[(?P<name>[^\]]+)\]\s*$")
_OPEN_SECTION = regex(r"\[\s*(?P<name>[^\]\s#;=:]+)[^\]=:]*$")
_KEY = regex(r"(?P<key>[^=:\s][^=:]*?)\s*[=:]\s*(?P<value>.*?)\s*$")
_PAIR = regex(r"\S+")


@dataclass(frozen=True, slots=True)
class SettingsWord:
    """Part of a value with its location; continuation lines are joined by a space."""

    text: str
    span: Span

    def split(self, separator: str) -> tuple[SettingsWord, ...]:
        """Return the parts between separators, without surrounding space.

        Parts of a word that continues over several lines have the location of the whole word.
        """
        if len(self.text) != self.span.stop - self.span.start:
            return tuple(
                SettingsWord(part.strip(), self.span) for part in self.text.split(separator)
            )
        ends = [-1, *(at for at, char in enumerate(self.text) if char == separator), len(self.text)]
        first = self.span.start
        return tuple(
            [
                _stripped(self.span.source, first + before + 1, first + after)
                for before, after in pairwise(ends)
            ]
        )


@dataclass(frozen=True, slots=True)
class SettingsSection:
    """Section heading: its name in lower case and its location."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """Key with its value: section and key in lower case, and the lines of the value."""

    section: str
    key: str
    key_span: Span
    lines: tuple[SettingsWord, ...]

    @property
    def value(self) -> SettingsWord:
        """Whole value as one word; an empty value has the location of its key."""
        if not self.lines:
            return SettingsWord("", self.key_span)
        text = " ".join(line.text for line in self.lines)
        return SettingsWord(text, self.lines[0].span.to(self.lines[-1].span))

    def items(self) -> tuple[SettingsWord, ...]:
        """Return the comma-separated parts of the value.

        An item may continue over several lines.
        """
        items: list[SettingsWord] = []
        unfinished: SettingsWord | None = None
        for line in self.lines:
            parts = line.split(",")
            if unfinished:
                parts = (_joined(unfinished, parts[0]), *parts[1:])
            items += parts[:-1]
            unfinished = parts[-1] if parts[-1].text else None
        return tuple(item for item in (*items, unfinished) if item and item.text)


@dataclass(frozen=True, slots=True)
class Scanned:
    """Content of a text: its headings, its entries in order, and errors for other lines."""

    sections: tuple[SettingsSection, ...]
    entries: tuple[Entry, ...]
    problems: tuple[Diagnostic, ...]


def scan_file(source: SourceText) -> Scanned:
    """Split `source` into headings and entries; invalid lines become diagnostics `C002`."""
    sections: list[SettingsSection] = []
    entries: list[Entry] = []
    problems: list[Diagnostic] = []
    for line, indented in _code_lines(source):
        if indented and entries and sections and entries[-1].section == sections[-1].name:
            last = entries[-1]
            entries[-1] = Entry(last.section, last.key, last.key_span, (*last.lines, line))
        elif heading := _SECTION.match(line.text):
            sections.append(SettingsSection(heading["name"].strip().lower(), line.span))
        elif open_heading := _OPEN_SECTION.match(line.text):
            # The keys below belong to the section that is meant.
            sections.append(SettingsSection(open_heading["name"].lower(), line.span))
            problems.append(_without_bracket(line, open_heading["name"]))
        elif (pair := _KEY.match(line.text)) and sections:
            entries.append(_entry(sections[-1].name, pair, line.span))
        else:
            problems.append(_unreadable(line, bool(sections)))
    return Scanned(tuple(sections), tuple(entries), tuple(problems))


def scan_overrides(source: SourceText) -> Scanned:
    """Split `key=value key=value …` into entries without a section; other words become `C008`."""
    entries: list[Entry] = []
    problems: list[Diagnostic] = []
    for word in _PAIR.finditer(source.text):
        pair = re.fullmatch(r"(?P<key>[^=]+)=(?P<value>.*)", word[0])
        span = source.span(word.start(), word.end())
        if pair:
            entries.append(_entry("", pair, span))
        else:
            problems.append(
                Diagnostic(
                    "C008",
                    f"'{word[0]}' does not set anything.",
                    span,
                    hint="Write 'key=value', with nothing around the '='.",
                )
            )
    return Scanned((), tuple(entries), tuple(problems))


def _code_lines(source: SourceText) -> list[tuple[SettingsWord, bool]]:
    """Return the stripped lines, except blank and comment lines, and whether each is indented."""
    lines = []
    start = 0
    for text in source.text.splitlines(keepends=True):
        word = _stripped(source, start, start + len(text))
        if word.text and word.text[0] not in "#;":
            lines.append((word, text[0].isspace()))
        start += len(text)
    return lines


def _entry(section: str, pair: re.Match[str], line: Span) -> Entry:
    key_span = Span(line.source, line.start, line.start + len(pair["key"]))
    value = Span(line.source, line.start + pair.start("value"), line.start + pair.end("value"))
    lines = (SettingsWord(value.text, value),) if pair["value"] else ()
    return Entry(section, pair["key"].lower(), key_span, lines)


def _without_bracket(line: SettingsWord, name: str) -> Diagnostic:
    message = f"The heading '{line.text}' has no ']'."
    return Diagnostic("C002", message, line.span, hint=f"Write '[{name}]'.")


def _unreadable(line: SettingsWord, in_section: bool) -> Diagnostic:
    if in_section:
        message = f"'{line.text}' is neither a section, nor a key with a value, nor a comment."
        hint = "Write 'key = value'; indent a line that continues the value above it."
    else:
        message = f"'{line.text}' is before the first section."
        hint = "Put '[DEFAULT]' above it."
    return Diagnostic("C002", message, line.span, hint=hint)


def _joined(first: SettingsWord, second: SettingsWord) -> SettingsWord:
    return SettingsWord(f"{first.text} {second.text}".strip(), first.span.to(second.span))


def _stripped(source: SourceText, start: int, stop: int) -> SettingsWord:
    text = source.text[start:stop]
    start += len(text) - len(text.lstrip())
    return SettingsWord(text.strip(), Span(source, start, start + len(text.strip())))
