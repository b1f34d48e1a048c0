"""Decoding of settings values.

This module defines the syntax of booleans, numbers, lists and maps. A decoder takes an `Entry` and
returns a value. It raises `CompileError` with one diagnostic for each invalid part of the value.
The keys are defined in another module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.regex import regex
from psyclone_storage.config.scan import Entry, SettingsWord

T = TypeVar("T")

BOOLEANS: Mapping[str, bool] = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}

_NAME = regex(r"[A-Za-z][A-Za-z0-9_]*")
_REFERENCE = regex(r"(?<!%)%\([^)]*\)s")


def boolean(entry: Entry) -> bool:
    """Return the value of `true`, `yes`, `on`, `1` or their opposites, ignoring case."""
    word = entry.value
    if word.text.lower() in BOOLEANS:
        return BOOLEANS[word.text.lower()]
    raise refused(word, f"'{word.text}' is not a boolean.", "Write 'true' or 'false'.")


def positive(entry: Entry) -> int:
    """Return an integer of at least 1."""
    return positive_word(entry.value)


def name(entry: Entry) -> str:
    """Return one Fortran name."""
    return name_word(entry.value)


def fortran_names(entry: Entry) -> tuple[str, ...]:
    """Return a comma-separated list of Fortran names."""
    return collect(name_word, entry.items())


def words(entry: Entry) -> tuple[str, ...]:
    """Return a comma-separated list of words in lower case."""
    return tuple(unescape(item).lower() for item in entry.items())


def choice(values: Mapping[str, T]) -> Callable[[Entry], T]:
    """Return a decoder for the words that are keys of `values`, ignoring case."""
    return lambda entry: choose_value(entry.value, values)


def mapping(value: Callable[[SettingsWord], T]) -> Callable[[Entry], dict[str, T]]:
    """Return a decoder for `name: value, name: value`; names are converted to lower case."""

    def pair(item: SettingsWord) -> tuple[str, T]:
        key, *rest = item.split(":")
        if len(rest) != 1:
            raise refused(item, f"'{item.text}' is not a pair.", "Write 'name: value'.")
        return name_word(key).lower(), value(rest[0])

    return lambda entry: unique(collect(lambda item: (item, *pair(item)), entry.items()))


def unique(pairs: Iterable[tuple[SettingsWord, str, T]]) -> dict[str, T]:
    """Return a dictionary of (place, name, value); a repeated name is an error."""
    table: dict[str, T] = {}
    for item, key, value in pairs:
        if key in table:
            raise refused(item, f"'{key}' is given twice.", "Keep one of the two.")
        table[key] = value
    return table


def collect(decode: Callable[[SettingsWord], T], items: Iterable[SettingsWord]) -> tuple[T, ...]:
    """Decode every item, and raise all errors together."""
    values: list[T] = []
    problems: list[Diagnostic] = []
    for item in items:
        try:
            values.append(decode(item))
        except CompileError as error:
            problems += error.problems
    raise_if_any(problems)
    return tuple(values)


def positive_word(word: SettingsWord) -> int:
    """Return `word` as an integer of at least 1."""
    if word.text.isdecimal() and int(word.text) > 0:
        return int(word.text)
    raise refused(word, f"'{word.text}' is not an integer of at least 1.")


def name_word(word: SettingsWord) -> str:
    """Return `word` if it is a Fortran name."""
    text = unescape(word)
    if _NAME.fullmatch(text):
        return text
    raise refused(
        word,
        f"'{text}' is not a Fortran name.",
        "A name is a letter, then letters, digits and underscores.",
    )


def choose_value(word: SettingsWord, values: Mapping[str, T]) -> T:
    """Return the value for the key `word`, ignoring case."""
    text = unescape(word).lower()
    if text in values:
        return values[text]
    hint = did_you_mean(text, values) or f"Write {listed(values)}."
    raise refused(word, f"'{word.text}' is not one of {listed(values)}.", hint)


def unescape(word: SettingsWord) -> str:
    """Return the text of `word` with escapes replaced: `%%` is one percent sign.

    `%(key)s`, which `configparser` would replace by another key's value, is an error. No known
    settings file uses it.
    """
    if _REFERENCE.search(word.text):
        raise CompileError(
            Diagnostic(
                "C009",
                f"'{word.text}' refers to another key.",
                word.span,
                hint="Write the value itself; for a percent sign, write '%%'.",
            )
        )
    return word.text.replace("%%", "%")


def refused(word: SettingsWord, message: str, hint: str = "") -> CompileError:
    """Return the error `C004` for a value that is invalid for its key."""
    return CompileError(Diagnostic("C004", message, word.span, hint=hint))
